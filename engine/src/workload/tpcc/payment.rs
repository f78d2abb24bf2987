//! The payment transaction, clause 2.5, in two pipelines: the customer is found, then charged.

use super::super::{Next, request::Request};
use super::customer;
use super::input::PaymentInput;
use super::statements::{
    BEGIN, COMMIT, DISTRICT_ADDRESS, INSERT_HISTORY, PAY_BAD_CUSTOMER, PAY_CUSTOMER, PAY_DISTRICT, PAY_WAREHOUSE,
    WAREHOUSE_ADDRESS,
};
use crate::generate::tpcc::values::{write_fraction, write_number};
use crate::wire::rows::Rows;

/// Places in the first pipeline.
const WAREHOUSE_PLACE: usize = 2;
const DISTRICT_PLACE: usize = 4;
const CUSTOMER_PLACE: usize = 5;

#[derive(Debug)]
pub struct Payment {
    input: PaymentInput,
    step: usize,
}

impl Payment {
    pub fn new(input: PaymentInput) -> Self {
        Self { input, step: 0 }
    }

    pub fn restart(&mut self) {
        self.step = 0;
    }

    pub fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        self.step += 1;
        match self.step {
            1 => self.find(request),
            2 => self.charge(answer, request)?,
            _ => return Ok(Next::Done),
        }
        Ok(Next::Send)
    }

    fn find(&self, request: &mut Request<'_>) {
        let PaymentInput { home, residence, who, amount_cents } = self.input;
        let (warehouse, district) = (home.warehouse as i64, home.district as i64);
        request.run(BEGIN);
        request.execute(PAY_WAREHOUSE, |with| {
            with.written(|out| write_fraction(amount_cents, 100, out)).integer(warehouse);
        });
        request.execute(WAREHOUSE_ADDRESS, |with| {
            with.integer(warehouse);
        });
        request.execute(PAY_DISTRICT, |with| {
            with.written(|out| write_fraction(amount_cents, 100, out)).integer(warehouse).integer(district);
        });
        request.execute(DISTRICT_ADDRESS, |with| {
            with.integer(warehouse).integer(district);
        });
        customer::ask(residence, who, request);
    }

    fn charge(&self, answer: &Rows, request: &mut Request<'_>) -> Result<(), String> {
        let PaymentInput { home, residence, who, amount_cents } = self.input;
        let row = customer::row(answer, CUSTOMER_PLACE, residence, who)?;
        let number = answer.integer(CUSTOMER_PLACE, row, customer::NUMBER_COLUMN)?;
        let is_bad = answer.text(CUSTOMER_PLACE, row, customer::CREDIT_COLUMN) == Some(b"BC");
        let name = |place: usize| match answer.count(place) {
            1 => answer.text(place, 0, 0).ok_or("a warehouse or district has no name"),
            _ => Err("the warehouse or district of a payment is not there"),
        };
        let (warehouse_name, district_name) = (name(WAREHOUSE_PLACE)?, name(DISTRICT_PLACE)?);
        request.execute(if is_bad { PAY_BAD_CUSTOMER } else { PAY_CUSTOMER }, |with| {
            with.written(|out| write_fraction(amount_cents, 100, out));
            with.integer(residence.warehouse as i64).integer(residence.district as i64).integer(number);
            if is_bad {
                with.written(|out| self.write_note(number as u64, out));
            }
        });
        request.execute(INSERT_HISTORY, |with| {
            with.integer(number).integer(residence.district as i64).integer(residence.warehouse as i64);
            with.integer(home.district as i64).integer(home.warehouse as i64);
            with.written(|out| write_fraction(amount_cents, 100, out));
            with.written(|out| {
                out.extend_from_slice(warehouse_name);
                out.extend_from_slice(b"    ");
                out.extend_from_slice(district_name);
            });
        });
        request.run(COMMIT);
        Ok(())
    }

    /// What a customer with bad credit gets written down for a payment.
    fn write_note(&self, number: u64, out: &mut Vec<u8>) {
        let PaymentInput { home, residence, amount_cents, .. } = self.input;
        for part in [number, residence.district, residence.warehouse, home.district, home.warehouse] {
            write_number(part, out);
            out.push(b' ');
        }
        write_fraction(amount_cents, 100, out);
        out.extend_from_slice(b" | ");
    }
}
