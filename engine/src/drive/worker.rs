//! One thread of the crew and its clients of every arm. Between orders it sleeps.

use super::client::{Client, Desk, Turn};
use super::clock;
use super::connect;
use super::epoll::{Epoll, Events};
use super::failure::Failure;
use super::process::{self, RunDelay};
use super::slice::{Outcome, Slice, Times};
use crate::measure::recorder::Recorder;
use crate::script::program::Program;
use crate::wire::frontend::Execution;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

/// Answers are small; a large one takes several reads, all into the same place.
const INCOMING_BYTES: usize = 64 * 1024;

/// One thread's clients of one arm.
#[derive(Debug)]
pub struct Lane {
    clients: Vec<Client>,
    epoll: Epoll,
}

impl Lane {
    pub fn of(clients: Vec<Client>) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        for (token, client) in clients.iter().enumerate() {
            epoll.watch(&client.socket, token)?;
        }
        Ok(Self { clients, epoll })
    }
}

pub enum Order {
    Adopt {
        arm: u32,
        lane: Lane,
    },
    Release {
        arm: u32,
    },
    /// The recorder comes back, filled, with the [`Report`].
    Slice {
        slice: Arc<Slice>,
        recorder: Recorder,
    },
}

/// What a thread says to its crew.
pub enum Report {
    /// The thread is where it should be, or cannot get there.
    Placed(Result<(), Failure>),
    Released,
    Slice {
        outcome: Result<Outcome, Failure>,
        recorder: Recorder,
    },
}

pub struct Worker {
    program: Arc<Program>,
    executions: Vec<Execution>,
    lanes: BTreeMap<u32, Lane>,
    run_delay: RunDelay,
    events: Events,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

/// The whole life of a thread, which ends with its orders.
pub fn work(program: Arc<Program>, cpu: Option<usize>, orders: &Receiver<Order>, reports: &Sender<Report>) {
    let placed = cpu.map_or(Ok(()), |cpu| {
        process::pin(cpu).map_err(|error| Failure::world(&format!("cannot pin a thread to processor {cpu}"), &error))
    });
    let mut worker = Worker::new(program);
    let mut report = Report::Placed(placed);
    // A crew that no longer listens is being dismissed.
    while reports.send(report).is_ok() {
        report = loop {
            match orders.recv() {
                Ok(Order::Adopt { arm, lane }) => drop(worker.lanes.insert(arm, lane)),
                Ok(Order::Release { arm }) => {
                    worker.lanes.remove(&arm);
                    break Report::Released;
                }
                Ok(Order::Slice { slice, mut recorder }) => {
                    let outcome = worker.run(&slice, &mut recorder);
                    break Report::Slice { outcome, recorder };
                }
                Err(_) => return,
            }
        };
    }
}

impl Worker {
    fn new(program: Arc<Program>) -> Self {
        let executions = program.statements.iter().enumerate().map(|(number, statement)| {
            let parameters = u16::try_from(statement.parameters.len()).expect("the script was checked for it");
            Execution::new(&connect::prepared_name(number), parameters)
        });
        Self {
            executions: executions.collect(),
            program,
            lanes: BTreeMap::new(),
            run_delay: RunDelay::of_this_thread(),
            events: Events::new(),
            incoming: vec![0; INCOMING_BYTES],
            outgoing: Vec::new(),
        }
    }

    fn run(&mut self, slice: &Slice, recorder: &mut Recorder) -> Result<Outcome, Failure> {
        let lane = self.lanes.get_mut(&slice.plan.arm).expect("the crew knows its arms");
        for client in &mut lane.clients {
            client.reset(&self.program, slice.plan.seed);
        }
        let run_delay_before_ns = self.run_delay.total_ns();
        let begun_at_ns = slice.gate.pass();
        let began_ns = clock::now_ns();
        let cpu_before_ns = clock::thread_cpu_ns();

        let mut desk = Desk {
            program: &self.program,
            executions: &self.executions,
            slice,
            times: Times::of(&slice.plan, begun_at_ns),
            recorder,
            outgoing: &mut self.outgoing,
            incoming: &mut self.incoming,
            drain_ns_max: 0,
            refusal: None,
        };
        let driven = drive(&mut lane.clients, &lane.epoll, &mut self.events, &mut desk);
        // A slice that was stopped must not pass for one that came to its end.
        if let Err(failure) = driven.and_then(|()| slice.check()) {
            slice.abandon();
            return Err(failure);
        }
        if let Some(refusal) = desk.refusal {
            return Err(refusal);
        }

        let ended_at_ns = clock::now_ns();
        let mut outcome = Outcome {
            begun_at_ns,
            ended_at_ns,
            cpu_ns: clock::thread_cpu_ns() - cpu_before_ns,
            drain_ns_max: desk.drain_ns_max,
            begin_late_ns_max: began_ns - begun_at_ns,
            ..Outcome::default()
        };
        outcome.run_delay_ns = self.run_delay.total_ns().saturating_sub(run_delay_before_ns);
        lane.clients.iter().for_each(|client| outcome.add_client(client.tally()));
        Ok(outcome)
    }
}

/// Drives the clients until none of them has more to do. A single client is waited for in the same
/// way: blocking in its read instead was measured to cost a microsecond more for every answer.
fn drive(clients: &mut [Client], epoll: &Epoll, events: &mut Events, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let mut waiting = 0;
    for client in clients.iter_mut() {
        waiting += usize::from(client.begin(desk)? == Turn::Waiting);
    }
    while waiting > 0 {
        let count = epoll.wait(events).map_err(|error| Failure::world("waiting for answers", &error))?;
        desk.slice.check()?;
        for index in 0..count {
            let turn = clients[events.token(index)].receive(desk)?;
            waiting -= usize::from(turn == Turn::Finished);
        }
        // While others answer, a silent client can wait: in the end they all fall silent.
        if count == 0 {
            clients.iter().try_for_each(|client| client.check_limit(desk))?;
        }
    }
    Ok(())
}
