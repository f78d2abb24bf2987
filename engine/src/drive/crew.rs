//! The threads that drive, and the connections they hold, from the side of whoever gives orders.

use super::client::Seat;
use super::client::player::PlayerClient;
use super::client::script::ScriptClient;
use super::connect::{self, Place};
use super::failure::Failure;
use super::halt::Halt;
use super::login::Greeting;
use super::slice::{Outcome, Plan, Slice, Task};
use super::socket::Socket;
use super::transport::EventLoop;
use super::work::Work;
use super::worker::{self, Clients, Hired, Order, Report};
use crate::measure::recorder::Recorder;
use crate::script::stored::Targets;
use crate::wire::answer::Taker;
use bytes::BytesMut;
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
    /// io_uring where the kernel allows it: else epoll.
    pub event_loop: EventLoop,
}

pub struct Crew {
    work: Work,
    clients: usize,
    event_loop: EventLoop,
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
    pub fn hire(work: Work, layout: &Layout, halt: &Halt, patience: Duration) -> Result<Self, Failure> {
        let shape = work.shape();
        // The same for all arms, so it is settled before there is one.
        let event_loop = match layout.event_loop.check(layout.clients.div_ceil(layout.threads)) {
            Ok(()) => layout.event_loop,
            Err(_) => EventLoop::Epoll,
        };
        let (report, reports) = mpsc::channel();
        let mut crew = Self {
            work,
            clients: layout.clients,
            event_loop,
            halt: halt.clone(),
            patience,
            arms: BTreeSet::new(),
            threads: Vec::new(),
            reports,
            recorders: (0..layout.threads).map(|_| Recorder::new(shape, layout.threads)).collect(),
            samples: Recorder::new(shape, 1),
        };
        for number in 0..layout.threads {
            let cpu = layout.cpus.as_ref().map(|cpus| cpus[number % cpus.len()]);
            crew.threads.push(spawn(number, Hired { work: crew.work.clone(), cpu, event_loop }, report.clone())?);
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

    pub fn work(&self) -> &Work {
        &self.work
    }

    pub fn clients(&self) -> usize {
        self.clients
    }

    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// How all its threads wait for the sockets of every arm.
    pub fn event_loop(&self) -> EventLoop {
        self.event_loop
    }

    /// Opens one connection per client, in their order, and prepares every statement on each.
    pub fn connect(&mut self, arm: u32, place: &Place) -> Result<Vec<Greeting>, Failure> {
        let (statements, mut opening, mut columns) = (self.work.statements(), Vec::new(), Vec::new());
        let (mut greetings, mut connections) = (Vec::with_capacity(self.clients), Vec::with_capacity(self.clients));
        for number in 0..self.clients {
            let doing = format!("connecting client {number} to arm {arm}");
            let (mut conversation, greeting) = connect::open(place, &self.halt, self.patience, doing)?;
            let described = connect::prepare(&mut conversation, &statements)?;
            if number == 0 {
                columns = described;
            }
            if let Work::Native(workload) = &self.work
                && let (0, Some(query)) = (number, workload.opening())
            {
                opening = connect::ask(&mut conversation, query)?;
            }
            let (socket, read) = conversation.end();
            if self.event_loop == EventLoop::IoUring && !socket.is_plain() {
                return Err(Failure::Request(format!(
                    "connecting client {number} to arm {arm}: what is encrypted cannot be waited for by io_uring (hint: \
                     `event_loop` in `setup`)"
                )));
            }
            connections.push((socket, read));
            greetings.push(greeting);
        }
        for (thread, (clients, sockets)) in self.threads.iter().zip(self.dealt(arm, connections, &opening, &columns)?) {
            thread.order(Order::Adopt { arm, clients, sockets });
        }
        let adopted: Vec<Report> = self.threads.iter().map(|_| self.report()).collect();
        for report in adopted {
            if let Report::Adopted(Err(failure)) = report {
                self.disconnect(arm);
                return Err(failure);
            }
        }
        self.arms.insert(arm);
        Ok(greetings)
    }

    /// Clients for the connections, and their sockets: client i for thread i mod threads.
    fn dealt(
        &self,
        arm: u32,
        connections: Vec<(Socket, BytesMut)>,
        opening: &[Option<String>],
        columns: &[Vec<String>],
    ) -> Result<Vec<(Clients, Vec<Socket>)>, Failure> {
        let threads = self.threads.len();
        let mut sockets: Vec<Vec<Socket>> = (0..threads).map(|_| Vec::new()).collect();
        let mut reads = Vec::with_capacity(connections.len());
        for (number, (socket, read)) in connections.into_iter().enumerate() {
            sockets[number % threads].push(socket);
            reads.push(read);
        }
        let clients = match &self.work {
            Work::Scripts(program) if program.is_plain() => {
                self.deal(arm, &reads, |seat| ScriptClient::new(seat, Arc::default()), Clients::PlainScripts)
            }
            Work::Scripts(program) => {
                let targets = program.targets(columns);
                let targets = targets.map_err(|what| Failure::Request(format!("connecting to arm {arm}: {what}")))?;
                let targets: Arc<[Option<Targets>]> = targets.into();
                self.deal(arm, &reads, |seat| ScriptClient::new(seat, Arc::clone(&targets)), Clients::Scripts)
            }
            Work::Native(workload) => {
                let players = workload.players(self.clients, opening);
                let players = players.map_err(|what| Failure::server(format!("connecting to arm {arm}: {what}")))?;
                assert_eq!(players.len(), self.clients, "a player for every client");
                let mut players = players.into_iter();
                let player = |seat| PlayerClient::new(seat, players.next().expect("they were counted"));
                self.deal(arm, &reads, player, Clients::Players)
            }
        };
        Ok(clients?.into_iter().zip(sockets).collect())
    }

    /// By thread, clients of one kind, each over a connection of which that much was read.
    fn deal<T: Taker + Default, C>(
        &self,
        arm: u32,
        reads: &[BytesMut],
        mut client: impl FnMut(Seat<T>) -> C,
        kind: fn(Vec<C>) -> Clients,
    ) -> Result<Vec<Clients>, Failure> {
        let threads = self.threads.len();
        let mut dealt: Vec<Vec<C>> = (0..threads).map(|_| Vec::new()).collect();
        for (number, read) in reads.iter().enumerate() {
            let seat = Seat::new(arm, number, number / threads, read).map_err(|error| {
                Failure::server(format!("arm {arm} spoke nonsense to client {number} when it connected: {error}"))
            })?;
            dealt[number % threads].push(client(seat));
        }
        Ok(dealt.into_iter().map(kind).collect())
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
        self.slice_of(plan, None)
    }

    /// The same, in which scripts are not drawn but come from each client's list, where there are lists.
    pub fn slice_of(&mut self, plan: Plan, tasks: Option<Vec<Vec<Task>>>) -> Result<(Outcome, &mut Recorder), Failure> {
        let slice = Arc::new(Slice::new(plan, tasks, self.threads.len(), &self.halt));
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
                Err(other) => {
                    failure = Some(match failure {
                        Some(first) => first.more_telling(other),
                        None => other,
                    })
                }
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

fn spawn(number: usize, hired: Hired, reports: Sender<Report>) -> Result<Thread, Failure> {
    let (orders, received) = mpsc::channel();
    let handle = thread::Builder::new()
        .name(format!("clients {number}"))
        .spawn(move || worker::work(&hired, &received, &reports))
        .map_err(|error| Failure::world("cannot start a thread", &error))?;
    Ok(Thread { orders, handle })
}
