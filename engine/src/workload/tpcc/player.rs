//! One terminal at work: draws transactions and goes through them.

use super::super::{Next, Player, prng, request::Request};
use super::calls::{self, Call};
use super::delivery::Delivery;
use super::input::{DeliveryInput, NewOrderInput, OrderStatusInput, PaymentInput, StockLevelInput};
use super::mix::{DELIVERY, Dealer, Mix, NEW_ORDER, ORDER_STATUS, PAYMENT, STOCK_LEVEL, pause};
use super::new_order::NewOrder;
use super::order_status::OrderStatus;
use super::payment::Payment;
use super::stock_level::StockLevel;
use super::terminal::Terminal;
use crate::script::random::Prng;
use crate::wire::rows::Rows;
use std::time::Duration;

/// Whether transactions are statements of ours or functions of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    Statements,
    Functions,
}

impl Variant {
    pub const ALL: [Variant; 2] = [Variant::Statements, Variant::Functions];
    pub const NAMES: [&str; 2] = ["statements", "functions"];
}

/// What all terminals have in common.
#[derive(Debug)]
pub struct Terms {
    pub variant: Variant,
    pub mix: Mix,
    /// Keying and think times, as a multiple of the standard's.
    pub waits: f64,
    /// How often a transaction that meets others is tried.
    pub tries_max: u32,
}

#[derive(Debug)]
enum Transaction {
    None,
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
    Call(Call, calls::Step),
}

#[derive(Debug)]
pub struct TpccPlayer {
    client: usize,
    terminal: Terminal,
    terms: std::sync::Arc<Terms>,
    prng: Prng,
    dealer: Dealer,
    /// The kind that was dealt before its pause.
    dealt: Option<usize>,
    before: Option<usize>,
    transaction: Transaction,
}

impl TpccPlayer {
    pub fn new(client: usize, terminal: Terminal, terms: std::sync::Arc<Terms>) -> Self {
        Self {
            client,
            terminal,
            terms,
            prng: prng(0, client),
            dealer: Dealer::default(),
            dealt: None,
            before: None,
            transaction: Transaction::None,
        }
    }

    fn deal(&mut self) -> usize {
        self.dealer.deal(&self.terms.mix, &mut self.prng)
    }

    fn statements(&mut self, kind: usize) -> Transaction {
        let (terminal, prng) = (&self.terminal, &mut self.prng);
        match kind {
            NEW_ORDER => Transaction::NewOrder(NewOrder::new(NewOrderInput::draw(terminal, prng))),
            PAYMENT => Transaction::Payment(Payment::new(PaymentInput::draw(terminal, prng))),
            ORDER_STATUS => Transaction::OrderStatus(OrderStatus::new(OrderStatusInput::draw(terminal, prng))),
            DELIVERY => Transaction::Delivery(Delivery::new(DeliveryInput::draw(terminal, prng))),
            STOCK_LEVEL => Transaction::StockLevel(StockLevel::new(StockLevelInput::draw(terminal, prng))),
            _ => unreachable!("there are five kinds"),
        }
    }

    fn call(&mut self, kind: usize) -> Transaction {
        let (terminal, prng) = (&self.terminal, &mut self.prng);
        let call = match kind {
            NEW_ORDER => Call::NewOrder(NewOrderInput::draw(terminal, prng)),
            PAYMENT => Call::Payment(PaymentInput::draw(terminal, prng)),
            ORDER_STATUS => Call::OrderStatus(OrderStatusInput::draw(terminal, prng)),
            DELIVERY => Call::Delivery(DeliveryInput::draw(terminal, prng)),
            STOCK_LEVEL => Call::StockLevel(StockLevelInput::draw(terminal, prng)),
            _ => unreachable!("there are five kinds"),
        };
        Transaction::Call(call, calls::Step::Begin)
    }
}

impl Player for TpccPlayer {
    fn reseed(&mut self, seed: u64) {
        self.prng = prng(seed, self.client);
        self.dealer.reset();
        (self.dealt, self.before) = (None, None);
    }

    fn pause(&mut self) -> Duration {
        let kind = self.deal();
        self.dealt = Some(kind);
        pause(self.before, kind, self.terms.waits, &mut self.prng)
    }

    fn begin(&mut self) -> usize {
        let kind = self.dealt.take().unwrap_or_else(|| self.deal());
        self.before = Some(kind);
        self.transaction = match self.terms.variant {
            Variant::Statements => self.statements(kind),
            Variant::Functions => self.call(kind),
        };
        kind
    }

    fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        match &mut self.transaction {
            Transaction::None => unreachable!("a transaction has begun"),
            Transaction::NewOrder(transaction) => transaction.next(answer, request),
            Transaction::Payment(transaction) => transaction.next(answer, request),
            Transaction::OrderStatus(transaction) => transaction.next(answer, request),
            Transaction::Delivery(transaction) => transaction.next(answer, request),
            Transaction::StockLevel(transaction) => transaction.next(answer, request),
            Transaction::Call(call, step) => {
                let (next, then) = calls::next(call, *step, answer, request)?;
                *step = then;
                Ok(next)
            }
        }
    }

    fn tries_again(&mut self, tries: u32) -> bool {
        if tries >= self.terms.tries_max {
            return false;
        }
        match &mut self.transaction {
            Transaction::None => {}
            Transaction::NewOrder(transaction) => transaction.restart(),
            Transaction::Payment(transaction) => transaction.restart(),
            Transaction::OrderStatus(transaction) => transaction.restart(),
            Transaction::Delivery(transaction) => transaction.restart(),
            Transaction::StockLevel(transaction) => transaction.restart(),
            Transaction::Call(_, step) => *step = calls::Step::Begin,
        }
        true
    }
}

/// The whole number in the first column of the only row of an answer.
pub fn the_number(answer: &Rows, place: usize, what: &str) -> Result<i64, String> {
    match answer.count(place) {
        1 => answer.integer(place, 0, 0),
        0 => Err(format!("{what} is not there")),
        count => Err(format!("{what} is there {count} times")),
    }
}
