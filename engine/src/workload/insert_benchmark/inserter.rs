//! Inserts rows, many by one statement, as fast as it can or at a rate.

use super::pace::Pace;
use super::sql::{self, Statements};
use super::{INSERT, Step};
use crate::script::random::Prng;
use crate::wire::rows::Rows;
use crate::workload::request::Request;
use crate::workload::{self, Next, Player, Ready};
use std::io::Write;
use std::sync::Arc;

const CASH_REGISTERS: u64 = 1000;
const PRODUCTS: u64 = 10_000;
const CUSTOMERS: u64 = 100_000;
const PRICES: u64 = 500;

const DATA_BYTES_MIN: u64 = 10;
const DATA_BYTES_MAX: u64 = 20;
/// Of the bytes of `data`, those that are drawn; the others are all the same.
const DRAWN_PERCENT: u64 = 50;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The clock of a table moves on by a second with so many rows of an inserter, so that rows do not depend
/// on when they are inserted.
const ROWS_PER_SECOND_OF_CLOCK: u64 = 1000;
/// 2026-01-01 in days since 1970-01-01: where the clock begins.
const FIRST_DAY: u64 = 20_454;
const SECONDS_PER_DAY: u64 = 86_400;

const SECOND_NS: u64 = 1_000_000_000;
/// A second that took less than this is waited for; one that took longer is not made up for.
const FULL_NS: u64 = 950_000_000;

pub struct Inserter {
    step: Step,
    statements: Statements,
    /// The text of a statement up to its rows.
    begin: String,
    pace: Arc<Pace>,
    client: usize,
    prng: Prng,
    /// Statements sent in this slice.
    sent: u64,
    is_sent: bool,
    throttle: Option<Throttle>,
}

impl Inserter {
    pub fn new(step: &Step, statements: Statements, pace: Arc<Pace>, client: usize) -> Self {
        Self {
            throttle: Throttle::at(step.rows_per_second, step.rows_per_commit as u64),
            step: step.clone(),
            statements,
            begin: sql::insert_begin(statements.table),
            pace,
            client,
            prng: Prng::seeded(0),
            sent: 0,
            is_sent: false,
        }
    }

    /// The last second is waited out as every other, if it has all its statements.
    fn end(&mut self, now_ns: u64) -> Ready {
        if let Some(at @ Ready::At(_)) = self.throttle.as_mut().map(|throttle| throttle.may_send(now_ns)) {
            return at;
        }
        self.pace.end();
        Ready::Over
    }
}

impl Player for Inserter {
    fn reseed(&mut self, seed: u64) {
        self.prng = workload::prng(seed, self.client);
        self.sent = 0;
        self.pace.reset_inserts();
        if let Some(throttle) = &mut self.throttle {
            throttle.reset();
        }
    }

    fn ready(&mut self, now_ns: u64) -> Ready {
        if self.sent == self.step.inserts {
            return self.end(now_ns);
        }
        if self.step.deletes {
            match self.pace.may_insert(now_ns) {
                Ready::Now => {}
                other => return other,
            }
        }
        match &mut self.throttle {
            Some(throttle) => throttle.may_send(now_ns),
            None => Ready::Now,
        }
    }

    fn begin(&mut self) -> usize {
        self.is_sent = false;
        INSERT
    }

    fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String> {
        let rows = self.step.rows_per_commit;
        if self.is_sent {
            if answer.affected(0) != rows as u64 {
                return Err(format!("{} rows were inserted where {rows} were sent", answer.affected(0)));
            }
            self.sent += 1;
            self.pace.inserted();
            if let Some(throttle) = &mut self.throttle {
                throttle.sent();
            }
            return Ok(Next::Done);
        }
        let row = self.step.rows_before + self.sent * rows as u64;
        let (prng, begin) = (&mut self.prng, &self.begin);
        request.say(self.statements.insert, |out| {
            out.extend_from_slice(begin.as_bytes());
            write_rows(row / ROWS_PER_SECOND_OF_CLOCK, rows, prng, out);
        });
        self.is_sent = true;
        Ok(Next::Send)
    }

    fn tries_again(&mut self, _: u32) -> bool {
        self.is_sent = false;
        true
    }
}

/// So many statements a second, sent without a pause and then waited for, as the benchmark's own client does: a
/// second that took too long is lost.
#[derive(Debug)]
struct Throttle {
    statements_per_second: u64,
    sent: u64,
    begun_ns: Option<u64>,
}

impl Throttle {
    fn at(rows_per_second: u64, rows_per_commit: u64) -> Option<Self> {
        let statements_per_second = rows_per_second.div_ceil(rows_per_commit);
        (rows_per_second > 0).then_some(Self { statements_per_second, sent: 0, begun_ns: None })
    }

    fn reset(&mut self) {
        (self.sent, self.begun_ns) = (0, None);
    }

    fn sent(&mut self) {
        self.sent += 1;
    }

    fn may_send(&mut self, now_ns: u64) -> Ready {
        let begun_ns = *self.begun_ns.get_or_insert(now_ns);
        if self.sent < self.statements_per_second {
            return Ready::Now;
        }
        let took_ns = now_ns - begun_ns;
        // At the end of the wait a second has passed.
        if took_ns < FULL_NS {
            return Ready::At(begun_ns + SECOND_NS);
        }
        (self.sent, self.begun_ns) = (0, Some(now_ns));
        Ready::Now
    }
}

