//! The one signal that ends everything: whoever gave us work is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Nobody waits for a server longer than this without looking whether to stop. Half of the 100 ms
/// within which the end of standard input must end all load.
pub const LOOK_UP: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
