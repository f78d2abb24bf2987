//! sysbench's OLTP scripts, and the single queries that Mark Callaghan measures with its tables.
//!
//! An event is a list of groups; a group sends one or two statements on one table, several times.

mod bulk;
mod events;

use super::request::Request;
use super::spread::Spread;
use super::{Next, Opened, Player, Sql, Workload, prng};
use crate::generate::sysbench::{ROWS_PER_SCALE, SCALE_MAX, TABLES_MAX, write_c, write_pad};
use crate::parameters::Parameters;
use crate::script::random::Prng;
use crate::wire::rows::Rows;
use events::{Counts, EVENTS, Given, Group, INSERT_BEGIN, Template, Which, groups};
use std::io::Write;
use std::sync::Arc;

/// A [`Group`] as it is played: what each of its statements is given, and the number of the first.
#[derive(Debug)]
struct Part {
    given: Vec<Given>,
    first: usize,
    times: u64,
    tables: u64,
    is_own_table: bool,
}

#[derive(Debug)]
struct Shared {
    parts: Vec<Part>,
    size: u64,
    spread: Spread,
    /// Of the statements, by their numbers.
    texts: Vec<String>,
    /// The numbers of BEGIN and COMMIT, where events are transactions of several statements.
    block: Option<(usize, usize)>,
}

struct Sysbench {
    statements: Vec<Sql>,
    shared: Arc<Shared>,
}

/// Program `sysbench`. Parameters: `scale`, `tables`, `event`, `transaction`, those of [`Counts`] and of [`Spread`].
pub fn open(name: &str, parameters: &Parameters) -> Opened {
    if let bulk @ Some(_) = bulk::open(name, parameters) {
        return bulk;
    }
    (name == "sysbench").then(|| Ok(Arc::new(Sysbench::read(parameters)?) as Arc<dyn Workload>))
}

impl Sysbench {
    fn read(parameters: &Parameters) -> Result<Self, String> {
        let mut reading = parameters.read();
        let size = reading.count("scale", 1..=SCALE_MAX)? * ROWS_PER_SCALE;
        let tables = reading.count("tables", 1..=TABLES_MAX)?;
        let event = EVENTS[reading.choice("event", &EVENTS)?];
        let in_block = reading.boolean("transaction")?;
        let counts = Counts::read(&mut reading)?;
        let spread = Spread::read(&mut reading, size)?;
        reading.end()?;
        let groups: Vec<Group> = groups(event, &counts).into_iter().filter(|group| group.times > 0).collect();
        if groups.is_empty() {
            return Err(format!("an event `{event}` of no statements does nothing"));
        }
        if size < counts.range_size {
            return Err(format!("ranges of {} rows in tables of {size}", counts.range_size));
        }
        let (mut statements, mut parts) = (Vec::new(), Vec::new());
        for Group { templates, times, table } in groups {
            let tables = if table == Which::First { 1 } else { tables };
            let part = Part {
                given: templates.iter().map(|template| template.given).collect(),
                first: statements.len(),
                times,
                tables,
                is_own_table: table == Which::Own,
            };
            for table in 1..=tables {
                let sql = |template: &Template| {
                    Sql::new(template.text.replace("{t}", &table.to_string()), &template.given.forms())
                };
                statements.extend(templates.iter().map(sql));
            }
            parts.push(part);
        }
        let mixed = matches!(event, "read_only" | "write_only" | "read_write");
        let block = (mixed && in_block).then(|| {
            statements.extend(["BEGIN", "COMMIT"].map(|text| Sql::new(text, &[])));
            (statements.len() - 2, statements.len() - 1)
        });
        let texts = statements.iter().map(|sql| sql.text.clone()).collect();
        let shared = Shared { parts, size, spread, texts, block };
        Ok(Self { statements, shared: Arc::new(shared) })
    }
}

impl Workload for Sysbench {
    fn statements(&self) -> &[Sql] {
        &self.statements
    }

    fn kinds(&self) -> &[&'static str] {
        &["event"]
    }

    fn players(&self, clients: usize, _: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String> {
        let player = |client| {
            let shared = Arc::clone(&self.shared);
            let (prng, place) = (Prng::seeded(0), Place::default());
            Box::new(Thread { shared, client, clients, prng, place, table: 0, id: 0 }) as Box<dyn Player>
        };
        Ok((0..clients).map(player).collect())
    }
}

/// Where in an event a client is.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    begun: bool,
    part: usize,
    time: u64,
    statement: usize,
    committed: bool,
}

struct Thread {
    shared: Arc<Shared>,
    client: usize,
    clients: usize,
    prng: Prng,
    place: Place,
    /// Of the group under way, from 0.
    table: u64,
    /// Of the row that was deleted.
    id: u64,
}

impl Thread {
    #[inline]
    fn draw(&mut self) -> i64 {
        self.shared.spread.draw(&mut self.prng, self.shared.size) as i64
    }

