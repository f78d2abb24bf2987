//! The conversation with Python from `hello` to `end`.

use super::answer;
use super::lines::{self, Line};
use super::message::{self, Build, Hello, Kind, Message, PROTOCOL, StatementText};
use super::request::{self, Refusal, Request};
use crate::drive::connect::{Door, Place};
use crate::drive::connection::Connection;
use crate::drive::crew::{Crew, Layout};
use crate::drive::failure::Failure;
use crate::drive::halt::Halt;
use crate::drive::load::{self, Step};
use crate::drive::process;
use crate::drive::slice::{Amount, Plan, Task};
use crate::drive::transport::EventLoop;
use crate::drive::work::Work;
use crate::generate::Share;
use crate::measure::totals::Totals;
use crate::script::program::{Program, Risk, Source};
use crate::workload;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::id;
use std::sync::Arc;
use std::time::Duration;

/// How long a server may be silent before it counts as frozen. Far above any pause of a server that
/// is merely slow; tests are less patient.
pub const PATIENCE: Duration = Duration::from_secs(60);

const CLIENTS_MAX: usize = 10_000;
const SCRIPTS_MAX: usize = 128;
const LANES_MAX: usize = 64;

/// Speaks until the input ends. An error means that nobody hears us.
pub fn run<R: BufRead + Send + 'static, W: Write>(input: R, output: W, patience: Duration) -> io::Result<()> {
    let halt = Halt::default();
    let lines = lines::read(input, halt.clone())?;
    let mut session = Session { output, halt, patience, crew: None, totals: BTreeMap::new() };
    session.say(&Message::Hello(hello()?))?;
    // Requests that still wait when the input has ended are not begun: their answers have no reader.
    while let Ok(line) = lines.recv() {
        if session.halt.is_set() {
            break;
        }
        session.hear(&line)?;
    }
    session.crew = None;
    session.say(&Message::End { reason: "stdin closed" })
}

fn hello() -> io::Result<Hello> {
    let (version, cpus) = (env!("CARGO_PKG_VERSION"), process::allowed_cpus()?);
    Ok(Hello { protocol: PROTOCOL, version, build: Build::THIS, pid: id(), cpus })
}

struct Session<W> {
    output: W,
    halt: Halt,
    patience: Duration,
    /// Since `setup`.
    crew: Option<Crew>,
    /// By connected arm.
    totals: BTreeMap<u32, Totals>,
}

