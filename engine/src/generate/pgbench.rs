//! The rows of pgbench's tables, byte for byte those of `pgbench -i` since release 17.

use super::{Opened, Share};
use crate::parameters::Parameters;

/// Branches, tellers and accounts for each unit of scale.
const TELLERS_PER_BRANCH: u64 = 10;
const ACCOUNTS_PER_BRANCH: u64 = 100_000;

/// No row is longer: two numbers of at most 20 digits, the balance, separators and newline.
const ROW_BYTES_MAX: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Accounts,
    Branches,
    Tellers,
}

/// How pgbench_accounts is partitioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionMethod {
    Range,
    Hash,
}

impl PartitionMethod {
    pub fn name(self) -> &'static str {
        match self {
            PartitionMethod::Range => "range",
            PartitionMethod::Hash => "hash",
        }
    }
}

impl Table {
    pub fn name(self) -> &'static str {
        match self {
            Table::Accounts => "pgbench_accounts",
            Table::Branches => "pgbench_branches",
            Table::Tellers => "pgbench_tellers",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        match name {
            "pgbench_accounts" => Some(Table::Accounts),
            "pgbench_branches" => Some(Table::Branches),
            "pgbench_tellers" => Some(Table::Tellers),
            _ => None,
        }
    }

    pub fn rows(self, scale: u32) -> u64 {
        u64::from(scale)
            * match self {
                Table::Accounts => ACCOUNTS_PER_BRANCH,
                Table::Branches => 1,
                Table::Tellers => TELLERS_PER_BRANCH,
            }
    }
}

/// Tables `pgbench_branches`, `pgbench_tellers` and `pgbench_accounts`. Parameter: `scale`.
pub fn open(table: &str, parameters: &Parameters, share: Share) -> Opened {
    let table = Table::named(table)?;
    let read = || {
        let mut reading = parameters.read();
        let scale = reading.integer("scale", 1..=u32::MAX.into())? as u32;
        reading.end()?;
        let range = share.range(table.rows(scale));
        Ok(Box::new(Rows::between(table, range.start, range.end)) as Box<dyn super::Rows>)
    };
    Some(read())
}

/// Hands out a table's rows in the order of their keys.
#[derive(Debug)]
pub struct Rows {
    table: Table,
    begin: u64,
    next: u64,
    end: u64,
}

impl super::Rows for Rows {
    fn fill(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        Rows::fill(self, out, bytes_max);
    }

    fn done(&self) -> u64 {
        self.next - self.begin
    }

    fn total(&self) -> u64 {
        self.end - self.begin
    }
}

impl Rows {
    pub fn of(table: Table, scale: u32) -> Self {
        Self::between(table, 0, table.rows(scale))
    }

    /// Those behind the first `begin`, up to the one with the number `end`.
    pub fn between(table: Table, begin: u64, end: u64) -> Self {
        Self { table, begin, next: begin, end }
    }

    /// The number of the last row that was handed out.
    pub fn done(&self) -> u64 {
        self.next
    }

    /// Appends rows while a whole one fits in `bytes_max`; nothing more is left when it appends none.
    pub fn fill(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        // What follows the key is the same for all rows of a branch: it is rendered once for them.
        while self.next < self.end && out.len() + ROW_BYTES_MAX <= bytes_max {
            let (tail, branch_end) = self.tail();
            let mut digits = itoa::Buffer::new();
            while self.next < branch_end && out.len() + ROW_BYTES_MAX <= bytes_max {
                self.next += 1;
                out.extend_from_slice(digits.format(self.next).as_bytes());
                out.extend_from_slice(&tail);
            }
        }
    }

    /// The row behind its key, and the first row for which it is another.
    fn tail(&self) -> (Vec<u8>, u64) {
        let (per_branch, filler) = match self.table {
            Table::Branches => return (b"\t0\t\\N\n".to_vec(), self.end),
            Table::Tellers => (TELLERS_PER_BRANCH, "\\N"),
            // An empty string, which the column's type char(84) pads with blanks.
            Table::Accounts => (ACCOUNTS_PER_BRANCH, ""),
        };
        let branch = self.next / per_branch + 1;
        (format!("\t{branch}\t0\t{filler}\n").into_bytes(), self.end.min(branch * per_branch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(table: Table, scale: u32) -> String {
        let (mut rows, mut text) = (Rows::of(table, scale), Vec::new());
        loop {
            let before = text.len();
            rows.fill(&mut text, before + 1000);
            if text.len() == before {
                assert_eq!(rows.done(), table.rows(scale));
                return String::from_utf8(text).unwrap();
            }
        }
    }

    #[test]
    fn shares_put_together_are_the_whole() {
        let whole = text(Table::Tellers, 3);
        let mut parts = Vec::new();
        for (begin, end) in [(0, 7), (7, 7), (7, 23), (23, 30)] {
            let mut rows = Rows::between(Table::Tellers, begin, end);
            rows.fill(&mut parts, usize::MAX);
            assert_eq!(rows.done(), end);
        }
        assert_eq!(String::from_utf8(parts).unwrap(), whole);
    }

    #[test]
    fn rows_are_those_of_pgbench() {
        assert_eq!(text(Table::Branches, 2), "1\t0\t\\N\n2\t0\t\\N\n");
        let tellers = text(Table::Tellers, 2);
        assert!(tellers.starts_with("1\t1\t0\t\\N\n2\t1\t0\t\\N\n"));
        assert!(tellers.contains("10\t1\t0\t\\N\n11\t2\t0\t\\N\n"));
        let accounts = text(Table::Accounts, 2);
        assert!(accounts.starts_with("1\t1\t0\t\n2\t1\t0\t\n"));
        assert!(accounts.contains("\n100000\t1\t0\t\n100001\t2\t0\t\n"));
        assert!(accounts.ends_with("\n200000\t2\t0\t\n"));
        assert_eq!(accounts.lines().count(), 200_000);
    }
}
