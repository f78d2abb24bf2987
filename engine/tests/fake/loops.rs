//! Tests that are run by both event loops, where the kernel has them.

// Some test files use nothing but the rest of this folder.
#![allow(unused_imports, unused_macros)]

use pgverdict_engine::drive::transport::EventLoop;
use std::cell::Cell;

thread_local! {
    static LOOP: Cell<EventLoop> = const { Cell::new(EventLoop::Epoll) };
}

/// What the test at hand is to run by.
pub fn event_loop() -> EventLoop {
    LOOP.get()
}

/// Runs a test by that event loop, or says that it does not.
pub fn run_by(event_loop: EventLoop, test: fn()) {
    match event_loop.check(1) {
        Ok(()) => {
            LOOP.set(event_loop);
            test();
        }
        Err(error) => {
            assert_eq!(event_loop, EventLoop::IoUring, "every kernel has epoll: {error}");
            eprintln!("NOT TESTED: io_uring, which this kernel does not allow: {error}");
        }
    }
}

/// Makes two tests of each of these functions.
macro_rules! by_every_loop {
    ($($test:ident),+ $(,)?) => {
        mod by_epoll {
            use pgverdict_engine::drive::transport::EventLoop;
            $(#[test] fn $test() { crate::fake::loops::run_by(EventLoop::Epoll, super::$test) })+
        }

        mod by_io_uring {
            use pgverdict_engine::drive::transport::EventLoop;
            $(#[test] fn $test() { crate::fake::loops::run_by(EventLoop::IoUring, super::$test) })+
        }
    };
}

pub(crate) use by_every_loop;
