//! Customers that are asked for by number or by last name, clauses 2.5.2.2 and 2.6.2.2.

use super::super::request::Request;
use super::input::Who;
use super::statements::{CUSTOMER_BY_NUMBER, CUSTOMERS_BY_NAME};
use super::terminal::Home;
use crate::generate::tpcc::values::write_last_name;
use crate::wire::rows::Rows;

/// Of the columns that both statements have.
pub const NUMBER_COLUMN: usize = 0;
pub const CREDIT_COLUMN: usize = 1;

pub fn ask(residence: Home, who: Who, request: &mut Request<'_>) {
    let (warehouse, district) = (residence.warehouse as i64, residence.district as i64);
    match who {
        Who::Number(number) => request.execute(CUSTOMER_BY_NUMBER, |with| {
            with.integer(warehouse).integer(district).integer(number as i64);
        }),
        Who::LastName(name) => request.execute(CUSTOMERS_BY_NAME, |with| {
            with.integer(warehouse).integer(district).written(|out| write_last_name(name, out));
        }),
    }
}

/// The row of the one that is meant: of n with the name, number n / 2 rounded up.
pub fn row(answer: &Rows, place: usize, residence: Home, who: Who) -> Result<usize, String> {
    match answer.count(place) {
        0 => {
            Err(format!("no customer {who:?} in district {} of warehouse {}", residence.district, residence.warehouse))
        }
        count => Ok(count.div_ceil(2) - 1),
    }
}
