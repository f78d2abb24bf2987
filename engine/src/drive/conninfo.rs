//! Connection strings, as libpq reads them: keywords and values, or a URI.

use std::collections::BTreeMap;

pub type Settings = BTreeMap<String, String>;

/// What libpq knows: its name, the environment variable that sets it, whether we do what it says.
/// Of the others only the values that change nothing are taken, see [`unsupported`].
pub const KEYWORDS: [(&str, &str, bool); 47] = [
    ("service", "PGSERVICE", true),
    ("user", "PGUSER", true),
    ("password", "PGPASSWORD", true),
    ("passfile", "PGPASSFILE", true),
    ("channel_binding", "PGCHANNELBINDING", true),
    ("connect_timeout", "PGCONNECT_TIMEOUT", true),
    ("dbname", "PGDATABASE", true),
    ("host", "PGHOST", true),
    ("hostaddr", "PGHOSTADDR", true),
    ("port", "PGPORT", true),
    ("client_encoding", "PGCLIENTENCODING", true),
    ("options", "PGOPTIONS", true),
    ("application_name", "PGAPPNAME", true),
    ("fallback_application_name", "", true),
    ("sslmode", "PGSSLMODE", true),
    ("sslcert", "PGSSLCERT", true),
    ("sslkey", "PGSSLKEY", true),
    ("sslrootcert", "PGSSLROOTCERT", true),
    ("servicefile", "PGSERVICEFILE", true),
    ("keepalives", "", true),
    ("keepalives_idle", "", true),
    ("keepalives_interval", "", true),
    ("keepalives_count", "", true),
    ("tcp_user_timeout", "", true),
    ("sslnegotiation", "PGSSLNEGOTIATION", true),
    ("sslcompression", "PGSSLCOMPRESSION", false),
    ("sslcertmode", "PGSSLCERTMODE", true),
    ("sslpassword", "", true),
    ("sslcrl", "PGSSLCRL", true),
    ("sslcrldir", "PGSSLCRLDIR", true),
    ("sslsni", "PGSSLSNI", true),
    ("requirepeer", "PGREQUIREPEER", true),
    ("require_auth", "PGREQUIREAUTH", true),
    ("min_protocol_version", "PGMINPROTOCOLVERSION", false),
    ("max_protocol_version", "PGMAXPROTOCOLVERSION", false),
    ("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", true),
    ("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", true),
    ("gssencmode", "PGGSSENCMODE", true),
    ("krbsrvname", "PGKRBSRVNAME", true),
    ("gsslib", "PGGSSLIB", false),
    ("gssdelegation", "PGGSSDELEGATION", true),
    ("replication", "", false),
    ("target_session_attrs", "PGTARGETSESSIONATTRS", true),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS", true),
    ("oauth_issuer", "", false),
    ("oauth_client_id", "", false),
    ("sslkeylogfile", "", false),
];

/// Values that ask for what we do anyway.
const HARMLESS: [(&str, &[&str]); 4] = [
    ("sslcompression", &["0"]),
    ("gsslib", &["gssapi"]),
    ("min_protocol_version", &["3.0"]),
    ("max_protocol_version", &["3.0", "latest"]),
];

/// What is asked for and would not be done.
pub fn unsupported(settings: &Settings) -> Option<String> {
    settings.iter().find_map(|(name, value)| {
        let done = KEYWORDS.iter().any(|&(known, _, done)| known == name && done);
        let harmless = HARMLESS.iter().any(|(known, values)| known == name && values.contains(&value.as_str()));
        let nothing = value.is_empty();
        (!done && !harmless && !nothing).then(|| format!("connection option \"{name}\" is not supported: \"{value}\""))
    })
}

/// Whether the name of a database is a connection string.
pub fn is_connection_string(text: &str) -> bool {
    is_uri(text) || text.contains('=')
}

fn is_uri(text: &str) -> bool {
    text.starts_with("postgresql://") || text.starts_with("postgres://")
}

pub fn parse(text: &str) -> Result<Settings, String> {
    let settings = if is_uri(text) { parse_uri(text)? } else { parse_words(text)? };
    match settings.keys().find(|name| !KEYWORDS.iter().any(|(known, ..)| known == name)) {
        None => Ok(settings),
        Some(name) if is_uri(text) => Err(format!("invalid URI query parameter: \"{name}\"")),
        Some(name) => Err(format!("invalid connection option \"{name}\"")),
    }
}

fn parse_words(text: &str) -> Result<Settings, String> {
    let mut settings = Settings::new();
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        let name_bytes = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
        let name = &rest[..name_bytes];
        let Some(after) = rest[name_bytes..].trim_ascii_start().strip_prefix('=') else {
            return Err(format!("missing \"=\" after \"{name}\" in connection info string"));
        };
        let (value, after) = word_value(after.trim_ascii_start())?;
        settings.insert(name.to_owned(), value);
        rest = after.trim_ascii_start();
    }
    Ok(settings)
}