impl<W: Write> Session<W> {
    fn say(&mut self, message: &Message) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.output.write_all(&line)?;
        self.output.flush()
    }

    fn hear(&mut self, line: &Line) -> io::Result<()> {
        let parsed = match line {
            Line::Whole(line) => Request::parse(line),
            Line::TooLong => {
                Err(Refusal { request: None, arm: None, what: "the line is longer than 16 MiB".to_owned() })
            }
        };
        let request = match parsed {
            Ok(request) => request,
            Err(Refusal { request, arm, what }) => {
                let error = message::Error { request, kind: Kind::Request, arm, what, sqlstate: None, detail: None };
                return self.say(&Message::Error(error));
            }
        };
        let (name, arm) = (request.name(), request.arm());
        let answered = match request {
            Request::Setup(setup) => self.setup(setup),
            Request::Connect(connect) => self.connect(connect),
            Request::Slice(slice) => self.slice(slice),
            Request::Totals(totals) => self.totals(totals),
            Request::Load(load) => self.load(load),
            Request::Disconnect(request::Disconnect { arm }) => self.disconnect(arm),
        };
        let message = match answered {
            Ok(message) => Some(message),
            Err(failure) => answer::error(name, arm, failure).map(Message::Error),
        };
        message.map_or(Ok(()), |message| self.say(&message))
    }

    fn setup(&mut self, setup: request::Setup) -> Result<Message, Failure> {
        if self.crew.as_ref().is_some_and(Crew::is_connected) {
            return refuse("an arm is still connected (hint: send `disconnect` for every arm first)");
        }
        let layout = layout(&setup)?;
        let (work, statements) = match setup.work {
            request::Work::Scripts { scripts, variables } => {
                let program = program(scripts, &variables, &setup.allow)?;
                let statements = statements_of_scripts(&program);
                (Work::Scripts(Arc::new(program)), statements)
            }
            request::Work::Native { name, parameters } => {
                let workload = workload::open(&name, &answer::parameters(parameters)?).map_err(Failure::Request)?;
                let statements = workload.statements().iter().enumerate().map(|(number, sql)| StatementText {
                    statement: number,
                    script: name.clone(),
                    text: sql.text.clone(),
                    prepared_text: sql.text.clone(),
                });
                (Work::Native(Arc::clone(&workload)), statements.collect())
            }
        };
        let kinds = work.kinds().into_iter().map(str::to_owned).collect();
        let crew = Crew::hire(work, &layout, &self.halt, self.patience)?;
        let (threads, event_loop) = (crew.threads(), crew.event_loop().name());
        let message = Message::Ready { threads, event_loop, statements, kinds };
        self.crew = Some(crew);
        Ok(message)
    }

    fn connect(&mut self, connect: request::Connect) -> Result<Message, Failure> {
        let request::Connect { arm, server, database } = connect;
        let Some(crew) = &mut self.crew else { return refuse("there was no `setup` yet") };
        if crew.has(arm) {
            return refuse(format!("arm {arm} is already connected"));
        }
        let place = place(server, database)?;
        let greetings = crew.connect(arm, &place)?;
        self.totals.insert(arm, Totals::shaped(crew.work().shape()));
        Ok(Message::Connected {
            arm,
            backend_pids: greetings.iter().map(|greeting| greeting.backend_pid).collect(),
            server_version: greetings.into_iter().next().map(|first| first.server_version).unwrap_or_default(),
        })
    }

    fn slice(&mut self, slice: request::Slice) -> Result<Message, Failure> {
        let arm = slice.arm;
        let crew = connected(&mut self.crew, arm)?;
        let (bound, discard) = (answer::amount(slice.bound), answer::amount(slice.discard));
        if discard == Amount::Program {
            return refuse("what is discarded is a duration or a number of transactions, not `program`");
        }
        if bound == Amount::Program && !crew.work().ends() {
            return refuse("a slice is bounded by `program`, and what was set up never ends by itself");
        }
        let statement_limit = slice.statement_limit_us.map_or(self.patience, Duration::from_micros);
        if statement_limit.is_zero() {
            return refuse("`statement_limit_us` is 0: no answer is that fast");
        }
        let plan = Plan { arm, seed: slice.seed, bound, discard, statement_limit };
        let tasks = slice.tasks.map(|asked| tasks(crew, asked)).transpose()?;
        let (outcome, samples) = match crew.slice_of(plan, tasks) {
            Ok(done) => done,
            Err(failure) => {
                if !crew.has(arm) {
                    self.totals.remove(&arm);
                }
                return Err(failure);
            }
        };
        let done = answer::slice_done(arm, &outcome, samples);
        if slice.keep {
            let totals = self.totals.get_mut(&arm).expect("every connected arm has totals");
            totals.slices += 1;
            totals.transactions += outcome.transactions;
            totals.failed += outcome.failed;
            totals.busy_ns += outcome.busy_ns;
            totals.add_samples(samples);
        }
        Ok(Message::SliceDone(done))
    }

    fn totals(&mut self, request: request::Totals) -> Result<Message, Failure> {
        let crew = connected(&mut self.crew, request.arm)?;
        let totals = self.totals.get_mut(&request.arm).expect("every connected arm has totals");
        let message = answer::totals(request.arm, totals);
        if request.reset {
            *totals = Totals::shaped(crew.work().shape());
        }
        Ok(Message::Totals(message))
    }

    fn load(&mut self, load: request::Load) -> Result<Message, Failure> {
        let request::Load { server, database, lanes } = load;
        if !(1..=LANES_MAX).contains(&lanes.len()) {
            return refuse(format!("there are {} lanes, not between 1 and {LANES_MAX}", lanes.len()));
        }
        let place = place(server, database)?;
        let lanes = lanes.into_iter().map(|steps| steps.into_iter().map(step).collect::<Result<Vec<_>, _>>());
        let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
        let (halt, patience) = (self.halt.clone(), self.patience);
        let mut say = |rows, rows_total| {
            // Nobody hears us: that is the end, which the load looks out for.
            if self.say(&Message::LoadProgress { rows, rows_total }).is_err() {
                self.halt.set();
            }
        };
        let loaded = load::load(&place, &lanes, &halt, patience, &mut say)?;
        Ok(Message::Loaded { tables: loaded.iter().map(answer::loaded).collect() })
    }

    fn disconnect(&mut self, arm: u32) -> Result<Message, Failure> {
        connected(&mut self.crew, arm)?.disconnect(arm);
        self.totals.remove(&arm);
        Ok(Message::Disconnected { arm })
    }
}

fn refuse<T>(what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Request(what.into()))
}

fn connected(crew: &mut Option<Crew>, arm: u32) -> Result<&mut Crew, Failure> {
    match crew {
        Some(crew) if crew.has(arm) => Ok(crew),
        _ => refuse(format!("arm {arm} is not connected")),
    }
}

