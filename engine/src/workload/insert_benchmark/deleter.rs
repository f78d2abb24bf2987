//! Deletes the oldest rows of a table, as many as are inserted.

use super::pace::Pace;
use super::sql::{self, Statements};
use super::{DELETE, LOOK, Step};
use crate::wire::rows::Rows;
use crate::workload::request::Request;
use crate::workload::{Next, Player, Ready};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// After so many deletes the least key is looked for again.
const DELETES_PER_LOOK: u64 = 1000;

pub struct Deleter {
    step: Step,
    statements: Statements,
    /// The texts of a look and of a delete, the latter around the key that it begins at.
    look: String,
    delete: [String; 2],
    pace: Arc<Pace>,
    /// Of a table with several deleters, the place among them, and how many there are.
    place: (i64, i64),
    done: u64,
    /// Deletes until the next look.
    until_look: u64,
    oldest: i64,
    is_sent: bool,
}

impl Deleter {
    pub fn new(step: &Step, statements: Statements, pace: Arc<Pace>, writer: usize) -> Self {
        let place = if step.shared_table { (writer as i64, step.writers as i64) } else { (0, 1) };
        Self {
            step: step.clone(),
            statements,
            look: sql::least(statements.table),
            delete: sql::delete(step, statements.table),
            pace,
            place,
            done: 0,
            until_look: 0,
            oldest: 0,
            is_sent: false,
        }
    }

    fn move_to(&mut self, oldest: i64) {
        self.oldest = oldest;
        self.pace.oldest.store(oldest, Ordering::Relaxed);
    }
}

impl Player for Deleter {
    fn reseed(&mut self, _: u64) {
        (self.done, self.until_look) = (0, 0);
        self.pace.reset_deletes();
    }

    fn ready(&mut self, now_ns: u64) -> Ready {
        if self.done == self.step.inserts { Ready::Over } else { self.pace.may_delete(now_ns) }
    }

    fn begin(&mut self) -> usize {
        self.is_sent = false;
        if self.until_look == 0 { LOOK } else { DELETE }
    }

    fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        let (rows, (place, deleters)) = (self.step.rows_per_commit as i64, self.place);
        let looks = self.until_look == 0;
        if !self.is_sent {
            self.is_sent = true;
            if looks {
                request.say(self.statements.least, |out| out.extend_from_slice(self.look.as_bytes()));
            } else {
                let [begin, end] = &self.delete;
                request.say(self.statements.delete, |out| {
                    out.extend_from_slice(begin.as_bytes());
                    out.extend_from_slice(itoa::Buffer::new().format(self.oldest).as_bytes());
                    out.extend_from_slice(end.as_bytes());
                });
            }
            return Ok(Next::Send);
        }
        if looks {
            self.move_to(answer.integer(0, 0, 0)? + place * rows);
            self.until_look = DELETES_PER_LOOK;
        } else {
            self.move_to(self.oldest + deleters * rows);
            self.until_look -= 1;
            self.done += 1;
            self.pace.deleted();
        }
        Ok(Next::Done)
    }

    fn tries_again(&mut self, _: u32) -> bool {
        self.is_sent = false;
        true
    }
}
