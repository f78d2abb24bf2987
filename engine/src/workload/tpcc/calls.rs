//! The five transactions as functions of the server: one call each, in a block of its own.

use super::super::{Next, Sql, request::Request};
use super::input::{
    DeliveryInput, Line, NewOrderInput, OrderStatusInput, PaymentInput, StockLevelInput, UNUSED_ITEM, Who,
};
use crate::generate::tpcc::values::{write_fraction, write_last_name, write_number};
use crate::wire::parameter::Form;
use crate::wire::rows::Rows;

const BEGIN: usize = 0;
const COMMIT: usize = 1;
const ROLLBACK: usize = 2;
const NEW_ORDER: usize = 3;
const PAYMENT: usize = 4;
const ORDER_STATUS: usize = 5;
const DELIVERY: usize = 6;
const STOCK_LEVEL: usize = 7;

const CALL_PLACE: usize = 1;

pub fn all(begin: &str) -> Vec<Sql> {
    const I: Form = Form::Int4;
    const T: Form = Form::Text;
    vec![
        Sql::new(begin, &[]),
        Sql::new("COMMIT", &[]),
        Sql::new("ROLLBACK", &[]),
        Sql::new("SELECT tpcc_new_order($1, $2, $3, $4, $5, $6)", &[I, I, I, T, T, T]).keeping_rows(),
        Sql::new("SELECT tpcc_payment($1, $2, $3, $4, $5, $6, $7)", &[I, I, I, I, I, T, T]),
        Sql::new("SELECT tpcc_order_status($1, $2, $3, $4)", &[I, I, I, T]),
        Sql::new("SELECT tpcc_delivery($1, $2)", &[I, I]),
        Sql::new("SELECT tpcc_stock_level($1, $2, $3)", &[I, I, I]),
    ]
}

#[derive(Debug)]
pub enum Call {
    NewOrder(NewOrderInput),
    Payment(PaymentInput),
    OrderStatus(OrderStatusInput),
    Delivery(DeliveryInput),
    StockLevel(StockLevelInput),
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Begin,
    /// A new order has answered; whether it is kept is decided.
    Decide,
    Done,
    RolledBack,
}

/// What is next of a call, and the step behind it.
pub fn next(call: &Call, step: Step, answer: &Rows, request: &mut Request<'_>) -> Result<(Next, Step), String> {
    match step {
        Step::Begin => {
            request.run(BEGIN);
            write(call, request);
            if matches!(call, Call::NewOrder(_)) {
                return Ok((Next::Send, Step::Decide));
            }
            request.run(COMMIT);
            Ok((Next::Send, Step::Done))
        }
        Step::Decide => {
            let Call::NewOrder(order) = call else { unreachable!("only new orders are decided") };
            // NULL stands for an item that there is not.
            if answer.text(CALL_PLACE, 0, 0).is_some() {
                request.run(COMMIT);
                return Ok((Next::Send, Step::Done));
            }
            if order.lines.iter().all(|line| line.item != UNUSED_ITEM) {
                return Err("an item of an order is not there".to_owned());
            }
            request.run(ROLLBACK);
            Ok((Next::Send, Step::RolledBack))
        }
        Step::Done => Ok((Next::Done, step)),
        Step::RolledBack => Ok((Next::RolledBack, step)),
    }
}

fn write(call: &Call, request: &mut Request<'_>) {
    match call {
        Call::NewOrder(NewOrderInput { home, customer, lines }) => request.execute(NEW_ORDER, |with| {
            with.integer(home.warehouse as i64).integer(home.district as i64).integer(*customer as i64);
            with.written(|out| write_array(lines, |line| line.item, out));
            with.written(|out| write_array(lines, |line| line.supply_warehouse, out));
            with.written(|out| write_array(lines, |line| line.quantity, out));
        }),
        Call::Payment(PaymentInput { home, residence, who, amount_cents }) => request.execute(PAYMENT, |with| {
            with.integer(home.warehouse as i64).integer(home.district as i64);
            with.integer(residence.warehouse as i64).integer(residence.district as i64);
            match who {
                Who::Number(number) => with.integer(*number as i64).null(),
                Who::LastName(name) => with.null().written(|out| write_last_name(*name, out)),
            };
            with.written(|out| write_fraction(*amount_cents, 100, out));
        }),
        Call::OrderStatus(OrderStatusInput { home, who }) => request.execute(ORDER_STATUS, |with| {
            with.integer(home.warehouse as i64).integer(home.district as i64);
            match who {
                Who::Number(number) => with.integer(*number as i64).null(),
                Who::LastName(name) => with.null().written(|out| write_last_name(*name, out)),
            };
        }),
        Call::Delivery(DeliveryInput { warehouse, carrier }) => request.execute(DELIVERY, |with| {
            with.integer(*warehouse as i64).integer(*carrier as i64);
        }),
        Call::StockLevel(StockLevelInput { home, threshold }) => request.execute(STOCK_LEVEL, |with| {
            with.integer(home.warehouse as i64).integer(home.district as i64).integer(*threshold as i64);
        }),
    }
}

fn write_array(lines: &[Line], value: impl Fn(&Line) -> u64, out: &mut Vec<u8>) {
    for (place, line) in lines.iter().enumerate() {
        out.push(if place == 0 { b'{' } else { b',' });
        write_number(value(line), out);
    }
    out.push(b'}');
}