    /// A number from the part of the range that is the client's own.
    fn draw_own(&mut self) -> i64 {
        let drawn = u128::from(self.shared.spread.draw(&mut self.prng, self.shared.size) - 1);
        let (size, clients) = (u128::from(self.shared.size), self.clients as u128);
        (1 + (size * self.client as u128 + drawn) / clients) as i64
    }

    /// What sysbench sends as a text is sent as one here.
    fn send(&mut self, statement: usize, given: Given, request: &mut Request<'_>) {
        match given {
            Given::Nothing => {
                request.say(statement, |out| out.extend_from_slice(self.shared.texts[statement].as_bytes()));
            }
            Given::NewRow => request.say(statement, |out| self.write_insert(out)),
            given => self.execute(statement, given, request),
        }
    }

    fn write_insert(&mut self, out: &mut Vec<u8>) {
        let k = self.draw();
        write!(out, "{}{k}, '", INSERT_BEGIN.replace("{t}", &(self.table + 1).to_string()))
            .expect("a vector takes what is written");
        write_c(&mut self.prng, out);
        out.extend_from_slice(b"', '");
        write_pad(&mut self.prng, out);
        out.extend_from_slice(b"')");
    }

    fn execute(&mut self, statement: usize, given: Given, request: &mut Request<'_>) {
        request.execute(statement, |arguments| match given {
            Given::Nothing | Given::NewRow => unreachable!("these are texts"),
            Given::Id => {
                self.id = self.draw() as u64;
                arguments.integer(self.id as i64);
            }
            Given::Range { length } => {
                let begin = self.draw();
                arguments.integer(begin).integer(begin + length as i64 - 1);
            }
            Given::Ranges { count, delta } => {
                for _ in 0..count {
                    let begin = self.draw();
                    arguments.integer(begin).integer(begin + delta as i64);
                }
            }
            Given::OwnRanges { count, delta } => {
                for _ in 0..count {
                    let begin = self.draw_own();
                    arguments.integer(begin).integer(begin + delta as i64);
                }
            }
            Given::NewC => {
                let id = self.draw();
                arguments.written(|out| write_c(&mut self.prng, out)).integer(id);
            }
            Given::NewCOfOne => {
                arguments.written(|out| write_c(&mut self.prng, out)).integer(1);
            }
            Given::SameRow => {
                arguments.integer(self.id as i64);
                let k = self.draw();
                arguments.integer(k);
                arguments.written(|out| write_c(&mut self.prng, out));
                arguments.written(|out| write_pad(&mut self.prng, out));
            }
            Given::Many(count) => {
                for _ in 0..count {
                    let id = self.draw();
                    arguments.integer(id);
                }
            }
            Given::OwnMany(count) => {
                for _ in 0..count {
                    let id = self.draw_own();
                    arguments.integer(id);
                }
            }
            Given::Hot(count) => {
                let first = (self.shared.size / 2).saturating_sub(count / 2).max(1);
                (first..first + count).for_each(|id| {
                    arguments.integer(id as i64);
                });
            }
            Given::NewCOfMany(count) => {
                arguments.written(|out| write_c(&mut self.prng, out));
                for _ in 0..count {
                    let id = self.draw();
                    arguments.integer(id);
                }
            }
        });
    }
}

impl Player for Thread {
    fn reseed(&mut self, seed: u64) {
        self.prng = prng(seed, self.client);
    }

    fn begin(&mut self) -> usize {
        self.place = Place::default();
        0
    }

    fn next(&mut self, _: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        if let (false, Some((begin, _))) = (self.place.begun, self.shared.block) {
            self.place.begun = true;
            request.run(begin);
            return Ok(Next::Send);
        }
        let Some(part) = self.shared.parts.get(self.place.part) else {
            return Ok(match self.shared.block {
                Some((_, commit)) if !self.place.committed => {
                    self.place.committed = true;
                    request.run(commit);
                    Next::Send
                }
                _ => Next::Done,
            });
        };
        let Place { statement, time, .. } = self.place;
        if (statement, time) == (0, 0) {
            // One table for all statements of a group, as in sysbench.
            self.table = match part.is_own_table {
                true => self.client as u64 % part.tables,
                false => self.prng.up_to(part.tables - 1),
            };
        }
        let number = part.first + self.table as usize * part.given.len() + statement;
        let given = part.given[statement];
        self.place.statement += 1;
        if self.place.statement == part.given.len() {
            (self.place.statement, self.place.time) = (0, time + 1);
        }
        if self.place.time == part.times {
            (self.place.part, self.place.time) = (self.place.part + 1, 0);
        }
        self.send(number, given, request);
        Ok(Next::Send)
    }

    /// A row that was deleted and inserted by two at once: sysbench begins such an event anew.
    fn expects(&self, sqlstate: &str) -> bool {
        sqlstate == "23505"
    }
}

#[cfg(test)]
mod tests;
