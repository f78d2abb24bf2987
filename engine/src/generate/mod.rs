//! Rows of datasets, straight into the text of COPY. No sockets here: whoever sends the rows takes
//! them a piece at a time.
//!
//! A family of tables is a file with a function like [`pgbench::open`], which gives the rows of a
//! table by its name, and is listed in [`open`].

pub mod pgbench;
pub mod sysbench;
pub mod tpcc;
pub mod tpch;
pub mod ycsb;

use crate::parameters::Parameters;
use std::ops::Range;

/// A table's rows, or a share of them.
pub trait Rows: Send {
    /// Appends whole rows while `out` stays within `bytes_max`; nothing more is left when it appends
    /// none. A row may be up to [`ROW_BYTES_MAX`] long and `bytes_max` is never less.
    fn fill(&mut self, out: &mut Vec<u8>, bytes_max: usize);

    /// How many rows of the share were handed out.
    fn done(&self) -> u64;

    /// How many rows the share has; an estimate where only making them would tell.
    fn total(&self) -> u64;
}

/// No row of any table may be longer.
pub const ROW_BYTES_MAX: usize = 60 * 1024;

/// One of the contiguous parts that a table is loaded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub number: u32,
    pub of: u32,
}

impl Share {
    pub const WHOLE: Share = Share { number: 0, of: 1 };

    /// What falls to the share of a table with `total` rows, or other units: numbers from 0.
    pub fn range(self, total: u64) -> Range<u64> {
        let at = |number: u32| (u128::from(total) * u128::from(number) / u128::from(self.of)) as u64;
        at(self.number)..at(self.number + 1)
    }
}

/// The rows of a table; what is wrong with the table's name or its parameters.
pub fn open(table: &str, parameters: &Parameters, share: Share) -> Result<Box<dyn Rows>, String> {
    if share.number >= share.of {
        return Err(format!("share {} of {} does not exist: they count from 0", share.number, share.of));
    }
    let families: [fn(&str, &Parameters, Share) -> Opened; 5] =
        [pgbench::open, sysbench::open, tpcc::open, tpch::open, ycsb::open];
    match families.iter().find_map(|open| open(table, parameters, share)) {
        Some(opened) => opened.map_err(|what| format!("rows `{table}`: {what}")),
        None => Err(format!("unknown rows `{table}`")),
    }
}

/// What a family says to a table: `None`, it is not one of the family's.
pub type Opened = Option<Result<Box<dyn Rows>, String>>;

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::parameters::Given;
    use proptest::prelude::*;

    /// All rows of a share, taken in pieces of `bytes_max`.
    pub fn text(table: &str, parameters: &Parameters, share: Share, bytes_max: usize) -> Vec<u8> {
        let mut rows = open(table, parameters, share).unwrap();
        let (mut all, mut piece) = (Vec::new(), Vec::new());
        loop {
            piece.clear();
            rows.fill(&mut piece, bytes_max);
            if piece.is_empty() {
                return all;
            }
            assert!(piece.len() <= bytes_max && piece.ends_with(b"\n"));
            all.extend_from_slice(&piece);
        }
    }

    /// For tests of families: all shares put together are the whole, whatever the pieces.
    pub fn check_shares(table: &str, parameters: &Parameters) {
        let whole = text(table, parameters, Share::WHOLE, 1 << 20);
        assert!(!whole.is_empty());
        for of in [2, 3, 7] {
            let parts = (0..of).flat_map(|number| text(table, parameters, Share { number, of }, ROW_BYTES_MAX));
            assert!(parts.eq(whole.iter().copied()), "{table} in {of} shares");
        }
    }

    #[test]
    fn shares_of_a_table_are_the_whole() {
        for table in ["pgbench_branches", "pgbench_tellers", "pgbench_accounts"] {
            check_shares(table, &Parameters::of([("scale", Given::Integer(2))]));
        }
    }

    #[test]
    fn what_cannot_be_opened_says_why() {
        let scale = Parameters::of([("scale", Given::Integer(0))]);
        let refused = |table, number| open(table, &scale, Share { number, of: 2 }).map(drop).unwrap_err();
        assert_eq!(refused("nothing", 0), "unknown rows `nothing`");
        assert_eq!(refused("nothing", 2), "share 2 of 2 does not exist: they count from 0");
        assert_eq!(
            refused("pgbench_tellers", 0),
            "rows `pgbench_tellers`: parameter `scale` is 0, not a whole number from 1 to 4294967295"
        );
    }

    proptest! {
        #[test]
        fn shares_follow_each_other_and_leave_nothing_out(total in any::<u64>(), of in 1u32..100) {
            let mut end = 0;
            for number in 0..of {
                let range = Share { number, of }.range(total);
                prop_assert_eq!(range.start, end);
                end = range.end;
            }
            prop_assert_eq!(end, total);
        }
    }
}
