//! One client of one arm: a connection, its variables, and where in a script it is.
//!
//! A client waits for exactly one answer at a time. Whoever reads its socket hands the bytes to
//! [`Client::receive`], which goes on with the script as far as the next statement.

use super::clock;
use super::connect;
use super::failure::Failure;
use super::slice::{Slice, Tally, Times};
use super::socket::{Socket, Wait};
use crate::measure::recorder::Recorder;
use crate::script::evaluate::Scope;
use crate::script::meta::Target;
use crate::script::program::{Action, Program, Set, Statement};
use crate::script::random::{self, Prng};
use crate::script::value::{self, Scalar, Value};
use crate::wire::answer::Answer;
use crate::wire::backend::Status;
use crate::wire::frontend::{self, Execution};
use crate::wire::{ServerError, WireError};
use std::io::{self, ErrorKind};

/// What the clients of one thread have in common while a slice runs.
pub struct Desk<'a> {
    pub program: &'a Program,
    /// By the number of the statement.
    pub executions: &'a [Execution],
    pub slice: &'a Slice,
    pub times: Times,
    pub recorder: &'a mut Recorder,
    /// Where messages are put together and read to, kept from one to the next.
    pub outgoing: &'a mut Vec<u8>,
    pub incoming: &'a mut [u8],
    pub drain_ns_max: u64,
    /// The first error of a script. The slice winds down and ends with it.
    pub refusal: Option<Failure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// An answer is awaited.
    Waiting,
    /// This slice has no more work for the client.
    Finished,
}

/// What the client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Resting,
    /// The answer to a statement.
    Statement(usize),
    /// The end of a transaction that failed.
    Rollback,
    /// The end of a transaction whose script failed.
    LastRollback,
}

#[derive(Debug)]
pub struct Client {
    arm: u32,
    number: usize,
    pub socket: Socket,
    answer: Answer,
    /// As the last answer left it.
    block: Status,
    phase: Phase,

    /// What functions of scripts draw from, and what chooses scripts.
    functions: Prng,
    choice: Prng,
    variables: Vec<Value>,
    script: usize,
    /// The next command of the script.
    next: usize,

    begun_ns: u64,
    sent_ns: u64,
    /// Whether the transaction under way is beyond the number to discard.
    counts: bool,
    tally: Tally,
}

impl Client {
    /// Over a connection that has prepared its statements; `read` is what came after that.
    pub fn new(arm: u32, number: usize, socket: Socket, read: &[u8]) -> Result<Self, WireError> {
        let mut answer = Answer::default();
        answer.feed(read)?;
        let unseeded = Prng::seeded(0);
        Ok(Self {
            arm,
            number,
            socket,
            answer,
            block: Status::Idle,
            phase: Phase::Resting,
            functions: unseeded.clone(),
            choice: unseeded,
            variables: Vec::new(),
            script: 0,
            next: 0,
            begun_ns: 0,
            sent_ns: 0,
            counts: false,
            tally: Tally::default(),
        })
    }

