//! Loads a dataset: SQL from whoever asks and rows from a generator, over one connection for each
//! lane. Lanes run side by side, and what fails in one stops all.

use super::connect::{self, Place};
use super::conversation::Conversation;
use super::failure::Failure;
use super::halt::Halt;
use crate::generate::{self, Rows, Share};
use crate::parameters::Parameters;
use crate::wire::backend::Message;
use crate::wire::frontend;
use bytes::BytesMut;
use sha2::{Digest, Sha256};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Of one CopyData, as in what was measured to be fastest.
const CHUNK_BYTES: usize = 64 * 1024;

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// How often is looked whether to stop. Lanes look themselves, twice within the 100 ms of the seam.
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Sql(String),
    Copy { statement: String, rows: String, parameters: Parameters, share: Share },
}

/// What one COPY sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub rows_of: String,
    pub share: Share,
    pub rows: u64,
    pub bytes: u64,
    pub sha256: [u8; 32],
}

/// A step whose rows were found.
enum Ready<'a> {
    Sql(&'a str),
    Copy { statement: &'a str, rows_of: &'a str, share: Share, rows: Box<dyn Rows> },
}

/// What a lane says while it runs.
enum News {
    /// That so many rows more were sent.
    Rows(u64),
    /// That it is over: its number and what it loaded.
    Over(usize, Result<Vec<Loaded>, Failure>),
}

/// Runs the lanes. `say` hears how many rows were sent of how many: soon after the first ones, and
/// then now and then. What was loaded is in the order of the lanes and their steps.
pub fn load(
    place: &Place,
    lanes: &[Vec<Step>],
    halt: &Halt,
    patience: Duration,
    say: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Loaded>, Failure> {
    let ready = lanes.iter().map(|steps| steps.iter().map(Step::ready).collect::<Result<Vec<_>, _>>());
    let ready = ready.collect::<Result<Vec<_>, _>>()?;
    let rows_total = ready.iter().flatten().map(Ready::rows_total).sum();
    // One of their own: a lane that fails stops the others, and nobody else.
    let stop = Halt::default();
    let (news, heard) = mpsc::channel();
    let outcomes = thread::scope(|scope| {
        for (number, steps) in ready.into_iter().enumerate() {
            let lane = Lane { number, place, stop: &stop, patience, news: news.clone(), told: None, untold: 0 };
            let spawned = thread::Builder::new().name(format!("load {number}")).spawn_scoped(scope, || lane.run(steps));
            if let Err(error) = spawned {
                let failure = Failure::world("cannot start a thread", &error);
                // The closure with the lane is gone: who listens hears from us.
                let _ = news.send(News::Over(number, Err(failure)));
            }
        }
        let mut outcomes: Vec<_> = lanes.iter().map(|_| None).collect();
        let (mut rows, mut said) = (0, None::<Instant>);
        while outcomes.iter().any(Option::is_none) {
            match heard.recv_timeout(LOOK_EVERY) {
                Ok(News::Rows(more)) => {
                    rows += more;
                    if said.is_none_or(|said| said.elapsed() >= PROGRESS_EVERY) {
                        said = Some(Instant::now());
                        say(rows, rows_total);
                    }
                }
                Ok(News::Over(number, outcome)) => {
                    if outcome.is_err() {
                        stop.set();
                    }
                    outcomes[number] = Some(outcome);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender ourselves"),
            }
            if halt.is_set() {
                stop.set();
            }
        }
        outcomes
    });
    let mut loaded = Ok(Vec::new());
    for outcome in outcomes.into_iter().flatten() {
        loaded = match (loaded, outcome) {
            (Ok(mut all), Ok(more)) => {
                all.extend(more);
                Ok(all)
            }
            (Err(first), Err(second)) => Err(first.more_telling(second)),
            (Err(failure), Ok(_)) | (Ok(_), Err(failure)) => Err(failure),
        };
    }
    loaded
}

impl Step {
    fn ready(&self) -> Result<Ready<'_>, Failure> {
        Ok(match self {
            Step::Sql(sql) => Ready::Sql(sql),
            Step::Copy { statement, rows: rows_of, parameters, share } => {
                let rows = generate::open(rows_of, parameters, *share).map_err(Failure::Request)?;
                Ready::Copy { statement, rows_of, share: *share, rows }
            }
        })
    }
}

impl Ready<'_> {
    fn sql(&self) -> &str {
        match self {
            Ready::Sql(sql) => sql,
            Ready::Copy { statement, .. } => statement,
        }
    }

    fn rows_total(&self) -> u64 {
        match self {
            Ready::Sql(_) => 0,
            Ready::Copy { rows, .. } => rows.total(),
        }
    }
}

