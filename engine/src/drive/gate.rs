//! Where the threads of a slice wait for each other, asleep, to begin together.

use super::clock;
use std::sync::{Condvar, Mutex};

#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    opened: Condvar,
}

#[derive(Debug)]
struct State {
    missing: usize,
    opened_at_ns: u64,
}

impl Gate {
    pub fn for_threads(count: usize) -> Self {
        Self { state: Mutex::new(State { missing: count, opened_at_ns: 0 }), opened: Condvar::new() }
    }

    /// Waits for all threads; when the last one came.
    pub fn pass(&self) -> u64 {
        let mut state = self.state.lock().expect("nobody panics at the gate");
        state.missing -= 1;
        if state.missing == 0 {
            state.opened_at_ns = clock::now_ns();
            self.opened.notify_all();
            return state.opened_at_ns;
        }
        let state = self.opened.wait_while(state, |state| state.missing > 0).expect("nobody panics at the gate");
        state.opened_at_ns
    }
}
