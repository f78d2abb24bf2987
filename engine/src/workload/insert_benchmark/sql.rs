//! The statements of a step, table by table. Inserts, deletes and looks are texts with their values in them, as the
//! source sends them; they are listed here as they look without, and sent by who writes them.

use super::{Queries, Step};
use crate::wire::parameter::Form;
use crate::workload::Sql;

/// The numbers of a table's statements; of those that a step does not have, numbers that are not used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statements {
    /// The number in the table's name.
    pub table: usize,
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
    let by_table = (1..=tables).map(|number| of_table(step, number, &mut sql)).collect();
    (by_table, sql)
}

fn of_table(step: &Step, number: usize, sql: &mut Vec<Sql>) -> Statements {
    let table = &name(number);
    let mut add = |one: Sql| {
        sql.push(one);
        sql.len() - 1
    };
    let mut statements = Statements { table: number, insert: add(insert(step, number)), ..Statements::default() };
    if step.deletes {
        let [begin, end] = delete(step, number);
        statements.delete = add(Sql::new(format!("{begin}$1{end}"), &[Form::Text]));
        statements.least = add(Sql::new(least(number), &[]).keeping_rows());
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
            statements.greatest = add(Sql::new(greatest(number), &[]).keeping_rows());
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

fn name(table: usize) -> String {
    format!("pi{table}")
}

/// Up to its rows.
pub fn insert_begin(table: usize) -> String {
    let columns = "dateandtime, cashregisterid, customerid, productid, price, data";
    format!("INSERT INTO {} ({columns}) VALUES ", name(table))
}

fn insert(step: &Step, table: usize) -> Sql {
    let rows = (0..step.rows_per_commit).map(|row| {
        let places = [1, 2, 3, 4, 5, 6].map(|place| format!("${}", place + 6 * row));
        format!("({})", places.join(", "))
    });
    let rows = rows.collect::<Vec<_>>().join(", ");
    Sql::new(format!("{}{rows}", insert_begin(table)), &vec![Form::Text; 6 * step.rows_per_commit])
}

/// Up to the least key, and from behind it.
pub fn delete(step: &Step, table: usize) -> [String; 2] {
    let table = name(table);
    let begin = "transactionid IN (SELECT transactionid FROM";
    [
        format!("DELETE FROM {table} WHERE {begin} {table} WHERE transactionid >= "),
        format!(" ORDER BY transactionid ASC LIMIT {})", step.rows_per_commit),
    ]
}

pub fn least(table: usize) -> String {
    format!("SELECT coalesce(min(transactionid), 0) FROM {}", name(table))
}

pub fn greatest(table: usize) -> String {
    format!("SELECT coalesce(max(transactionid), 0) FROM {}", name(table))
}