fn place(server: request::Server, database: String) -> Result<Place, Failure> {
    match server {
        request::Server::Socket { socket_directory, port, user } => {
            Ok(Place::Socket(Door { socket_directory: socket_directory.into(), port, user, database }))
        }
        request::Server::Dsn { dsn, password } => {
            let connection = Connection::named(&dsn, &database, password.as_deref()).map_err(Failure::Request)?;
            Ok(Place::Named(Box::new(connection)))
        }
    }
}

/// The tasks of every client, with scripts by their number and variables by their slots.
fn tasks(crew: &Crew, asked: Vec<Vec<request::Task>>) -> Result<Vec<Vec<Task>>, Failure> {
    let Work::Scripts(program) = crew.work() else {
        return refuse("`tasks` are of scripts, and the clients run a native program");
    };
    if asked.len() != crew.clients() {
        return refuse(format!("`tasks` has {} lists, not one for each of {} clients", asked.len(), crew.clients()));
    }
    let task = |asked: request::Task| {
        let request::Task { script, variables } = asked;
        let Some(number) = program.scripts.iter().position(|known| known.name == script) else {
            return refuse(format!("a task names a script that there is none of: `{script}`"));
        };
        let variables = variables.into_iter().map(|(name, value)| {
            let Some(slot) = program.names.iter().position(|known| **known == *name) else {
                return refuse(format!("a task of `{script}` names a variable that no script has: `{name}`"));
            };
            Ok((slot, answer::value(&name, &value)?))
        });
        Ok(Task { script: number, variables: variables.collect::<Result<_, _>>()? })
    };
    asked.into_iter().map(|client| client.into_iter().map(task).collect()).collect()
}

fn layout(setup: &request::Setup) -> Result<Layout, Failure> {
    let (clients, threads) = (setup.clients, setup.threads);
    if !(1..=CLIENTS_MAX).contains(&clients) {
        return refuse(format!("`clients` is {clients}, not between 1 and {CLIENTS_MAX}"));
    }
    if !(1..=clients).contains(&threads) {
        return refuse(format!("`threads` is {threads}, not between 1 and the number of clients, {clients}"));
    }
    if setup.cpus.as_ref().is_some_and(Vec::is_empty) {
        return refuse("`cpus` names no processor (hint: null leaves the threads unpinned)");
    }
    let request::Mode::Prepared = setup.mode;
    let event_loop = match setup.event_loop {
        request::EventLoop::Epoll => EventLoop::Epoll,
        request::EventLoop::IoUring => EventLoop::IoUring,
    };
    Ok(Layout { clients, threads, cpus: setup.cpus.clone(), event_loop })
}

fn program(
    scripts: Vec<request::Script>,
    variables: &BTreeMap<String, serde_json::Value>,
    allow: &[request::Risk],
) -> Result<Program, Failure> {
    if !(1..=SCRIPTS_MAX).contains(&scripts.len()) {
        return refuse(format!("there are {} scripts, not between 1 and {SCRIPTS_MAX}", scripts.len()));
    }
    if scripts.iter().all(|script| script.weight == 0) {
        return refuse("the weights of the scripts add up to nothing");
    }
    let sources = scripts.into_iter().map(|request::Script { name, weight, text }| Source { name, weight, text });
    let sources: Vec<Source> = sources.collect();
    let mut values = Vec::with_capacity(variables.len());
    for (name, value) in variables {
        values.push((name.clone(), answer::value(name, value)?));
    }
    let allowed: Vec<Risk> = allow.iter().map(|request::Risk::Shell| Risk::Shell).collect();
    Program::compile(&sources, &values, &allowed).map_err(|error| Failure::Request(error.to_string()))
}

fn statements_of_scripts(program: &Program) -> Vec<StatementText> {
    let statements = program.statements.iter().enumerate().map(|(number, statement)| StatementText {
        statement: number,
        script: program.scripts[statement.script].name.clone(),
        text: String::from_utf8_lossy(&statement.text).into_owned(),
        prepared_text: String::from_utf8_lossy(&statement.prepared_text).into_owned(),
    });
    statements.collect()
}

fn step(step: request::Step) -> Result<Step, Failure> {
    let refuse_zero = |sql: &str| match sql.contains('\0') {
        true => refuse("a step contains a zero byte"),
        false => Ok(()),
    };
    match step {
        request::Step::Sql { sql } => refuse_zero(&sql).map(|()| Step::Sql(sql)),
        request::Step::Copy { copy, rows, parameters, share } => {
            refuse_zero(&copy)?;
            let (parameters, share) = (answer::parameters(parameters)?, Share { number: share.number, of: share.of });
            Ok(Step::Copy { statement: copy, rows, parameters, share })
        }
    }
}
