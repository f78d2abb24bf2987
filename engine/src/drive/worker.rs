//! One thread of the crew and its clients of every arm. Between orders it sleeps.

use super::client::player::PlayerClient;
use super::client::script::ScriptClient;
use super::client::{Client, Desk, Turn};
use super::clock;
use super::failure::Failure;
use super::halt::LOOK_UP;
use super::process::{self, RunDelay};
use super::slice::{Outcome, Slice, Times};
use super::socket::Socket;
use super::transport::{EventLoop, Transport};
use super::work::{Part, Work};
use crate::measure::recorder::Recorder;
use crate::wire::answer::Skip;
use crate::wire::last_row::LastRow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// One thread's clients of one arm, and their sockets.
struct Squad {
    clients: Clients,
    transport: Transport,
}

pub enum Clients {
    PlainScripts(Vec<ScriptClient<Skip>>),
    Scripts(Vec<ScriptClient<LastRow>>),
    Players(Vec<PlayerClient>),
}

/// As what a thread was hired.
pub struct Hired {
    pub work: Work,
    /// Where it is to run; `None`: anywhere.
    pub cpu: Option<usize>,
    pub event_loop: EventLoop,
}

pub enum Order {
    /// The sockets are those of the clients, by their places.
    Adopt {
        arm: u32,
        clients: Clients,
        sockets: Vec<Socket>,
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
    Adopted(Result<(), Failure>),
    Released,
    Slice {
        outcome: Result<Outcome, Failure>,
        recorder: Recorder,
    },
}

struct Worker {
    part: Part,
    event_loop: EventLoop,
    squads: BTreeMap<u32, Squad>,
    tools: Tools,
}

/// What a thread uses in every slice, whatever its clients do.
struct Tools {
    run_delay: RunDelay,
    outgoing: Vec<u8>,
}

/// The whole life of a thread, which ends with its orders.
pub fn work(hired: &Hired, orders: &Receiver<Order>, reports: &Sender<Report>) {
    let placed = hired.cpu.map_or(Ok(()), |cpu| {
        process::pin(cpu).map_err(|error| Failure::world(&format!("cannot pin a thread to processor {cpu}"), &error))
    });
    let mut worker = Worker::new(hired);
    let mut report = Report::Placed(placed);
    // A crew that no longer listens is being dismissed.
    while reports.send(report).is_ok() {
        report = match orders.recv() {
            Ok(Order::Adopt { arm, clients, sockets }) => Report::Adopted(worker.adopt(arm, clients, sockets)),
            Ok(Order::Release { arm }) => {
                worker.squads.remove(&arm);
                Report::Released
            }
            Ok(Order::Slice { slice, mut recorder }) => {
                let outcome = worker.run(&slice, &mut recorder);
                Report::Slice { outcome, recorder }
            }
            Err(_) => return,
        };
    }
}

impl Worker {
    fn new(hired: &Hired) -> Self {
        let tools = Tools { run_delay: RunDelay::of_this_thread(), outgoing: Vec::new() };
        Self { part: hired.work.part(), event_loop: hired.event_loop, squads: BTreeMap::new(), tools }
    }

    fn adopt(&mut self, arm: u32, clients: Clients, sockets: Vec<Socket>) -> Result<(), Failure> {
        let event_loop = self.event_loop;
        let failed = |error| {
            Failure::world(&format!("cannot wait for the sockets of arm {arm} by {}", event_loop.name()), &error)
        };
        let mut transport = Transport::new(event_loop, sockets.len()).map_err(failed)?;
        for (place, socket) in sockets.into_iter().enumerate() {
            transport.adopt(place, socket).map_err(failed)?;
        }
        self.squads.insert(arm, Squad { clients, transport });
        Ok(())
    }

