//! Opens a connection to whatever a user named: over a Unix socket or TCP, with TLS as asked for,
//! and tells in libpq's words why it could not.

use super::account;
use super::conversation::Conversation;
use super::demands::Session;
use super::failure::Failure;
use super::gss;
use super::halt::Halt;
use super::login::{self, Greeting, Login, Unwelcome};
use super::socket::{PeerWatch, Socket, Wait};
use super::tls::TlsSettings;
use crate::script::random::Prng;
use crate::wire::frontend;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One server as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Station {
    /// A name or an address, or the folder of a Unix socket.
    pub host: String,
    /// An address that stands in for the name.
    pub host_address: Option<String>,
    pub port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    Disable,
    /// Only if the server does not want us without.
    Allow,
    /// If the server can.
    Prefer,
    Require,
}

/// Whether GSSAPI encrypts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GssMode {
    Disable,
    /// If we have a ticket and the server can.
    Prefer,
    Require,
}

#[derive(Debug, Clone)]
pub struct Approach<'a> {
    pub stations: &'a [Station],
    pub gss: GssMode,
    /// Of what GSSAPI does not encrypt.
    pub mode: TlsMode,
    pub tls: &'a TlsSettings,
    pub limit: Option<Duration>,
    pub watch: PeerWatch,
    /// Who the process behind a Unix socket has to belong to.
    pub peer: Option<&'a str>,
    pub session: Session,
    /// Whether the stations, and the addresses of each, are tried in random order.
    pub shuffles: bool,
    /// Whether to stop; looked at while a server is listened to.
    pub halt: &'a Halt,
}

/// Why there is no connection, in lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    pub text: String,
    /// A password might help.
    pub needs_password: bool,
}

enum Address {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

/// What a connection is to be encrypted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    None,
    Tls,
    Gss,
}

/// Tries the stations and their addresses in order. `login` gives the login for the station.
pub fn dial<'l>(
    approach: &Approach<'_>,
    login: &dyn Fn(&Station) -> Login<'l>,
) -> Result<(Conversation, Greeting), Refusal> {
    if approach.session != Session::PreferStandby {
        return dial_all(approach, login);
    }
    let standbys = Approach { session: Session::Standby, ..approach.clone() };
    dial_all(&standbys, login).or_else(|_| dial_all(approach, login))
}

fn dial_all<'l>(
    approach: &Approach<'_>,
    login: &dyn Fn(&Station) -> Login<'l>,
) -> Result<(Conversation, Greeting), Refusal> {
    let mut refusal = Refusal::default();
    let mut stations: Vec<&Station> = approach.stations.iter().collect();
    shuffle(&mut stations, approach.shuffles);
    for station in stations {
        let addresses = match addresses(station) {
            Ok(mut addresses) => {
                shuffle(&mut addresses, approach.shuffles);
                addresses
            }
            Err(what) => {
                refusal.text += &format!("could not translate host name \"{}\" to address: {what}\n", station.host);
                continue;
            }
        };
        for address in addresses {
            let without_gss: &[Cover] = match (&address, approach.mode) {
                (Address::Unix(_), _) | (_, TlsMode::Disable) => &[Cover::None],
                (_, TlsMode::Allow) => &[Cover::None, Cover::Tls],
                (_, TlsMode::Prefer) => &[Cover::Tls, Cover::None],
                (_, TlsMode::Require) => &[Cover::Tls],
            };
            let ways = match (&address, approach.gss) {
                (_, GssMode::Require) => vec![Cover::Gss],
                (Address::Tcp(_), GssMode::Prefer) if gss::require_credential().is_ok() => {
                    [&[Cover::Gss], without_gss].concat()
                }
                _ => without_gss.to_vec(),
            };
            for cover in ways {
                match attempt(approach, station, &address, cover, &login(station)) {
                    Ok(Ok((mut conversation, greeting))) => match approach.session.check(&mut conversation) {
                        Ok(Ok(())) => {
                            conversation.patience = None;
                            return Ok((conversation, greeting));
                        }
                        Ok(Err(objection)) => {
                            refusal.text += &format!("{} failed: {objection}\n", shown(station, &address));
                            break;
                        }
                        Err(failure) => {
                            refusal.text += &format!("{} failed: {}\n", shown(station, &address), words(&failure));
                            break;
                        }
                    },
                    // No way would get further.
                    Ok(Err(failed)) => {
                        refusal.text += &format!("{} failed: {}\n", shown(station, &address), failed.text.trim_end());
                        refusal.needs_password |= failed.needs_password;
                        break;
                    }
                    Err(failed) => {
                        refusal.text += &format!("{} failed: {}\n", shown(station, &address), failed.trim_end());
                    }
                }
            }
        }
    }
    Err(refusal)
}

