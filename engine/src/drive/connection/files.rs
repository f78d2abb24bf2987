//! The files that libpq reads for a user: services and passwords.

use super::{SOCKET_FOLDERS, home, variable};
use crate::drive::conninfo::{KEYWORDS, Settings};
use crate::drive::dial::Station;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The section of a service file.
pub fn service_settings(service: &str, file: Option<&String>) -> Result<Settings, String> {
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
pub fn passwords_text(file: &Path) -> String {
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
pub fn password(text: &str, station: &Station, database: &str, user: &str) -> Option<String> {
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
}
