//! The statements of a step, table by table.

use super::{Queries, Step};
use crate::wire::parameter::Form;
use crate::workload::Sql;

/// The numbers of a table's statements; of those that a step does not have, numbers that are not used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statements {
    pub insert: usize,
    pub delete: usize,
    pub least: usize,
    pub greatest: usize,
    /// Market, register, pdc: the secondary indexes in their order.
    pub ranges: [usize; 3],
    pub point: usize,
    /// Begin, look at a row, wait a little, commit.
    pub hold: [usize; 4],
}

/// Of all tables, and where each table's are among them.
pub fn statements(step: &Step) -> (Vec<Statements>, Vec<Sql>) {
    let mut sql = Vec::new();
    let tables = if step.shared_table { 1 } else { step.writers };
    let by_table = (1..=tables).map(|number| of_table(step, &format!("pi{number}"), &mut sql)).collect();
    (by_table, sql)
}

fn of_table(step: &Step, table: &str, sql: &mut Vec<Sql>) -> Statements {
    let mut add = |one: Sql| {
        sql.push(one);
        sql.len() - 1
    };
    let mut statements = Statements { insert: add(insert(step, table)), ..Statements::default() };
    if step.deletes {
        statements.delete = add(delete(step, table));
        let least = format!("SELECT coalesce(min(transactionid), 0) FROM {table}");
        statements.least = add(Sql::new(least, &[]).parsed_anew().keeping_rows());
    }
    match step.queries {
        Queries::None => {}
        Queries::Range => {
            let columns = [
                ("productid, customerid, price", "productid >= $1"),
                ("cashregisterid, customerid, price", "cashregisterid > $1"),
                ("price, dateandtime, customerid", "price >= $1"),
            ];
            statements.ranges = columns.map(|(columns, condition)| {
                let limit = step.rows_per_query;
                add(Sql::new(
                    format!("SELECT {columns} FROM {table} WHERE {condition} ORDER BY {columns} LIMIT {limit}"),
                    &[Form::Int4],
                ))
            });
        }
        Queries::Point => {
            let places = (1..=step.rows_per_query).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ");
            let point = format!("SELECT transactionid, productid, data FROM {table} WHERE transactionid IN ({places})");
            statements.point = add(Sql::new(point, &vec![Form::Int8; step.rows_per_query]));
            let greatest = format!("SELECT coalesce(max(transactionid), 0) FROM {table}");
            statements.greatest = add(Sql::new(greatest, &[]).parsed_anew().keeping_rows());
        }
    }
    if step.hold_s > 0 {
        // Its snapshot lasts as long as the transaction.
        let texts = [
            "BEGIN ISOLATION LEVEL REPEATABLE READ".to_owned(),
            format!("SELECT * FROM {table} LIMIT 1"),
            "SELECT pg_sleep(0.1)".to_owned(),
            "COMMIT".to_owned(),
        ];
        statements.hold = texts.map(|text| add(Sql::new(text, &[])));
    }
    statements
}

/// All rows of a statement have the same time.
fn insert(step: &Step, table: &str) -> Sql {
    let rows = (0..step.rows_per_commit).map(|row| {
        let [register, customer, product, price, data] = [2, 3, 4, 5, 6].map(|place| place + 5 * row);
        format!("($1, ${register}, ${customer}, ${product}, ${price}, ${data})")
    });
    let rows = rows.collect::<Vec<_>>().join(", ");
    let of_row = [Form::Int4, Form::Int4, Form::Int4, Form::Int4, Form::Text];
    let forms: Vec<Form> = std::iter::once(Form::Text).chain(of_row.repeat(step.rows_per_commit)).collect();
    let columns = "dateandtime, cashregisterid, customerid, productid, price, data";
    Sql::new(format!("INSERT INTO {table} ({columns}) VALUES {rows}"), &forms).parsed_anew()
}

fn delete(step: &Step, table: &str) -> Sql {
    let oldest = format!(
        "SELECT transactionid FROM {table} WHERE transactionid >= $1 ORDER BY transactionid ASC LIMIT {}",
        step.rows_per_commit
    );
    Sql::new(format!("DELETE FROM {table} WHERE transactionid IN ({oldest})"), &[Form::Int8]).parsed_anew()
}
