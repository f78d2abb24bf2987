//! One client: a connection, its variables, and where in a script and a transaction it is.
//!
//! [`Client::advance`] goes on until there is something to wait for, and says what.

use super::log::{Entry, Log};
use super::meta;
use super::reply::Reply;
use super::settings::{Mode, Settings};
use super::voice;
use crate::drive::clock;
use crate::drive::connect;
use crate::drive::halt::Halt;
use crate::drive::socket::{Socket, Wait};
use crate::measure::counts::{CommandCounts, Counts, End};
use crate::script::evaluate::Scope;
use crate::script::expression::Expression;
use crate::script::meta::Target;
use crate::script::program::{Action, Program, Statement};
use crate::script::random::Prng;
use crate::script::value::{Scalar, Value, write_double};
use crate::wire::backend::Status;
use crate::wire::frontend::{self, Execution};
use crate::wire::stream::Stream;
use std::io::ErrorKind;

/// A pipeline is sent when so much of it has gathered, as libpq does it.
const PIPELINE_BYTES: usize = 64 * 1024;

/// What the clients of one thread have in common.
pub struct Desk<'a> {
    pub settings: &'a Settings,
    pub program: &'a Program,
    /// By the number of the statement; none in simple mode.
    pub executions: &'a [Execution],
    /// In a pipeline.
    pub executions_piped: &'a [Execution],
    /// The time of the run is over.
    pub over: &'a Halt,
    /// No transaction that is to begin after this is waited for.
    pub end_us: Option<i64>,

    pub choice: Prng,
    pub throttle: Prng,
    /// When the last scheduled transaction was to begin.
    pub trigger_us: i64,

    pub counts: Counts,
    pub late: u64,
    pub script_counts: Vec<Counts>,
    pub command_counts: Vec<Vec<CommandCounts>>,
    pub connecting_us: i64,
    pub log: Option<Log>,

    pub incoming: Vec<u8>,
    pub outgoing: Vec<u8>,
    pub shown: Vec<Scalar>,
}

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
    pub socket: Option<Socket>,
    /// Told to the thread that watches the socket.
    pub is_new: bool,
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
    piping: bool,
    pipe: Vec<u8>,

    scheduled_us: i64,
    begun_us: i64,
    command_us: i64,
    /// Transactions of any end, skipped ones included.
    count: u64,
}

