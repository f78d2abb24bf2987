//! YCSB's core workloads A to F.

mod pace;

use super::request::Request;
use super::{Next, Opened, Player, Ready, Sql, Workload, prng};
use crate::generate::ycsb::{Layout, Records};
use crate::keys::{Scrambled, THETA, Zipfian};
use crate::parameters::Parameters;
use crate::script::random::Prng;
use crate::wire::parameter::Form;
use crate::wire::rows::Rows;
use pace::Pace;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is done to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Update => "update",
            Operation::Insert => "insert",
            Operation::Scan => "scan",
            Operation::ReadModifyWrite => "read_modify_write",
        }
    }
}

/// Operations and the percentage of each.
type Mix = &'static [(Operation, u64)];

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const MIXES: [Mix; 6] = [
    &[(Operation::Read, 50), (Operation::Update, 50)],
    &[(Operation::Read, 95), (Operation::Update, 5)],
    &[(Operation::Read, 100)],
    &[(Operation::Read, 95), (Operation::Insert, 5)],
    &[(Operation::Scan, 95), (Operation::Insert, 5)],
    &[(Operation::Read, 50), (Operation::ReadModifyWrite, 50)],
];

/// Which record an operation is about.
#[derive(Debug, Clone)]
enum Requests {
    /// Some records are popular, wherever they lie; over so many, some of which may not be there.
    Zipfian(Scrambled, u64),
    Uniform,
    /// The last ones inserted are popular.
    Latest(Zipfian),
    /// So many of those loaded, the first, get most requests, and all of these alike.
    Hotspot(u64),
    /// The newest less an exponential number with so much for its rate.
    Exponential(f64),
}

/// Of the records loaded, and of the operations on them: YCSB's `hotspotdatafraction` and `hotspotopnfraction`.
const HOT_RECORDS: f64 = 0.2;
const HOT_OPERATIONS: f64 = 0.8;

/// So much of all exponential numbers lies within so much of the records: YCSB's `exponential.percentile` and
/// `exponential.frac`.
const NEAR_NUMBERS: f64 = 0.95;
const NEAR_RECORDS: f64 = 0.857_142_857_1;

#[derive(Debug)]
struct Shared {
    records: Records,
    mix: Mix,
    read_all: bool,
    write_all: bool,
    scan_length: u64,
    /// Operations per second of all clients; 0: as many as they can.
    target: u64,
    statements: Numbers,
}

/// Of statements; those of single fields follow each other.
#[derive(Debug, Clone, Copy, Default)]
struct Numbers {
    read: usize,
    update: usize,
    insert: usize,
    scan: usize,
}

struct Ycsb {
    statements: Vec<Sql>,
    kinds: Vec<&'static str>,
    shared: Arc<Shared>,
    requests: Requests,
    inserts: bool,
}

const TARGET_MAX: u64 = 100_000_000;

/// Program `ycsb`. Parameters: those of the rows, `mix`, `requests`, `read_all_fields`, `write_all_fields`,
/// `scan_length`, `operations` and `target`.
pub fn open(name: &str, parameters: &Parameters) -> Opened {
    (name == "ycsb").then(|| Ok(Arc::new(Ycsb::read(parameters)?) as Arc<dyn Workload>))
}

