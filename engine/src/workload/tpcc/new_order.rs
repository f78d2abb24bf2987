//! The new-order transaction, clause 2.4, in three pipelines: the order's number is asked for, then
//! everything its lines need, then they are written.

use super::super::{Next, request::Request};
use super::input::{Line, NewOrderInput, UNUSED_ITEM};
use super::statements::{
    BEGIN, COMMIT, CUSTOMER_DISCOUNT, DISTRICT_NEXT_ORDER, INSERT_LINE, INSERT_NEW_ORDER, INSERT_ORDER, ITEM, ROLLBACK,
    STOCK, TAKE_ORDER_NUMBER, UPDATE_STOCK, WAREHOUSE_TAX,
};
use crate::generate::tpcc::values::write_fraction;
use crate::wire::rows::Rows;

/// Where in the first pipeline the district is, and what comes before the lines in the second.
const DISTRICT_PLACE: usize = 3;
const BEFORE_LINES: usize = 3;

const DISTRICT_INFO_COLUMN: usize = 2;

#[derive(Debug)]
pub struct NewOrder {
    input: NewOrderInput,
    step: Step,
    order: i64,
}

#[derive(Debug)]
enum Step {
    Number,
    Lines,
    Write,
    Done,
    RolledBack,
}

impl NewOrder {
    pub fn new(input: NewOrderInput) -> Self {
        Self { input, step: Step::Number, order: 0 }
    }

    pub fn restart(&mut self) {
        self.step = Step::Number;
    }

    pub fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        self.step = match self.step {
            Step::Number => self.ask_number(request),
            Step::Lines => self.ask_lines(answer, request)?,
            Step::Write => self.write(answer, request)?,
            Step::Done => return Ok(Next::Done),
            Step::RolledBack => return Ok(Next::RolledBack),
        };
        Ok(Next::Send)
    }

    fn district(&self) -> (i64, i64) {
        (self.input.home.warehouse as i64, self.input.home.district as i64)
    }

    fn ask_number(&self, request: &mut Request<'_>) -> Step {
        let (warehouse, district) = self.district();
        request.run(BEGIN);
        request.execute(CUSTOMER_DISCOUNT, |with| {
            with.integer(warehouse).integer(district).integer(self.input.customer as i64);
        });
        request.execute(WAREHOUSE_TAX, |with| {
            with.integer(warehouse);
        });
        request.execute(DISTRICT_NEXT_ORDER, |with| {
            with.integer(warehouse).integer(district);
        });
        Step::Lines
    }

    fn ask_lines(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Step, String> {
        let (warehouse, district) = self.district();
        self.order = super::player::the_number(answer, DISTRICT_PLACE, "the district of an order")?;
        request.execute(TAKE_ORDER_NUMBER, |with| {
            with.integer(warehouse).integer(district);
        });
        request.execute(INSERT_ORDER, |with| {
            with.integer(warehouse).integer(district).integer(self.order).integer(self.input.customer as i64);
            with.integer(self.input.lines.len() as i64).integer(i64::from(self.input.is_all_local()));
        });
        request.execute(INSERT_NEW_ORDER, |with| {
            with.integer(warehouse).integer(district).integer(self.order);
        });
        for line in &self.input.lines {
            request.execute(ITEM, |with| {
                with.integer(line.item as i64);
            });
            // Who has not found an item asks for no stock of it.
            if line.item != UNUSED_ITEM {
                request.execute(STOCK, |with| {
                    with.integer(line.supply_warehouse as i64).integer(line.item as i64);
                });
            }
        }
        Ok(Step::Write)
    }

    fn write(&self, answer: &Rows, request: &mut Request<'_>) -> Result<Step, String> {
        let (warehouse, district) = self.district();
        let last = self.input.lines.len() - 1;
        if self.input.lines[last].item == UNUSED_ITEM && answer.count(BEFORE_LINES + 2 * last) == 0 {
            request.run(ROLLBACK);
            return Ok(Step::RolledBack);
        }
        let mut before: Option<(Line, i64)> = None;
        for (number, line) in self.input.lines.iter().enumerate() {
            let (item, stock) = (BEFORE_LINES + 2 * number, BEFORE_LINES + 2 * number + 1);
            if answer.count(item) != 1 || answer.count(stock) != 1 {
                return Err(format!("no item {} in warehouse {}", line.item, line.supply_warehouse));
            }
            let found = answer.integer(stock, 0, 0)?;
            // Both lines of an item were asked for before either took from its stock.
            let found = match before {
                Some((other, left)) if (other.supply_warehouse, other.item) == (line.supply_warehouse, line.item) => {
                    left
                }
                _ => found,
            };
            let left = stock_left(found, line.quantity as i64);
            before = Some((*line, left));
            request.execute(UPDATE_STOCK, |with| {
                let is_remote = line.supply_warehouse as i64 != warehouse;
                with.integer(left).integer(line.quantity as i64).integer(i64::from(is_remote));
                with.integer(line.supply_warehouse as i64).integer(line.item as i64);
            });
            let price = answer.text(item, 0, 0).and_then(cents).ok_or("an item's price is no amount")?;
            let info_column = DISTRICT_INFO_COLUMN + self.input.home.district as usize - 1;
            let info = answer.text(stock, 0, info_column).ok_or("stock has no information of a district")?;
            request.execute(INSERT_LINE, |with| {
                with.integer(warehouse).integer(district).integer(self.order).integer(number as i64 + 1);
                with.integer(line.item as i64).integer(line.supply_warehouse as i64).integer(line.quantity as i64);
                with.written(|out| write_fraction(price * line.quantity, 100, out)).text(info);
            });
        }
        request.run(COMMIT);
        Ok(Step::Done)
    }
}

/// What remains of a stock: it is filled up where less than ten would be left.
fn stock_left(found: i64, taken: i64) -> i64 {
    if found - taken >= 10 { found - taken } else { found - taken + 91 }
}

/// An amount that the server wrote with two decimals.
fn cents(text: &[u8]) -> Option<u64> {
    let (whole, rest) = text.split_at_checked(text.len().checked_sub(3)?)?;
    let digits = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u64>().ok();
    (rest[0] == b'.').then_some(digits(whole)? * 100 + digits(&rest[1..])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_is_filled_up_below_ten() {
        assert_eq!([stock_left(20, 10), stock_left(19, 10), stock_left(10, 1)], [10, 100, 100]);
    }

    #[test]
    fn amounts_are_read_in_cents() {
        assert_eq!([cents(b"1.00"), cents(b"99.07"), cents(b"0.10")], [Some(100), Some(9907), Some(10)]);
        assert_eq!([cents(b"1.0"), cents(b""), cents(b"x.00"), cents(b"100")], [None; 4]);
    }
}