    /// Before a slice. Everything random comes from the seed and the client's number alone, by the
    /// formula in PROTOCOL.md; mixing the seed first keeps the streams of neighbouring seeds apart.
    pub fn reset(&mut self, program: &Program, mut seed: u64) {
        let mixed = random::splitmix64(&mut seed);
        let stream = 2 * self.number as u64;
        self.functions = Prng::seeded(mixed ^ stream);
        self.choice = Prng::seeded(mixed ^ (stream + 1));
        self.variables.clone_from(&program.initial);
        if let Some(slot) = program.client_id {
            self.variables[slot] = Scalar::Integer(self.number as i64).into();
        }
        self.tally = Tally::default();
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The client's first transaction of a slice.
    pub fn begin(&mut self, desk: &mut Desk<'_>) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        if self.start(desk, now) { self.proceed(desk, now) } else { Ok(Turn::Finished) }
    }

    /// Reads once and does what follows from it.
    #[inline]
    pub fn receive(&mut self, desk: &mut Desk<'_>) -> Result<Turn, Failure> {
        match self.socket.receive(desk.incoming, Wait::No) {
            Ok(0) => Err(self.closed()),
            Ok(bytes) => match self.answer.feed(&desk.incoming[..bytes]) {
                Ok(Some(status)) => self.answered(desk, status),
                Ok(None) => {
                    // A server could send an answer a byte at a time for ever.
                    self.check_limit(desk)?;
                    Ok(Turn::Waiting)
                }
                Err(error) => Err(self.nonsense(&error)),
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Turn::Waiting),
            Err(error) => Err(self.world(&error)),
        }
    }

    /// Fails if the server owes an answer for too long.
    pub fn check_limit(&self, desk: &Desk<'_>) -> Result<(), Failure> {
        let limit = desk.slice.plan.statement_limit;
        let waited = clock::now_ns().saturating_sub(desk.times.waiting_since(self.sent_ns));
        if self.phase == Phase::Resting || u128::from(waited) <= limit.as_nanos() {
            return Ok(());
        }
        let (arm, number, seconds) = (self.arm, self.number, limit.as_secs_f64());
        Err(Failure::server(format!("arm {arm} gave client {number} no answer for {seconds} s in a slice")))
    }

    fn answered(&mut self, desk: &mut Desk<'_>, status: Status) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        self.block = status;
        match self.phase {
            Phase::Statement(statement) if !self.answer.has_error() => {
                if self.counts_at(desk, now) {
                    desk.recorder.statement(statement, now - self.sent_ns);
                }
                self.proceed(desk, now)
            }
            Phase::Statement(statement) => self.statement_failed(desk, statement, now),
            Phase::Rollback | Phase::LastRollback if self.answer.has_error() || status != Status::Idle => {
                let said = self.answer.take_error();
                Err(self.refused("a rollback", said))
            }
            Phase::Rollback => {
                self.end(desk, now, Ending::Failed);
                self.go_on(desk, now)
            }
            Phase::LastRollback => {
                self.phase = Phase::Resting;
                Ok(Turn::Finished)
            }
            Phase::Resting => Err(Failure::server(format!(
                "arm {} sent client {} an answer that nobody asked for",
                self.arm, self.number
            ))),
        }
    }

    /// A serialization failure or a deadlock is a normal end of a transaction; nothing else is.
    fn statement_failed(&mut self, desk: &mut Desk<'_>, statement: usize, now: u64) -> Result<Turn, Failure> {
        match self.answer.take_error() {
            Some(error) if matches!(error.sqlstate.as_str(), "40001" | "40P01") => {
                if self.block != Status::Idle {
                    return self.roll_back(desk, Phase::Rollback);
                }
                self.end(desk, now, Ending::Failed);
                self.go_on(desk, now)
            }
            error => Err(self.refused(&format!("statement {statement}"), error)),
        }
    }

    fn go_on(&mut self, desk: &mut Desk<'_>, now: u64) -> Result<Turn, Failure> {
        if self.start(desk, now) { self.proceed(desk, now) } else { Ok(Turn::Finished) }
    }

    /// Begins a transaction if the slice has room for one. As in pgbench a transaction's time
    /// starts here: what its script computes before the first statement is part of it.
    #[inline]
    fn start(&mut self, desk: &Desk<'_>, now: u64) -> bool {
        let times = &desk.times;
        let in_time = times.end_ns.is_none_or(|end_ns| now < end_ns);
        if !in_time || self.tally.counted() >= times.count_max || !desk.slice.goes_on() {
            self.phase = Phase::Resting;
            return false;
        }
        self.counts = self.tally.discarded >= times.discard;
        self.begun_ns = now;
        self.script = desk.program.choose(&mut self.choice);
        self.next = 0;
        true
    }

    /// Runs commands up to the next statement to wait for, through the ends of transactions.
    #[inline]
    fn proceed(&mut self, desk: &mut Desk<'_>, now: u64) -> Result<Turn, Failure> {
        // The last reading of the clock, while nothing that takes time was done since.
        let mut now = Some(now);
        loop {
            match desk.program.scripts[self.script].commands.get(self.next).map(|command| &command.action) {
                Some(Action::Set(set)) => {
                    now = None;
                    let mut scope =
                        Scope { variables: &self.variables, prng: &mut self.functions, shown: &mut Vec::new() };
                    match (set.expression.evaluate(&mut scope), &set.target) {
                        (Ok(scalar), Target::Slot(slot)) => self.variables[*slot] = Value::Scalar(scalar),
                        (Err(error), _) => {
                            let what = error.words(&desk.program.names).unwrap_or_default();
                            return self.script_failed(desk, set, &what);
                        }
                        (Ok(_), Target::Invalid(_)) => unreachable!("the dialect of campaigns refuses it"),
                    }
                    self.next += 1;
                }
                Some(&Action::Statement(statement)) => {
                    let execution = &desk.executions[statement];
                    self.next += 1;
                    self.phase = Phase::Statement(statement);
                    desk.outgoing.clear();
                    self.write(execution, &desk.program.statements[statement], desk.outgoing);
                    self.sent_ns = now.unwrap_or_else(clock::now_ns);
                    self.send(desk)?;
                    return Ok(Turn::Waiting);
                }
                Some(_) => unreachable!("the dialect of campaigns has no other commands"),
                None => {
                    if self.block != Status::Idle {
                        return Err(self.left_open(desk));
                    }
                    let ended = now.unwrap_or_else(clock::now_ns);
                    self.end(desk, ended, Ending::Done);
                    if !self.start(desk, ended) {
                        return Ok(Turn::Finished);
                    }
                    now = Some(ended);
                }
            }
        }
    }

    /// Whether what ends now is counted. Asked at the end and not at the beginning: a stall that
    /// begins in the discarded time and outlasts it must be seen.
    #[inline]
    fn counts_at(&self, desk: &Desk<'_>, now: u64) -> bool {
        self.counts && now >= desk.times.count_from_ns
    }

    #[inline]
    fn end(&mut self, desk: &mut Desk<'_>, now: u64, ending: Ending) {
        if let Some(end_ns) = desk.times.end_ns {
            desk.drain_ns_max = desk.drain_ns_max.max(now.saturating_sub(end_ns));
        }
        if !self.counts_at(desk, now) {
            self.tally.discarded += 1;
            return;
        }
        if self.tally.counted() == 0 {
            self.tally.first_begun_ns = self.begun_ns;
        }
        self.tally.last_ended_ns = now;
        match ending {
            Ending::Done => {
                self.tally.transactions += 1;
                desk.recorder.transaction(now - self.begun_ns);
            }
            Ending::Failed => self.tally.failed += 1,
        }
    }

    #[inline]
    fn write(&self, execution: &Execution, statement: &Statement, out: &mut Vec<u8>) {
        execution.write(out, |out| {
            for &slot in &statement.parameters {
                match &self.variables[slot] {
                    Value::Scalar(Scalar::Integer(value)) => {
                        frontend::parameter(itoa::Buffer::new().format(*value).as_bytes(), out);
                    }
                    Value::Scalar(Scalar::Double(value)) => {
                        frontend::written_parameter(out, |out| value::write_double(*value, out));
                    }
                    Value::Scalar(Scalar::Boolean(true)) => frontend::parameter(b"true", out),
                    Value::Scalar(Scalar::Boolean(false)) => frontend::parameter(b"false", out),
                    Value::Text(text) => frontend::parameter(text.as_bytes(), out),
                    // pgbench passes a null value on as the text `NULL`, which no type but text reads.
                    Value::Scalar(Scalar::Null) | Value::Unset => frontend::null_parameter(out),
                }
            }
        });
    }

    /// A statement is far smaller than a socket's buffer, which is empty here: once is enough but
    /// for giant scripts.
    #[inline]
    fn send(&mut self, desk: &Desk<'_>) -> Result<(), Failure> {
        let mut bytes: &[u8] = desk.outgoing;
        while !bytes.is_empty() {
            match self.socket.send(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    desk.slice.check()?;
                    self.check_limit(desk)?;
                }
                Err(error) => return Err(self.world(&error)),
            }
        }
        Ok(())
    }