/// What became of a connection that was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Open,
    Closed,
    /// It was said what.
    Nonsense,
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
            socket: None,
            is_new: false,
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
            piping: false,
            pipe: Vec::new(),
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

    pub fn connect(&mut self, settings: &Settings) -> bool {
        let Some(conversation) = (settings.open)() else { return false };
        let (socket, read) = conversation.end();
        (self.stream, self.reply) = (Stream::default(), Reply::default());
        if self.stream.feed(&read, &mut self.reply).is_err() {
            return false;
        }
        self.socket = Some(socket);
        self.is_new = true;
        self.prepared.fill(false);
        true
    }

    pub fn close(&mut self) {
        if let Some(mut socket) = self.socket.take() {
            // Whether the server listens no longer matters.
            let _ = connect::close(&mut socket);
        }
    }

    /// Reads once and goes on with what follows from it.
    pub fn receive(&mut self, desk: &mut Desk<'_>) -> Turn {
        if voice::debugging() {
            voice::debug(format_args!("client {} receiving", self.number));
        }
        match self.read(desk) {
            Read::Open => {}
            Read::Closed if self.reply.is_complete() => {}
            Read::Closed => self.server_gone(),
            Read::Nonsense => self.phase = Phase::Aborted,
        }
        self.advance(desk)
    }

    /// Takes what comes while nothing is waited for. `false`: the server has closed the connection.
    pub fn overhear(&mut self, desk: &mut Desk<'_>) -> bool {
        self.read(desk) == Read::Open
    }

    /// Takes what there is to read.
    fn read(&mut self, desk: &mut Desk<'_>) -> Read {
        let Some(socket) = &mut self.socket else { return Read::Closed };
        loop {
            match socket.receive(&mut desk.incoming, Wait::No) {
                Ok(0) => return Read::Closed,
                Ok(bytes) => {
                    if let Err(error) = self.stream.feed(&desk.incoming[..bytes], &mut self.reply) {
                        self.command_failed("SQL", &format!("the server spoke nonsense: {error}"));
                        return Read::Nonsense;
                    }
                    // What TLS has decrypted no socket tells of.
                    if socket.tls().is_none() {
                        return Read::Open;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Read::Open,
                Err(_) => return Read::Closed,
            }
        }
    }

    fn server_gone(&mut self) {
        let number = self.number;
        match self.phase {
            Phase::RollingBack | Phase::Draining => voice::error(format_args!(
                "client {number} aborted while rolling back the transaction after an error; perhaps the backend died \
                 while processing"
            )),
            _ if self.reply.error.is_some() => {
                self.tell_error(None);
            }
            _ => self.command_failed("SQL", "perhaps the backend died while processing"),
        }
        self.phase = Phase::Aborted;
    }

    pub fn advance(&mut self, desk: &mut Desk<'_>) -> Turn {
        let mut now = Now::default();
        loop {
            self.phase = match self.phase {
                Phase::ChooseScript => self.choose_script(desk),
                Phase::Schedule => match self.schedule(desk, &mut now) {
                    Some(next) => next,
                    None => continue,
                },
                Phase::Throttled => {
                    if now.us() < self.scheduled_us {
                        return Turn::Sleeping(self.scheduled_us);
                    }
                    if desk.over.is_set() { Phase::Finished } else { Phase::Begin }
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
                    desk.command_counts[self.script][self.command].failures += 1;
                    if desk.settings.verbose_errors {
                        self.tell_try(desk, &mut now, "ends the failed transaction");
                    }
                    Phase::EndTransaction
                }
                Phase::EndTransaction => match self.end_transaction(desk, &mut now) {
                    Phase::ChooseScript => {
                        self.phase = Phase::ChooseScript;
                        return Turn::Yielding;
                    }
                    other => other,
                },
                Phase::Finished => {
                    self.close();
                    return Turn::Finished;
                }
                Phase::Aborted => {
                    self.close();
                    return Turn::Aborted;
                }
            };
        }
    }

    /// Whether what is waited for has come, or an error that ends it.
    fn is_answered(&self) -> bool {
        self.reply.is_complete() || (self.phase == Phase::Answered && self.piping && self.reply.error.is_some())
    }

    fn choose_script(&mut self, desk: &mut Desk<'_>) -> Phase {
        self.script = desk.program.choose(&mut desk.choice);
        (self.trouble, self.tries) = (Trouble::None, 1);
        if voice::debugging() {
            let name = &desk.program.scripts[self.script].name;
            voice::debug(format_args!("client {} executing script \"{name}\"", self.number));
        }
        match desk.settings.throttle_us {
            _ if desk.over.is_set() => Phase::Finished,
            Some(_) => Phase::Schedule,
            None => Phase::Begin,
        }
    }

    /// When the next transaction is to begin. `None`: that one was skipped, and another is drawn.
    fn schedule(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Option<Phase> {
        let mean = desk.settings.throttle_us.expect("only throttled clients have a schedule");
        desk.trigger_us += desk.throttle.poisson(mean);
        self.scheduled_us = desk.trigger_us;
        if let Some(limit) = desk.settings.latency_limit_us
            && desk.trigger_us < now.us() - limit
        {
            self.count_transaction(desk, now, true);
            let all = desk.settings.transactions > 0 && self.count >= desk.settings.transactions;
            if desk.over.is_set() || all {
                return Some(Phase::Finished);
            }
            return None;
        }
        let beyond = desk.end_us.is_some_and(|end| self.scheduled_us > end);
        Some(if beyond { Phase::Finished } else { Phase::Throttled })
    }

    fn begin(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        let mut begun = now.us();
        if self.socket.is_none() {
            if !self.connect(desk.settings) {
                voice::error(format_args!("client {} aborted while establishing connection", self.number));
                return Phase::Aborted;
            }
            let connected = now_us();
            desk.connecting_us += connected - begun;
            (now.0, begun) = (Some(connected), connected);
        }
        // A retry draws the same numbers.
        self.functions_before = self.functions.clone();
        self.begun_us = begun;
        if desk.settings.throttle_us.is_none() {
            self.scheduled_us = begun;
        }
        (self.command, self.jumped, self.skips) = (0, false, false);
        Phase::StartCommand
    }

    fn start_command(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        let program = desk.program;
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

    fn start_statement(&mut self, desk: &mut Desk<'_>, number: usize) -> Phase {
        let statement = &desk.program.statements[number];
        if self.piping
            && let Some(store) = &statement.store
        {
            let name = if store.all { "aset" } else { "gset" };
            self.command_failed(name, &format!("\\{name} is not allowed in pipeline mode"));
            return Phase::Aborted;
        }
        if desk.settings.mode == Mode::Prepared && !self.prepared[number] {
            return self.prepare(desk, &[number], false);
        }
        self.send_statement(desk, number)
    }

    /// Sends what prepares the statements, each with an answer of its own.
    fn prepare(&mut self, desk: &mut Desk<'_>, numbers: &[usize], pipeline: bool) -> Phase {
        let mut out = Vec::new();
        for &number in numbers {
            let name = connect::prepared_name(number);
            voice::debug(format_args!("client {} preparing {name}", self.number));
            frontend::parse(&name, &desk.program.statements[number].prepared_text, &mut out);
            // Also if the server refuses it: the execution will say so again, and end the client.
            self.prepared[number] = true;
        }
        self.reply.expect(numbers.len(), None);
        if self.send(desk, &out) { Phase::Preparing { pipeline } } else { Phase::Aborted }
    }

    fn was_prepared(&mut self, desk: &mut Desk<'_>, pipeline: bool) -> Phase {
        let action = &desk.program.scripts[self.script].commands[self.command].action;
        if let Some(error) = self.reply.error.take() {
            let query = match action {
                Action::Statement(number) => Some(desk.program.statements[*number].prepared_text.as_str()),
                _ => None,
            };
            voice::error(error.shown(query, true));
        }
        match action {
            _ if pipeline => {
                self.piping = true;
                Phase::EndCommand
            }
            Action::Statement(number) => self.send_statement(desk, *number),
            _ => unreachable!("only statements and pipelines prepare"),
        }
    }

    fn send_statement(&mut self, desk: &mut Desk<'_>, number: usize) -> Phase {
        let statement = &desk.program.statements[number];
        if self.piping {
            let mut pipe = std::mem::take(&mut self.pipe);
            self.write_execution(&desk.executions_piped[number], statement, &mut pipe);
            self.tell_sending(desk, statement, number);
            let full = pipe.len() >= PIPELINE_BYTES;
            self.pipe = pipe;
            return if !full || self.send_pipe(desk) { Phase::EndCommand } else { Phase::Aborted };
        }
        let mut out = std::mem::take(&mut desk.outgoing);
        out.clear();
        match desk.settings.mode {
            Mode::Simple => frontend::written_query(&mut out, |out| self.write_text(statement, out)),
            Mode::Extended | Mode::Prepared => self.write_execution(&desk.executions[number], statement, &mut out),
        }
        self.tell_sending(desk, statement, number);
        self.reply.expect(1, statement.store.as_ref());
        let sent = self.send(desk, &out);
        desk.outgoing = out;
        if sent { Phase::Answered } else { Phase::Aborted }
    }

    fn tell_sending(&self, desk: &Desk<'_>, statement: &Statement, number: usize) {
        if !voice::debugging() {
            return;
        }
        let text = match desk.settings.mode {
            Mode::Simple => {
                let mut text = Vec::new();
                self.write_text(statement, &mut text);
                String::from_utf8_lossy(&text).into_owned()
            }
            Mode::Extended => statement.prepared_text.clone(),
            Mode::Prepared => connect::prepared_name(number),
        };
        voice::debug(format_args!("client {} sending {text}", self.number));
    }

    /// The statement with the values of its variables; unknown ones stay as they are.
    fn write_text(&self, statement: &Statement, out: &mut Vec<u8>) {
        let text = statement.text.as_bytes();
        let mut copied = 0;
        for (place, &slot) in statement.uses.iter().zip(&statement.parameters) {
            out.extend_from_slice(&text[copied..place.start]);
            if !self.variables[slot].write_text(out) {
                out.extend_from_slice(&text[place.clone()]);
            }
            copied = place.end;
        }
        out.extend_from_slice(&text[copied..]);
    }

    #[inline]
    fn write_execution(&self, execution: &Execution, statement: &Statement, out: &mut Vec<u8>) {
        execution.write(out, |out| {
            for &slot in &statement.parameters {
                match &self.variables[slot] {
                    Value::Unset => frontend::null_parameter(out),
                    value => frontend::written_parameter(out, |out| {
                        value.write_text(out);
                    }),
                }
            }
        });
    }

    fn send_pipe(&mut self, desk: &mut Desk<'_>) -> bool {
        let mut pipe = std::mem::take(&mut self.pipe);
        let sent = self.send(desk, &pipe);
        pipe.clear();
        self.pipe = pipe;
        sent
    }

    /// Sends all of it. A server that does not read because its own answers are not read is helped
    /// by reading them.
    fn send(&mut self, desk: &mut Desk<'_>, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let Some(socket) = &mut self.socket else { return false };
            match socket.send(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => match self.read(desk) {
                    Read::Open => {}
                    Read::Closed => {
                        self.command_failed("SQL", "perhaps the backend died while processing");
                        return false;
                    }
                    Read::Nonsense => return false,
                },
                Err(_) => {
                    self.command_failed("SQL", "SQL command send failed");
                    return false;
                }
            }
        }
        true
    }

    fn answered(&mut self, desk: &mut Desk<'_>) -> Phase {
        if self.reply.copies {
            voice::error("COPY is not supported in pgbench, aborting");
            return Phase::Aborted;
        }
        let action = &desk.program.scripts[self.script].commands[self.command].action;
        let statement = match action {
            Action::Statement(number) => Some(&desk.program.statements[*number]),
            _ => None,
        };
        if let Some(error) = &self.reply.error {
            self.trouble = match error.sqlstate.as_str() {
                "40001" => Trouble::Serialization,
                "40P01" => Trouble::Deadlock,
                _ => Trouble::Other,
            };
            let query = match (statement, desk.settings.mode) {
                (Some(statement), Mode::Extended) => Some(statement.prepared_text.clone()),
                (Some(statement), Mode::Simple) => {
                    let mut text = Vec::new();
                    self.write_text(statement, &mut text);
                    Some(String::from_utf8_lossy(&text).into_owned())
                }
                _ => None,
            };
            if self.trouble == Trouble::Other {
                self.tell_error(query.as_deref());
                return Phase::Aborted;
            }
            if desk.settings.verbose_errors {
                let (number, command, script) = (self.number, self.command, self.script);
                let text = error.shown(query.as_deref(), true);
                voice::info(format_args!(
                    "client {number} got an error in command {command} (SQL) of script {script}; {text}"
                ));
            }
            return Phase::Failed;
        }
        if let Some(store) = statement.and_then(|statement| statement.store.as_ref())
            && !self.store(desk.program, store.all, &store.prefix)
        {
            self.trouble = Trouble::Other;
            return Phase::Aborted;
        }
        self.piping = false;
        Phase::EndCommand
    }

    /// Puts columns into variables.
    fn store(&mut self, program: &Program, all: bool, prefix: &str) -> bool {
        let complain = |query: usize, what: &str| {
            let (number, script, command) = (self.number, self.script, self.command);
            voice::error(format_args!("client {number} script {script} command {command} query {query}: {what}"));
        };
        if !all && self.reply.rows_last != 1 {
            let last = self.reply.results.saturating_sub(1);
            complain(last, &format!("expected one row, got {}", self.reply.rows_last));
            return false;
        }
        let columns = self.reply.stored.iter().flat_map(|(query, row)| row.iter().map(move |column| (*query, column)));
        for (query, (column, value)) in columns {
            let name = format!("{prefix}{column}");
            match program.slot(&name) {
                Some(slot) => self.variables[slot] = Value::Text(value.as_str().into()),
                // No script uses it.
                None if crate::script::name_length(name.as_bytes()) == name.len() && !name.is_empty() => {}
                None => {
                    let how = if all { "aset" } else { "gset" };
                    voice::error(format_args!("{how}: invalid variable name: \"{name}\""));
                    complain(query, &format!("error storing into variable {name}"));
                    return false;
                }
            }
        }
        true
    }

    fn tell_error(&mut self, query: Option<&str>) {
        let Some(error) = &self.reply.error else { return };
        // Of a pipeline every command is looked at by itself.
        let result = if self.piping { 0 } else { self.reply.results };
        let (number, script, command) = (self.number, self.script, self.command);
        let text = error.shown(query, true);
        voice::error(format_args!(
            "client {number} script {script} aborted in command {command} query {result}: {text}"
        ));
    }

    fn command_failed(&self, name: &str, what: &str) {
        let (number, script, command) = (self.number, self.script, self.command);
        voice::error(format_args!("client {number} aborted in command {command} ({name}) of script {script}; {what}"));
    }

    fn end_command(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        if desk.settings.per_command {
            let seconds = 0.000_001 * (now.us() - self.command_us) as f64;
            desk.command_counts[self.script][self.command].times.record(seconds);
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

    /// Executes a meta command. `name`: as the script has it.
    fn execute(&mut self, desk: &mut Desk<'_>, now: &mut Now, action: &Action, name: &str) -> Phase {
        let over = desk.over.is_set();
        match action {
            Action::Statement(_) => unreachable!("no meta command"),
            Action::Set(set) => {
                let Some(scalar) = self.evaluate(desk, &set.expression) else {
                    self.command_failed(name, "evaluation of meta-command failed");
                    return Phase::Aborted;
                };
                self.assign(&set.target, Value::Scalar(scalar), name, "assignment of meta-command failed")
            }
            Action::Elif(_) if !self.jumped => Phase::EndCommand,
            Action::If(condition) | Action::Elif(condition) => {
                let Some(scalar) = self.evaluate(desk, &condition.expression) else {
                    self.command_failed(name, "evaluation of meta-command failed");
                    return Phase::Aborted;
                };
                self.skips = !scalar.is_true();
                Phase::EndCommand
            }
            Action::Else { .. } | Action::Endif => Phase::EndCommand,
            Action::Sleep(sleep) => match meta::sleep_time(sleep, name, &self.variables) {
                Some(time) => Phase::Sleeping { until_us: now.us() + time.as_micros() as i64 },
                None => {
                    self.command_failed("sleep", "execution of meta-command failed");
                    Phase::Aborted
                }
            },
            Action::Shell(line) => match meta::run_shell(line, &self.variables, over) {
                true => Phase::EndCommand,
                false => {
                    self.command_failed("shell", "execution of meta-command failed");
                    Phase::Aborted
                }
            },
            Action::SetShell { target, line } => match meta::ask_shell(line, &self.variables, over) {
                Some(value) => {
                    let value = Value::Scalar(Scalar::Integer(value));
                    self.assign(target, value, "setshell", "execution of meta-command failed")
                }
                None => {
                    self.command_failed("setshell", "execution of meta-command failed");
                    Phase::Aborted
                }
            },
            Action::StartPipeline => self.start_pipeline(desk),
            Action::SyncPipeline if self.piping => {
                frontend::sync(&mut self.pipe);
                self.reply.awaited += 1;
                Phase::EndCommand
            }
            Action::EndPipeline if self.piping => {
                frontend::sync(&mut self.pipe);
                self.reply.awaited += 1;
                if self.send_pipe(desk) { Phase::Answered } else { Phase::Aborted }
            }
            Action::SyncPipeline | Action::EndPipeline => {
                let name = if matches!(action, Action::SyncPipeline) { "syncpipeline" } else { "endpipeline" };
                self.command_failed(name, "not in pipeline mode");
                Phase::Aborted
            }
        }
    }

    fn evaluate(&mut self, desk: &mut Desk<'_>, expression: &Expression) -> Option<Scalar> {
        let mut scope = Scope { variables: &self.variables, prng: &mut self.functions, shown: &mut desk.shown };
        let evaluated = expression.evaluate(&mut scope);
        if !desk.shown.is_empty() {
            for scalar in desk.shown.drain(..) {
                show(self.script, self.command, scalar);
            }
        }
        match evaluated {
            Ok(scalar) => Some(scalar),
            Err(error) => {
                if let Some(words) = error.words(&desk.program.names) {
                    voice::error(words);
                }
                None
            }
        }
    }

    fn assign(&mut self, target: &Target, value: Value, name: &str, failed: &str) -> Phase {
        match target {
            Target::Slot(slot) => {
                self.variables[*slot] = value;
                Phase::EndCommand
            }
            Target::Invalid(variable) => {
                voice::error(format_args!("{name}: invalid variable name: \"{variable}\""));
                self.command_failed(&name.to_ascii_lowercase(), failed);
                Phase::Aborted
            }
        }
    }

    fn start_pipeline(&mut self, desk: &mut Desk<'_>) -> Phase {
        if desk.settings.mode == Mode::Simple {
            self.command_failed("startpipeline", "cannot use pipeline mode with the simple query protocol");
            return Phase::Aborted;
        }
        if self.piping {
            self.command_failed("startpipeline", "already in pipeline mode");
            return Phase::Aborted;
        }
        self.reply.expect(0, None);
        // Preparing inside of the pipeline would give its transaction a snapshot too early.
        let wanted = match desk.settings.mode {
            Mode::Prepared => self.unprepared_in_pipeline(desk.program),
            _ => Vec::new(),
        };
        if !wanted.is_empty() {
            return self.prepare(desk, &wanted, true);
        }
        self.piping = true;
        Phase::EndCommand
    }

    /// The statements up to the pipeline's end that are to be prepared.
    fn unprepared_in_pipeline(&self, program: &Program) -> Vec<usize> {
        let rest = &program.scripts[self.script].commands[self.command + 1..];
        rest.iter()
            .take_while(|command| !matches!(command.action, Action::EndPipeline))
            .filter_map(|command| match command.action {
                Action::Statement(number) if !self.prepared[number] => Some(number),
                _ => None,
            })
            .collect()
    }

    /// After a serialization failure or a deadlock.
    fn failed(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        (self.jumped, self.skips) = (false, false);
        if !self.piping {
            return self.after_error(desk, now);
        }
        // Everything up to this Sync is dropped by the server or already answered.
        frontend::sync(&mut self.pipe);
        self.reply.awaited += 1;
        if self.send_pipe(desk) { Phase::Draining } else { Phase::Aborted }
    }

    fn after_error(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        self.reply.error = None;
        if self.reply.status == Status::Idle {
            return self.retry_or_fail(desk, now);
        }
        self.reply.expect(1, None);
        match self.send(desk, &frontend::query("ROLLBACK")) {
            true => Phase::RollingBack,
            false => Phase::Aborted,
        }
    }

    fn rolled_back(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        match self.reply.error.take() {
            None => self.retry_or_fail(desk, now),
            Some(error) => {
                let text = error.shown(Some("ROLLBACK"), true);
                voice::error(format_args!(
                    "client {} aborted while rolling back the transaction after an error; {text}",
                    self.number
                ));
                Phase::Aborted
            }
        }
    }

    fn retry_or_fail(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        let settings = desk.settings;
        if desk.over.is_set() {
            return Phase::Finished;
        }
        let tried_enough = settings.tries_max > 0 && self.tries >= settings.tries_max;
        let too_late = settings.latency_limit_us.is_some_and(|limit| now.us() - self.scheduled_us > limit);
        if tried_enough || too_late { Phase::Failure } else { Phase::Retry }
    }

    fn retry(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        if desk.settings.verbose_errors {
            self.tell_try(desk, now, "repeats the transaction after the error");
        }
        self.tries += 1;
        desk.command_counts[self.script][self.command].retries += 1;
        self.functions = self.functions_before.clone();
        (self.command, self.trouble) = (0, Trouble::None);
        Phase::StartCommand
    }

    fn tell_try(&self, desk: &Desk<'_>, now: &mut Now, what: &str) {
        let mut text = format!("client {} {what} (try {}", self.number, self.tries);
        if desk.settings.tries_max > 0 {
            text += &format!("/{}", desk.settings.tries_max);
        }
        if let Some(limit) = desk.settings.latency_limit_us {
            let used = 100.0 * (now.us() - self.scheduled_us) as f64 / limit as f64;
            text += &format!(", {used:.3}% of the maximum time of tries was used");
        }
        voice::info(text + ")");
    }

    fn end_transaction(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        self.count_transaction(desk, now, false);
        if self.reply.status != Status::Idle {
            voice::error(format_args!(
                "client {} aborted: end of script reached without completing the last transaction",
                self.number
            ));
            return Phase::Aborted;
        }
        let settings = desk.settings;
        if settings.reconnects {
            let begun = now.us();
            self.close();
            let closed = now_us();
            now.0 = Some(closed);
            desk.connecting_us += closed - begun;
        }
        let all = settings.duration_s.is_none() && self.count >= settings.transactions;
        if all || desk.over.is_set() { Phase::Finished } else { Phase::ChooseScript }
    }

    fn count_transaction(&mut self, desk: &mut Desk<'_>, now: &mut Now, skipped: bool) {
        let settings = desk.settings;
        let end = match self.trouble {
            _ if skipped => None,
            Trouble::Serialization => Some(End::Serialization),
            Trouble::Deadlock => Some(End::Deadlock),
            Trouble::None | Trouble::Other => Some(End::Done),
        };
        let (mut latency, mut lag) = (0.0, 0.0);
        if end == Some(End::Done) && settings.is_detailed() {
            latency = (now.us() - self.scheduled_us) as f64;
            lag = (self.begun_us - self.scheduled_us) as f64;
        }
        let told_lag = settings.throttle_us.map(|_| lag);
        let count = |counts: &mut Counts| match end {
            None => counts.skip(),
            Some(end) => counts.end(end, latency, told_lag, self.tries),
        };
        count(&mut desk.counts);
        if settings.per_script {
            count(&mut desk.script_counts[self.script]);
        }
        if settings.latency_limit_us.is_some_and(|limit| latency > limit as f64) {
            desk.late += 1;
        }
        self.count += 1;
        if let Some(log) = &mut desk.log {
            let (client, script, count, tries) = (self.number, self.script, self.count, self.tries);
            let entry = Entry { client, count, end, latency_us: latency, lag_us: lag, script, tries };
            log.write(&entry, now_us() + settings.epoch_shift_us);
        }
    }
}

/// What `debug()` prints.
fn show(script: usize, command: usize, scalar: Scalar) {
    let value = match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Boolean(value) => format!("boolean {value}"),
        Scalar::Integer(value) => format!("int {value}"),
        Scalar::Double(value) => {
            let mut text = b"double ".to_vec();
            write_double(value, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
    };
    voice::raw(&format!("debug(script={script},command={}): {value}", command + 1));
}
