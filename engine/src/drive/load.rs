//! Loads a dataset: SQL from whoever asks and rows from a generator, over one connection.

use super::connect::{self, Place};
use super::conversation::Conversation;
use super::failure::Failure;
use super::halt::Halt;
use crate::generate::pgbench::{Rows, Table};
use crate::wire::backend::Message;
use crate::wire::frontend;
use bytes::BytesMut;
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};

/// Of one CopyData, as in what was measured to be fastest.
const CHUNK_BYTES: usize = 64 * 1024;

const PROGRESS_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Sql(String),
    Copy { statement: String, table: Table, scale: u32 },
}

impl Step {
    fn sql(&self) -> &str {
        match self {
            Step::Sql(sql) => sql,
            Step::Copy { statement, .. } => statement,
        }
    }

    fn rows(&self) -> u64 {
        match self {
            Step::Sql(_) => 0,
            Step::Copy { table, scale, .. } => table.rows(*scale),
        }
    }
}

/// What one COPY sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub table: Table,
    pub rows: u64,
    pub bytes: u64,
    pub sha256: [u8; 32],
}

/// Counts rows and says so at once, for the total, and then now and then.
struct Progress<'a> {
    rows: u64,
    rows_total: u64,
    said: Option<Instant>,
    say: &'a mut dyn FnMut(u64, u64),
}

/// Runs the steps in order. `say` hears how many rows were sent of how many.
pub fn load(
    place: &Place,
    steps: &[Step],
    halt: &Halt,
    patience: Duration,
    say: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Loaded>, Failure> {
    let (mut conversation, _) = connect::open(place, halt, patience, "connecting for a load".to_owned())?;
    // A vacuum or an index may take hours; whoever asked can stop us.
    conversation.patience = None;
    let rows_total = steps.iter().map(Step::rows).sum();
    let mut progress = Progress { rows: 0, rows_total, said: None, say };
    let mut loaded = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        conversation.doing = format!("step {number} of a load (`{}`)", step.sql());
        conversation.send(&frontend::query(step.sql()))?;
        if let Step::Copy { table, scale, .. } = step {
            loaded.push(copy(&mut conversation, *table, *scale, &mut progress)?);
        }
        conversation.finish()?;
    }
    conversation.send(&frontend::terminate())?;
    Ok(loaded)
}

fn copy(
    conversation: &mut Conversation,
    table: Table,
    scale: u32,
    progress: &mut Progress<'_>,
) -> Result<Loaded, Failure> {
    await_copy(conversation)?;
    let mut rows = Rows::of(table, scale);
    let (mut digest, mut bytes) = (Sha256::new(), 0);
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
        progress.tell(rows.done());
    }
    progress.rows += rows.done();
    conversation.send(&frontend::copy_done())?;
    Ok(Loaded { table, rows: rows.done(), bytes, sha256: digest.finalize().into() })
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

impl Progress<'_> {
    fn tell(&mut self, rows_of_table: u64) {
        if self.said.is_none_or(|said| said.elapsed() >= PROGRESS_EVERY) {
            self.said = Some(Instant::now());
            (self.say)(self.rows + rows_of_table, self.rows_total);
        }
    }
}
