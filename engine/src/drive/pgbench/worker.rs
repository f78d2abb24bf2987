//! One thread and its clients: waits for sockets and times, and lets whoever is ready go on.

use super::client::{self, Client, Read, Turn};
use super::desk::Desk;
use super::effort::Effort;
use super::log::Log;
use super::progress::{Board, Progress};
use super::run::{self, Shared, Trouble};
use super::settings::{Mode, Settings};
use super::voice;
use crate::drive::connect;
use crate::drive::dial::system_words;
use crate::drive::socket::Socket;
use crate::drive::transport::{EventLoop, Transport};
use crate::measure::counts::{CommandCounts, Counts};
use crate::measure::distributions::Distributions;
use crate::script::program::Program;
use crate::script::random::Prng;
use crate::wire::frontend::{Asking, Execution};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// What a thread begins with.
pub struct Beginning {
    pub number: usize,
    pub clients: Vec<Client>,
    pub choice: Prng,
    pub throttle: Prng,
    pub sampling: Prng,
}

/// What a thread did.
pub struct Done {
    pub counts: Counts,
    pub late: u64,
    pub distributions: Option<Distributions>,
    pub script_counts: Vec<Counts>,
    pub command_counts: Vec<Vec<CommandCounts>>,
    pub connecting_us: i64,
    pub begun_us: i64,
    /// Since then; `None` where the kernel does not tell.
    pub effort: Option<Effort>,
    pub event_loop: EventLoop,
    /// Whether every client came to its end.
    pub finished: bool,
}

struct Worker<'a> {
    number: usize,
    clients: Vec<Client>,
    desk: Desk<'a>,
    board: &'a Board,
    /// Whoever can go on at once.
    ready: Vec<usize>,
    /// Whoever sleeps, until when.
    sleeping: BinaryHeap<Reverse<(i64, usize)>>,
    reading: usize,
    remaining: usize,
    aborted: bool,
}

/// The whole life of a thread. Meets the others before it connects and before it begins.
pub fn work(shared: &Shared, beginning: Beginning) -> Result<Done, Trouble> {
    let Shared { settings, program, board, .. } = shared;
    let Beginning { number, mut clients, choice, throttle, sampling } = beginning;
    let log = settings.log.as_ref().map(|log| Log::open(settings, log, number, sampling)).transpose();
    let mut log = log.map_err(Trouble::Fatal)?;
    shared.barrier.wait();
    let started_us = client::now_us();
    let mut sockets = Vec::with_capacity(clients.len());
    for (place, client) in clients.iter_mut().enumerate() {
        client.take_place(place);
        if !settings.reconnects {
            let number = client.number;
            let what = || Trouble::Fatal(format!("could not create connection for client {number}"));
            sockets.push(client.connect(settings).ok_or_else(what)?);
        }
    }
    let transport = transport(settings, clients.len(), sockets)?;
    shared.barrier.wait();

    let begun_us = client::now_us();
    if let Some(log) = &mut log {
        log.begin(begun_us + settings.epoch_shift_us);
    }
    let effort = settings.distributions.then(Effort::now).flatten();
    let (executions, executions_piped) = executions(settings.mode, program);
    let desk = Desk {
        settings,
        program,
        executions: &executions,
        executions_piped: &executions_piped,
        binaries: program.statements.iter().map(|_| None).collect(),
        over: &shared.over,
        end_us: settings.end_us(shared.begun_us),
        counted_from_us: if settings.warm_up_us > 0 { begun_us + settings.warm_up_us } else { i64::MIN },
        choice,
        throttle,
        trigger_us: begun_us,
        counts: Counts::default(),
        late: 0,
        distributions: settings.distributions.then(|| run::distributions(settings, program)),
        origin_us: shared.begun_us,
        script_counts: vec![Counts::default(); program.scripts.len()],
        command_counts: program
            .scripts
            .iter()
            .map(|script| vec![CommandCounts::default(); script.commands.len()])
            .collect(),
        connecting_us: 0,
        log,
        transport,
        outgoing: Vec::new(),
        shown: Vec::new(),
    };
    let (ready, remaining) = ((0..clients.len()).collect(), clients.len());
    let mut worker = Worker {
        number,
        clients,
        desk,
        board,
        ready,
        sleeping: BinaryHeap::new(),
        reading: 0,
        remaining,
        aborted: false,
    };
    let progress = settings.progress_s.filter(|_| number == 0);
    worker.drive(progress.map(|every_s| Progress::begin(every_s, started_us)))?;
    let effort = effort.and_then(|before| Some(Effort::now()?.since(before)));
    worker.finish(begun_us, effort)
}

/// With the clients' sockets, if they have some already. Where nothing else was asked for it is io_uring, if the kernel has
/// it and all connections are there to stay and not encrypted.
fn transport(settings: &Settings, clients: usize, sockets: Vec<Socket>) -> Result<Transport, Trouble> {
    let is_plain = !settings.reconnects && sockets.iter().all(Socket::is_plain);
    let event_loop = match settings.event_loop {
        Some(EventLoop::IoUring) if !is_plain => {
            return Err(Trouble::Fatal("io_uring cannot be used for connections under TLS or GSSAPI".to_owned()));
        }
        None if is_plain && EventLoop::IoUring.check(clients).is_ok() => EventLoop::IoUring,
        wanted => wanted.unwrap_or(EventLoop::Epoll),
    };
    let adopted = Transport::new(event_loop, clients).and_then(|mut transport| {
        let mut sockets = sockets.into_iter().enumerate();
        sockets.try_for_each(|(place, socket)| transport.adopt(place, socket))?;
        Ok(transport)
    });
    let name = event_loop.name();
    adopted.map_err(|error| Trouble::Fatal(format!("could not use {name}: {}", system_words(&error))))
}

