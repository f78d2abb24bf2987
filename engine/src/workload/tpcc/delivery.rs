//! The delivery transaction, clause 2.7: the oldest new order of each of a warehouse's districts, in
//! one transaction and three pipelines.

use super::super::{Next, request::Request};
use super::input::DeliveryInput;
use super::player::the_number;
use super::statements::{
    BEGIN, BUYER, COMMIT, DELETE_NEW_ORDER, DELIVER_TO_CUSTOMER, OLDEST_NEW_ORDER, SET_CARRIER, SET_DELIVERED,
    SUM_OF_LINES,
};
use crate::generate::tpcc::values::DISTRICTS;
use crate::wire::rows::Rows;

/// Places within what is sent for one order.
const DELETE_PLACE: usize = 0;
const BUYER_PLACE: usize = 1;
const SUM_PLACE: usize = 4;
const PER_ORDER: usize = 5;

#[derive(Debug)]
pub struct Delivery {
    input: DeliveryInput,
    step: usize,
    /// District and number of each order that is delivered.
    orders: Vec<(i64, i64)>,
}

impl Delivery {
    pub fn new(input: DeliveryInput) -> Self {
        Self { input, step: 0, orders: Vec::with_capacity(DISTRICTS as usize) }
    }

    pub fn restart(&mut self) {
        self.step = 0;
        self.orders.clear();
    }

    pub fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        self.step += 1;
        match self.step {
            1 => self.ask_oldest(request),
            2 => self.deliver(answer, request)?,
            3 => self.charge(answer, request)?,
            _ => return Ok(Next::Done),
        }
        Ok(Next::Send)
    }

    fn ask_oldest(&self, request: &mut Request<'_>) {
        request.run(BEGIN);
        for district in 1..=DISTRICTS as i64 {
            request.execute(OLDEST_NEW_ORDER, |with| {
                with.integer(self.input.warehouse as i64).integer(district);
            });
        }
    }

    /// A district without a new order is skipped.
    fn deliver(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<(), String> {
        let warehouse = self.input.warehouse as i64;
        for district in 1..=DISTRICTS as usize {
            if answer.count(district) > 0 {
                self.orders.push((district as i64, answer.integer(district, 0, 0)?));
            }
        }
        for &(district, order) in &self.orders {
            for statement in [DELETE_NEW_ORDER, BUYER] {
                request.execute(statement, |with| {
                    with.integer(warehouse).integer(district).integer(order);
                });
            }
            request.execute(SET_CARRIER, |with| {
                with.integer(self.input.carrier as i64).integer(warehouse).integer(district).integer(order);
            });
            for statement in [SET_DELIVERED, SUM_OF_LINES] {
                request.execute(statement, |with| {
                    with.integer(warehouse).integer(district).integer(order);
                });
            }
        }
        if self.orders.is_empty() {
            request.run(COMMIT);
            self.step += 1;
        }
        Ok(())
    }

    fn charge(&self, answer: &Rows, request: &mut Request<'_>) -> Result<(), String> {
        for (place, &(district, order)) in self.orders.iter().enumerate() {
            let first = PER_ORDER * place;
            if answer.affected(first + DELETE_PLACE) != 1 {
                return Err(format!("new order {order} of district {district} went while it was locked"));
            }
            let buyer = the_number(answer, first + BUYER_PLACE, "the order of a new order")?;
            let sum = answer.text(first + SUM_PLACE, 0, 0).ok_or("an order has no lines")?;
            request.execute(DELIVER_TO_CUSTOMER, |with| {
                with.text(sum).integer(self.input.warehouse as i64).integer(district).integer(buyer);
            });
        }
        request.run(COMMIT);
        Ok(())
    }
}
