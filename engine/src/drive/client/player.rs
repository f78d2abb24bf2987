//! A client that does what the player of a native program says.

use super::{Client, Desk, Ending, Seat, Turn, is_conflict};
use crate::drive::clock;
use crate::drive::connect;
use crate::drive::failure::Failure;
use crate::drive::slice::Tally;
use crate::drive::transport::Heard;
use crate::wire::backend::Status;
use crate::wire::rows::Rows;
use crate::workload::request::{Prepared, Request};
use crate::workload::{Next, Player, Ready, Sql};

pub struct PlayerPart {
    /// By the number of the statement.
    prepared: Vec<Prepared>,
}

impl PlayerPart {
    pub fn of(statements: &[Sql]) -> Self {
        let prepared = statements.iter().enumerate();
        Self { prepared: prepared.map(|(number, sql)| Prepared::new(sql, &connect::prepared_name(number))).collect() }
    }
}

type PlayerDesk<'a> = Desk<'a, PlayerPart>;

/// What the client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Resting,
    /// The time to ask the player again whether it begins.
    Asking,
    /// The time to begin its next transaction.
    Pausing,
    /// The answer to what was sent.
    Answer,
    /// The end of a transaction that met another.
    Rollback,
}

pub struct PlayerClient {
    seat: Seat<Rows>,
    player: Box<dyn Player>,
    phase: Phase,
    kind: usize,
    /// How often the transaction under way was tried.
    tries: u32,
    /// The statements whose answers are awaited together.
    sent: Vec<usize>,
}

impl Client for PlayerClient {
    type Part = PlayerPart;

    fn reset(&mut self, _: &PlayerPart, seed: u64) {
        self.player.reseed(seed);
        self.seat.tally = Tally::default();
    }

    fn begin(&mut self, desk: &mut PlayerDesk<'_>) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        match self.start(desk, now) {
            Turn::Waiting => self.proceed(desk, now),
            turn => Ok(turn),
        }
    }

    #[inline]
    fn hear(&mut self, heard: Heard<'_>) -> Result<Option<Status>, Failure> {
        self.seat.hear(heard)
    }

    fn answered(&mut self, desk: &mut PlayerDesk<'_>, status: Status) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        self.seat.block = status;
        match self.phase {
            Phase::Answer if !self.seat.answer.has_error() => {
                let (answered, sent) = (self.seat.answer.taker.statements(), self.sent.len());
                if answered != sent {
                    let (arm, number) = (self.seat.arm, self.seat.number);
                    let what = format!("arm {arm} answered {answered} of {sent} statements of client {number}");
                    return Err(Failure::server(what));
                }
                if self.seat.counts_at(desk, now) {
                    self.sent.iter().for_each(|&sent| desk.recorder.statement(sent, now - self.seat.sent_ns));
                }
                self.proceed(desk, now)
            }
            Phase::Answer => self.refused(desk, now),
            Phase::Rollback => {
                self.seat.check_rollback()?;
                self.conflicted(desk, now)
            }
            Phase::Resting | Phase::Asking | Phase::Pausing => Err(self.seat.unasked()),
        }
    }
    fn wake(&mut self, desk: &mut PlayerDesk<'_>) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        if self.phase == Phase::Asking {
            return match self.start(desk, now) {
                Turn::Waiting => self.proceed(desk, now),
                turn => Ok(turn),
            };
        }
        if !self.seat.may_start(desk, now) {
            return Ok(self.rest());
        }
        self.draw(desk, now);
        self.proceed(desk, now)
    }

    fn check_limit(&self, desk: &PlayerDesk<'_>) -> Result<(), Failure> {
        match self.phase {
            Phase::Resting | Phase::Asking | Phase::Pausing => Ok(()),
            Phase::Answer | Phase::Rollback => self.seat.check_limit(desk),
        }
    }

    fn tally(&self) -> &Tally {
        &self.seat.tally
    }
}

impl PlayerClient {
    pub fn new(seat: Seat<Rows>, player: Box<dyn Player>) -> Self {
        Self { seat, player, phase: Phase::Resting, kind: 0, tries: 0, sent: Vec::new() }
    }

