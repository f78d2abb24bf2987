//! One client: a connection, its variables, and where in a script and a transaction it is.
//!
//! [`Client::advance`] goes on until there is something to wait for, and says what.

mod beginning;
mod command;
mod ending;
mod exchange;
mod parameters;
mod statement;

use super::desk::Desk;
use super::reply::Reply;
use super::settings::Settings;
use super::voice;
use crate::drive::clock;
use crate::drive::socket::Socket;
use crate::script::program::{Action, Program};
use crate::script::random::Prng;
use crate::script::value::Value;
use crate::wire::stream::Stream;

pub use exchange::Read;

/// A pipeline is sent when so much of it has gathered, as libpq does it.
const PIPELINE_BYTES: usize = 64 * 1024;

/// What a client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Something to read.
    Reading,
    /// A time.
    Sleeping(i64),
    /// Only that others have their turn.
    Yielding,
    Finished,
    Aborted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    ChooseScript,
    /// Between transactions, as the user of an application.
    Thinking {
        until_us: i64,
    },
    Schedule,
    Throttled,
    Begin,
    StartCommand,
    Sleeping {
        until_us: i64,
    },
    /// The statements that a command needs are being prepared: its own, or those of a pipeline.
    Preparing {
        pipeline: bool,
    },
    Answered,
    EndCommand,
    /// What is still to come of a pipeline with an error.
    Draining,
    Failed,
    RollingBack,
    Retry,
    Failure,
    EndTransaction,
    Finished,
    Aborted,
}

/// Why the transaction under way cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    Serialization,
    Deadlock,
    Other,
}

pub struct Client {
    pub number: usize,
    /// Among those of its thread, and of its socket in their transport.
    place: usize,
    stream: Stream,
    reply: Reply,
    phase: Phase,
    trouble: Trouble,

    functions: Prng,
    /// As it was when the transaction began.
    functions_before: Prng,
    variables: Vec<Value>,
    script: usize,
    command: usize,
    /// Whether the condition just computed does not hold.
    skips: bool,
    /// Whether an `\elif` at hand was jumped to.
    jumped: bool,
    tries: u32,
    prepared: Vec<bool>,
    /// What is being prepared.
    preparing: Vec<usize>,
    piping: bool,
    /// How often the pipeline under way is to be answered with ReadyForQuery.
    syncs: usize,
    pipe: Vec<u8>,

    /// Whether it slept until its time had come.
    waits: bool,
    scheduled_us: i64,
    begun_us: i64,
    command_us: i64,
    /// Transactions of any end, skipped ones included.
    count: u64,
}

/// The last reading of the clock, as long as nothing that takes time was done since.
#[derive(Default)]
struct Now(Option<i64>);

impl Now {
    fn us(&mut self) -> i64 {
        *self.0.get_or_insert_with(now_us)
    }
}

pub fn now_us() -> i64 {
    (clock::now_ns() / 1000) as i64
}

impl Client {
    pub fn new(number: usize, program: &Program, functions: Prng) -> Self {
        Self {
            number,
            place: 0,
            stream: Stream::default(),
            reply: Reply::default(),
            phase: Phase::ChooseScript,
            trouble: Trouble::None,
            functions_before: functions.clone(),
            functions,
            variables: program.initial.clone(),
            script: 0,
            command: 0,
            skips: false,
            jumped: false,
            tries: 1,
            prepared: vec![false; program.statements.len()],
            preparing: Vec::new(),
            piping: false,
            syncs: 0,
            pipe: Vec::new(),
            waits: false,
            scheduled_us: 0,
            begun_us: 0,
            command_us: 0,
            count: 0,
        }
    }

    /// Whether what comes from the server is waited for.
    pub fn is_reading(&self) -> bool {
        matches!(self.phase, Phase::Answered | Phase::Preparing { .. } | Phase::RollingBack | Phase::Draining)
    }

    /// From when on the client belongs to a thread.
    pub fn take_place(&mut self, place: usize) {
        self.place = place;
    }

    /// A new connection of the client, for its place in the transport; `None`: it was said why there is none.
    pub fn connect(&mut self, settings: &Settings) -> Option<Socket> {
        let (socket, read) = (settings.open)()?.end();
        (self.stream, self.reply) = (Stream::default(), Reply::default());
        self.stream.feed(&read, &mut self.reply).ok()?;
        self.prepared.fill(false);
        Some(socket)
    }

