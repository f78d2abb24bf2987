//! A client that runs scripts: its variables, and where in a script it is.
//!
//! It is compiled for two repertoires. Scripts of nothing but `\set` and SQL are the hot path, and pay for none of
//! what [`stage`] does for the others.

mod shell;
mod stage;

use super::{Client, Desk, Ending, Seat, Turn, is_conflict};
use crate::drive::clock;
use crate::drive::connect;
use crate::drive::failure::Failure;
use crate::drive::slice::Tally;
use crate::drive::transport::Heard;
use crate::script::encoding;
use crate::script::evaluate::Scope;
use crate::script::expression::Expression;
use crate::script::meta::Target;
use crate::script::program::{Action, Program, Statement};
use crate::script::random::{self, Prng};
use crate::script::stored::Targets;
use crate::script::value::{self, Scalar, Value};
use crate::wire::backend::Status;
use crate::wire::frontend::{self, Asking, Execution};
use stage::{Next, Stage};
use std::fmt::Display;
use std::sync::Arc;

pub use stage::Repertoire;

pub struct ScriptPart {
    program: Arc<Program>,
    /// By the number of the statement.
    executions: Vec<Execution>,
    /// The same without a Sync, where a script has pipelines.
    piped: Vec<Execution>,
}

impl ScriptPart {
    pub fn of(program: Arc<Program>) -> Self {
        let executions = |sync| {
            let execution = move |(number, statement): (usize, &Statement)| {
                let parameters = u16::try_from(statement.parameters.len()).expect("the script was checked for it");
                let asking = Asking { parse: None, describe: false, sync, forms: &[] };
                Execution::asking(&connect::prepared_name(number), parameters, asking)
            };
            program.statements.iter().enumerate().map(execution).collect()
        };
        let piped = if program.is_plain() { Vec::new() } else { executions(false) };
        Self { executions: executions(true), piped, program }
    }
}

type ScriptDesk<'a> = Desk<'a, ScriptPart>;

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
    /// The answers to a pipeline.
    Pipeline,
    /// The same, of a script that failed inside of it.
    LastPipeline,
    /// The end of a `\sleep`.
    Sleeping,
    /// The next turn, after a transaction that waited for nothing.
    Yielding,
}

#[derive(Debug)]
pub struct ScriptClient<T> {
    seat: Seat<T>,
    phase: Phase,
    /// What functions of scripts draw from, and what chooses scripts.
    functions: Prng,
    choice: Prng,
    variables: Vec<Value>,
    script: usize,
    /// The next command of the script.
    next: usize,
    stage: Stage,
}

impl<T: Repertoire> Client for ScriptClient<T> {
    type Part = ScriptPart;

    /// Everything random comes from the seed and the client's number alone, by the formula in
    /// PROTOCOL.md; mixing the seed first keeps the streams of neighbouring seeds apart.
    fn reset(&mut self, part: &ScriptPart, mut seed: u64) {
        let mixed = random::splitmix64(&mut seed);
        let stream = 2 * self.seat.number as u64;
        self.functions = Prng::seeded(mixed ^ stream);
        self.choice = Prng::seeded(mixed ^ (stream + 1));
        self.variables.clone_from(&part.program.initial);
        if let Some(slot) = part.program.client_id {
            self.variables[slot] = Scalar::Integer(self.seat.number as i64).into();
        }
        self.seat.tally = Tally::default();
    }

    fn begin(&mut self, desk: &mut ScriptDesk<'_>) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        self.go_on(desk, now)
    }

    #[inline]
    fn hear(&mut self, heard: Heard<'_>) -> Result<Option<Status>, Failure> {
        self.seat.hear(heard)
    }

    fn answered(&mut self, desk: &mut ScriptDesk<'_>, status: Status) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        self.seat.block = status;
        match self.phase {
            Phase::Statement(statement) if !self.seat.answer.has_error() => {
                if self.seat.counts_at(desk, now) {
                    desk.recorder.statement(statement, now - self.seat.sent_ns);
                }
                if T::WHOLE && desk.part.program.statements[statement].store.is_some() {
                    return self.store(desk, statement, now);
                }
                self.proceed(desk, now)
            }
            Phase::Statement(statement) => self.refused(desk, &format_args!("statement {statement}"), now),
            Phase::Pipeline => self.pipeline_answered(desk, now),
            Phase::Rollback => {
                self.seat.check_rollback()?;
                self.finish(desk, now, Ending::Failed);
                self.go_on(desk, now)
            }
            Phase::LastRollback => {
                self.seat.check_rollback()?;
                self.phase = Phase::Resting;
                Ok(Turn::Finished)
            }
            Phase::LastPipeline => Ok(self.leave(desk)),
            Phase::Resting | Phase::Sleeping | Phase::Yielding => Err(self.seat.unasked()),
        }
    }
    fn wake(&mut self, desk: &mut ScriptDesk<'_>) -> Result<Turn, Failure> {
        let now = clock::now_ns();
        match self.phase {
            Phase::Sleeping => self.proceed(desk, now),
            Phase::Yielding => self.go_on(desk, now),
            _ => unreachable!("only these pause"),
        }
    }