fn executions(mode: Mode, program: &Program) -> (Vec<Execution>, Vec<Execution>) {
    let all = |sync: bool| {
        let statements = program.statements.iter().enumerate().map(|(number, statement)| {
            let parameters = u16::try_from(statement.parameters.len()).expect("the script was checked for it");
            let name = if mode == Mode::Prepared { connect::prepared_name(number) } else { String::new() };
            let parse = (mode == Mode::Extended).then_some(&*statement.prepared_text);
            Execution::asking(&name, parameters, Asking { parse, describe: true, sync, forms: &[] })
        });
        statements.collect()
    };
    match mode {
        Mode::Simple => (Vec::new(), Vec::new()),
        Mode::Extended | Mode::Prepared => (all(true), all(false)),
    }
}

impl Worker<'_> {
    fn drive(&mut self, mut progress: Option<Progress>) -> Result<(), Trouble> {
        let mut batch = Vec::new();
        while self.remaining > 0 {
            std::mem::swap(&mut batch, &mut self.ready);
            for index in batch.drain(..) {
                let turn = self.clients[index].advance(&mut self.desk);
                self.turned(index, turn)?;
            }
            self.wake()?;
            if let Some(progress) = &mut progress {
                self.board.put(self.number, &self.desk.counts);
                progress.tell(self.board, self.desk.settings, client::now_us());
            }
            if self.remaining == 0 {
                break;
            }
            self.wait(progress.as_ref().map(|progress| progress.next_us))?;
        }
        Ok(())
    }

    /// Waits for sockets up to the next time that matters, and lets those go on that have an answer.
    fn wait(&mut self, progress_us: Option<i64>) -> Result<(), Trouble> {
        let limit = if self.ready.is_empty() {
            let sleeper_us = self.sleeping.peek().map(|Reverse((until_us, _))| *until_us);
            let next_us = sleeper_us.into_iter().chain(progress_us).min();
            next_us.map(|next_us| Duration::from_micros((next_us - client::now_us()).max(0) as u64))
        } else if self.reading == 0 {
            return Ok(());
        } else {
            Some(Duration::ZERO)
        };
        let failed = |error| Trouble::Fatal(format!("waiting for sockets failed: {}", system_words(&error)));
        self.desk.transport.wait(limit).map_err(failed)?;
        while let Some((index, read)) =
            self.desk.transport.next(|index, heard| (index, self.clients[index].hear(heard)))
        {
            if self.clients[index].is_reading() {
                self.reading -= 1;
                let turn = self.clients[index].go_on(&mut self.desk, read);
                self.turned(index, turn)?;
            } else if read != Read::Open {
                // The client finds out when it next wants something.
                self.desk.transport.ignore(index).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn wake(&mut self) -> Result<(), Trouble> {
        let Some(Reverse((first_us, _))) = self.sleeping.peek() else { return Ok(()) };
        let now_us = client::now_us();
        if *first_us > now_us {
            return Ok(());
        }
        while let Some(&Reverse((until_us, index))) = self.sleeping.peek() {
            if until_us > now_us {
                break;
            }
            self.sleeping.pop();
            let turn = self.clients[index].advance(&mut self.desk);
            self.turned(index, turn)?;
        }
        Ok(())
    }

    fn turned(&mut self, index: usize, turn: Turn) -> Result<(), Trouble> {
        match turn {
            Turn::Reading => self.reading += 1,
            Turn::Sleeping(until_us) => self.sleeping.push(Reverse((until_us, index))),
            Turn::Yielding => {
                if self.desk.settings.progress_s.is_some() {
                    self.board.put(self.number, &self.desk.counts);
                }
                self.ready.push(index);
            }
            Turn::Finished => self.remaining -= 1,
            Turn::Aborted if self.desk.settings.exit_on_abort => return Err(Trouble::Aborted(self.number)),
            Turn::Aborted => {
                self.remaining -= 1;
                self.aborted = true;
            }
        }
        Ok(())
    }

    fn finish(mut self, begun_us: i64, effort: Option<Effort>) -> Result<Done, Trouble> {
        self.board.put(self.number, &self.desk.counts);
        if let Some(log) = self.desk.log.take()
            && let Err(what) = log.finish(client::now_us() + self.desk.settings.epoch_shift_us)
        {
            voice::error(what);
            self.aborted = true;
        }
        if self.desk.distributions.is_some() {
            self.desk.leave_the_rest();
        }
        let event_loop = self.desk.transport.event_loop();
        let Desk { counts, late, distributions, script_counts, command_counts, connecting_us, .. } = self.desk;
        let finished = !self.aborted;
        Ok(Done {
            counts,
            late,
            distributions,
            script_counts,
            command_counts,
            connecting_us,
            begun_us,
            effort,
            event_loop,
            finished,
        })
    }
}

/// Only told apart from the others for whoever sets up a run.
pub fn clients_of(settings: &Settings, thread: usize, dealt: usize) -> usize {
    (settings.clients - dealt).div_ceil(settings.threads - thread)
}