/// A value and what comes after it.
fn word_value(text: &str) -> Result<(String, &str), String> {
    let (quoted, text) = match text.strip_prefix('\'') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            blank if !quoted && blank.is_ascii_whitespace() => return Ok((value, &text[at..])),
            other => value.push(other),
        }
    }
    if quoted { Err("unterminated quoted string in connection info string".to_owned()) } else { Ok((value, "")) }
}

/// `postgresql://user:password@host:port,host:port/database?name=value&...`
fn parse_uri(text: &str) -> Result<Settings, String> {
    let mut settings = Settings::new();
    let rest = text.split_once("://").expect("it is a URI").1;
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, database) = rest.split_once('/').map_or((rest, ""), |(authority, database)| (authority, database));
    let hosts = match authority.rsplit_once('@') {
        None => authority,
        Some((who, hosts)) => {
            let (user, password) = who.split_once(':').map_or((who, None), |(user, password)| (user, Some(password)));
            put(&mut settings, "user", &decoded(user)?);
            put(&mut settings, "password", &decoded(password.unwrap_or_default())?);
            hosts
        }
    };
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for place in hosts.split(',') {
        let (name, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let Some((name, after)) = rest.split_once(']') else {
                    return Err(format!(
                        "end of string reached when looking for matching \"]\" in IPv6 host address in URI: \"{text}\""
                    ));
                };
                (name, after.strip_prefix(':').unwrap_or_default())
            }
            None => place.split_once(':').unwrap_or((place, "")),
        };
        names.push(decoded(name)?);
        ports.push(decoded(port)?);
    }
    if names.iter().any(|name| !name.is_empty()) {
        put(&mut settings, "host", &names.join(","));
    }
    if ports.iter().any(|port| !port.is_empty()) {
        put(&mut settings, "port", &ports.join(","));
    }
    put(&mut settings, "dbname", &decoded(database)?);
    for parameter in query.into_iter().flat_map(|query| query.split('&')) {
        let Some((name, value)) = parameter.split_once('=') else {
            return Err(format!("missing key/value separator \"=\" in URI query parameter: \"{parameter}\""));
        };
        match (name, value) {
            ("ssl", "true") => settings.insert("sslmode".to_owned(), "require".to_owned()),
            _ => settings.insert(decoded(name)?, decoded(value)?),
        };
    }
    Ok(settings)
}

fn put(settings: &mut Settings, name: &str, value: &str) {
    if !value.is_empty() {
        settings.insert(name.to_owned(), value.to_owned());
    }
}

/// `%41` is `A`.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(0) => return Err(format!("forbidden value %00 in percent-encoded value: \"{text}\"")),
            Some(decoded) => bytes.push(decoded),
            None => return Err(format!("invalid percent-encoded token: \"{text}\"")),
        }
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("invalid percent-encoded token: \"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&[(&str, &str)], &str>) {
        let expect = expect
            .map(|settings| settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
            .map_err(str::to_owned);
        assert_eq!(parse(text), expect, "{text}");
    }

    #[test]
    fn words_have_values() {
        check("host=a port = 5 dbname='it\\'", Err("unterminated quoted string in connection info string"));
        check(
            "host=a port = 5 dbname='x y' user=q\\ r",
            Ok(&[("dbname", "x y"), ("host", "a"), ("port", "5"), ("user", "q r")]),
        );
        check("host", Err("missing \"=\" after \"host\" in connection info string"));
        check("hots=a", Err("invalid connection option \"hots\""));
    }

    #[test]
    fn uris_are_taken_apart() {
        check("postgresql://", Ok(&[]));
        check(
            "postgres://u%40:p@h:1,[::1]:2/d%20b?sslmode=require&connect_timeout=3",
            Ok(&[
                ("connect_timeout", "3"),
                ("dbname", "d b"),
                ("host", "h,::1"),
                ("password", "p"),
                ("port", "1,2"),
                ("sslmode", "require"),
                ("user", "u@"),
            ]),
        );
        check("postgresql:///d?host=/tmp", Ok(&[("dbname", "d"), ("host", "/tmp")]));
        check("postgresql://%2Ftmp/d", Ok(&[("dbname", "d"), ("host", "/tmp")]));
        check("postgresql://h?x=1", Err("invalid URI query parameter: \"x\""));
        check("postgresql://h/%zz", Err("invalid percent-encoded token: \"%zz\""));
    }

    #[test]
    fn what_would_do_nothing_is_refused() {
        let settings = |text| parse(text).unwrap();
        assert_eq!(unsupported(&settings("krbsrvname=pg gsslib=gssapi gssdelegation=1 gssencmode=require")), None);
        assert!(unsupported(&settings("host=a gsslib=sspi")).is_some());
    }
}