impl Ycsb {
    fn read(parameters: &Parameters) -> Result<Self, String> {
        let mut reading = parameters.read();
        let records = Records::read(&mut reading)?;
        let mix = MIXES[reading.choice("mix", &NAMES)?];
        let requests = reading.choice("requests", &["zipfian", "uniform", "latest", "hotspot", "exponential"])?;
        let (read_all, write_all) = (reading.boolean("read_all_fields")?, reading.boolean("write_all_fields")?);
        let scan_length = reading.count("scan_length", 1..=1_000_000)?;
        let operations = reading.count("operations", 0..=1_000_000_000_000)?;
        let target = reading.count("target", 0..=TARGET_MAX)?;
        reading.end()?;
        let inserts: u64 = mix.iter().filter(|(done, _)| *done == Operation::Insert).map(|(_, percent)| percent).sum();
        let requests = match requests {
            // As in CoreWorkload: twice the records that are expected to be inserted, and one more.
            0 => Requests::Zipfian(Scrambled::default(), records.count + operations * inserts / 100 * 2 + 1),
            1 => Requests::Uniform,
            2 => Requests::Latest(Zipfian::over(records.count - 1, THETA)),
            3 => Requests::Hotspot((records.count as f64 * HOT_RECORDS) as u64),
            _ => Requests::Exponential(-(1.0 - NEAR_NUMBERS).ln() / (records.count as f64 * NEAR_RECORDS)),
        };
        let (statements, numbers) = statements(&records, mix, read_all, write_all);
        let shared = Shared { records, mix, read_all, write_all, scan_length, target, statements: numbers };
        Ok(Self {
            statements,
            kinds: mix.iter().map(|(operation, _)| operation.name()).collect(),
            shared: Arc::new(shared),
            requests,
            inserts: inserts > 0,
        })
    }
}

fn statements(records: &Records, mix: Mix, read_all: bool, write_all: bool) -> (Vec<Sql>, Numbers) {
    let (mut all, mut numbers) = (Vec::new(), Numbers::default());
    let text = |count: usize| vec![Form::Text; count];
    let columns = records.layout == Layout::Columns;
    let done = |wanted: &[Operation]| mix.iter().any(|(operation, _)| wanted.contains(operation));
    if done(&[Operation::Read, Operation::ReadModifyWrite]) {
        numbers.read = all.len();
        if read_all || !columns {
            all.push(Sql::new("SELECT * FROM usertable WHERE ycsb_key = $1", &text(1)));
        } else {
            let one = |field| format!("SELECT field{field} FROM usertable WHERE ycsb_key = $1");
            all.extend((0..records.fields).map(|field| Sql::new(one(field), &text(1))));
        }
    }
    if done(&[Operation::Update, Operation::ReadModifyWrite]) {
        numbers.update = all.len();
        if !columns {
            let sql = "UPDATE usertable SET ycsb_value = ycsb_value || $1 WHERE ycsb_key = $2";
            all.push(Sql::new(sql, &text(2)));
        } else if write_all {
            let fields: Vec<String> =
                (0..records.fields).map(|field| format!("field{field} = ${}", field + 1)).collect();
            let sql = format!("UPDATE usertable SET {} WHERE ycsb_key = ${}", fields.join(", "), records.fields + 1);
            all.push(Sql::new(sql, &text(records.fields + 1)));
        } else {
            let one = |field| format!("UPDATE usertable SET field{field} = $1 WHERE ycsb_key = $2");
            all.extend((0..records.fields).map(|field| Sql::new(one(field), &text(2))));
        }
    }
    if done(&[Operation::Insert]) {
        numbers.insert = all.len();
        let count = if columns { records.fields } else { 1 };
        let places: Vec<String> = (1..=count + 1).map(|place| format!("${place}")).collect();
        all.push(Sql::new(format!("INSERT INTO usertable VALUES ({})", places.join(", ")), &text(count + 1)));
    }
    if done(&[Operation::Scan]) {
        numbers.scan = all.len();
        let sql = "SELECT * FROM usertable WHERE ycsb_key >= $1 ORDER BY ycsb_key LIMIT $2";
        all.push(Sql::new(sql, &[Form::Text, Form::Int8]));
    }
    (all, numbers)
}

impl Workload for Ycsb {
    fn statements(&self) -> &[Sql] {
        &self.statements
    }

    fn kinds(&self) -> &[&'static str] {
        &self.kinds
    }

    /// Where records are inserted, how many there are: what was inserted before is not to be again.
    fn opening(&self) -> Option<&str> {
        self.inserts.then_some("SELECT count(*) FROM usertable")
    }