    fn run(&mut self, slice: &Slice, recorder: &mut Recorder) -> Result<Outcome, Failure> {
        let Self { part, squads, tools, .. } = self;
        let Squad { clients, transport } = squads.get_mut(&slice.plan.arm).expect("the crew knows its arms");
        match (part, clients) {
            (Part::Scripts(part), Clients::PlainScripts(clients)) => {
                run(part, clients, transport, tools, slice, recorder)
            }
            (Part::Scripts(part), Clients::Scripts(clients)) => run(part, clients, transport, tools, slice, recorder),
            (Part::Native(part), Clients::Players(clients)) => run(part, clients, transport, tools, slice, recorder),
            _ => unreachable!("the crew gives its threads clients of its own kind"),
        }
    }
}

fn run<C: Client>(
    part: &C::Part,
    clients: &mut [C],
    transport: &mut Transport,
    tools: &mut Tools,
    slice: &Slice,
    recorder: &mut Recorder,
) -> Result<Outcome, Failure> {
    for client in clients.iter_mut() {
        client.reset(part, slice.plan.seed);
    }
    let run_delay_before_ns = tools.run_delay.total_ns();
    let begun_at_ns = slice.gate.pass();
    let began_ns = clock::now_ns();
    let cpu_before_ns = clock::thread_cpu_ns();

    let mut desk = Desk {
        part,
        slice,
        times: Times::of(&slice.plan, begun_at_ns),
        recorder,
        transport,
        outgoing: &mut tools.outgoing,
        drain_ns_max: 0,
        refusal: None,
    };
    let driven = drive(clients, &mut desk);
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
    outcome.run_delay_ns = tools.run_delay.total_ns().saturating_sub(run_delay_before_ns);
    clients.iter().for_each(|client| outcome.add_client(client.tally()));
    Ok(outcome)
}

/// Drives the clients until none of them has more to do. A single client is waited for in the same
/// way: blocking in its read instead was measured to cost a microsecond more for every answer.
fn drive<C: Client>(clients: &mut [C], desk: &mut Desk<'_, C::Part>) -> Result<(), Failure> {
    let mut busy = Busy { clients: clients.len(), pauses: BinaryHeap::new() };
    for (place, client) in clients.iter_mut().enumerate() {
        busy.note(place, client.begin(desk)?);
    }
    while busy.clients > 0 {
        let waited = desk.transport.wait(Some(busy.patience()));
        waited.map_err(|error| Failure::world("waiting for answers", &error))?;
        desk.slice.check()?;
        let mut is_silent = true;
        while let Some((place, heard)) = desk.transport.next(|place, heard| (place, clients[place].hear(heard))) {
            is_silent = false;
            match heard? {
                Some(status) => busy.note(place, clients[place].answered(desk, status)?),
                // A server could send an answer a byte at a time for ever.
                None => clients[place].check_limit(desk)?,
            }
        }
        if !busy.pauses.is_empty() {
            // Who would pause beyond a slice that winds down is told at once.
            let now = if desk.slice.goes_on() { clock::now_ns() } else { u64::MAX };
            while let Some(place) = busy.due(now) {
                busy.note(place, clients[place].wake(desk)?);
            }
        }
        // While others answer, a silent client can wait: in the end they all fall silent.
        if is_silent {
            clients.iter().try_for_each(|client| client.check_limit(desk))?;
        }
    }
    Ok(())
}

/// How many clients have more to do, and who of them pauses until when.
struct Busy {
    clients: usize,
    pauses: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Busy {
    #[inline]
    fn note(&mut self, place: usize, turn: Turn) {
        match turn {
            Turn::Waiting => {}
            Turn::Finished => self.clients -= 1,
            Turn::Pausing(until_ns) => self.pauses.push(Reverse((until_ns, place))),
        }
    }

    /// Until the next pause is over; never beyond [`LOOK_UP`].
    #[inline]
    fn patience(&self) -> Duration {
        match self.pauses.peek() {
            None => LOOK_UP,
            Some(Reverse((until_ns, _))) => Duration::from_nanos(until_ns.saturating_sub(clock::now_ns())).min(LOOK_UP),
        }
    }

    /// Somebody whose pause is over.
    fn due(&mut self, now: u64) -> Option<usize> {
        let &Reverse((until_ns, place)) = self.pauses.peek()?;
        (until_ns <= now).then(|| {
            self.pauses.pop();
            place
        })
    }
}
