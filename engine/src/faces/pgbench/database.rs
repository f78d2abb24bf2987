//! One connection for what surrounds a benchmark: tables, counts, vacuums.

use super::prompt;
use crate::drive::connection::Connection;
use crate::drive::conversation::Conversation;
use crate::drive::dial;
use crate::drive::failure::Failure;
use crate::drive::login::Greeting;
use crate::drive::pgbench::voice;
use crate::wire::backend::Message;
use crate::wire::{ServerError, frontend};
use fallible_iterator::FallibleIterator;
use std::process;

pub struct Database {
    conversation: Conversation,
    pub greeting: Greeting,
}

/// Rows of texts; a NULL is none.
pub type Rows = Vec<Vec<Option<String>>>;

/// Why a statement gave nothing: the server's error, or the connection's.
pub struct Refused {
    pub text: String,
    pub sqlstate: Option<String>,
}

impl Database {
    /// Asks for a password if the server does. `None`: it was said why there is no connection.
    pub fn open(connection: &mut Connection) -> Option<Self> {
        loop {
            match connection.open() {
                Ok((conversation, greeting)) => return Some(Self { conversation, greeting }),
                Err(refusal) if refusal.needs_password && !connection.has_password() => {
                    connection.set_password(&prompt::password("Password: "));
                }
                Err(refusal) => {
                    voice::error(refusal.text);
                    return None;
                }
            }
        }
    }

    /// The rows of the last result.
    pub fn query(&mut self, sql: &str) -> Result<Rows, Refused> {
        self.conversation.send(&frontend::query(sql)).map_err(|failure| broken(&failure))?;
        let (mut rows, mut refused) = (Rows::new(), None);
        loop {
            let message = self.conversation.listen().map_err(|failure| broken(&failure))?;
            match message {
                Message::RowDescription(_) => rows.clear(),
                Message::DataRow(body) => {
                    let text = |range: Option<std::ops::Range<usize>>| {
                        Ok(range.map(|range| String::from_utf8_lossy(&body.buffer()[range]).into_owned()))
                    };
                    let row = body.ranges().map(text).collect();
                    rows.push(row.map_err(|error| Refused { text: error.to_string(), sqlstate: None })?);
                }
                Message::ErrorResponse(body) => {
                    let said = ServerError::of(&body);
                    refused = Some(match said {
                        Ok(said) => Refused { text: said.shown(Some(sql), true), sqlstate: Some(said.sqlstate) },
                        Err(error) => Refused { text: error.to_string(), sqlstate: None },
                    });
                }
                // A COPY is fed by whoever asked for it.
                Message::CopyInResponse(_) => return Ok(rows),
                Message::ReadyForQuery(_) => return refused.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }

    /// Ends the process if the server refuses it.
    pub fn execute(&mut self, sql: &str) {
        if let Err(refused) = self.query(sql) {
            voice::error(format_args!("query failed: {}", refused.text));
            voice::detail(format_args!("Query was: {sql}"));
            process::exit(1)
        }
    }

    /// Goes on if the server refuses it.
    pub fn try_execute(&mut self, sql: &str) {
        if let Err(refused) = self.query(sql) {
            voice::error(refused.text);
            voice::detail("(ignoring this error and continuing anyway)");
        }
    }

    /// Rows for the COPY that was begun.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        self.conversation.send(bytes).and_then(|()| self.conversation.glance()).map_err(|failure| broken(&failure))
    }

    pub fn end_copy(&mut self) -> Result<(), Refused> {
        self.conversation.send(&frontend::copy_done()).map_err(|failure| broken(&failure))?;
        self.conversation.finish().map_err(|failure| broken(&failure))
    }

    /// The server's release as one number: 17.7 is 170007.
    pub fn version_number(&self) -> u32 {
        let version = &self.greeting.server_version;
        let numbers: Vec<u32> =
            version.split(|c: char| !c.is_ascii_digit()).take(3).map_while(|part| part.parse().ok()).collect();
        match numbers[..] {
            [major, minor, ..] if major >= 10 => major * 10_000 + minor,
            [major] if major >= 10 => major * 10_000,
            [major, minor, patch] => (major * 100 + minor) * 100 + patch,
            [major, minor] => (major * 100 + minor) * 100,
            _ => 0,
        }
    }

    pub fn close(mut self) {
        // Whether the server listens no longer matters.
        let _ = self.conversation.send(&frontend::terminate());
    }
}

fn broken(failure: &Failure) -> Refused {
    let sqlstate = match failure {
        Failure::Server { said: Some(said), .. } => Some(said.sqlstate.clone()),
        _ => None,
    };
    Refused { text: dial::words(failure), sqlstate }
}