    fn players(&self, clients: usize, opening: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String> {
        let loaded = self.shared.records.count;
        let found = match opening {
            [Some(count)] => count.parse().map_err(|_| format!("not a number of records: {count}"))?,
            _ => loaded,
        };
        let Some(before) = u64::checked_sub(found, loaded) else {
            return Err(format!("usertable has {found} records and {loaded} were loaded"));
        };
        let generation = before.checked_mul(GENERATION).filter(|generation| *generation < 1 << 63);
        let generation =
            generation.ok_or_else(|| format!("{before} records were inserted before, which are too many"))?;
        let inserted: Arc<Vec<AtomicU64>> = Arc::new((0..clients).map(|_| AtomicU64::new(0)).collect());
        let player = |client| {
            Box::new(Client {
                shared: Arc::clone(&self.shared),
                requests: self.requests.clone(),
                client: client as u64,
                clients: clients as u64,
                inserted: Arc::clone(&inserted),
                own: 0,
                common: 0,
                generation,
                pace: Pace::of(self.shared.target, client, clients),
                now_ns: 0,
                due_ns: None,
                prng: Prng::seeded(0),
                operation: Operation::Read,
                number: 0,
                step: 0,
            }) as Box<dyn Player>
        };
        Ok((0..clients).map(player).collect())
    }
}

struct Client {
    shared: Arc<Shared>,
    requests: Requests,
    client: u64,
    clients: u64,
    /// By client: how many records it has inserted.
    inserted: Arc<Vec<AtomicU64>>,
    own: u64,
    /// How many records every client had inserted when the slice began.
    common: u64,
    /// Where the numbers of inserted records begin, beyond those that the connection found inserted.
    generation: u64,
    pace: Option<Pace>,
    /// When it was asked last whether it begins.
    now_ns: u64,
    /// Of the operation under way.
    due_ns: Option<u64>,
    prng: Prng,
    operation: Operation,
    number: u64,
    step: u32,
}

/// Connections number what they insert below this; those that find inserted records begin beyond.
const GENERATION: u64 = 1 << 36;

impl Client {
    /// Records that are known to be there: those loaded, those that everybody had inserted before the
    /// slice, and the client's own.
    fn known(&self) -> u64 {
        self.shared.records.count + self.common * self.clients + (self.own - self.common)
    }

    /// The number of the record at a place among the known ones.
    fn record(&self, place: u64) -> u64 {
        let loaded = self.shared.records.count;
        let Some(inserted) = place.checked_sub(loaded) else { return place };
        let shared = self.common * self.clients;
        match inserted.checked_sub(shared) {
            None => self.insert_number(inserted),
            Some(own) => self.insert_number((self.common + own) * self.clients + self.client),
        }
    }

    fn insert_number(&self, number: u64) -> u64 {
        self.generation + self.shared.records.count + number
    }

    fn draw_record(&mut self) -> u64 {
        let known = self.known();
        let place = match &mut self.requests {
            Requests::Zipfian(scrambled, items) => loop {
                let place = scrambled.draw(&mut self.prng, *items);
                if place < known {
                    break place;
                }
            },
            Requests::Uniform => self.prng.up_to(known - 1),
            Requests::Latest(zipfian) => {
                zipfian.grow(known - 1);
                known - 1 - zipfian.draw(&mut self.prng)
            }
            // As in CoreWorkload, of those loaded: what is inserted meanwhile is not asked for.
            Requests::Hotspot(hot) => match self.prng.fraction() < HOT_OPERATIONS {
                true => self.prng.up_to(*hot - 1),
                false => *hot + self.prng.up_to(self.shared.records.count - *hot - 1),
            },
            Requests::Exponential(rate) => loop {
                let back = -(1.0 - self.prng.fraction()).ln() / *rate;
                if let Some(place) = (known - 1).checked_sub(back as u64) {
                    break place;
                }
            },
        };
        self.record(place)
    }

    fn read(&mut self, request: &mut Request<'_>) {
        let Shared { records, read_all, statements, .. } = &*self.shared;
        let one = !read_all && records.layout == Layout::Columns;
        let field = if one { self.prng.up_to(records.fields as u64 - 1) as usize } else { 0 };
        request.execute(statements.read + field, |arguments| {
            arguments.written(|out| records.write_key(self.number, out));
        });
    }