    fn refused(&mut self, desk: &mut PlayerDesk<'_>, now: u64) -> Result<Turn, Failure> {
        match self.seat.answer.take_error() {
            Some(error) if is_conflict(&error) || self.player.expects(&error.sqlstate) => {
                if self.seat.block == Status::Idle {
                    return self.conflicted(desk, now);
                }
                self.phase = Phase::Rollback;
                self.seat.send_rollback(desk);
                Ok(Turn::Waiting)
            }
            error => {
                // Statements behind the one that failed have no answers.
                let failed = self.sent.get(self.seat.answer.taker.statements());
                let what = failed.map_or_else(|| "statements".to_owned(), |failed| format!("statement {failed}"));
                Err(self.seat.refused(&what, error))
            }
        }
    }

    /// The transaction met another and is rolled back.
    fn conflicted(&mut self, desk: &mut PlayerDesk<'_>, now: u64) -> Result<Turn, Failure> {
        if desk.slice.goes_on() && self.player.tries_again(self.tries) {
            self.tries += 1;
            return self.proceed(desk, now);
        }
        self.end(desk, now, Ending::Failed, false);
        match self.start(desk, now) {
            Turn::Waiting => self.proceed(desk, now),
            turn => Ok(turn),
        }
    }

    /// Begins a transaction ([`Turn::Waiting`]: it is to be proceeded with), or waits before it, if the
    /// slice has room for one and the player wants one.
    #[inline]
    fn start(&mut self, desk: &PlayerDesk<'_>, now: u64) -> Turn {
        if !self.seat.may_start(desk, now) {
            return self.rest();
        }
        match self.player.ready(now) {
            Ready::Now => {}
            Ready::At(at) => return self.wait(desk, Phase::Asking, at),
            Ready::Over => return self.rest(),
        }
        let pause = self.player.pause();
        if !pause.is_zero() {
            return self.wait(desk, Phase::Pausing, now.saturating_add(pause.as_nanos() as u64));
        }
        self.draw(desk, now);
        Turn::Waiting
    }

    /// Waits until then, or rests if the slice will be over.
    fn wait(&mut self, desk: &PlayerDesk<'_>, phase: Phase, until: u64) -> Turn {
        if desk.times.end_ns.is_some_and(|end_ns| until >= end_ns) {
            return self.rest();
        }
        self.phase = phase;
        Turn::Pausing(until)
    }

    fn rest(&mut self) -> Turn {
        self.phase = Phase::Resting;
        Turn::Finished
    }

    #[inline]
    fn draw(&mut self, desk: &PlayerDesk<'_>, now: u64) {
        self.kind = self.player.begin();
        self.seat.start(desk, self.player.due_ns().unwrap_or(now));
        self.tries = 1;
    }

    /// Asks the player up to the next thing to send, through the ends of transactions.
    #[inline]
    fn proceed(&mut self, desk: &mut PlayerDesk<'_>, now: u64) -> Result<Turn, Failure> {
        loop {
            let mut request = Request::new(&desk.part.prepared, desk.outgoing, &mut self.sent);
            match self.player.next(&self.seat.answer.taker, &mut request) {
                Ok(Next::Send) => {
                    assert!(request.end(), "a player that sends has something to send");
                    let keeps = self.sent.iter().map(|&sent| desk.part.prepared[sent].keeps_rows);
                    self.seat.answer.taker.expect(keeps);
                    self.phase = Phase::Answer;
                    // Drawing keys and reading rows takes time.
                    self.seat.sent_ns = clock::now_ns();
                    self.seat.send(desk);
                    return Ok(Turn::Waiting);
                }
                Ok(next @ (Next::Done | Next::RolledBack)) => {
                    if self.seat.block != Status::Idle {
                        return Err(self.failed("came to the end of a transaction with its block open"));
                    }
                    self.end(desk, now, Ending::Done, next == Next::RolledBack);
                    let turn = self.start(desk, now);
                    if turn != Turn::Waiting {
                        return Ok(turn);
                    }
                }
                Err(what) => return Err(self.failed(&format!("found what should not be: {what}"))),
            }
        }
    }

    #[inline]
    fn end(&mut self, desk: &mut PlayerDesk<'_>, now: u64, ending: Ending, rolled_back: bool) {
        if self.seat.end(desk, now, ending) {
            let done = (ending == Ending::Done).then(|| now - self.seat.begun_ns);
            desk.recorder.kind(self.kind, done, desk.times.in_seconds(now), rolled_back, self.tries - 1);
        }
    }

    fn failed(&self, what: &str) -> Failure {
        Failure::server(format!("client {} of arm {} {what}", self.seat.number, self.seat.arm))
    }
}