    pub fn advance(&mut self, desk: &mut Desk<'_>) -> Turn {
        let mut now = Now::default();
        loop {
            self.phase = match self.phase {
                Phase::ChooseScript => self.choose_script(desk),
                Phase::Thinking { until_us } => {
                    if now.us() < until_us {
                        return Turn::Sleeping(until_us);
                    }
                    if desk.over.is_set() { Phase::Finished } else { Phase::ChooseScript }
                }
                Phase::Schedule => match self.schedule(desk, &mut now) {
                    Some(next) => next,
                    None => continue,
                },
                Phase::Throttled => {
                    if now.us() < self.scheduled_us {
                        self.waits = true;
                        return Turn::Sleeping(self.scheduled_us);
                    }
                    if std::mem::take(&mut self.waits)
                        && let Some(distributions) = &mut desk.distributions
                    {
                        distributions.wake(now.us() - self.scheduled_us);
                    }
                    if desk.over.is_set() {
                        desk.leave_unsent(1);
                        Phase::Finished
                    } else {
                        Phase::Begin
                    }
                }
                Phase::Begin => self.begin(desk, &mut now),
                Phase::StartCommand => self.start_command(desk, &mut now),
                Phase::Sleeping { until_us } => {
                    if now.us() < until_us {
                        return Turn::Sleeping(until_us);
                    }
                    Phase::EndCommand
                }
                Phase::Preparing { .. } | Phase::Answered | Phase::RollingBack | Phase::Draining
                    if !self.is_answered() =>
                {
                    return Turn::Reading;
                }
                Phase::Preparing { pipeline } => self.was_prepared(desk, pipeline),
                Phase::Answered => self.answered(desk),
                Phase::EndCommand => self.end_command(desk, &mut now),
                Phase::Draining => {
                    self.piping = false;
                    self.after_error(desk, &mut now)
                }
                Phase::Failed => self.failed(desk, &mut now),
                Phase::RollingBack => self.rolled_back(desk, &mut now),
                Phase::Retry => self.retry(desk, &mut now),
                Phase::Failure => {
                    if self.begun_us >= desk.counted_from_us {
                        desk.command_counts[self.script][self.command].failures += 1;
                    }
                    if desk.settings.verbose_errors {
                        self.tell_try(desk, &mut now, "ends the failed transaction");
                    }
                    Phase::EndTransaction
                }
                Phase::EndTransaction => match self.end_transaction(desk, &mut now) {
                    Phase::ChooseScript => {
                        self.phase = self.think(desk, &mut now);
                        return Turn::Yielding;
                    }
                    other => other,
                },
                Phase::Finished => {
                    desk.transport.close(self.place);
                    return Turn::Finished;
                }
                Phase::Aborted => {
                    desk.transport.close(self.place);
                    return Turn::Aborted;
                }
            };
        }
    }

    /// Whether what is waited for has come, or an error that ends it.
    fn is_answered(&self) -> bool {
        self.reply.is_complete() || (self.phase == Phase::Answered && self.piping && self.reply.error.is_some())
    }

    fn start_command(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        let program = desk.program;
        if !desk.settings.per_command && !voice::debugging() && self.set_in_a_row(desk) {
            now.0 = None;
        }
        let Some(command) = program.scripts[self.script].commands.get(self.command) else {
            if !self.piping {
                return Phase::EndTransaction;
            }
            voice::error(format_args!("client {} aborted: end of script reached with pipeline open", self.number));
            return Phase::Aborted;
        };
        if desk.settings.per_command {
            self.command_us = now.us();
        }
        if let Action::Statement(number) = command.action {
            return self.start_statement(desk, number);
        }
        if voice::debugging() {
            voice::debug(format_args!("client {} executing \\{}", self.number, command.words.join(" ")));
        }
        let name = command.words.first().map_or("", String::as_str);
        let next = self.execute(desk, now, &command.action, name);
        // Computing and shell commands take time.
        if !matches!(command.action, Action::Sleep(_)) {
            now.0 = None;
        }
        next
    }

    fn command_failed(&self, name: &str, what: &str) {
        let (number, script, command) = (self.number, self.script, self.command);
        voice::error(format_args!("client {number} aborted in command {command} ({name}) of script {script}; {what}"));
    }

    fn end_command(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        if desk.settings.per_command && self.begun_us >= desk.counted_from_us {
            let took_us = now.us() - self.command_us;
            desk.command_counts[self.script][self.command].times.record(0.000_001 * took_us as f64);
            if let Some(distributions) = &mut desk.distributions {
                distributions.record_command(self.script, self.command, took_us);
            }
        }
        let skips = std::mem::take(&mut self.skips);
        let jumped = std::mem::take(&mut self.jumped);
        self.command = match &desk.program.scripts[self.script].commands[self.command].action {
            // Whoever comes to these without a jump has done the branch before.
            Action::Elif(condition) if !jumped => condition.end,
            Action::Else { end } => *end,
            Action::If(condition) | Action::Elif(condition) if skips => {
                // What follows the `\endif` may be an `\elif` too, of a condition around this one.
                self.jumped = condition.otherwise != condition.end;
                condition.otherwise
            }
            _ => self.command + 1,
        };
        Phase::StartCommand
    }
}
