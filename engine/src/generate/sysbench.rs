//! Rows of sysbench's tables. A row depends on its table's number and its own alone.

use super::{Opened, Rows, Share};
use crate::parameters::Parameters;
use crate::script::random::Prng;

/// Rows of each table for each unit of scale: sysbench's own default for a table.
pub const ROWS_PER_SCALE: u64 = 10_000;

pub const SCALE_MAX: u64 = 200_000;

pub const TABLES_MAX: u64 = 1000;

/// Groups of digits in `c` and `pad`, and digits of a group.
const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;
const GROUP_DIGITS: usize = 11;

/// Two numbers of at most 10 digits, `c`, `pad`, separators and newline.
const ROW_BYTES_MAX: usize = 10 + 10 + (C_GROUPS + PAD_GROUPS) * (GROUP_DIGITS + 1) + 4;

pub fn write_c(prng: &mut Prng, out: &mut Vec<u8>) {
    write_groups(C_GROUPS, prng, out);
}

pub fn write_pad(prng: &mut Prng, out: &mut Vec<u8>) {
    write_groups(PAD_GROUPS, prng, out);
}

fn write_groups(groups: usize, prng: &mut Prng, out: &mut Vec<u8>) {
    for group in 0..groups {
        if group > 0 {
            out.push(b'-');
        }
        let mut digits = prng.up_to(99_999_999_999);
        let start = out.len();
        out.resize(start + GROUP_DIGITS, b'0');
        for place in out[start..].iter_mut().rev() {
            *place = b'0' + (digits % 10) as u8;
            digits /= 10;
        }
    }
}

/// Table `sysbench`. Parameters: `scale`, and `table`, its number from 1.
pub fn open(table: &str, parameters: &Parameters, share: Share) -> Opened {
    (table == "sysbench").then(|| {
        let mut reading = parameters.read();
        let size = reading.count("scale", 1..=SCALE_MAX)? * ROWS_PER_SCALE;
        let table = reading.count("table", 1..=TABLES_MAX)?;
        reading.end()?;
        let range = share.range(size);
        Ok(Box::new(Sbtest { table, size, begin: range.start, next: range.start, end: range.end }) as Box<dyn Rows>)
    })
}

struct Sbtest {
    table: u64,
    size: u64,
    begin: u64,
    next: u64,
    end: u64,
}

impl Rows for Sbtest {
    fn fill(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        let mut digits = itoa::Buffer::new();
        while self.next < self.end && out.len() + ROW_BYTES_MAX <= bytes_max {
            self.next += 1;
            let mut prng = Prng::seeded((self.table << 40) + self.next);
            out.extend_from_slice(digits.format(self.next).as_bytes());
            out.push(b'\t');
            out.extend_from_slice(digits.format(1 + prng.up_to(self.size - 1)).as_bytes());
            out.push(b'\t');
            write_c(&mut prng, out);
            out.push(b'\t');
            write_pad(&mut prng, out);
            out.push(b'\n');
        }
    }

    fn done(&self) -> u64 {
        self.next - self.begin
    }

    fn total(&self) -> u64 {
        self.end - self.begin
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_shares, text};
    use super::*;
    use crate::parameters::Given;

    fn parameters(table: i64) -> Parameters {
        Parameters::of([("scale", Given::Integer(1)), ("table", Given::Integer(table))])
    }

    #[test]
    fn shares_put_together_are_the_whole() {
        check_shares("sysbench", &parameters(1));
    }

    #[test]
    fn rows_look_like_sysbenchs() {
        let rows = |table| String::from_utf8(text("sysbench", &parameters(table), Share::WHOLE, 1 << 20)).unwrap();
        let first = rows(1);
        assert_eq!(first.lines().count(), 10_000);
        for (number, line) in first.lines().enumerate() {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns[0], (number + 1).to_string());
            assert!((1..=10_000).contains(&columns[1].parse::<u64>().unwrap()));
            assert_eq!((columns[2].len(), columns[3].len()), (119, 59));
            let groups: Vec<&str> = columns[2].split('-').collect();
            assert!(groups.len() == 10 && groups.iter().all(|group| group.len() == 11 && group.parse::<u64>().is_ok()));
        }
        assert_ne!(first, rows(2));
    }
}
