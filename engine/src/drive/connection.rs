//! Where to connect and as whom: what the user said, the environment, service and password files.

mod files;

use super::account;
use super::conninfo::{self, KEYWORDS, Settings};
use super::conversation::Conversation;
use super::demands::{Methods, Session};
use super::dial::{self, Approach, GssMode, Refusal, Station, TlsMode};
use super::gss::Service;
use super::halt::Halt;
use super::login::{Binding, Greeting, Login};
use super::securing;
use super::socket::PeerWatch;
use super::tls::TlsSettings;
use crate::wire::{ServerError, frontend};
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Parameters of the startup message that libpq takes from the environment.
const SESSION_VARIABLES: [(&str, &str); 3] = [("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

/// What libpq takes from the environment and campaigns do not: it would change what is measured.
const OF_SESSIONS: [&str; 3] = ["options", "client_encoding", "application_name"];

/// Where servers put their sockets: Debian's place if there is one, else PostgreSQL's own.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// What of the connection was said on the command line.
#[derive(Debug, Clone, Default)]
pub struct Said {
    pub host: Option<String>,
    pub port: Option<String>,
    pub user: Option<String>,
    /// A name, or a connection string.
    pub database: String,
}

/// Everything that opening a connection needs, once it is settled.
#[derive(Debug, Clone)]
pub struct Connection {
    stations: Vec<Station>,
    /// By station.
    passwords: Vec<Option<String>>,
    gss: GssMode,
    mode: TlsMode,
    tls: TlsSettings,
    binding: Binding,
    methods: Option<Methods>,
    /// Of the service whose tickets servers that ask for GSSAPI get.
    service_name: String,
    /// Whether such a server may act in our name.
    delegates: bool,
    peer: Option<String>,
    session: Session,
    shuffles: bool,
    watch: PeerWatch,
    limit: Option<Duration>,
    user: String,
    pub database: String,
    /// Of the startup message.
    parameters: Vec<(String, String)>,
    notice: fn(&ServerError),
}

impl Connection {
    pub fn settle(said: &Said, program: &str, notice: fn(&ServerError)) -> Result<Self, String> {
        let mut settings = Settings::new();
        for (name, value) in [("host", &said.host), ("port", &said.port), ("user", &said.user)] {
            settings
                .extend(value.iter().filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value.clone())));
        }
        match conninfo::is_connection_string(&said.database) {
            true => settings.extend(conninfo::parse(&said.database)?),
            false => settings.extend([("dbname".to_owned(), said.database.clone())]),
        }
        complete(&mut settings, &[])?;
        let mut connection = Self::of(&settings, program, notice)?;
        for (from, name) in SESSION_VARIABLES {
            let value = variable(from).filter(|value| value != "default");
            connection.parameters.extend(value.map(|value| (name.to_owned(), value)));
        }
        Ok(connection)
    }

    /// For a campaign: a connection string and a database of that server. `password`, where it is not for the
    /// environment or a password file to say.
    pub fn named(dsn: &str, database: &str, password: Option<&str>) -> Result<Self, String> {
        let mut settings = conninfo::parse(dsn)?;
        settings.insert("dbname".to_owned(), database.to_owned());
        settings.extend(password.map(|password| ("password".to_owned(), password.to_owned())));
        complete(&mut settings, &OF_SESSIONS)?;
        settings.entry("client_encoding".to_owned()).or_insert_with(|| "UTF8".to_owned());
        Self::of(&settings, "pgverdict", |_| {})
    }

    fn of(settings: &Settings, program: &str, notice: fn(&ServerError)) -> Result<Self, String> {
        let get = |name: &str| settings.get(name).map(String::as_str);
        let user = get("user").map_or_else(account::own_name, |user| Ok(user.to_owned()))?;
        let database = get("dbname").unwrap_or(&user).to_owned();
        let stations = stations(get("host"), get("hostaddr"), get("port"))?;
        let passwords = match get("password") {
            Some(password) => vec![Some(password.to_owned()); stations.len()],
            None => {
                let file = get("passfile").map(PathBuf::from).or_else(|| Some(home()?.join(".pgpass")));
                let text = file.map(|file| files::passwords_text(&file)).unwrap_or_default();
                stations.iter().map(|station| files::password(&text, station, &database, &user)).collect()
            }
        };
        let folder = home().map(|home| home.join(".postgresql"));
        let (mode, tls) = securing::secure(settings, folder.as_deref())?;
        // libpq prefers it where nobody says anything, and then measures another connection whenever there is a ticket.
        let gss = match get("gssencmode").unwrap_or("disable") {
            "disable" => GssMode::Disable,
            "prefer" => GssMode::Prefer,
            "require" => GssMode::Require,
            other => return Err(format!("invalid gssencmode value: \"{other}\"")),
        };
        let methods = get("require_auth").map(Methods::parse).transpose()?;
        let session = get("target_session_attrs").map_or(Ok(Session::Any), Session::parse)?;
        let shuffles = match get("load_balance_hosts").unwrap_or("disable") {
            "disable" => false,
            "random" => true,
            other => return Err(format!("invalid load_balance_hosts value: \"{other}\"")),
        };
        let number = |name: &str| match get(name).map(|value| (value, value.trim().parse::<i32>())) {
            None => Ok(0),
            Some((_, Ok(number))) => Ok(number.max(0)),
            Some((value, Err(_))) => Err(format!("invalid integer value \"{value}\" for connection option \"{name}\"")),
        };
        let watch = PeerWatch {
            keep_alive: get("keepalives").is_none() || number("keepalives")? != 0,
            idle_s: number("keepalives_idle")?,
            interval_s: number("keepalives_interval")?,
            count: number("keepalives_count")?,
            user_timeout_ms: number("tcp_user_timeout")?,
        };
        let service_name = get("krbsrvname").unwrap_or("postgres").to_owned();
        let delegates = match get("gssdelegation").unwrap_or("0") {
            "0" => false,
            "1" => true,
            other => return Err(format!("invalid gssdelegation value: \"{other}\"")),
        };
        let peer = get("requirepeer").map(str::to_owned);
        let binding = match get("channel_binding").unwrap_or("prefer") {
            "disable" => Binding::Disable,
            "prefer" => Binding::Prefer,
            "require" => Binding::Require,
            other => return Err(format!("invalid channel_binding value: \"{other}\"")),
        };
        let limit = match get("connect_timeout").map(str::parse::<i64>) {
            None => None,
            Some(Ok(seconds)) => u64::try_from(seconds).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs),
            Some(Err(_)) => {
                let value = get("connect_timeout").unwrap_or_default();
                return Err(format!("invalid integer value \"{value}\" for connection option \"connect_timeout\""));
            }
        };
        let mut parameters = vec![("user".to_owned(), user.clone()), ("database".to_owned(), database.clone())];
        for name in ["options", "client_encoding"] {
            parameters.extend(get(name).map(|value| (name.to_owned(), value.to_owned())));
        }
        let application = get("application_name").or(get("fallback_application_name")).unwrap_or(program);
        parameters.push(("application_name".to_owned(), application.to_owned()));
        if parameters.iter().any(|(_, value)| value.contains('\0')) {
            return Err("a connection option contains a zero byte".to_owned());
        }
        Ok(Self {
            stations,
            passwords,
            gss,
            mode,
            tls,
            binding,
            methods,
            service_name,
            delegates,
            peer,
            session,
            shuffles,
            watch,
            limit,
            user,
            database,
            parameters,
            notice,
        })
    }

    pub fn host(&self) -> &str {
        self.stations.first().map_or("", |station| &station.host)
    }

    pub fn port(&self) -> u16 {
        self.stations.first().map_or(0, |station| station.port)
    }

    pub fn has_password(&self) -> bool {
        self.passwords.iter().all(Option::is_some)
    }

    pub fn set_password(&mut self, password: &str) {
        self.passwords.fill(Some(password.to_owned()));
    }

    pub fn open(&self) -> Result<(Conversation, Greeting), Refusal> {
        self.open_until(&Halt::default(), None)
    }

    /// `limit`: how long it may take, where the user did not say.
    pub fn open_until(&self, halt: &Halt, limit: Option<Duration>) -> Result<(Conversation, Greeting), Refusal> {
        let parameters: Vec<(&str, &str)> =
            self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let limit = self.limit.or(limit);
        let approach = Approach {
            stations: &self.stations,
            gss: self.gss,
            mode: self.mode,
            tls: &self.tls,
            limit,
            watch: self.watch,
            peer: self.peer.as_deref(),
            session: self.session,
            shuffles: self.shuffles,
            halt,
        };
        let login = |station: &Station| {
            let number = self.stations.iter().position(|known| known == station).unwrap_or(0);
            let password = self.passwords[number].as_deref().filter(|password| !password.is_empty());
            let host = &self.stations[number].host;
            Login {
                user: &self.user,
                password,
                binding: self.binding,
                methods: self.methods.as_ref(),
                wants_certificate: self.tls.wants_certificate,
                service: Some(Service { name: &self.service_name, host, delegates: self.delegates }),
                parameters: &parameters,
            }
        };
        let (mut conversation, greeting) = dial::dial(&approach, &login)?;
        conversation.notice = Some(self.notice);
        Ok((conversation, greeting))
    }
}