/// The rows of a statement, which all have the same time: what an inserter's processor time goes into.
fn write_rows(seconds: u64, rows: usize, prng: &mut Prng, out: &mut Vec<u8>) {
    let (mut begin, mut digits) = (Vec::new(), itoa::Buffer::new());
    begin.extend_from_slice(b"('");
    write_time(seconds, &mut begin);
    begin.push(b'\'');
    for row in 0..rows {
        if row > 0 {
            out.extend_from_slice(b",\n");
        }
        out.extend_from_slice(&begin);
        for values in [CASH_REGISTERS, CUSTOMERS, PRODUCTS, PRICES] {
            out.push(b',');
            out.extend_from_slice(digits.format(prng.up_to(values - 1)).as_bytes());
        }
        out.extend_from_slice(b",'");
        write_data(prng, out);
        out.extend_from_slice(b"')");
    }
}

/// 'a's, and then letters and digits that do not compress, and that no text needs quoted.
fn write_data(prng: &mut Prng, out: &mut Vec<u8>) {
    let length = DATA_BYTES_MIN + prng.up_to(DATA_BYTES_MAX - DATA_BYTES_MIN);
    // Three quarters of the drawn ones, as drawn bytes become four thirds of them in base64.
    let drawn = length * 3 * DRAWN_PERCENT / 400;
    let mut data = [b'a'; DATA_BYTES_MAX as usize];
    let mut bits = prng.draw();
    for place in &mut data[(length - drawn) as usize..length as usize] {
        *place = BASE64[(bits & 63) as usize];
        bits >>= 6;
    }
    out.extend_from_slice(&data[..length as usize]);
}

/// `2026-01-01 00:00:00` and later.
fn write_time(seconds: u64, out: &mut Vec<u8>) {
    let (day, second) = (FIRST_DAY + seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    let (year, month, day) = date(day);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let written = write!(out, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    written.expect("a vector takes what is written");
}

/// Year, month and day of a day since 1970-01-01: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms.
fn date(day: u64) -> (u64, u64, u64) {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: u64) -> String {
        let mut out = Vec::new();
        write_time(seconds, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_clock_moves_on_with_rows_through_days_and_leap_years() {
        assert_eq!(time(0), "2026-01-01 00:00:00");
        assert_eq!(time(3661), "2026-01-01 01:01:01");
        assert_eq!(time(31 * SECONDS_PER_DAY - 1), "2026-01-31 23:59:59");
        assert_eq!(time(789 * SECONDS_PER_DAY), "2028-02-29 00:00:00");
        assert_eq!(time(790 * SECONDS_PER_DAY), "2028-03-01 00:00:00");
    }

    #[test]
    fn rows_are_tuples_of_literals_with_one_time() {
        let mut out = Vec::new();
        write_rows(61, 50, &mut Prng::seeded(7), &mut out);
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<&str> = text.split(",\n").collect();
        assert_eq!(rows.len(), 50);
        for row in &rows {
            let values = row.strip_prefix("('2026-01-01 00:01:01',").and_then(|row| row.strip_suffix("')")).unwrap();
            let (numbers, data) = values.split_once(",'").unwrap();
            assert!((10..=20).contains(&data.len()) && !data.contains('\''), "{row}");
            let numbers: Vec<u64> = numbers.split(',').map(|number| number.parse().unwrap()).collect();
            let below = [CASH_REGISTERS, CUSTOMERS, PRODUCTS, PRICES];
            assert!(numbers.len() == 4 && numbers.iter().zip(below).all(|(number, below)| *number < below), "{row}");
        }
    }

    #[test]
    fn data_has_ten_to_twenty_bytes_of_which_three_eighths_are_drawn() {
        let mut prng = Prng::seeded(7);
        let mut lengths = [0; 21];
        for _ in 0..10_000 {
            let mut out = Vec::new();
            write_data(&mut prng, &mut out);
            lengths[out.len()] += 1;
            let same = out.len() - out.len() * 3 / 8;
            assert!(out[..same].iter().all(|byte| *byte == b'a'), "{out:?}");
        }
        assert_eq!(lengths[..10], [0; 10]);
        assert!(lengths[10..].iter().all(|count| (800..1020).contains(count)), "{lengths:?}");
    }

    #[test]
    fn a_second_is_filled_and_a_lost_one_stays_lost() {
        let mut throttle = Throttle::at(100, 50).unwrap();
        let mut send = |now_ns| {
            let ready = throttle.may_send(now_ns);
            if ready == Ready::Now {
                throttle.sent();
            }
            ready
        };
        assert_eq!((send(10), send(20)), (Ready::Now, Ready::Now));
        assert_eq!(send(30), Ready::At(10 + SECOND_NS));
        assert_eq!(send(10 + SECOND_NS), Ready::Now);
        // The second statement of this second takes five of them: the next are not sent any faster.
        assert_eq!(send(6 * SECOND_NS), Ready::Now);
        assert_eq!(send(6 * SECOND_NS + 5), Ready::Now);
        assert_eq!(send(6 * SECOND_NS + 6), Ready::Now);
        assert_eq!(send(6 * SECOND_NS + 7), Ready::At(7 * SECOND_NS + 5));
    }

    #[test]
    fn a_rate_below_a_statement_is_one_statement_a_second() {
        assert_eq!(Throttle::at(10, 50).unwrap().statements_per_second, 1);
        assert_eq!(Throttle::at(101, 50).unwrap().statements_per_second, 3);
        assert!(Throttle::at(0, 50).is_none());
    }
}