/// The outer error is one that another way, with or without encryption, might not have.
fn attempt(
    approach: &Approach<'_>,
    station: &Station,
    address: &Address,
    cover: Cover,
    login: &Login<'_>,
) -> Result<Result<(Conversation, Greeting), Refusal>, String> {
    let given_up = |text: String| Ok(Err(Refusal { text, needs_password: false }));
    match (cover, address) {
        (Cover::Gss, Address::Unix(_)) => {
            return given_up("GSSAPI encryption required but it is not supported over a local socket".to_owned());
        }
        (Cover::Gss, Address::Tcp(_)) => {
            if let Err(what) = gss::require_credential() {
                return given_up(what);
            }
        }
        (Cover::None | Cover::Tls, _) => {}
    }
    let socket = match address {
        Address::Unix(path) => Socket::connect_unix(path),
        Address::Tcp(address) => Socket::connect_tcp(*address, approach.limit, &approach.watch),
    };
    let socket = match socket {
        Ok(socket) => socket,
        Err(error) => return given_up(unreachable_server(&error, address)),
    };
    if let (Some(wanted), Address::Unix(_)) = (approach.peer, address) {
        let found = socket.peer_user_id().map_err(|error| error.to_string()).and_then(account::name);
        match found {
            Ok(found) if found == wanted => {}
            Ok(found) => {
                return given_up(format!(
                    "requirepeer specifies \"{wanted}\", but actual peer user name is \"{found}\""
                ));
            }
            Err(error) => return given_up(format!("could not get peer credentials: {error}")),
        }
    }
    let doing = "could not receive data from server".to_owned();
    let mut conversation = Conversation::over(socket, approach.halt, approach.limit, doing);
    if cover == Cover::Tls {
        if let Some(missing) = approach.tls.missing_roots() {
            return given_up(format!(
                "root certificate file \"{}\" does not exist\nEither provide the file, or change sslmode to disable server \
                 certificate verification.",
                missing.display()
            ));
        }
        let answer = match approach.tls.at_once {
            true => Ok(b'S'),
            false => conversation.send(&frontend::ssl_request()).and_then(|()| conversation.hear_byte()),
        };
        match answer {
            Ok(b'S') => conversation.start_tls(&station.host, approach.tls)?,
            Ok(b'N') if approach.mode == TlsMode::Require => {
                return given_up("server does not support SSL, but SSL was required".to_owned());
            }
            Ok(b'N') => {}
            Ok(other) => return Err(format!("received invalid response to SSL negotiation: {}", char::from(other))),
            Err(failure) => return Err(words(&failure)),
        }
    }
    if cover == Cover::Gss {
        encrypt_by_gss(&mut conversation, login, approach.gss)?;
    }
    match login::greet(&mut conversation, login) {
        Ok(greeting) => Ok(Ok((conversation, greeting))),
        Err(Unwelcome::NoPassword(_)) => {
            Ok(Err(Refusal { text: "fe_sendauth: no password supplied".to_owned(), needs_password: true }))
        }
        Err(Unwelcome::Unsupported(wanted)) => {
            given_up(format!("the server wants {wanted}, and we cannot authenticate that way"))
        }
        Err(Unwelcome::Untrusted(what)) => given_up(what),
        Err(Unwelcome::Inside(failure)) => given_up(words(&failure)),
        Err(Unwelcome::Failure(failure)) => Err(words(&failure)),
    }
}

