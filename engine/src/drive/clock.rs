//! Clocks, in nanoseconds.

/// CLOCK_MONOTONIC, which Python's `time.monotonic_ns` reads too.
#[inline]
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Processor time of the calling thread.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; both clocks exist on every Linux.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(result, 0, "a clock that exists can be read");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
