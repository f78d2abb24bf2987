//! What scripts do beside computing and sending one statement after the other: conditions, sleeps, results in
//! variables, pipelines, shell commands.

use super::{Phase, ScriptClient, ScriptDesk, Turn, shell};
use crate::drive::clock;
use crate::drive::failure::Failure;
use crate::script::meta::{Target, Word};
use crate::script::outside;
use crate::script::program::{Action, Condition};
use crate::script::stored::Targets;
use crate::script::value::{Scalar, Value};
use crate::wire::answer::{Skip, Taker};
use crate::wire::frontend;
use crate::wire::last_row::LastRow;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// What the scripts of a client may have.
pub trait Repertoire: Taker + Default {
    /// Everything, or nothing but `\set` and SQL.
    const WHOLE: bool;

    /// Whether rows of the next answer are kept.
    fn expect(&mut self, wanted: bool);

    /// The last row that was kept, and how many there were.
    fn kept(&self) -> Option<&LastRow>;
}

impl Repertoire for Skip {
    const WHOLE: bool = false;

    fn expect(&mut self, _: bool) {}

    fn kept(&self) -> Option<&LastRow> {
        None
    }
}

impl Repertoire for LastRow {
    const WHOLE: bool = true;

    #[inline]
    fn expect(&mut self, wanted: bool) {
        self.expect(wanted);
    }

    #[inline]
    fn kept(&self) -> Option<&LastRow> {
        Some(self)
    }
}

/// Where the client is, as far as a plain script is nowhere else.
#[derive(Debug)]
pub(super) struct Stage {
    /// By statement, where its columns go.
    targets: Arc<[Option<Targets>]>,
    /// Whether the transaction under way has left the thread to others.
    pub(super) waited: bool,
    /// Whether the `\elif` at hand was jumped to.
    jumped: bool,
    pipe: Option<Pipe>,
    /// The buffers of the last pipeline.
    spare: Pipe,
}

/// A pipeline under way.
#[derive(Debug, Default)]
struct Pipe {
    /// What is not sent yet.
    bytes: Vec<u8>,
    statements: Vec<usize>,
    /// When its first bytes were sent.
    sent_ns: Option<u64>,
}

/// A pipeline is sent when so much of it has gathered, as libpq does it.
const PIPELINE_BYTES: usize = 64 * 1024;

/// What comes after a command.
pub(super) enum Next {
    Command,
    Turn(Turn),
}

impl Stage {
    pub(super) fn with(targets: Arc<[Option<Targets>]>) -> Self {
        Self { targets, waited: false, jumped: false, pipe: None, spare: Pipe::default() }
    }

    /// A transaction begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        (self.waited, self.jumped) = (false, false);
    }

    #[inline]
    pub(super) fn is_piping(&self) -> bool {
        self.pipe.is_some()
    }
}

impl<T: Repertoire> ScriptClient<T> {
    /// Executes the command at hand, which is neither `\set` nor SQL.
    pub(super) fn perform(&mut self, desk: &mut ScriptDesk<'_>, action: &Action) -> Result<Next, Failure> {
        let program = &*desk.part.program;
        let next = self.next;
        self.next += 1;
        match action {
            Action::Set(_) | Action::Statement(_) => unreachable!("these are executed elsewhere"),
            // Who comes from the branch before leaves.
            Action::Elif(condition) if !mem::take(&mut self.stage.jumped) => self.next = condition.end,
            Action::If(condition) | Action::Elif(condition) => match self.evaluate(program, &condition.expression) {
                Ok(scalar) if scalar.is_true() => {}
                Ok(_) => self.jump(desk, condition),
                Err(what) => return Ok(self.fails(desk, next, &what)),
            },
            Action::Else { end } => self.next = *end,
            Action::Endif => {}
            Action::Sleep(sleep) => match sleep.time(&self.variables) {
                Ok(time) => return Ok(self.sleep(desk, next, time)),
                Err(what) => return Ok(self.fails(desk, next, &what)),
            },
            Action::Shell(words) => match self.run_shell(desk, words, false)? {
                Ok(_) => {}
                Err(what) => return Ok(self.fails(desk, next, &what)),
            },
            Action::SetShell { target, line: words } => {
                let answered = self.run_shell(desk, words, true)?;
                match (answered.and_then(|printed| outside::integer(&printed)), target) {
                    (Ok(value), Target::Slot(slot)) => self.variables[*slot] = Scalar::Integer(value).into(),
                    (Err(what), _) => return Ok(self.fails(desk, next, &what)),
                    (Ok(_), Target::Invalid(_)) => unreachable!("the dialect of campaigns refuses it"),
                }
            }
            Action::StartPipeline if self.stage.is_piping() => {
                return Ok(self.fails(desk, next, "already in pipeline mode"));
            }
            Action::StartPipeline => {
                self.seat.answer.pipe(true);
                self.seat.answer.taker.expect(false);
                self.stage.pipe = Some(mem::take(&mut self.stage.spare));
            }
            Action::SyncPipeline | Action::EndPipeline => {
                let Some(pipe) = &mut self.stage.pipe else {
                    return Ok(self.fails(desk, next, "not in pipeline mode"));
                };
                pipe.bytes.extend_from_slice(frontend::SYNC);
                if matches!(action, Action::EndPipeline) {
                    self.send_pipe(desk);
                    self.phase = Phase::Pipeline;
                    return Ok(Next::Turn(Turn::Waiting));
                }
                self.seat.answer.add_sync();
            }
        }
        Ok(Next::Command)
    }

