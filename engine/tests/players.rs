//! Native programs against a server that answers, or does not as it should. The program is a small one
//! of the test, driven by the crew itself.

mod fake;

use fake::loops::{by_every_loop, event_loop};
use fake::{FakeServer, Manner, PORT};
use pgverdict_engine::drive::connect::{Door, Place};
use pgverdict_engine::drive::crew::{Crew, Layout};
use pgverdict_engine::drive::failure::Failure;
use pgverdict_engine::drive::halt::Halt;
use pgverdict_engine::drive::slice::{Amount, Outcome, Plan};
use pgverdict_engine::drive::work::Work;
use pgverdict_engine::measure::recorder::Recorder;
use pgverdict_engine::script::random::Prng;
use pgverdict_engine::wire::rows::Rows;
use pgverdict_engine::workload::request::Request;
use pgverdict_engine::workload::{self, Next, Player, Sql, Workload};
use std::sync::Arc;
use std::time::Duration;

by_every_loop!(
    a_transaction_reads_what_it_was_answered,
    a_pipeline_is_answered_as_a_whole_and_wanted_rollbacks_are_counted_apart,
    what_is_drawn_depends_on_the_seed_and_the_client_alone,
    a_transaction_that_meets_another_fails_or_is_tried_again,
    pauses_are_between_transactions_and_in_no_latency,
    a_slice_of_time_does_not_wait_for_pauses_beyond_its_end,
    what_a_server_does_wrong_ends_the_slice_and_is_said,
    statements_that_the_server_sees_otherwise_are_refused_when_an_arm_is_connected,
);

const BEGIN: usize = 0;
const COMMIT: usize = 1;
const ROLLBACK: usize = 2;
const READ: usize = 3;
const NOTE: usize = 4;

/// Kinds: `read`, one statement whose row is looked at; `order`, a block of a pipeline and a commit, of
/// which every fourth is rolled back.
struct Shop {
    statements: Vec<Sql>,
    /// How often a transaction is tried that meets another.
    tries: u32,
    pause: Duration,
    orders: bool,
}

impl Shop {
    fn open(tries: u32, pause: Duration, orders: bool) -> Arc<dyn Workload> {
        let text = pgverdict_engine::wire::parameter::Form::Text;
        let statements = vec![
            Sql::new("BEGIN", &[]),
            Sql::new("COMMIT", &[]),
            Sql::new("ROLLBACK", &[]),
            Sql::new("SELECT stock FROM item WHERE id = $1", &[text]).keeping_rows(),
            Sql::new("INSERT INTO note VALUES ($1, $2)", &[text, text]),
        ];
        Arc::new(Self { statements, tries, pause, orders })
    }
}

impl Workload for Shop {
    fn statements(&self) -> &[Sql] {
        &self.statements
    }

    fn kinds(&self) -> &[&'static str] {
        &["read", "order"]
    }

    fn opening(&self) -> Option<&str> {
        Some("SELECT 7")
    }

    fn players(&self, clients: usize, opening: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String> {
        if opening != [Some("0".to_owned())] {
            return Err(format!("the fake server answers 0, not {opening:?}"));
        }
        let player = |client| {
            let prng = Prng::seeded(0);
            let (tries, pause, orders) = (self.tries, self.pause, self.orders);
            Box::new(Clerk { client, tries, pause, orders, prng, drawn: 0, step: 0, rests: true }) as Box<dyn Player>
        };
        Ok((0..clients).map(player).collect())
    }
}

struct Clerk {
    client: usize,
    tries: u32,
    pause: Duration,
    orders: bool,
    prng: Prng,
    /// Over the life of the connection.
    drawn: u64,
    step: u32,
    rests: bool,
}

impl Player for Clerk {
    fn reseed(&mut self, seed: u64) {
        self.prng = workload::prng(seed, self.client);
    }

    fn pause(&mut self) -> Duration {
        self.rests = !self.rests;
        if self.rests { Duration::ZERO } else { self.pause }
    }

    fn begin(&mut self) -> usize {
        self.step = 0;
        self.drawn += 1;
        usize::from(self.orders)
    }

    fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        let key = 1000 * self.client as i64 + self.prng.up_to(99) as i64;
        self.step += 1;
        let roll_back = self.drawn.is_multiple_of(4);
        match (self.orders, self.step) {
            (false, 1) => request.execute(READ, |arguments| {
                arguments.integer(key);
            }),
            (false, _) => match answer.integer(0, 0, 0)? {
                0 => return Ok(Next::Done),
                stock => return Err(format!("{stock} in stock")),
            },
            (true, 1) => {
                request.run(BEGIN);
                request.execute(READ, |arguments| {
                    arguments.integer(key);
                });
                request.execute(NOTE, |arguments| {
                    arguments.text(b"note").null();
                });
            }
            (true, 2) => {
                assert_eq!((answer.count(0), answer.count(1), answer.count(2)), (0, 1, 0));
                request.run(if roll_back { ROLLBACK } else { COMMIT });
            }
            (true, _) if roll_back => return Ok(Next::RolledBack),
            (true, _) => return Ok(Next::Done),
        }
        Ok(Next::Send)
    }

    fn tries_again(&mut self, tries: u32) -> bool {
        self.step = 0;
        tries < self.tries
    }
}

fn connected(shop: Arc<dyn Workload>, manner: Manner, clients: usize, threads: usize) -> (FakeServer, Crew) {
    let server = FakeServer::start(manner);
    let layout = Layout { clients, threads, cpus: None, event_loop: event_loop() };
    let mut crew = Crew::hire(Work::Native(shop), &layout, &Halt::default(), Duration::from_secs(20)).unwrap();
    crew.connect(0, &place(&server)).unwrap();
    (server, crew)
}

fn place(server: &FakeServer) -> Place {
    Place::Socket(Door { socket_directory: server.folder().into(), port: PORT, user: "u".into(), database: "d".into() })
}

fn plan(seed: u64, transactions: u64) -> Plan {
    Plan {
        arm: 0,
        seed,
        bound: Amount::TransactionsPerClient(transactions),
        discard: Amount::TransactionsPerClient(0),
        statement_limit: Duration::from_secs(20),
    }
}

fn run(crew: &mut Crew, plan: Plan) -> (Outcome, &mut Recorder) {
    crew.slice(plan).unwrap()
}

fn a_transaction_reads_what_it_was_answered() {
    for manner in [Manner::Polite, Manner::Drips, Manner::Chatters] {
        let (_server, mut crew) = connected(Shop::open(1, Duration::ZERO, false), manner, 3, 2);
        let (outcome, recorder) = run(&mut crew, plan(1, 10));
        assert_eq!((outcome.transactions, outcome.failed), (30, 0));
        assert_eq!((recorder.kinds[0].transactions.len(), recorder.kinds[1].transactions.len()), (30, 0));
        assert_eq!(recorder.statements.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 0, 30, 0]);
        assert_eq!(recorder.transactions.len(), 30);
    }
}

fn a_pipeline_is_answered_as_a_whole_and_wanted_rollbacks_are_counted_apart() {
    for manner in [Manner::Polite, Manner::Drips] {
        let (server, mut crew) = connected(Shop::open(1, Duration::ZERO, true), manner, 1, 1);
        let (outcome, recorder) = run(&mut crew, plan(1, 8));
        assert_eq!((outcome.transactions, outcome.failed), (8, 0));
        let kind = &recorder.kinds[1];
        assert_eq!((kind.transactions.len(), kind.rolled_back, kind.failed, kind.retried), (8, 2, 0, 0));
        assert_eq!(recorder.statements.iter().map(Vec::len).collect::<Vec<_>>(), [8, 6, 2, 8, 8]);
        let times = &recorder.statements;
        assert_eq!((&times[BEGIN], &times[READ]), (&times[NOTE], &times[NOTE]), "a pipeline has one time");
        server.look(|seen| assert_eq!(seen.bound[0][2], [Some("note".to_owned()), None]));
    }
}

fn what_is_drawn_depends_on_the_seed_and_the_client_alone() {
    let keys = |clients, threads, seed| {
        let (server, mut crew) = connected(Shop::open(1, Duration::ZERO, false), Manner::Polite, clients, threads);
        run(&mut crew, plan(seed, 5));
        run(&mut crew, plan(seed, 5));
        server.look(|seen| seen.bound.clone())
    };
    let first = keys(3, 1, 7);
    assert_eq!(first, keys(3, 3, 7));
    assert_eq!(first[..2], keys(2, 1, 7));
    assert_ne!(first, keys(3, 1, 8));
    assert_eq!(first[0][..5], first[0][5..], "the same seed again");
}