    fn check_limit(&self, desk: &ScriptDesk<'_>) -> Result<(), Failure> {
        match self.phase {
            Phase::Resting | Phase::Sleeping | Phase::Yielding => Ok(()),
            _ => self.seat.check_limit(desk),
        }
    }

    fn tally(&self) -> &Tally {
        &self.seat.tally
    }
}

impl<T: Repertoire> ScriptClient<T> {
    /// `targets`: by statement, where its columns go; of plain scripts there are none.
    pub fn new(seat: Seat<T>, targets: Arc<[Option<Targets>]>) -> Self {
        let unseeded = Prng::seeded(0);
        Self {
            seat,
            phase: Phase::Resting,
            functions: unseeded.clone(),
            choice: unseeded,
            variables: Vec::new(),
            script: 0,
            next: 0,
            stage: Stage::with(targets),
        }
    }

    /// What was sent ended with an error. `what` it was is only asked for where that ends the slice.
    fn refused(&mut self, desk: &mut ScriptDesk<'_>, what: &dyn Display, now: u64) -> Result<Turn, Failure> {
        match self.seat.answer.take_error() {
            Some(error) if is_conflict(&error) => {
                if self.seat.block != Status::Idle {
                    return Ok(self.roll_back(desk, Phase::Rollback));
                }
                self.finish(desk, now, Ending::Failed);
                self.go_on(desk, now)
            }
            error => Err(self.seat.refused(&what.to_string(), error)),
        }
    }

    fn go_on(&mut self, desk: &mut ScriptDesk<'_>, now: u64) -> Result<Turn, Failure> {
        if self.start(desk, now) { self.proceed(desk, now) } else { Ok(Turn::Finished) }
    }

    /// Begins a transaction if the slice has room for one.
    #[inline]
    fn start(&mut self, desk: &ScriptDesk<'_>, now: u64) -> bool {
        if !self.seat.may_start(desk, now) {
            self.phase = Phase::Resting;
            return false;
        }
        match &desk.slice.tasks {
            None => self.script = desk.part.program.choose(&mut self.choice),
            Some(tasks) => {
                let Some(task) = tasks[self.seat.number].get(self.seat.tally.executed() as usize) else {
                    self.phase = Phase::Resting;
                    return false;
                };
                self.script = task.script;
                for (slot, value) in &task.variables {
                    self.variables[*slot] = value.clone();
                }
            }
        }
        self.seat.start(desk, now);
        self.next = 0;
        if T::WHOLE {
            self.stage.begin();
        }
        true
    }

    /// Ends a transaction. Where there are several scripts, each is a kind of transaction.
    #[inline]
    fn finish(&mut self, desk: &mut ScriptDesk<'_>, now: u64, ending: Ending) {
        let done_ns = (ending == Ending::Done).then(|| now - self.seat.begun_ns);
        if self.seat.end(desk, now, ending) && desk.part.program.scripts.len() > 1 {
            desk.recorder.kind(self.script, done_ns, desk.times.in_seconds(now), false, 0);
        }
    }