    fn fails(&mut self, desk: &mut ScriptDesk<'_>, command: usize, what: &str) -> Next {
        self.next = command;
        Next::Turn(self.script_failed(desk, what))
    }

    fn jump(&mut self, desk: &ScriptDesk<'_>, condition: &Condition) {
        self.next = condition.otherwise;
        let commands = &desk.part.program.scripts[self.script].commands;
        let to_elif = matches!(commands.get(self.next).map(|command| &command.action), Some(Action::Elif(_)));
        // What follows the `\endif` may be an `\elif` too, of a condition around this one.
        self.stage.jumped = to_elif && condition.otherwise != condition.end;
    }

    fn sleep(&mut self, desk: &mut ScriptDesk<'_>, command: usize, time: Duration) -> Next {
        let limit = desk.slice.plan.statement_limit;
        if time > limit {
            let (time, limit) = (time.as_secs_f64(), limit.as_secs_f64());
            let what = format!("a sleep of {time} s is longer than the {limit} s that a client waits for anything");
            return self.fails(desk, command, &what);
        }
        self.stage.waited = true;
        self.phase = Phase::Sleeping;
        let until_ns = clock::now_ns().saturating_add(time.as_nanos() as u64);
        // Nothing is owed by the server meanwhile, whatever it says unasked.
        self.seat.sent_ns = until_ns;
        Next::Turn(Turn::Pausing(until_ns))
    }

    /// The result of the statement just answered goes into variables.
    pub(super) fn store(&mut self, desk: &mut ScriptDesk<'_>, statement: usize, now: u64) -> Result<Turn, Failure> {
        let store = desk.part.program.statements[statement].store.as_ref().expect("it was asked");
        let row = self.seat.answer.taker.kept().expect("plain scripts store nothing");
        if !store.all && row.count != 1 {
            let what = format!("\\gset: expected one row, got {}", row.count);
            self.next -= 1;
            return Ok(self.script_failed(desk, &what));
        }
        let targets = self.stage.targets[statement].as_ref().expect("a statement that stores has targets");
        for (target, column) in targets.iter().zip(row.columns()) {
            if let Some(slot) = target {
                // As in pgbench, NULL is an empty text.
                self.variables[*slot] = Value::text(column.unwrap_or_default());
            }
        }
        self.proceed(desk, now)
    }

    /// The statement at hand joins the pipeline.
    pub(super) fn put_in_pipe(&mut self, desk: &mut ScriptDesk<'_>, statement: usize) {
        let mut pipe = self.stage.pipe.take().expect("a pipeline is open");
        self.next += 1;
        self.write(&desk.part.piped[statement], &desk.part.program.statements[statement], &mut pipe.bytes);
        pipe.statements.push(statement);
        let is_full = pipe.bytes.len() >= PIPELINE_BYTES;
        self.stage.pipe = Some(pipe);
        if is_full {
            self.send_pipe(desk);
        }
    }

    /// Sends what has gathered.
    fn send_pipe(&mut self, desk: &mut ScriptDesk<'_>) {
        let pipe = self.stage.pipe.as_mut().expect("a pipeline is open");
        self.stage.waited = true;
        self.seat.sent_ns = clock::now_ns();
        pipe.sent_ns.get_or_insert(self.seat.sent_ns);
        desk.transport.send(self.seat.place, &pipe.bytes);
        pipe.bytes.clear();
    }

    /// All of a pipeline has been answered.
    pub(super) fn pipeline_answered(&mut self, desk: &mut ScriptDesk<'_>, now: u64) -> Result<Turn, Failure> {
        let mut pipe = self.stage.pipe.take().expect("it was sent");
        let sent_ns = pipe.sent_ns.take().expect("it was sent");
        let failed = self.seat.answer.has_error();
        if !failed && self.seat.counts_at(desk, now) {
            pipe.statements.iter().for_each(|&sent| desk.recorder.statement(sent, now - sent_ns));
        }
        pipe.statements.clear();
        self.stage.spare = pipe;
        if failed { self.refused(desk, &"a statement of a pipeline", now) } else { self.proceed(desk, now) }
    }

    /// The script failed with a pipeline open. If something of it was sent, the rest follows: it is all answered then.
    pub(super) fn abandon_pipeline(&mut self, desk: &mut ScriptDesk<'_>) -> Turn {
        let mut pipe = self.stage.pipe.take().expect("a pipeline is open");
        let was_sent = pipe.sent_ns.take().is_some();
        pipe.statements.clear();
        if !was_sent {
            pipe.bytes.clear();
            self.stage.spare = pipe;
            self.seat.answer.pipe(false);
            return self.leave(desk);
        }
        pipe.bytes.extend_from_slice(frontend::SYNC);
        self.seat.sent_ns = clock::now_ns();
        desk.transport.send(self.seat.place, &pipe.bytes);
        pipe.bytes.clear();
        self.stage.spare = pipe;
        self.phase = Phase::LastPipeline;
        Turn::Waiting
    }

    fn run_shell(
        &mut self,
        desk: &ScriptDesk<'_>,
        words: &[Word],
        asked: bool,
    ) -> Result<Result<Vec<u8>, String>, Failure> {
        let line = match outside::line(words, &self.variables) {
            Ok(line) => line,
            Err(what) => return Ok(Err(what)),
        };
        let ran = shell::run(&line, asked, desk.slice)?;
        Ok(ran.map_err(|what| format!("shell command `{line}` {what}")))
    }
}
