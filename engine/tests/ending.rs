//! Native programs that say themselves when a client may go on, and when a slice is over.

mod fake;

use fake::loops::{by_every_loop, event_loop};
use fake::{FakeServer, Manner, PORT};
use pgverdict_engine::drive::connect::{Door, Place};
use pgverdict_engine::drive::crew::{Crew, Layout};
use pgverdict_engine::drive::halt::Halt;
use pgverdict_engine::drive::slice::{Amount, Plan};
use pgverdict_engine::drive::work::Work;
use pgverdict_engine::wire::rows::Rows;
use pgverdict_engine::workload::request::Request;
use pgverdict_engine::workload::{Next, Player, Ready, Sql, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

by_every_loop!(
    a_slice_bounded_by_its_program_is_over_when_every_player_says_so,
    who_waits_for_another_rests_when_the_time_of_a_slice_is_over,
);

const MILLISECOND_NS: u64 = 1_000_000;

/// The first client sends so many statements, one each millisecond; the others do until it is done.
struct Led {
    statements: Vec<Sql>,
    count: u64,
}

struct Leader {
    done: Arc<AtomicU64>,
    count: u64,
    next_ns: u64,
    is_sent: bool,
}

struct Follower {
    done: Arc<AtomicU64>,
    count: u64,
    is_sent: bool,
}

impl Workload for Led {
    fn statements(&self) -> &[Sql] {
        &self.statements
    }

    fn kinds(&self) -> &[&'static str] {
        &["lead", "follow"]
    }

    fn ends(&self) -> bool {
        true
    }

    fn players(&self, clients: usize, _: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String> {
        let (done, count) = (Arc::new(AtomicU64::new(0)), self.count);
        let leader = Leader { done: Arc::clone(&done), count, next_ns: 0, is_sent: false };
        let followers = (1..clients).map(|_| Follower { done: Arc::clone(&done), count, is_sent: false });
        let mut players: Vec<Box<dyn Player>> = vec![Box::new(leader)];
        players.extend(followers.map(|player| Box::new(player) as Box<dyn Player>));
        Ok(players)
    }
}

fn run_once(is_sent: &mut bool, request: &mut Request<'_>) -> Next {
    *is_sent = !*is_sent;
    if !*is_sent {
        return Next::Done;
    }
    // A text, as programs may send beside statements that are prepared.
    request.say(0, |out| out.extend_from_slice(b"SELECT 1"));
    Next::Send
}

impl Player for Leader {
    fn reseed(&mut self, _: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.next_ns = 0;
    }

    fn ready(&mut self, now_ns: u64) -> Ready {
        if self.done.load(Ordering::Relaxed) == self.count {
            return Ready::Over;
        }
        if now_ns < self.next_ns {
            return Ready::At(self.next_ns);
        }
        self.next_ns = now_ns + MILLISECOND_NS;
        Ready::Now
    }

    fn begin(&mut self) -> usize {
        0
    }

    fn next(&mut self, _: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        let next = run_once(&mut self.is_sent, request);
        if next == Next::Done {
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(next)
    }
}

impl Player for Follower {
    fn reseed(&mut self, _: u64) {}

    fn ready(&mut self, _: u64) -> Ready {
        if self.done.load(Ordering::Relaxed) == self.count { Ready::Over } else { Ready::Now }
    }

    fn begin(&mut self) -> usize {
        1
    }

    fn next(&mut self, _: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        Ok(run_once(&mut self.is_sent, request))
    }
}

fn connected(count: u64, clients: usize, threads: usize) -> (FakeServer, Crew) {
    let server = FakeServer::start(Manner::Polite);
    let led = Led { statements: vec![Sql::new("SELECT 1", &[])], count };
    let layout = Layout { clients, threads, cpus: None, event_loop: event_loop() };
    let mut crew = Crew::hire(Work::Native(Arc::new(led)), &layout, &Halt::default(), Duration::from_secs(20)).unwrap();
    let place = Place::Socket(Door {
        socket_directory: server.folder().into(),
        port: PORT,
        user: "u".into(),
        database: "d".into(),
    });
    crew.connect(0, &place).unwrap();
    (server, crew)
}

fn plan(bound: Amount) -> Plan {
    let discard = Amount::TransactionsPerClient(0);
    Plan { arm: 0, seed: 1, bound, discard, statement_limit: Duration::from_secs(20) }
}

fn a_slice_bounded_by_its_program_is_over_when_every_player_says_so() {
    for threads in [1, 3] {
        let (_server, mut crew) = connected(10, 3, threads);
        for _ in 0..2 {
            let (outcome, samples) = crew.slice(plan(Amount::Program)).unwrap();
            assert!(outcome.ended_at_ns - outcome.begun_at_ns >= 9 * MILLISECOND_NS, "{outcome:?}");
            assert_eq!(samples.kinds[0].transactions.len(), 10);
            assert!(!samples.kinds[1].transactions.is_empty());
            assert_eq!((outcome.failed, outcome.discarded), (0, 0));
        }
    }
}

fn who_waits_for_another_rests_when_the_time_of_a_slice_is_over() {
    let (_server, mut crew) = connected(u64::MAX, 2, 1);
    let (outcome, samples) = crew.slice(plan(Amount::Duration(Duration::from_millis(20)))).unwrap();
    assert!(outcome.ended_at_ns - outcome.begun_at_ns < 10_000 * MILLISECOND_NS);
    assert!((1..=21).contains(&samples.kinds[0].transactions.len()));
}
