//! sysbench's `bulk_insert`: every client fills a table of its own, with many rows in a statement.

use crate::parameters::Parameters;
use crate::wire::parameter::Form;
use crate::wire::rows::Rows;
use crate::workload::request::Request;
use crate::workload::{Next, Opened, Player, Sql, Workload};
use std::sync::Arc;

const TABLES_MAX: u64 = 1000;

/// A statement of so many rows, of numbers of 10 digits, stays below what a request may have.
pub const ROWS_MAX: u64 = 2500;

/// The last id that the column takes.
const ID_MAX: u64 = i32::MAX as u64;

struct BulkInsert {
    statements: Vec<Sql>,
    tables: u64,
    rows: u64,
    opening: String,
}

/// Program `sysbench-bulk-insert`. Parameters: `scale`, which means nothing here; `tables`, at least one for each
/// client; and `rows` of a statement.
pub fn open(name: &str, parameters: &Parameters) -> Opened {
    (name == "sysbench-bulk-insert").then(|| {
        let mut reading = parameters.read();
        reading.count("scale", 1..=u32::MAX.into())?;
        let tables = reading.count("tables", 1..=TABLES_MAX)?;
        let rows = reading.count("rows", 1..=ROWS_MAX)?;
        reading.end()?;
        let statement = |table| Sql::new(format!("{}($1, $2)", begin(table)), &[Form::Text; 2]);
        let last = |table| format!("(SELECT max(id) FROM sbtest{table})");
        let lasts: Vec<String> = (1..=tables).map(last).collect();
        Ok(Arc::new(BulkInsert {
            statements: (1..=tables).map(statement).collect(),
            tables,
            rows,
            opening: format!("SELECT coalesce(greatest({}), 0)", lasts.join(", ")),
        }) as Arc<dyn Workload>)
    })
}

fn begin(table: u64) -> String {
    format!("INSERT INTO sbtest{table} VALUES")
}

impl Workload for BulkInsert {
    fn statements(&self) -> &[Sql] {
        &self.statements
    }

    fn kinds(&self) -> &[&'static str] {
        &["insert"]
    }

    /// The tables may not be empty any more: other connections may have filled them.
    fn opening(&self) -> Option<&str> {
        Some(&self.opening)
    }

    fn players(&self, clients: usize, opening: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String> {
        if clients as u64 > self.tables {
            return Err(format!("{clients} clients fill a table each, and there are {}", self.tables));
        }
        let last = match opening {
            [Some(last)] => last.parse().map_err(|_| format!("not an id: {last}"))?,
            _ => 0,
        };
        let filler = |client: usize| {
            let begin = begin(client as u64 + 1);
            Box::new(Filler { statement: client, begin, rows: self.rows, last, is_sent: false }) as Box<dyn Player>
        };
        Ok((0..clients).map(filler).collect())
    }
}

/// Fills a table. Nothing is drawn, so the same statements follow each other whatever the slices.
struct Filler {
    statement: usize,
    begin: String,
    rows: u64,
    /// The last id that was inserted.
    last: u64,
    is_sent: bool,
}

impl Player for Filler {
    fn reseed(&mut self, _: u64) {}

    fn begin(&mut self) -> usize {
        self.is_sent = false;
        0
    }

    fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        if self.is_sent {
            if answer.affected(0) != self.rows {
                return Err(format!("{} rows were inserted where {} were sent", answer.affected(0), self.rows));
            }
            self.last += self.rows;
            return Ok(Next::Done);
        }
        if self.last + self.rows > ID_MAX {
            return Err(format!("the ids of a table are used up: {}", self.last));
        }
        self.is_sent = true;
        let (begin, ids) = (&self.begin, self.last + 1..=self.last + self.rows);
        request.say(self.statement, |out| {
            out.extend_from_slice(begin.as_bytes());
            let mut digits = itoa::Buffer::new();
            for id in ids {
                let id = digits.format(id).as_bytes();
                for piece in [&b"("[..], id, b",", id, b"),"] {
                    out.extend_from_slice(piece);
                }
            }
            out.pop();
        });
        Ok(Next::Send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Given;
    use crate::workload::request::Prepared;

    fn opened(tables: i64, rows: i64) -> Result<Arc<dyn Workload>, String> {
        let given = [("scale", 1), ("tables", tables), ("rows", rows)];
        let parameters = Parameters::of(given.map(|(name, value)| (name, Given::Integer(value))));
        open("sysbench-bulk-insert", &parameters).unwrap()
    }

    fn sent(player: &mut dyn Player, workload: &dyn Workload) -> Vec<u8> {
        let prepared: Vec<Prepared> = workload.statements().iter().map(|sql| Prepared::new(sql, "P")).collect();
        let (mut out, mut numbers) = (Vec::new(), Vec::new());
        let mut request = Request::new(&prepared, &mut out, &mut numbers);
        player.begin();
        assert_eq!(player.next(&Rows::default(), &mut request), Ok(Next::Send));
        assert!(request.end());
        out
    }

    #[test]
    fn a_client_goes_on_in_its_own_table_behind_what_is_there() {
        let workload = opened(2, 3).unwrap();
        assert_eq!(
            workload.opening(),
            Some("SELECT coalesce(greatest((SELECT max(id) FROM sbtest1), (SELECT max(id) FROM sbtest2)), 0)")
        );
        let mut players = workload.players(2, &[Some("7".into())]).unwrap();
        let text = sent(players[1].as_mut(), workload.as_ref());
        assert_eq!(&text[5..text.len() - 1], b"INSERT INTO sbtest2 VALUES(8,8),(9,9),(10,10)");
    }

    #[test]
    fn the_longest_statement_stays_below_what_a_request_may_have() {
        let workload = opened(1, ROWS_MAX as i64).unwrap();
        let mut players = workload.players(1, &[Some("2000000000".into())]).unwrap();
        assert!(sent(players[0].as_mut(), workload.as_ref()).len() < 64 << 10);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(opened(0, 1).map(drop).unwrap_err().contains("`tables` is 0"));
        assert!(opened(1, 2501).map(drop).unwrap_err().ends_with("from 1 to 2500"));
        let few = opened(2, 1).unwrap().players(3, &[]).map(drop).unwrap_err();
        assert_eq!(few, "3 clients fill a table each, and there are 2");
        let mut last = opened(1, 10).unwrap().players(1, &[Some("2147483640".into())]).unwrap();
        let (mut out, mut numbers) = (Vec::new(), Vec::new());
        let refused = last[0].next(&Rows::default(), &mut Request::new(&[], &mut out, &mut numbers)).unwrap_err();
        assert_eq!(refused, "the ids of a table are used up: 2147483640");
    }
}