fn a_transaction_that_meets_another_fails_or_is_tried_again() {
    // Five statements to an order: every seventh fails, inside a block or as its BEGIN.
    for (tries, failed) in [(1, true), (100, false)] {
        let (server, mut crew) =
            connected(Shop::open(tries, Duration::ZERO, true), Manner::SerializesEvery { executions: 7 }, 1, 1);
        let (outcome, recorder) = run(&mut crew, plan(1, 20));
        let kind = &recorder.kinds[1];
        assert_eq!(outcome.transactions + outcome.failed, 20);
        assert_eq!((kind.failed, kind.transactions.len() as u64), (outcome.failed, outcome.transactions));
        assert_eq!((outcome.failed > 0, kind.retried > 0), (failed, !failed));
        server.look(|seen| assert!(seen.queries.iter().any(|query| query == "ROLLBACK")));
    }
}

fn pauses_are_between_transactions_and_in_no_latency() {
    let pause = Duration::from_millis(5);
    let (_server, mut crew) = connected(Shop::open(1, pause, false), Manner::Polite, 2, 1);
    let (outcome, recorder) = run(&mut crew, plan(1, 6));
    assert_eq!(outcome.transactions, 12);
    // Every second transaction of a client is paused before: two pauses lie between its first and its last.
    assert!(outcome.busy_ns >= 2 * 2 * 5_000_000, "{}", outcome.busy_ns);
    let busy_ns: u64 = recorder.transactions.iter().sum();
    assert!(busy_ns <= outcome.busy_ns - 2 * 2 * 5_000_000);
}

fn a_slice_of_time_does_not_wait_for_pauses_beyond_its_end() {
    let (_server, mut crew) = connected(Shop::open(1, Duration::from_secs(1000), false), Manner::Polite, 2, 1);
    let bound = Amount::Duration(Duration::from_millis(20));
    let (outcome, _) = run(&mut crew, Plan { bound, ..plan(1, 0) });
    assert!(outcome.ended_at_ns - outcome.begun_at_ns < 10_000_000_000);
}

fn what_a_server_does_wrong_ends_the_slice_and_is_said() {
    let failure = |manner, orders| {
        let (_server, mut crew) = connected(Shop::open(1, Duration::ZERO, orders), manner, 1, 1);
        let statement_limit = Duration::from_millis(300);
        match crew.slice(Plan { statement_limit, ..plan(1, 10) }) {
            Err(Failure::Server { what, .. }) => what,
            other => panic!("{manner:?}: {:?}", other.map(drop)),
        }
    };
    let check = |manner, orders, what: &str| assert_eq!(failure(manner, orders), what);
    check(Manner::ClosesAt { execution: 5 }, false, "arm 0 closed the connection of client 0 in a slice");
    check(Manner::TruncatesAt { execution: 5 }, false, "arm 0 closed the connection of client 0 in a slice");
    check(Manner::FailsAt { execution: 6 }, true, "arm 0 refused statement 4 of client 0 in a slice");
    check(Manner::FallsSilentAt { execution: 3 }, true, "arm 0 gave client 0 no answer for 0.3 s in a slice");
    check(
        Manner::SpeaksGarbageAt { execution: 3 },
        true,
        "arm 0 spoke nonsense to client 0 in a slice: message of unknown type 0x01",
    );
    let twice = failure(Manner::AnswersTwiceAt { execution: 3 }, false);
    assert!(twice.contains("spoke nonsense to client 0 in a slice: message ReadyForQuery"), "{twice}");
    let babble = failure(Manner::BabblesAt { execution: 0 }, false);
    assert!(babble.contains("message DataRow is malformed"), "{babble}");
}

fn statements_that_the_server_sees_otherwise_are_refused_when_an_arm_is_connected() {
    let server = FakeServer::start(Manner::SeesOneParameterTooMany);
    let layout = Layout { clients: 1, threads: 1, cpus: None, event_loop: event_loop() };
    let shop = Shop::open(1, Duration::ZERO, false);
    let mut crew = Crew::hire(Work::Native(shop), &layout, &Halt::default(), Duration::from_secs(20)).unwrap();
    let refused = crew.connect(0, &place(&server)).map(drop).unwrap_err();
    assert!(refused.to_string().starts_with("connecting client 0 to arm 0, preparing statement 0"), "{refused}");
}
