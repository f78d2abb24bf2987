//! The Insert Benchmark, one step at a time: inserters, each with a table of its own or all with one,
//! and beside each of them a deleter, a connection that queries, one that holds a transaction open.
//! What it is taken from, and every deviation: docs/workloads/insert-benchmark.md.

mod deleter;
mod holder;
mod inserter;
mod pace;
mod reader;
mod sql;

use super::{Opened, Player, Sql, Workload};
use crate::parameters::Parameters;
use deleter::Deleter;
use holder::Holder;
use inserter::Inserter;
use pace::Pace;
use reader::Reader;
use sql::Statements;
use std::sync::Arc;

const INSERT: usize = 0;
const DELETE: usize = 1;
const QUERY: usize = 2;
/// A look for the least or the greatest key.
const LOOK: usize = 3;
const HOLD: usize = 4;

const KINDS: [&str; 5] = ["insert", "delete", "query", "look", "hold"];

/// Of a statement; beyond, a request would not stay below what it may have.
const ROWS_PER_COMMIT_MAX: u64 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queries {
    None,
    Range,
    Point,
}

/// A step of the benchmark.
#[derive(Debug, Clone)]
pub struct Step {
    pub writers: usize,
    pub shared_table: bool,
    pub rows_per_commit: usize,
    /// How many statements each inserter sends; then the step is over.
    pub inserts: u64,
    /// How many rows each inserter had sent in the steps before: where its clock stands.
    pub rows_before: u64,
    /// Of each inserter; 0: as fast as it can.
    pub rows_per_second: u64,
    pub deletes: bool,
    pub queries: Queries,
    pub rows_per_query: usize,
    /// How long a transaction is held open; 0: there is none.
    pub hold_s: u64,
}

impl Step {
    fn read(parameters: &Parameters) -> Result<Self, String> {
        let mut reading = parameters.read();
        let step = Self {
            writers: reading.count("writers", 1..=1000)? as usize,
            shared_table: reading.boolean("shared_table")?,
            rows_per_commit: reading.count("rows_per_commit", 1..=ROWS_PER_COMMIT_MAX)? as usize,
            inserts: reading.count("inserts", 1..=1_000_000_000_000)?,
            rows_before: reading.count("rows_before", 0..=1_000_000_000_000)?,
            rows_per_second: reading.count("rows_per_second", 0..=1_000_000_000)?,
            deletes: reading.boolean("deletes")?,
            queries: [Queries::None, Queries::Range, Queries::Point]
                [reading.choice("queries", &["none", "range", "point"])?],
            rows_per_query: reading.count("rows_per_query", 1..=1000)? as usize,
            hold_s: reading.count("hold_s", 0..=86400)?,
        };
        reading.end()?;
        Ok(step)
    }

    /// Of each inserter: itself and those beside it.
    fn roles(&self) -> usize {
        1 + usize::from(self.deletes) + usize::from(self.queries != Queries::None) + usize::from(self.hold_s > 0)
    }
}

pub fn open(name: &str, parameters: &Parameters) -> Opened {
    (name == "insert-benchmark").then(|| {
        let step = Step::read(parameters)?;
        let (statements, sql) = sql::statements(&step);
        Ok(Arc::new(InsertBenchmark { step, statements, sql }) as Arc<dyn Workload>)
    })
}

struct InsertBenchmark {
    step: Step,
    /// By table.
    statements: Vec<Statements>,
    sql: Vec<Sql>,
}

impl Workload for InsertBenchmark {
    fn statements(&self) -> &[Sql] {
        &self.sql
    }

    fn kinds(&self) -> &[&'static str] {
        &KINDS
    }

    fn ends(&self) -> bool {
        true
    }

    /// All inserters come first, then all deleters, then all that query, then all that hold.
    fn players(&self, clients: usize, _: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String> {
        let Step { writers, .. } = self.step;
        let wanted = writers * self.step.roles();
        if clients != wanted {
            return Err(format!("{writers} inserters and those beside them are {wanted} clients, not {clients}"));
        }
        let paces: Vec<Arc<Pace>> = (0..writers).map(|_| Arc::new(Pace::default())).collect();
        let mut players: Vec<Box<dyn Player>> = Vec::with_capacity(clients);
        let each = || paces.iter().enumerate();
        for (writer, pace) in each() {
            players.push(Box::new(Inserter::new(&self.step, self.of(writer), Arc::clone(pace), writer)));
        }
        if self.step.deletes {
            for (writer, pace) in each() {
                players.push(Box::new(Deleter::new(&self.step, self.of(writer), Arc::clone(pace), writer)));
            }
        }
        if self.step.queries != Queries::None {
            for (_, pace) in each() {
                let client = players.len();
                let writer = client % writers;
                players.push(Box::new(Reader::new(&self.step, self.of(writer), Arc::clone(pace), client)));
            }
        }
        if self.step.hold_s > 0 {
            for (writer, pace) in each() {
                players.push(Box::new(Holder::new(&self.step, self.of(writer), Arc::clone(pace))));
            }
        }
        Ok(players)
    }
}

impl InsertBenchmark {
    fn of(&self, writer: usize) -> Statements {
        self.statements[if self.step.shared_table { 0 } else { writer }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Given;

    fn given(changes: &[(&str, Given)]) -> Parameters {
        let plain = [
            ("writers", Given::Integer(2)),
            ("shared_table", Given::Boolean(false)),
            ("rows_per_commit", Given::Integer(50)),
            ("inserts", Given::Integer(10)),
            ("rows_before", Given::Integer(0)),
            ("rows_per_second", Given::Integer(100)),
            ("deletes", Given::Boolean(true)),
            ("queries", Given::Text("point".into())),
            ("rows_per_query", Given::Integer(10)),
            ("hold_s", Given::Integer(0)),
        ];
        plain.iter().chain(changes).map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn every_inserter_has_its_deleter_and_its_queries() {
        let workload = open("insert-benchmark", &given(&[])).unwrap().unwrap();
        assert_eq!(workload.players(6, &[]).unwrap().len(), 6);
        assert_eq!(
            workload.players(4, &[]).map(drop).unwrap_err(),
            "2 inserters and those beside them are 6 clients, not 4"
        );
        let held = open("insert-benchmark", &given(&[("hold_s", Given::Integer(60))])).unwrap().unwrap();
        assert_eq!(held.players(8, &[]).unwrap().len(), 8);
    }

    #[test]
    fn only_what_a_step_needs_is_prepared() {
        let count =
            |changes: &[(&str, Given)]| open("insert-benchmark", &given(changes)).unwrap().unwrap().statements().len();
        assert_eq!(count(&[]), 2 * 5);
        assert_eq!(count(&[("shared_table", Given::Boolean(true))]), 5);
        assert_eq!(count(&[("queries", Given::Text("none".into()))]), 2 * 3);
        let alone = [("queries", Given::Text("none".into())), ("deletes", Given::Boolean(false))];
        assert_eq!(count(&alone), 2);
    }

    #[test]
    fn what_makes_no_step_is_refused() {
        let refused = |name, value| open("insert-benchmark", &given(&[(name, value)])).unwrap().map(drop).unwrap_err();
        assert_eq!(
            refused("writers", Given::Integer(0)),
            "parameter `writers` is 0, not a whole number from 1 to 1000"
        );
        assert!(refused("queries", Given::Text("all".into())).ends_with("not one of none, range, point"));
        assert!(refused("rows_per_commit", Given::Integer(501)).ends_with("from 1 to 500"));
        assert!(open("insert", &given(&[])).is_none());
    }
}
