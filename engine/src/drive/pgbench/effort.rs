//! What a thread of ours cost, by the scheduler's own account: whether the load generator was the limit.

use std::fs;

/// Of one thread, while it ran transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    pub cpu_ns: u64,
    /// Able to run, and waiting for a core.
    pub delayed_ns: u64,
}

/// From here on a thread that is asked for more could not do it.
pub const BUSY: f64 = 0.9;
pub const DELAYED: f64 = 0.1;

impl Effort {
    /// Of the calling thread since it began; `None` where the kernel does not tell.
    pub fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
    }

    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok());
        Some(Self { cpu_ns: numbers.next()??, delayed_ns: numbers.next()?? })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            delayed_ns: self.delayed_ns.saturating_sub(before.delayed_ns),
        }
    }

    /// Shares of the time: on a core, and waiting for one.
    pub fn shares(self, duration_us: i64) -> (f64, f64) {
        let whole_ns = 1e3 * duration_us.max(1) as f64;
        (self.cpu_ns as f64 / whole_ns, self.delayed_ns as f64 / whole_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedulers_line_is_read() {
        assert_eq!(Effort::read("1500 200 7\n"), Some(Effort { cpu_ns: 1500, delayed_ns: 200 }));
        assert_eq!(Effort::read("15"), None);
        assert_eq!(Effort::read("x y"), None);
    }

    #[test]
    fn work_is_seen() {
        let Some(before) = Effort::now() else { return };
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 20 {
            std::hint::black_box(0);
        }
        let effort = Effort::now().unwrap().since(before);
        assert!(effort.cpu_ns + effort.delayed_ns > 10_000_000, "{effort:?}");
    }
}
