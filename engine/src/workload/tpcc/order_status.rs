//! The order-status transaction, clause 2.6: a customer's last order.

use super::super::{Next, request::Request};
use super::customer;
use super::input::{OrderStatusInput, Who};
use super::statements::{BEGIN, COMMIT, LAST_ORDER, LINES};
use crate::wire::rows::Rows;

/// Places in the first pipeline.
const CUSTOMER_PLACE: usize = 1;
const ORDER_PLACE: usize = 2;

#[derive(Debug)]
pub struct OrderStatus {
    input: OrderStatusInput,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Customer,
    /// Of one who was asked for by name.
    Order,
    /// Of the order in the answer, at this place.
    Lines(usize),
    Done,
}

impl OrderStatus {
    pub fn new(input: OrderStatusInput) -> Self {
        Self { input, step: Step::Customer }
    }

    pub fn restart(&mut self) {
        self.step = Step::Customer;
    }

    pub fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        let OrderStatusInput { home, who } = self.input;
        self.step = match self.step {
            Step::Customer => {
                request.run(BEGIN);
                customer::ask(home, who, request);
                match who {
                    Who::Number(number) => {
                        self.ask_order(number as i64, request);
                        Step::Lines(ORDER_PLACE)
                    }
                    Who::LastName(_) => Step::Order,
                }
            }
            Step::Order => {
                let row = customer::row(answer, CUSTOMER_PLACE, home, who)?;
                self.ask_order(answer.integer(CUSTOMER_PLACE, row, customer::NUMBER_COLUMN)?, request);
                Step::Lines(0)
            }
            Step::Lines(place) => {
                let order = super::player::the_number(answer, place, "the last order of a customer")?;
                request.execute(LINES, |with| {
                    with.integer(home.warehouse as i64).integer(home.district as i64).integer(order);
                });
                request.run(COMMIT);
                Step::Done
            }
            Step::Done => return Ok(Next::Done),
        };
        Ok(Next::Send)
    }

    fn ask_order(&self, customer: i64, request: &mut Request<'_>) {
        let home = self.input.home;
        request.execute(LAST_ORDER, |with| {
            with.integer(home.warehouse as i64).integer(home.district as i64).integer(customer);
        });
    }
}
