//! Where to connect and as whom: what the user said, the environment, service and password files.

use super::conninfo::{self, KEYWORDS, Settings};
use crate::drive::conversation::Conversation;
use crate::drive::dial::{self, Approach, Refusal, Station, TlsMode};
use crate::drive::login::{Binding, Greeting, Login};
use crate::drive::tls::{TlsSettings, Verify};
use crate::wire::{ServerError, frontend};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

/// Parameters of the startup message that libpq takes from the environment.
const SESSION_VARIABLES: [(&str, &str); 3] = [("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

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
    mode: TlsMode,
    tls: TlsSettings,
    binding: Binding,
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
        settings.retain(|_, value| !value.is_empty());
        if let Some(service) = settings.get("service").cloned().or_else(|| variable("PGSERVICE")) {
            for (name, value) in service_settings(&service, settings.get("servicefile"))? {
                settings.entry(name).or_insert(value);
            }
        }
        for (name, from, _) in KEYWORDS {
            if let Some(value) = variable(from) {
                settings.entry(name.to_owned()).or_insert(value);
            }
        }
        if let Some(what) = conninfo::unsupported(&settings) {
            return Err(what);
        }
        Self::of(&settings, program, notice)
    }

    fn of(settings: &Settings, program: &str, notice: fn(&ServerError)) -> Result<Self, String> {
        let get = |name: &str| settings.get(name).map(String::as_str);
        let user = get("user").map_or_else(system_user, |user| Ok(user.to_owned()))?;
        let database = get("dbname").unwrap_or(&user).to_owned();
        let stations = stations(get("host"), get("hostaddr"), get("port"))?;
        let passwords = match get("password") {
            Some(password) => vec![Some(password.to_owned()); stations.len()],
            None => {
                let file = get("passfile").map(PathBuf::from).or_else(|| Some(home()?.join(".pgpass")));
                let text = file.map(|file| passwords_text(&file)).unwrap_or_default();
                stations.iter().map(|station| password(&text, station, &database, &user)).collect()
            }
        };
        let (mode, tls) = tls(settings)?;
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
        for (from, name) in SESSION_VARIABLES {
            parameters.extend(variable(from).filter(|value| value != "default").map(|value| (name.to_owned(), value)));
        }
        if parameters.iter().any(|(_, value)| value.contains('\0')) {
            return Err("a connection option contains a zero byte".to_owned());
        }
        Ok(Self { stations, passwords, mode, tls, binding, limit, user, database, parameters, notice })
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
        let parameters: Vec<(&str, &str)> =
            self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let approach = Approach { stations: &self.stations, mode: self.mode, tls: &self.tls, limit: self.limit };
        let login = |station: &Station| {
            let number = self.stations.iter().position(|known| known == station).unwrap_or(0);
            let password = self.passwords[number].as_deref().filter(|password| !password.is_empty());
            Login { user: &self.user, password, binding: self.binding, parameters: &parameters }
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

/// An environment variable that says something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !name.is_empty() && !value.is_empty())
}

fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

/// The name of the user who runs us.
pub fn system_user() -> Result<String, String> {
    // SAFETY: the call takes nothing; what it returns is ours to read until the next such call, and
    // no other thread runs yet. Its name, if it has one, ends with a zero byte.
    let name = unsafe {
        let entry = libc::getpwuid(libc::geteuid());
        (!entry.is_null()).then(|| std::ffi::CStr::from_ptr((*entry).pw_name).to_string_lossy().into_owned())
    };
    // SAFETY: the call takes nothing and cannot fail.
    name.ok_or_else(|| {
        format!("could not look up effective user ID {}: user does not exist", unsafe { libc::geteuid() })
    })
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

fn tls(settings: &Settings) -> Result<(TlsMode, TlsSettings), String> {
    let folder = home().map(|home| home.join(".postgresql"));
    let file = |name: &str, usual: &str| {
        let named = settings.get(name).map(PathBuf::from);
        named.or_else(|| folder.as_ref().map(|folder| folder.join(usual)).filter(|file| file.exists()))
    };
    let roots = file("sslrootcert", "root.crt");
    // PostgreSQL's own name for them; rustls has none.
    if roots.as_deref() == Some(Path::new("system")) {
        return Err(
            "sslrootcert value \"system\" is not supported: name the file with the system's certificates".into()
        );
    }
    let client = file("sslcert", "postgresql.crt").filter(|file| file.exists()).zip(file("sslkey", "postgresql.key"));
    let chain_if_rooted = if roots.is_some() { Verify::Chain } else { Verify::Nothing };
    let (mode, verify) = match settings.get("sslmode").map_or("prefer", String::as_str) {
        "disable" => (TlsMode::Disable, Verify::Nothing),
        "allow" => (TlsMode::Allow, Verify::Nothing),
        "prefer" => (TlsMode::Prefer, Verify::Nothing),
        // As libpq has it for compatibility: who has a root certificate wants it looked at.
        "require" => (TlsMode::Require, chain_if_rooted),
        "verify-ca" => (TlsMode::Require, Verify::Chain),
        "verify-full" => (TlsMode::Require, Verify::ChainAndName),
        other => return Err(format!("invalid sslmode value: \"{other}\"")),
    };
    // Where a file is needed and is not there, connecting says so.
    let usual = || folder.as_ref().map(|folder| folder.join("root.crt"));
    let roots = roots.or_else(usual).filter(|_| verify != Verify::Nothing);
    Ok((mode, TlsSettings { verify, roots, client }))
}

/// The section of a service file.
fn service_settings(service: &str, file: Option<&String>) -> Result<Settings, String> {
    let own = file.cloned().or_else(|| variable("PGSERVICEFILE")).map(PathBuf::from);
    let own = own.or_else(|| Some(home()?.join(".pg_service.conf")).filter(|file| file.exists()));
    let systems = variable("PGSYSCONFDIR").map(|folder| PathBuf::from(folder).join("pg_service.conf"));
    for file in own.into_iter().chain(systems) {
        let text = fs::read_to_string(&file);
        let text = text.map_err(|_| format!("service file \"{}\" not found", file.display()))?;
        if let Some(settings) = section(&text, service) {
            return settings;
        }
    }
    Err(format!("definition of service \"{service}\" not found"))
}

fn section(text: &str, service: &str) -> Option<Result<Settings, String>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines = lines.skip_while(|line| *line != format!("[{service}]"));
    lines.next()?;
    let lines = lines.take_while(|line| !line.starts_with('['));
    Some(
        lines
            .map(|line| match line.split_once('=') {
                Some((name, value)) if KEYWORDS.iter().any(|(known, ..)| *known == name.trim()) => {
                    Ok((name.trim().to_owned(), value.trim().to_owned()))
                }
                _ => Err(format!("syntax error in service file: \"{line}\"")),
            })
            .collect(),
    )
}

/// What is in a password file that nobody else can read.
fn passwords_text(file: &Path) -> String {
    let Ok(metadata) = fs::metadata(file) else { return String::new() };
    if !metadata.is_file() {
        eprintln!("WARNING: password file \"{}\" is not a plain file", file.display());
        return String::new();
    }
    if metadata.mode() & 0o077 != 0 {
        eprintln!(
            "WARNING: password file \"{}\" has group or world access; permissions should be u=rw (0600) or less",
            file.display()
        );
        return String::new();
    }
    fs::read_to_string(file).unwrap_or_default()
}

/// The first line that fits: `host:port:database:user:password`, `*` for any, backslashes before `:` and `\`.
fn password(text: &str, station: &Station, database: &str, user: &str) -> Option<String> {
    let default_socket = SOCKET_FOLDERS.contains(&station.host.as_str());
    let host = if default_socket { "localhost" } else { &station.host };
    let port = station.port.to_string();
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [given_host, given_port, given_database, given_user, password] = &fields[..] else { return None };
        let fits = |given: &str, wanted: &str| given == "*" || given == wanted;
        let all = fits(given_host, host) && fits(given_port, &port) && fits(given_database, database);
        (all && fits(given_user, user)).then(|| password.clone())
    })
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == ':' && fields.len() < 5 {
            fields.push(String::new());
            continue;
        }
        let character = if character == '\\' { characters.next() } else { Some(character) };
        fields.last_mut().expect("there is one").extend(character);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let station = |host: &str| Station { host: host.into(), host_address: None, port: 5432 };
        let text = "# no\nh:1:*:*:wrong\nh:5432:d:u:se\\:cr\\\\et\n*:*:*:*:any\n";
        assert_eq!(password(text, &station("h"), "d", "u").as_deref(), Some("se:cr\\et"));
        assert_eq!(password(text, &station("h"), "d", "v").as_deref(), Some("any"));
        assert_eq!(password("localhost:*:*:*:x", &station("/tmp"), "d", "u").as_deref(), Some("x"));
        assert_eq!(password("a:b:c", &station("h"), "d", "u"), None);
    }

    #[test]
    fn services_are_sections() {
        let text = "[a]\nhost=x\n\n# c\n[b]\nhost = y\nport=3\n[c]\nnosuch=1\n";
        let found = section(text, "b").unwrap().unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("host".into(), "y".into()), ("port".into(), "3".into())]);
        assert!(section(text, "d").is_none());
        assert!(section(text, "c").unwrap().is_err());
    }

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
