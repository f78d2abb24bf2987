//! Holds a transaction open, and with it every row version that its snapshot may see.

use super::pace::Pace;
use super::sql::Statements;
use super::{HOLD, Step};
use crate::wire::rows::Rows;
use crate::workload::request::Request;
use crate::workload::{Next, Player, Ready};
use std::sync::Arc;

/// Waits of a tenth of a second: how late the end of a step can be noticed.
const WAITS_PER_SECOND: u64 = 10;

pub struct Holder {
    step: Step,
    statements: Statements,
    pace: Arc<Pace>,
    /// Statements sent in the transaction under way.
    sent: u64,
    is_ending: bool,
}

impl Holder {
    pub fn new(step: &Step, statements: Statements, pace: Arc<Pace>) -> Self {
        Self { step: step.clone(), statements, pace, sent: 0, is_ending: false }
    }
}

impl Player for Holder {
    fn reseed(&mut self, _: u64) {}

    fn ready(&mut self, _: u64) -> Ready {
        if self.pace.is_over() { Ready::Over } else { Ready::Now }
    }

    fn begin(&mut self) -> usize {
        (self.sent, self.is_ending) = (0, false);
        HOLD
    }

    fn next(&mut self, _: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        if self.is_ending {
            return Ok(Next::Done);
        }
        let [begin, look, wait, commit] = self.statements.hold;
        request.run(match self.sent {
            0 => begin,
            1 => look,
            sent if self.pace.is_over() || sent >= 2 + self.step.hold_s * WAITS_PER_SECOND => {
                self.is_ending = true;
                commit
            }
            _ => wait,
        });
        self.sent += 1;
        Ok(Next::Send)
    }
}