    /// Runs commands up to the next statement to wait for, through the ends of transactions.
    #[inline]
    fn proceed(&mut self, desk: &mut ScriptDesk<'_>, now: u64) -> Result<Turn, Failure> {
        let program = &*desk.part.program;
        // The last reading of the clock, while nothing that takes time was done since.
        let mut now = Some(now);
        loop {
            match program.scripts[self.script].commands.get(self.next).map(|command| &command.action) {
                Some(Action::Set(set)) => {
                    now = None;
                    match (self.evaluate(program, &set.expression), &set.target) {
                        (Ok(scalar), Target::Slot(slot)) => self.variables[*slot] = Value::Scalar(scalar),
                        (Err(what), _) => return Ok(self.failed_at(desk, set.line, set.column, &what)),
                        (Ok(_), Target::Invalid(_)) => unreachable!("the dialect of campaigns refuses it"),
                    }
                    self.next += 1;
                }
                Some(&Action::Statement(statement)) if T::WHOLE && self.stage.is_piping() => {
                    self.put_in_pipe(desk, statement);
                    now = None;
                }
                Some(&Action::Statement(statement)) => {
                    let execution = &desk.part.executions[statement];
                    self.next += 1;
                    self.phase = Phase::Statement(statement);
                    desk.outgoing.clear();
                    self.write(execution, &program.statements[statement], desk.outgoing);
                    if T::WHOLE {
                        self.stage.waited = true;
                        self.seat.answer.taker.expect(program.statements[statement].store.is_some());
                    }
                    self.seat.sent_ns = now.unwrap_or_else(clock::now_ns);
                    self.seat.send(desk);
                    return Ok(Turn::Waiting);
                }
                Some(action) if T::WHOLE => {
                    now = None;
                    match self.perform(desk, action)? {
                        Next::Command => {}
                        Next::Turn(turn) => return Ok(turn),
                    }
                }
                Some(_) => unreachable!("a plain script has no other commands"),
                None => {
                    if T::WHOLE && self.stage.is_piping() {
                        return Ok(self.script_failed(desk, "end of script reached with pipeline open"));
                    }
                    if self.seat.block != Status::Idle {
                        return Err(self.left_open(desk));
                    }
                    let ended = now.unwrap_or_else(clock::now_ns);
                    self.finish(desk, ended, Ending::Done);
                    // Others would never have a turn.
                    if T::WHOLE && !self.stage.waited {
                        self.phase = Phase::Yielding;
                        // Nothing is owed by the server.
                        self.seat.sent_ns = ended;
                        return Ok(Turn::Pausing(ended));
                    }
                    if !self.start(desk, ended) {
                        return Ok(Turn::Finished);
                    }
                    now = Some(ended);
                }
            }
        }
    }

    #[inline]
    fn evaluate(&mut self, program: &Program, expression: &Expression) -> Result<Scalar, String> {
        let mut scope = Scope { variables: &self.variables, prng: &mut self.functions, shown: &mut Vec::new() };
        expression.evaluate(&mut scope).map_err(|error| error.words(&program.names).unwrap_or_default())
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
                    Value::Text(text) => frontend::parameter(&encoding::bytes(text), out),
                    // pgbench passes a null value on as the text `NULL`, which no type but text reads.
                    Value::Scalar(Scalar::Null) | Value::Unset => frontend::null_parameter(out),
                }
            }
        });
    }

    fn roll_back(&mut self, desk: &mut ScriptDesk<'_>, phase: Phase) -> Turn {
        self.phase = phase;
        self.seat.send_rollback(desk);
        Turn::Waiting
    }

    /// What the command at hand cannot do.
    #[cold]
    fn script_failed(&mut self, desk: &mut ScriptDesk<'_>, what: &str) -> Turn {
        let commands = &desk.part.program.scripts[self.script].commands;
        let command = &commands[self.next.min(commands.len() - 1)];
        self.failed_at(desk, command.line, command.column, what)
    }

    /// The script is wrong, not the server: the slice winds down and the arm stays connected.
    #[cold]
    fn failed_at(&mut self, desk: &mut ScriptDesk<'_>, line: usize, column: usize, what: &str) -> Turn {
        let (script, number) = (&desk.part.program.scripts[self.script].name, self.seat.number);
        let what = format!("script \"{script}\" line {line} column {column}: {what} (client {number})");
        desk.refusal.get_or_insert(Failure::Request(what));
        desk.slice.wind_down();
        if T::WHOLE && self.stage.is_piping() {
            return self.abandon_pipeline(desk);
        }
        self.leave(desk)
    }

    /// The client's last deed in a slice that a script has ended.
    fn leave(&mut self, desk: &mut ScriptDesk<'_>) -> Turn {
        // Of a pipeline that was given up.
        self.seat.answer.take_error();
        if self.seat.block != Status::Idle {
            return self.roll_back(desk, Phase::LastRollback);
        }
        self.phase = Phase::Resting;
        Turn::Finished
    }

    fn left_open(&self, desk: &ScriptDesk<'_>) -> Failure {
        let script = &desk.part.program.scripts[self.script].name;
        let (number, arm) = (self.seat.number, self.seat.arm);
        Failure::server(format!(
            "client {number} of arm {arm} came to the end of script \"{script}\" inside a transaction"
        ))
    }
}
