//! Queries as fast as it can, until its inserter is done.

use super::pace::Pace;
use super::sql::{self, Statements};
use super::{LOOK, QUERY, Queries, Step};
use crate::script::random::Prng;
use crate::wire::rows::Rows;
use crate::workload::request::Request;
use crate::workload::{self, Next, Player, Ready};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// After so many queries by key the greatest key is looked for again.
const QUERIES_PER_LOOK: u64 = 100;

/// Of the first columns of the secondary indexes, in their order.
const FIRST_KEYS: [u64; 3] = [10_000, 1000, 500];

pub struct Reader {
    step: Step,
    statements: Statements,
    /// The text of a look.
    look: String,
    pace: Arc<Pace>,
    client: usize,
    prng: Prng,
    /// Queries until the next look.
    until_look: u64,
    greatest: i64,
    is_sent: bool,
}

impl Reader {
    pub fn new(step: &Step, statements: Statements, pace: Arc<Pace>, client: usize) -> Self {
        let (step, look, prng) = (step.clone(), sql::greatest(statements.table), Prng::seeded(0));
        Self { step, statements, look, pace, client, prng, until_look: 0, greatest: 0, is_sent: false }
    }

    fn looks(&self) -> bool {
        self.step.queries == Queries::Point && self.until_look == 0
    }

    fn ask(&mut self, request: &mut Request<'_>) {
        let (statements, prng) = (self.statements, &mut self.prng);
        if self.step.queries == Queries::Range {
            let which = prng.up_to(2) as usize;
            let from = prng.up_to(FIRST_KEYS[which] - 1);
            request.execute(statements.ranges[which], |arguments| {
                arguments.integer(from as i64);
            });
            return;
        }
        let least = self.pace.oldest.load(Ordering::Relaxed);
        let others = (self.greatest - 1 - least).max(0) as u64;
        request.execute(statements.point, |arguments| {
            for _ in 0..self.step.rows_per_query {
                arguments.integer(least + prng.up_to(others) as i64);
            }
        });
    }
}

impl Player for Reader {
    fn reseed(&mut self, seed: u64) {
        self.prng = workload::prng(seed, self.client);
        self.until_look = 0;
    }

    fn ready(&mut self, _: u64) -> Ready {
        if self.pace.is_over() { Ready::Over } else { Ready::Now }
    }

    fn begin(&mut self) -> usize {
        self.is_sent = false;
        if self.looks() { LOOK } else { QUERY }
    }

    fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        let looks = self.looks();
        if !self.is_sent {
            self.is_sent = true;
            if looks {
                request.say(self.statements.greatest, |out| out.extend_from_slice(self.look.as_bytes()));
            } else {
                self.ask(request);
            }
            return Ok(Next::Send);
        }
        if looks {
            self.greatest = answer.integer(0, 0, 0)?;
            self.until_look = QUERIES_PER_LOOK;
        } else {
            self.until_look = self.until_look.saturating_sub(1);
        }
        Ok(Next::Done)
    }
}
