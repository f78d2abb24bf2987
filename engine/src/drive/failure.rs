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

    /// Of two failures of one thing the one that explains more: a server's own words rather than a
    /// closed connection, and anything rather than being stopped because of the other.
    pub fn more_telling(self, second: Failure) -> Failure {
        let rank = |failure: &Failure| match failure {
            Failure::Halted => 0,
            Failure::Request(_) => 1,
            Failure::World(_) => 2,
            Failure::Server { said: None, .. } => 3,
            Failure::Server { said: Some(_), .. } => 4,
        };
        if rank(&second) > rank(&self) { second } else { self }
    }
}
