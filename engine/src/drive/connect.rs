//! Opens a connection: the socket, the greeting, the statements prepared.

use super::connection::Connection;
use super::conversation::Conversation;
use super::failure::Failure;
use super::halt::{Halt, LOOK_UP};
use super::login::{self, Binding, Greeting, Login, Unwelcome};
use super::socket::{Socket, Wait};
use crate::wire::backend::{self, Message};
use crate::wire::frontend;
use crate::wire::parameter::Form;
use fallible_iterator::FallibleIterator;
use std::io::{self, ErrorKind};
use std::mem;
use std::ops::Range;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// Where a server is and as whom to talk to it.
#[derive(Debug, Clone)]
pub enum Place {
    /// Behind a socket of this host, where whoever gets there may come in.
    Socket(Door),
    /// Wherever a connection string says.
    Named(Box<Connection>),
}

#[derive(Debug, Clone)]
pub struct Door {
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
    let door = match place {
        Place::Socket(door) => door,
        Place::Named(connection) => return open_named(connection, halt, patience, doing),
    };
    for (name, text) in [("user", &door.user), ("database", &door.database)] {
        if text.contains('\0') {
            return Err(Failure::Request(format!("{doing}: the {name} contains a zero byte")));
        }
    }
    let socket = connect(door, halt, patience, &doing)?;
    let mut conversation = Conversation::over(socket, halt, Some(patience), doing);
    let greeting = greet(&mut conversation, door)?;
    Ok((conversation, greeting))
}

fn open_named(
    connection: &Connection,
    halt: &Halt,
    patience: Duration,
    doing: String,
) -> Result<(Conversation, Greeting), Failure> {
    let (mut conversation, greeting) = connection.open_until(halt, Some(patience)).map_err(|refusal| {
        let said: Vec<&str> = refusal.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if halt.is_set() { Failure::Halted } else { Failure::server(format!("{doing}: {}", said.join("; "))) }
    })?;
    conversation.doing = doing;
    conversation.patience = Some(patience);
    Ok((conversation, greeting))
}

fn connect(place: &Door, halt: &Halt, patience: Duration, doing: &str) -> Result<Socket, Failure> {
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

fn greet(conversation: &mut Conversation, place: &Door) -> Result<Greeting, Failure> {
    let parameters = [
        ("user", place.user.as_str()),
        ("database", place.database.as_str()),
        ("application_name", "pgverdict"),
        ("client_encoding", "UTF8"),
    ];
    let login = Login {
        user: &place.user,
        password: None,
        binding: Binding::Prefer,
        methods: None,
        wants_certificate: false,
        service: None,
        parameters: &parameters,
    };
    login::greet(conversation, &login).map_err(|unwelcome| match unwelcome {
        Unwelcome::Failure(failure) | Unwelcome::Inside(failure) => failure,
        Unwelcome::Untrusted(what) => conversation.failed(&what),
        Unwelcome::NoPassword(wanted) | Unwelcome::Unsupported(wanted) => conversation.failed(&format!(
            "the server wants {wanted}; only trust authentication is supported (hint: allow this user by `trust` for \
             `local` in pg_hba.conf)"
        )),
    })
}

/// A statement to prepare.
#[derive(Debug, Clone, Copy)]
pub struct Preparing<'a> {
    pub text: &'a [u8],
    /// How many are given.
    pub parameters: usize,
    /// In which form they are sent, in their order; those of scripts are all text.
    pub forms: &'a [Form],
}

/// Of each statement the names of the columns that the server will answer it with.
pub fn prepare(conversation: &mut Conversation, statements: &[Preparing<'_>]) -> Result<Vec<Vec<String>>, Failure> {
    let opened = conversation.doing.clone();
    let mut columns = Vec::with_capacity(statements.len());
    for (number, statement) in statements.iter().enumerate() {
        conversation.doing = format!("{opened}, preparing statement {number}");
        let name = prepared_name(number);
        conversation.send(&frontend::prepare(&name, statement.text))?;
        let Described { types, columns: named } = described(conversation)?;
        columns.push(named);
        let (wanted, given) = (types.len(), statement.parameters);
        if wanted != given {
            return Err(Failure::Request(format!(
                "{}: the script gives {given} parameters and the server wants {wanted} (hint: `:name` is replaced \
                 inside quotes too, where the server does not see a parameter)",
                conversation.doing
            )));
        }
        for (place, (form, oid)) in statement.forms.iter().zip(types).enumerate() {
            if *form != Form::Text && *form != Form::of(oid) {
                return Err(conversation.failed(&format!(
                    "the server takes parameter {} for type {oid} and it is sent as {}",
                    place + 1,
                    form.name()
                )));
            }
        }
    }
    conversation.doing = opened;
    Ok(columns)
}

/// The first row of the answer to a query, its values as text; empty where no row came.
pub fn ask(conversation: &mut Conversation, query: &str) -> Result<Vec<Option<String>>, Failure> {
    let opened = mem::replace(&mut conversation.doing, format!("asking `{query}`"));
    conversation.send(&frontend::query(query))?;
    let mut first = None;
    loop {
        match conversation.hear()? {
            Message::DataRow(body) if first.is_none() => {
                let value = |range: Option<Range<usize>>| {
                    range.map(|range| String::from_utf8_lossy(&body.buffer()[range]).into_owned())
                };
                let values = body.ranges().map(|range| Ok(value(range))).collect::<Vec<_>>();
                first =
                    Some(values.map_err(|error| {
                        conversation.spoke_nonsense(&backend::malformed(backend::DATA_ROW_TAG, error))
                    })?);
            }
            Message::ReadyForQuery(_) => {
                conversation.doing = opened;
                return Ok(first.unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// What a server said of a statement that it prepared.
struct Described {
    /// Of its parameters.
    types: Vec<u32>,
    columns: Vec<String>,
}

fn described(conversation: &mut Conversation) -> Result<Described, Failure> {
    let (mut parsed, mut parameters, mut columns) = (false, None, Vec::new());
    loop {
        match conversation.hear()? {
            Message::ParseComplete => parsed = true,
            Message::ParameterDescription(body) => {
                parameters = Some(body.parameters().collect::<Vec<_>>().map_err(|error| {
                    conversation.spoke_nonsense(&backend::malformed(backend::PARAMETER_DESCRIPTION_TAG, error))
                })?);
            }
            Message::RowDescription(body) => {
                let names = body.fields().map(|field| Ok(field.name().to_owned())).collect();
                columns = names.map_err(|error| {
                    conversation.spoke_nonsense(&backend::malformed(backend::ROW_DESCRIPTION_TAG, error))
                })?;
            }
            Message::ReadyForQuery(_) => match parameters {
                Some(types) if parsed => return Ok(Described { types, columns }),
                _ => return Err(conversation.failed("the server did not describe what it prepared")),
            },
            _ => {}
        }
    }
}

/// Says good-bye to a server; whether it listens no longer matters.
pub fn close(socket: &mut Socket) -> io::Result<()> {
    socket.send(&frontend::terminate(), Wait::Yes).map(drop)
}
