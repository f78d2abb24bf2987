//! What can go wrong outside: whose fault it was, what was tried, what the server said.

use crate::wire::ServerError;
use std::io;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// What was asked for cannot be done. Nothing was changed.
    #[error("{0}")]
    Request(String),
    /// A server refused, failed, closed a connection or spoke nonsense.
    #[error("{what}")]
    Server { what: String, said: Option<Box<ServerError>> },
    /// This host failed.
    #[error("{0}")]
    World(String),
    /// Whoever asked is gone, and nobody will read an answer.
    #[error("stopped")]
    Halted,
}

impl Failure {
    pub fn server(what: impl Into<String>) -> Self {
        Failure::Server { what: what.into(), said: None }
    }

    pub fn world(what: &str, error: &io::Error) -> Self {
        Failure::World(format!("{what}: {error}"))
    }
}