    fn update(&mut self, request: &mut Request<'_>) {
        let Shared { records, write_all, statements, .. } = &*self.shared;
        let (prng, number) = (&mut self.prng, self.number);
        let field = if *write_all { 0 } else { prng.up_to(records.fields as u64 - 1) as usize };
        match (records.layout, *write_all) {
            (Layout::Columns, false) => request.execute(statements.update + field, |arguments| {
                arguments.written(|out| records.write_value(prng, out)).written(|out| records.write_key(number, out));
            }),
            (Layout::Columns, true) => request.execute(statements.update, |arguments| {
                for _ in 0..records.fields {
                    arguments.written(|out| records.write_value(prng, out));
                }
                arguments.written(|out| records.write_key(number, out));
            }),
            (Layout::Jsonb, write_all) => request.execute(statements.update, |arguments| {
                arguments.written(|out| match write_all {
                    true => records.write_document(prng, out),
                    false => {
                        records.write_member(b"{", field, prng, out);
                        out.push(b'}');
                    }
                });
                arguments.written(|out| records.write_key(number, out));
            }),
        }
    }

    fn insert(&mut self, request: &mut Request<'_>) {
        let number = self.insert_number(self.own * self.clients + self.client);
        let Shared { records, statements, .. } = &*self.shared;
        let prng = &mut self.prng;
        request.execute(statements.insert, |arguments| {
            arguments.written(|out| records.write_key(number, out));
            match records.layout {
                Layout::Columns => (0..records.fields).for_each(|_| {
                    arguments.written(|out| records.write_value(prng, out));
                }),
                Layout::Jsonb => {
                    arguments.written(|out| records.write_document(prng, out));
                }
            }
        });
    }

    fn scan(&mut self, request: &mut Request<'_>) {
        let length = 1 + self.prng.up_to(self.shared.scan_length - 1);
        let Shared { records, statements, .. } = &*self.shared;
        request.execute(statements.scan, |arguments| {
            arguments.written(|out| records.write_key(self.number, out)).integer(length as i64);
        });
    }
}

impl Player for Client {
    fn reseed(&mut self, seed: u64) {
        self.prng = prng(seed, self.client as usize);
        let counts = self.inserted.iter().map(|count| count.load(Ordering::Relaxed));
        self.common = counts.min().unwrap_or(0);
        if let Some(pace) = &mut self.pace {
            pace.restart();
        }
    }

    fn ready(&mut self, now_ns: u64) -> Ready {
        self.now_ns = now_ns;
        let due_ns = self.pace.as_mut().map(|pace| pace.due_ns(now_ns));
        due_ns.filter(|due_ns| *due_ns > now_ns).map_or(Ready::Now, Ready::At)
    }

    fn due_ns(&self) -> Option<u64> {
        self.due_ns
    }

    fn begin(&mut self) -> usize {
        self.due_ns = self.pace.as_mut().map(|pace| pace.begin(self.now_ns));
        let mut left = self.prng.up_to(99);
        let mix = self.shared.mix.iter().enumerate();
        let (kind, operation) = mix
            .map(|(kind, &(operation, percent))| (kind, operation, percent))
            .find_map(|(kind, operation, percent)| match left.checked_sub(percent) {
                Some(rest) => {
                    left = rest;
                    None
                }
                None => Some((kind, operation)),
            })
            .expect("the percentages of a mix add up to 100");
        self.operation = operation;
        if operation != Operation::Insert {
            self.number = self.draw_record();
        }
        self.step = 0;
        kind
    }

    fn next(&mut self, _: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        self.step += 1;
        match (self.operation, self.step) {
            (Operation::Read | Operation::ReadModifyWrite, 1) => self.read(request),
            (Operation::Update, 1) | (Operation::ReadModifyWrite, 2) => self.update(request),
            (Operation::Scan, 1) => self.scan(request),
            (Operation::Insert, 1) => self.insert(request),
            (Operation::Insert, _) => {
                self.own += 1;
                self.inserted[self.client as usize].store(self.own, Ordering::Relaxed);
                return Ok(Next::Done);
            }
            _ => return Ok(Next::Done),
        }
        Ok(Next::Send)
    }
}

#[cfg(test)]
mod tests;
