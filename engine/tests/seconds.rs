//! Which slices are told second by second.

use pgverdict_engine::drive::slice::{Amount, Plan, Times};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn times(bound: Amount) -> Times {
    let discard = Amount::TransactionsPerClient(0);
    Times::of(&Plan { arm: 0, seed: 1, bound, discard, statement_limit: SECOND }, 1_000)
}

#[test]
fn seconds_are_told_of_slices_that_may_last_longer_than_one() {
    assert_eq!(times(Amount::Duration(SECOND)).in_seconds(5_000), None);
    for bound in [Amount::Duration(2 * SECOND), Amount::TransactionsPerClient(1), Amount::Program] {
        assert_eq!(times(bound).in_seconds(5_000), Some(4_000));
    }
}
