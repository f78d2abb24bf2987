//! Drives servers: the only place that knows the operating system's sockets, threads and clocks.
//!
//! A [`crew`] is a fixed number of threads; client i belongs to thread i mod threads, for every
//! arm. Between slices the threads sleep. For a slice they meet at a [`gate`], and each [`worker`]
//! then drives its own [`client`]s of one arm until the [`mod@slice`]'s bound, sharing nothing with the
//! others; their sockets are those of a [`transport`]. What is not measured (opening connections, loading data) is a blocking [`conversation`]
//! of the thread that asks.

pub mod account;
pub mod client;
pub mod clock;
pub mod connect;
pub mod connection;
pub mod conninfo;
pub mod conversation;
pub mod crew;
pub mod demands;
pub mod dial;
pub mod failure;
pub mod gate;
pub mod gss;
pub mod halt;
pub mod key;
pub mod load;
pub mod login;
pub mod pgbench;
pub mod process;
pub mod securing;
pub mod slice;
pub mod socket;
pub mod tls;
pub mod transport;
pub mod work;
pub mod worker;
