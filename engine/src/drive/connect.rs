//! Opens a connection: the socket, the greeting, the statements prepared.

use super::conversation::Conversation;
use super::failure::Failure;
use super::halt::{Halt, LOOK_UP};
use super::login::{self, Binding, Greeting, Login, Unwelcome};
use super::socket::Socket;
use crate::script::program::Statement;
use crate::wire::backend::{self, Message};
use crate::wire::frontend;
use fallible_iterator::FallibleIterator;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// Where a server is and as whom to talk to it.
#[derive(Debug, Clone)]
pub struct Place {
    pub socket_directory: PathBuf,
    pub port: u16,
    pub user: String,
    pub database: String,
}

/// The name under which statement number n is prepared, as pgbench names them.
pub fn prepared_name(statement: usize) -> String {
    format!("P_{statement}")
}

/// `doing` says what for, in messages: "connecting client 3 to arm 0".
pub fn open(
    place: &Place,
    halt: &Halt,
    patience: Duration,
    doing: String,
) -> Result<(Conversation, Greeting), Failure> {
    for (name, text) in [("user", &place.user), ("database", &place.database)] {
        if text.contains('\0') {
            return Err(Failure::Request(format!("{doing}: the {name} contains a zero byte")));
        }
    }
    let socket = connect(place, halt, patience, &doing)?;
    let mut conversation = Conversation::over(socket, halt, Some(patience), doing);
    let greeting = greet(&mut conversation, place)?;
    Ok((conversation, greeting))
}

fn connect(place: &Place, halt: &Halt, patience: Duration, doing: &str) -> Result<Socket, Failure> {
    let path = place.socket_directory.join(format!(".s.PGSQL.{}", place.port));
    let give_up = Instant::now() + patience;
    loop {
        match Socket::connect_unix(&path) {
            Ok(socket) => return Ok(socket),
            // The server's queue of connections is full, which passes.
            Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < give_up => {
                if halt.is_set() {
                    return Err(Failure::Halted);
                }
                thread::sleep(LOOK_UP / 10);
            }
            Err(error) => return Err(Failure::World(format!("{doing}: cannot open {}: {error}", path.display()))),
        }
    }
}

fn greet(conversation: &mut Conversation, place: &Place) -> Result<Greeting, Failure> {
    let parameters = [
        ("user", place.user.as_str()),
        ("database", place.database.as_str()),
        ("application_name", "pgverdict"),
        ("client_encoding", "UTF8"),
    ];
    let login = Login { user: &place.user, password: None, binding: Binding::Prefer, parameters: &parameters };
    login::greet(conversation, &login).map_err(|unwelcome| match unwelcome {
        Unwelcome::Failure(failure) | Unwelcome::Inside(failure) => failure,
        Unwelcome::Untrusted(what) => conversation.failed(&what),
        Unwelcome::NoPassword(wanted) | Unwelcome::Unsupported(wanted) => conversation.failed(&format!(
            "the server wants {wanted}; only trust authentication is supported (hint: allow this user by `trust` for \
             `local` in pg_hba.conf)"
        )),
    })
}

pub fn prepare(conversation: &mut Conversation, statements: &[Statement]) -> Result<(), Failure> {
    let opened = conversation.doing.clone();
    for (number, statement) in statements.iter().enumerate() {
        conversation.doing = format!("{opened}, preparing statement {number}");
        let name = prepared_name(number);
        conversation.send(&frontend::prepare(&name, &statement.prepared_text))?;
        let wanted = described(conversation)?;
        let given = statement.parameters.len();
        if wanted != given {
            return Err(Failure::Request(format!(
                "{}: the script gives {given} parameters and the server wants {wanted} (hint: `:name` is replaced \
                 inside quotes too, where the server does not see a parameter)",
                conversation.doing
            )));
        }
    }
    conversation.doing = opened;
    Ok(())
}

/// How many parameters the server saw in the statement just prepared.
fn described(conversation: &mut Conversation) -> Result<usize, Failure> {
    let (mut parsed, mut parameters) = (false, None);
    loop {
        match conversation.hear()? {
            Message::ParseComplete => parsed = true,
            Message::ParameterDescription(body) => {
                parameters = Some(body.parameters().count().map_err(|error| {
                    conversation.spoke_nonsense(&backend::malformed(backend::PARAMETER_DESCRIPTION_TAG, error))
                })?);
            }
            Message::ReadyForQuery(_) => match parameters {
                Some(count) if parsed => return Ok(count),
                _ => return Err(conversation.failed("the server did not describe what it prepared")),
            },
            _ => {}
        }
    }
}

/// Says good-bye to a server; whether it listens no longer matters.
pub fn close(socket: &mut Socket) -> io::Result<()> {
    socket.send(&frontend::terminate()).map(drop)
}