impl Connection {
    /// Asks the server to cancel what the connection with this greeting is about.
    pub fn cancel(&self, greeting: &Greeting) {
        let request = frontend::cancel_request(greeting.backend_pid, greeting.secret_key);
        for station in &self.stations {
            // Whoever does not know the process does nothing.
            let _ = dial::send_alone(station, &request);
        }
    }
}

/// Adds what the service file and the environment say, but for these words of the environment.
fn complete(settings: &mut Settings, but: &[&str]) -> Result<(), String> {
    settings.retain(|_, value| !value.is_empty());
    if let Some(service) = settings.get("service").cloned().or_else(|| variable("PGSERVICE")) {
        for (name, value) in files::service_settings(&service, settings.get("servicefile"))? {
            settings.entry(name).or_insert(value);
        }
    }
    for (name, from, _) in KEYWORDS.iter().filter(|(name, ..)| !but.contains(name)) {
        if let Some(value) = variable(from) {
            settings.entry((*name).to_owned()).or_insert(value);
        }
    }
    conninfo::unsupported(settings).map_or(Ok(()), Err)
}

/// An environment variable that says something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !name.is_empty() && !value.is_empty())
}

fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

fn stations(hosts: Option<&str>, addresses: Option<&str>, ports: Option<&str>) -> Result<Vec<Station>, String> {
    let ports: Vec<&str> = ports.unwrap_or("5432").split(',').collect();
    let addresses: Vec<&str> = addresses.map(|addresses| addresses.split(',').collect()).unwrap_or_default();
    let hosts: Vec<&str> = match hosts {
        Some(hosts) => hosts.split(',').collect(),
        None => vec![""; addresses.len().max(1)],
    };
    if !addresses.is_empty() && addresses.len() != hosts.len() {
        let (names, numbers) = (hosts.len(), addresses.len());
        return Err(format!("could not match {names} host names to {numbers} hostaddr values"));
    }
    if ports.len() != 1 && ports.len() != hosts.len() {
        return Err(format!("could not match {} port numbers to {} hosts", ports.len(), hosts.len()));
    }
    let mut stations = Vec::new();
    for (number, host) in hosts.into_iter().enumerate() {
        let written = if ports.len() == 1 { ports[0] } else { ports[number] };
        let port = match written {
            "" => 5432,
            written => match written.trim().parse::<i64>() {
                Ok(port) if (1..=65535).contains(&port) => port as u16,
                Ok(_) => return Err(format!("invalid port number: \"{written}\"")),
                Err(_) => return Err(format!("invalid integer value \"{written}\" for connection option \"port\"")),
            },
        };
        let host_address =
            addresses.get(number).filter(|address| !address.is_empty()).map(|&address| address.to_owned());
        let host = match host {
            "" if host_address.is_none() => socket_folder(port),
            host => host.to_owned(),
        };
        stations.push(Station { host, host_address, port });
    }
    Ok(stations)
}

fn socket_folder(port: u16) -> String {
    let holds = |folder: &&str| Path::new(folder).join(format!(".s.PGSQL.{port}")).exists();
    let found = SOCKET_FOLDERS.iter().copied().find(holds);
    found.unwrap_or(SOCKET_FOLDERS[1]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_matched() {
        let found = stations(Some("a,b"), None, Some("1,2")).unwrap();
        assert_eq!(
            found.iter().map(|station| (station.host.as_str(), station.port)).collect::<Vec<_>>(),
            [("a", 1), ("b", 2)]
        );
        assert!(stations(Some("a,b,c"), None, Some("1,2")).is_err());
        assert_eq!(
            stations(Some("a"), None, Some("x")).unwrap_err(),
            "invalid integer value \"x\" for connection option \"port\""
        );
        assert_eq!(stations(Some("a"), None, Some("70000")).unwrap_err(), "invalid port number: \"70000\"");
    }
}
