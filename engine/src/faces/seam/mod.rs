//! JSON lines on standard input and output, as PROTOCOL.md in the engine's folder defines them.
//!
//! A thread of its own reads requests ([`lines`]), so that the end of the input is noticed
//! whatever is going on. [`session`] answers them one at a time. [`request`] and [`message`] are
//! the promises of the contract, kept apart from the types that the rest of the engine uses.

pub mod answer;
pub mod lines;
pub mod message;
pub mod request;
pub mod session;