/// One connection and its steps.
struct Lane<'a> {
    number: usize,
    place: &'a Place,
    stop: &'a Halt,
    patience: Duration,
    news: Sender<News>,
    told: Option<Instant>,
    untold: u64,
}

impl Lane<'_> {
    fn run(mut self, steps: Vec<Ready<'_>>) {
        let outcome = self.work(steps);
        // Whoever asked waits for this.
        let _ = self.news.send(News::Over(self.number, outcome));
    }

    fn work(&mut self, steps: Vec<Ready<'_>>) -> Result<Vec<Loaded>, Failure> {
        let doing = "connecting for a load".to_owned();
        let (mut conversation, _) = connect::open(self.place, self.stop, self.patience, doing)?;
        // A vacuum or an index may take hours; whoever asked can stop us.
        conversation.patience = None;
        let mut loaded = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            conversation.doing = match self.number {
                0 => format!("step {number} of a load (`{}`)", step.sql()),
                lane => format!("step {number} of lane {lane} of a load (`{}`)", step.sql()),
            };
            conversation.send(&frontend::query(step.sql()))?;
            if let Ready::Copy { rows_of, share, mut rows, .. } = step {
                let (bytes, sha256) = self.copy(&mut conversation, rows.as_mut())?;
                loaded.push(Loaded { rows_of: rows_of.to_owned(), share, rows: rows.done(), bytes, sha256 });
            }
            conversation.finish()?;
        }
        conversation.send(&frontend::terminate())?;
        Ok(loaded)
    }

    /// How many bytes were sent, and their digest.
    fn copy(&mut self, conversation: &mut Conversation, rows: &mut dyn Rows) -> Result<(u64, [u8; 32]), Failure> {
        await_copy(conversation)?;
        let (mut digest, mut bytes, mut done) = (Sha256::new(), 0, 0);
        let (mut chunk, mut message) = (Vec::with_capacity(CHUNK_BYTES), BytesMut::with_capacity(CHUNK_BYTES));
        loop {
            chunk.clear();
            rows.fill(&mut chunk, CHUNK_BYTES);
            if chunk.is_empty() {
                break;
            }
            digest.update(&chunk);
            bytes += chunk.len() as u64;
            message.clear();
            frontend::copy_data(&chunk, &mut message);
            conversation.send(&message)?;
            // A server whose disk is full says so at once and goes on to swallow rows.
            conversation.glance()?;
            self.tell(rows.done() - done);
            done = rows.done();
        }
        conversation.send(&frontend::copy_done())?;
        Ok((bytes, digest.finalize().into()))
    }

    fn tell(&mut self, rows: u64) {
        self.untold += rows;
        if self.told.is_none_or(|told| told.elapsed() >= PROGRESS_EVERY) {
            self.told = Some(Instant::now());
            // Nobody who listens goes away before we are over.
            let _ = self.news.send(News::Rows(self.untold));
            self.untold = 0;
        }
    }
}

fn await_copy(conversation: &mut Conversation) -> Result<(), Failure> {
    let unfit = loop {
        match conversation.hear()? {
            Message::CopyInResponse(_) => return Ok(()),
            Message::CopyOutResponse(_) => break "the server would send rows, not take them",
            Message::ReadyForQuery(_) => break "the server wants no rows for this",
            _ => {}
        }
    };
    Err(Failure::Request(format!("{}: {unfit}", conversation.doing)))
}
