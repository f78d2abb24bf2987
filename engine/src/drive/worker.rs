//! One thread of the crew and its clients of every arm. Between orders it sleeps.

use super::client::player::PlayerClient;
use super::client::script::ScriptClient;
use super::client::{Client, Desk, Turn};
use super::clock;
use super::epoll::{Epoll, Events};
use super::failure::Failure;
use super::halt::LOOK_UP;
use super::process::{self, RunDelay};
use super::slice::{Outcome, Slice, Times};
use super::work::{Part, Work};
use crate::measure::recorder::Recorder;
use crate::wire::answer::Skip;
use crate::wire::last_row::LastRow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// Answers are small; a large one takes several reads, all into the same place.
/// More than TLS decrypts in one turn, a record of 16 KiB and what else its read brought: no socket tells of what
/// would be left.
const INCOMING_BYTES: usize = 64 * 1024;

/// One thread's clients of one arm.
pub struct Lane {
    clients: Clients,
    epoll: Epoll,
}

enum Clients {
    PlainScripts(Vec<ScriptClient<Skip>>),
    Scripts(Vec<ScriptClient<LastRow>>),
    Players(Vec<PlayerClient>),
}

impl Lane {
    pub fn of_plain_scripts(clients: Vec<ScriptClient<Skip>>) -> io::Result<Self> {
        Ok(Self { epoll: watch(&clients)?, clients: Clients::PlainScripts(clients) })
    }

    pub fn of_scripts(clients: Vec<ScriptClient<LastRow>>) -> io::Result<Self> {
        Ok(Self { epoll: watch(&clients)?, clients: Clients::Scripts(clients) })
    }

    pub fn of_players(clients: Vec<PlayerClient>) -> io::Result<Self> {
        Ok(Self { epoll: watch(&clients)?, clients: Clients::Players(clients) })
    }
}

fn watch(clients: &[impl Client]) -> io::Result<Epoll> {
    let epoll = Epoll::new()?;
    for (token, client) in clients.iter().enumerate() {
        epoll.watch(client.socket(), token)?;
    }
    Ok(epoll)
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

struct Worker {
    part: Part,
    lanes: BTreeMap<u32, Lane>,
    tools: Tools,
}

/// What a thread uses in every slice, whatever its clients do.
struct Tools {
    run_delay: RunDelay,
    events: Events,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

/// The whole life of a thread, which ends with its orders.
pub fn work(work: &Work, cpu: Option<usize>, orders: &Receiver<Order>, reports: &Sender<Report>) {
    let placed = cpu.map_or(Ok(()), |cpu| {
        process::pin(cpu).map_err(|error| Failure::world(&format!("cannot pin a thread to processor {cpu}"), &error))
    });
    let mut worker = Worker::new(work);
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
    fn new(work: &Work) -> Self {
        let tools = Tools {
            run_delay: RunDelay::of_this_thread(),
            events: Events::new(),
            incoming: vec![0; INCOMING_BYTES],
            outgoing: Vec::new(),
        };
        Self { part: work.part(), lanes: BTreeMap::new(), tools }
    }

    fn run(&mut self, slice: &Slice, recorder: &mut Recorder) -> Result<Outcome, Failure> {
        let Self { part, lanes, tools } = self;
        let Lane { clients, epoll } = lanes.get_mut(&slice.plan.arm).expect("the crew knows its arms");
        match (part, clients) {
            (Part::Scripts(part), Clients::PlainScripts(clients)) => run(part, clients, epoll, tools, slice, recorder),
            (Part::Scripts(part), Clients::Scripts(clients)) => run(part, clients, epoll, tools, slice, recorder),
            (Part::Native(part), Clients::Players(clients)) => run(part, clients, epoll, tools, slice, recorder),
            _ => unreachable!("the crew gives its threads clients of its own kind"),
        }
    }
}

fn run<C: Client>(
    part: &C::Part,
    clients: &mut [C],
    epoll: &Epoll,
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
        outgoing: &mut tools.outgoing,
        incoming: &mut tools.incoming,
        drain_ns_max: 0,
        refusal: None,
    };
    let driven = drive(clients, epoll, &mut tools.events, &mut desk);
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
fn drive<C: Client>(
    clients: &mut [C],
    epoll: &Epoll,
    events: &mut Events,
    desk: &mut Desk<'_, C::Part>,
) -> Result<(), Failure> {
    let mut busy = Busy { clients: clients.len(), pauses: BinaryHeap::new() };
    for (token, client) in clients.iter_mut().enumerate() {
        busy.note(token, client.begin(desk)?);
    }
    while busy.clients > 0 {
        let waited = if busy.pauses.is_empty() { epoll.wait(events) } else { busy.wait(epoll, events) };
        let count = waited.map_err(|error| Failure::world("waiting for answers", &error))?;
        desk.slice.check()?;
        for index in 0..count {
            let token = events.token(index);
            busy.note(token, clients[token].receive(desk)?);
        }
        if !busy.pauses.is_empty() {
            // Who would pause beyond a slice that winds down is told at once.
            let now = if desk.slice.goes_on() { clock::now_ns() } else { u64::MAX };
            while let Some(token) = busy.due(now) {
                busy.note(token, clients[token].wake(desk)?);
            }
        }
        // While others answer, a silent client can wait: in the end they all fall silent.
        if count == 0 {
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
    fn note(&mut self, token: usize, turn: Turn) {
        match turn {
            Turn::Waiting => {}
            Turn::Finished => self.clients -= 1,
            Turn::Pausing(until_ns) => self.pauses.push(Reverse((until_ns, token))),
        }
    }

    /// As [`Epoll::wait`], until the next pause is over.
    fn wait(&self, epoll: &Epoll, events: &mut Events) -> io::Result<usize> {
        let until_ns = self.pauses.peek().map_or(0, |Reverse((until_ns, _))| *until_ns);
        let left = Duration::from_nanos(until_ns.saturating_sub(clock::now_ns()));
        epoll.wait_for(events, Some(left.min(LOOK_UP)))
    }

    /// Somebody whose pause is over.
    fn due(&mut self, now: u64) -> Option<usize> {
        let &Reverse((until_ns, token)) = self.pauses.peek()?;
        (until_ns <= now).then(|| {
            self.pauses.pop();
            token
        })
    }
}
