//! The stock-level transaction, clause 2.8: how many items of a district's last twenty orders run low.

use super::super::{Next, request::Request};
use super::input::StockLevelInput;
use super::player::the_number;
use super::statements::{BEGIN, COMMIT, LOW_STOCK, NEXT_ORDER};
use crate::wire::rows::Rows;

const ORDER_PLACE: usize = 1;

#[derive(Debug)]
pub struct StockLevel {
    input: StockLevelInput,
    step: usize,
}

impl StockLevel {
    pub fn new(input: StockLevelInput) -> Self {
        Self { input, step: 0 }
    }

    pub fn restart(&mut self) {
        self.step = 0;
    }

    pub fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        let StockLevelInput { home, threshold } = self.input;
        let (warehouse, district) = (home.warehouse as i64, home.district as i64);
        self.step += 1;
        match self.step {
            1 => {
                request.run(BEGIN);
                request.execute(NEXT_ORDER, |with| {
                    with.integer(warehouse).integer(district);
                });
            }
            2 => {
                let next = the_number(answer, ORDER_PLACE, "the district of a stock level")?;
                request.execute(LOW_STOCK, |with| {
                    with.integer(warehouse).integer(district).integer(next).integer(threshold as i64);
                });
                request.run(COMMIT);
            }
            _ => return Ok(Next::Done),
        }
        Ok(Next::Send)
    }
}