fn encrypt_by_gss(conversation: &mut Conversation, login: &Login<'_>, mode: GssMode) -> Result<(), String> {
    let service = login.service.as_ref().ok_or("GSSAPI encryption required, and we have no ticket to show")?;
    let answer = conversation.send(frontend::GSS_REQUEST).and_then(|()| conversation.hear_byte());
    match answer.map_err(|failure| words(&failure))? {
        b'G' => conversation.start_gss(service),
        b'N' if mode == GssMode::Prefer => Err("server doesn't support GSSAPI encryption".to_owned()),
        b'N' => Err("server doesn't support GSSAPI encryption, but it was required".to_owned()),
        other => Err(format!("received invalid response to GSSAPI negotiation: {}", char::from(other))),
    }
}

/// Sends bytes over a connection of their own, which is what a request to cancel wants.
pub fn send_alone(station: &Station, bytes: &[u8]) -> Result<(), String> {
    for address in addresses(station)? {
        let socket = match &address {
            Address::Unix(path) => Socket::connect_unix(path),
            Address::Tcp(address) => Socket::connect_tcp(*address, None, &PeerWatch::default()),
        };
        if let Ok(mut socket) = socket {
            return socket.send(bytes, Wait::Yes).map(drop).map_err(|error| system_words(&error));
        }
    }
    Err("no address could be reached".to_owned())
}

/// In random order, if wanted: every order is as likely, as far as the system's random numbers are.
fn shuffle<T>(items: &mut [T], wanted: bool) {
    if !wanted || items.len() < 2 {
        return;
    }
    let mut prng = Prng::seeded(account::random_number());
    for last in (1..items.len()).rev() {
        items.swap(last, prng.up_to(last as u64) as usize);
    }
}

fn addresses(station: &Station) -> Result<Vec<Address>, String> {
    if station.host_address.is_none() && names_folder(&station.host) {
        let name = format!(".s.PGSQL.{}", station.port);
        // A name after `@` is one of Linux's abstract ones, which have no file.
        return Ok(vec![Address::Unix(Path::new(&station.host).join(name))]);
    }
    let name = station.host_address.as_deref().unwrap_or(&station.host);
    match (name, station.port).to_socket_addrs() {
        Ok(found) => Ok(found.map(Address::Tcp).collect()),
        Err(error) => {
            let text = error.to_string();
            Err(text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_owned())
        }
    }
}

/// Whether a host is the folder of a Unix socket.
pub fn names_folder(host: &str) -> bool {
    host.starts_with('/')
}

fn shown(station: &Station, address: &Address) -> String {
    match address {
        Address::Unix(path) => format!("connection to server on socket \"{}\"", path.display()),
        Address::Tcp(address) => {
            let ip = address.ip().to_string();
            let host = if station.host.is_empty() { &ip } else { &station.host };
            let beside = if *host == ip { String::new() } else { format!(" ({ip})") };
            format!("connection to server at \"{host}\"{beside}, port {}", station.port)
        }
    }
}

fn unreachable_server(error: &io::Error, address: &Address) -> String {
    let hint = match (error.kind(), address) {
        (io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused, Address::Unix(_)) => {
            "\n\tIs the server running locally and accepting connections on that socket?"
        }
        (io::ErrorKind::ConnectionRefused, Address::Tcp(_)) => {
            "\n\tIs the server running on that host and accepting TCP/IP connections?"
        }
        _ => "",
    };
    format!("{}{hint}", system_words(error))
}

/// What the system calls an error, without its number.
pub fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// A failure of a conversation in libpq's words.
pub fn words(failure: &Failure) -> String {
    match failure {
        Failure::Server { said: Some(said), .. } => said.shown(None, true),
        Failure::Server { what, said: None } if what.ends_with("closed the connection") => {
            "server closed the connection unexpectedly\n\tThis probably means the server terminated \
             abnormally\n\tbefore or while processing the request."
                .to_owned()
        }
        Failure::Server { what, said: None } if what.contains("gave no answer") => "timeout expired".to_owned(),
        other => other.to_string(),
    }
}
