//! Drives one server as pgbench does: every client goes through its scripts until it has done its
//! number of transactions or the time is over.
//!
//! The difference to slices is everything that pgbench can do and a measurement does not want:
//! sleeping, throttling, retrying, pipelines, connecting anew, running shell commands. [`run`]
//! starts the threads, a [`worker`] waits for the sockets and timers of its [`client`]s, a [`reply`]
//! is what a server answers, [`log`] and [`progress`] tell what happened.

pub mod client;
pub mod desk;
pub mod effort;
pub mod log;
pub mod meta;
pub mod progress;
pub mod rate_plan;
pub mod reply;
pub mod run;
pub mod settings;
pub mod voice;
pub mod worker;