    fn roll_back(&mut self, desk: &mut Desk<'_>, phase: Phase) -> Result<Turn, Failure> {
        self.phase = phase;
        desk.outgoing.clear();
        desk.outgoing.extend_from_slice(&frontend::query("ROLLBACK"));
        self.sent_ns = clock::now_ns();
        self.send(desk)?;
        Ok(Turn::Waiting)
    }

    /// The script is wrong, not the server: the slice winds down and the arm stays connected.
    fn script_failed(&mut self, desk: &mut Desk<'_>, set: &Set, what: &str) -> Result<Turn, Failure> {
        let script = &desk.program.scripts[self.script].name;
        let (line, column, number) = (set.line, set.column, self.number);
        let what = format!("script \"{script}\" line {line} column {column}: {what} (client {number})");
        desk.refusal.get_or_insert(Failure::Request(what));
        desk.slice.wind_down();
        if self.block != Status::Idle {
            return self.roll_back(desk, Phase::LastRollback);
        }
        self.phase = Phase::Resting;
        Ok(Turn::Finished)
    }

    fn left_open(&self, desk: &Desk<'_>) -> Failure {
        let (script, number, arm) = (&desk.program.scripts[self.script].name, self.number, self.arm);
        Failure::server(format!(
            "client {number} of arm {arm} came to the end of script \"{script}\" inside a transaction"
        ))
    }

    fn refused(&self, what: &str, said: Option<Box<ServerError>>) -> Failure {
        let what = format!("arm {} refused {what} of client {} in a slice", self.arm, self.number);
        Failure::Server { what, said }
    }

    fn closed(&mut self) -> Failure {
        let what = format!("arm {} closed the connection of client {} in a slice", self.arm, self.number);
        Failure::Server { what, said: self.answer.take_error() }
    }

    fn nonsense(&self, error: &WireError) -> Failure {
        Failure::server(format!("arm {} spoke nonsense to client {} in a slice: {error}", self.arm, self.number))
    }

    fn world(&self, error: &io::Error) -> Failure {
        Failure::world(&format!("the connection of client {} to arm {}", self.number, self.arm), error)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Polite only: the server notices a closed socket too.
        let _ = connect::close(&mut self.socket);
    }
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Done,
    Failed,
}
