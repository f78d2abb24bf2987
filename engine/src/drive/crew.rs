//! The threads that drive, and the connections they hold, from the side of whoever gives orders.

use super::client::Client;
use super::connect::{self, Place};
use super::failure::Failure;
use super::halt::Halt;
use super::login::Greeting;
use super::slice::{Outcome, Plan, Slice};
use super::worker::{self, Lane, Order, Report};
use crate::measure::recorder::Recorder;
use crate::script::program::Program;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub clients: usize,
    pub threads: usize,
    /// Thread t runs on `cpus[t mod len]`; `None`: wherever the kernel likes.
    pub cpus: Option<Vec<usize>>,
}

pub struct Crew {
    program: Arc<Program>,
    clients: usize,
    halt: Halt,
    patience: Duration,
    arms: BTreeSet<u32>,
    threads: Vec<Thread>,
    reports: Receiver<Report>,
    /// Empty recorders for the threads of the next slice, and one for all of a slice's samples.
    recorders: Vec<Recorder>,
    samples: Recorder,
}

struct Thread {
    orders: Sender<Order>,
    handle: JoinHandle<()>,
}

impl Crew {
    pub fn hire(program: Arc<Program>, layout: &Layout, halt: &Halt, patience: Duration) -> Result<Self, Failure> {
        let statements = program.statements.len();
        let (report, reports) = mpsc::channel();
        let mut crew = Self {
            program,
            clients: layout.clients,
            halt: halt.clone(),
            patience,
            arms: BTreeSet::new(),
            threads: Vec::new(),
            reports,
            recorders: (0..layout.threads).map(|_| Recorder::new(statements, layout.threads)).collect(),
            samples: Recorder::new(statements, 1),
        };
        for number in 0..layout.threads {
            let cpu = layout.cpus.as_ref().map(|cpus| cpus[number % cpus.len()]);
            crew.threads.push(spawn(number, cpu, &crew.program, report.clone())?);
        }
        let placed: Vec<Report> = (0..layout.threads).map(|_| crew.report()).collect();
        for report in placed {
            if let Report::Placed(Err(failure)) = report {
                return Err(failure);
            }
        }
        Ok(crew)
    }

    pub fn is_connected(&self) -> bool {
        !self.arms.is_empty()
    }

    pub fn has(&self, arm: u32) -> bool {
        self.arms.contains(&arm)
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Opens one connection per client, in their order, and prepares every statement on each.
    pub fn connect(&mut self, arm: u32, place: &Place) -> Result<Vec<Greeting>, Failure> {
        let mut greetings = Vec::with_capacity(self.clients);
        let mut lanes: Vec<Vec<Client>> = self.threads.iter().map(|_| Vec::new()).collect();
        for number in 0..self.clients {
            let doing = format!("connecting client {number} to arm {arm}");
            let (mut conversation, greeting) = connect::open(place, &self.halt, self.patience, doing)?;
            connect::prepare(&mut conversation, &self.program.statements)?;
            let (socket, read) = conversation.end();
            let client = Client::new(arm, number, socket, &read).map_err(|error| {
                Failure::server(format!("arm {arm} spoke nonsense to client {number} when it connected: {error}"))
            })?;
            lanes[number % self.threads.len()].push(client);
            greetings.push(greeting);
        }
        let lanes = lanes.into_iter().map(Lane::of).collect::<Result<Vec<_>, _>>();
        let lanes = lanes.map_err(|error| Failure::world("cannot wait for many sockets", &error))?;
        for (thread, lane) in self.threads.iter().zip(lanes) {
            thread.order(Order::Adopt { arm, lane });
        }
        self.arms.insert(arm);
        Ok(greetings)
    }

    /// Drops the connections of an arm; when this returns they are closed.
    pub fn disconnect(&mut self, arm: u32) {
        self.arms.remove(&arm);
        for thread in &self.threads {
            thread.order(Order::Release { arm });
        }
        for _ in &self.threads {
            self.report();
        }
    }

    /// Runs a slice. The samples are lent until the next one. After a failure that is not the
    /// script's the arm is disconnected.
    pub fn slice(&mut self, plan: Plan) -> Result<(Outcome, &mut Recorder), Failure> {
        let slice = Arc::new(Slice::new(plan, self.threads.len(), &self.halt));
        for thread in &self.threads {
            let recorder = self.recorders.pop().expect("one recorder for every thread");
            thread.order(Order::Slice { slice: Arc::clone(&slice), recorder });
        }
        self.samples.clear();
        let mut outcome = Outcome::default();
        let mut failure: Option<Failure> = None;
        for _ in 0..self.threads.len() {
            let Report::Slice { outcome: part, mut recorder } = self.report() else {
                unreachable!("a thread answers the order it was given")
            };
            self.samples.absorb(&mut recorder);
            self.recorders.push(recorder);
            match part {
                Ok(part) => outcome.add(&part),
                Err(other) => failure = Some(failure.map_or(other.clone(), |first| more_telling(first, other))),
            }
        }
        match failure {
            None => Ok((outcome, &mut self.samples)),
            Some(failure) => {
                if !matches!(failure, Failure::Request(_)) {
                    self.disconnect(plan.arm);
                }
                Err(failure)
            }
        }
    }

    fn report(&self) -> Report {
        self.reports.recv().expect("a thread ends only when it is dismissed")
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for thread in self.threads.drain(..) {
            drop(thread.orders);
            // A thread that panicked has said so already.
            let _ = thread.handle.join();
        }
    }
}

impl Thread {
    fn order(&self, order: Order) {
        self.orders.send(order).unwrap_or_else(|_| panic!("a thread ends only when it is dismissed"));
    }
}

fn spawn(
    number: usize,
    cpu: Option<usize>,
    program: &Arc<Program>,
    reports: Sender<Report>,
) -> Result<Thread, Failure> {
    let (orders, received) = mpsc::channel();
    let program = Arc::clone(program);
    let handle = thread::Builder::new()
        .name(format!("clients {number}"))
        .spawn(move || worker::work(program, cpu, &received, &reports))
        .map_err(|error| Failure::world("cannot start a thread", &error))?;
    Ok(Thread { orders, handle })
}

/// Of two failures of one slice the one that explains more: a server's own words rather than a
/// closed connection, and anything rather than being stopped because of the other.
fn more_telling(first: Failure, second: Failure) -> Failure {
    let rank = |failure: &Failure| match failure {
        Failure::Halted => 0,
        Failure::Request(_) => 1,
        Failure::World(_) => 2,
        Failure::Server { said: None, .. } => 3,
        Failure::Server { said: Some(_), .. } => 4,
    };
    if rank(&second) > rank(&first) { second } else { first }
}
