//! What an inserter and those beside it know of each other, on whatever threads they are.

use super::super::Ready;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Inserts and deletes drift apart by no more statements than this, as through two queues of this length.
pub const APART_MAX: u64 = 8;

/// After how long who waits for another looks again. The slower of two never waits, so nothing is lost.
const LOOK_AGAIN_NS: u64 = 200_000;

/// Numbers of statements done in this slice.
#[derive(Debug, Default)]
pub struct Pace {
    inserts: AtomicU64,
    deletes: AtomicU64,
    /// The inserter has nothing more to do, and has waited out its last second.
    is_over: AtomicBool,
    /// From where the deleter looks for the oldest rows.
    pub oldest: AtomicI64,
}

impl Pace {
    pub fn reset_inserts(&self) {
        self.inserts.store(0, Ordering::Relaxed);
        self.is_over.store(false, Ordering::Relaxed);
    }

    pub fn reset_deletes(&self) {
        self.deletes.store(0, Ordering::Relaxed);
    }

    pub fn inserted(&self) {
        self.inserts.fetch_add(1, Ordering::Relaxed);
    }

    pub fn deleted(&self) {
        self.deletes.fetch_add(1, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Whether the inserter may send its next statement beside a deleter.
    pub fn may_insert(&self, now_ns: u64) -> Ready {
        within(self.inserts.load(Ordering::Relaxed), self.deletes.load(Ordering::Relaxed), now_ns)
    }

    pub fn may_delete(&self, now_ns: u64) -> Ready {
        within(self.deletes.load(Ordering::Relaxed), self.inserts.load(Ordering::Relaxed), now_ns)
    }
}

fn within(own: u64, other: u64, now_ns: u64) -> Ready {
    if own < other + APART_MAX { Ready::Now } else { Ready::At(now_ns + LOOK_AGAIN_NS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_runs_ahead_by_more_than_eight_statements() {
        let pace = Pace::default();
        for _ in 0..APART_MAX {
            assert_eq!(pace.may_insert(5), Ready::Now);
            pace.inserted();
        }
        assert_eq!(pace.may_insert(5), Ready::At(5 + LOOK_AGAIN_NS));
        for _ in 0..2 * APART_MAX {
            assert_eq!(pace.may_delete(5), Ready::Now);
            pace.deleted();
        }
        assert_eq!(pace.may_delete(5), Ready::At(5 + LOOK_AGAIN_NS));
        assert_eq!(pace.may_insert(5), Ready::Now);
    }
}
