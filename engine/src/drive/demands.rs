//! What a user demands before a connection is taken: how we are let in (`require_auth`), whose the
//! server is (`requirepeer`), and in which state its sessions are (`target_session_attrs`). In libpq's words.

use super::conversation::Conversation;
use super::failure::Failure;
use crate::wire::backend::Message;
use crate::wire::frontend;
use fallible_iterator::FallibleIterator;

/// A way to be let in, by libpq's name of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Password,
    Md5,
    Gss,
    Sspi,
    Scram,
    Oauth,
    /// Nothing is asked of us.
    None,
}

const METHODS: [(&str, Method, &str); 7] = [
    ("password", Method::Password, "server requested a cleartext password"),
    ("md5", Method::Md5, "server requested a hashed password"),
    ("gss", Method::Gss, "server requested GSSAPI authentication"),
    ("sspi", Method::Sspi, "server requested SSPI authentication"),
    ("scram-sha-256", Method::Scram, "server requested SASL authentication"),
    ("oauth", Method::Oauth, "server requested OAuth authentication"),
    ("none", Method::None, "server did not complete authentication"),
];

/// The ways that are allowed, and how the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Methods {
    written: String,
    allowed: Vec<Method>,
}

impl Methods {
    /// `scram-sha-256,md5`, or what is not allowed: `!password,!none`.
    pub fn parse(written: &str) -> Result<Self, String> {
        let words: Vec<&str> = written.split(',').map(str::trim).collect();
        let negative = words[0].starts_with('!');
        let mut named = Vec::new();
        for word in words {
            let name = word.strip_prefix('!').unwrap_or(word);
            if negative && !word.starts_with('!') {
                return Err(format!("require_auth method \"{word}\" cannot be mixed with negative methods"));
            }
            if !negative && word.starts_with('!') {
                return Err(format!(
                    "negative require_auth method \"{name}\" cannot be mixed with non-negative methods"
                ));
            }
            let Some((_, method, _)) = METHODS.iter().find(|(known, ..)| *known == name) else {
                return Err(format!("invalid require_auth value: \"{name}\""));
            };
            if named.contains(method) {
                return Err(format!("require_auth method \"{word}\" is specified more than once"));
            }
            named.push(*method);
        }
        let allowed = METHODS.iter().map(|&(_, method, _)| method);
        let allowed = allowed.filter(|method| named.contains(method) != negative).collect();
        Ok(Self { written: written.to_owned(), allowed })
    }

    /// Fails if the server lets us in, or would, by a way that is not allowed.
    pub fn check(&self, method: Method) -> Result<(), String> {
        if self.allowed.contains(&method) {
            return Ok(());
        }
        let told = METHODS.iter().find(|(_, known, _)| *known == method).map_or("", |(.., told)| told);
        Err(format!("authentication method requirement \"{}\" failed: {told}", self.written))
    }
}

/// In which state sessions are to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Session {
    #[default]
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    /// A standby if there is one; else any.
    PreferStandby,
}

impl Session {
    pub fn parse(written: &str) -> Result<Self, String> {
        match written {
            "any" => Ok(Self::Any),
            "read-write" => Ok(Self::ReadWrite),
            "read-only" => Ok(Self::ReadOnly),
            "primary" => Ok(Self::Primary),
            "standby" => Ok(Self::Standby),
            "prefer-standby" => Ok(Self::PreferStandby),
            other => Err(format!("invalid target_session_attrs value: \"{other}\"")),
        }
    }

    /// What speaks against a server whose sessions are so.
    fn objection(self, read_only: bool, standby: bool) -> Option<&'static str> {
        match self {
            Self::ReadWrite if read_only => Some("session is read-only"),
            Self::ReadOnly if !read_only => Some("session is not read-only"),
            Self::Primary if standby => Some("server is in hot standby mode"),
            Self::Standby if !standby => Some("server is not in hot standby mode"),
            _ => None,
        }
    }

    /// Asks the server; the inner error says what speaks against it.
    pub fn check(self, conversation: &mut Conversation) -> Result<Result<(), &'static str>, Failure> {
        if matches!(self, Self::Any | Self::PreferStandby) {
            return Ok(Ok(()));
        }
        let standby = ask(conversation, "SELECT pg_catalog.pg_is_in_recovery()")? == "t";
        let read_only = standby || ask(conversation, "SHOW transaction_read_only")? == "on";
        Ok(self.objection(read_only, standby).map_or(Ok(()), Err))
    }
}

/// The first column of the first row, empty where there is none.
fn ask(conversation: &mut Conversation, sql: &str) -> Result<String, Failure> {
    conversation.send(&frontend::query(sql))?;
    let mut found = String::new();
    loop {
        match conversation.hear()? {
            Message::DataRow(row) => {
                let first = row.ranges().next().ok().flatten().flatten();
                let bytes = first.and_then(|range| row.buffer().get(range)).unwrap_or_default();
                found = String::from_utf8_lossy(bytes).into_owned();
            }
            Message::ReadyForQuery(_) => return Ok(found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ways_that_are_named_are_allowed() {
        let some = Methods::parse("scram-sha-256, none").unwrap();
        assert_eq!((some.check(Method::Scram), some.check(Method::None)), (Ok(()), Ok(())));
        assert_eq!(
            some.check(Method::Md5).unwrap_err(),
            "authentication method requirement \"scram-sha-256, none\" failed: server requested a hashed password"
        );
    }

    #[test]
    fn all_but_the_ways_behind_an_exclamation_mark_are_allowed() {
        let some = Methods::parse("!password,!none").unwrap();
        assert_eq!((some.check(Method::Scram), some.check(Method::Gss)), (Ok(()), Ok(())));
        assert!(some.check(Method::Password).is_err() && some.check(Method::None).is_err());
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (written, expect) in [
            ("md5,!none", "negative require_auth method \"none\" cannot be mixed with non-negative methods"),
            ("!md5,none", "require_auth method \"none\" cannot be mixed with negative methods"),
            ("md5,md5", "require_auth method \"md5\" is specified more than once"),
            ("kerberos", "invalid require_auth value: \"kerberos\""),
            ("", "invalid require_auth value: \"\""),
        ] {
            assert_eq!(Methods::parse(written).unwrap_err(), expect);
        }
    }

    #[test]
    fn sessions_are_taken_by_their_state() {
        // Of a primary, of one whose sessions only read, and of a standby: read-only, standby.
        let states = [(false, false), (true, false), (true, true)];
        let taken = |written: &str| {
            let wanted = Session::parse(written).unwrap();
            states.map(|(read_only, standby)| wanted.objection(read_only, standby).is_none())
        };
        assert_eq!(taken("any"), [true, true, true]);
        assert_eq!(taken("read-write"), [true, false, false]);
        assert_eq!(taken("read-only"), [false, true, true]);
        assert_eq!(taken("primary"), [true, true, false]);
        assert_eq!(taken("standby"), [false, false, true]);
        assert_eq!(taken("prefer-standby"), [true, true, true]);
        assert_eq!(Session::parse("both").unwrap_err(), "invalid target_session_attrs value: \"both\"");
    }
}
