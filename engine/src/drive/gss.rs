//! Who we are by Kerberos: our side of a GSSAPI exchange, which the system's library leads.
//!
//! Where tickets are and how to get at more of them is the library's: it reads krb5.conf, KRB5CCNAME and the like, and
//! asks a key distribution centre where it has to, for as long as krb5.conf has it.

pub mod encryption;
mod interface;
mod library;

use library::{Context, Library, Name, Purpose, Turn};

/// Whose ticket is wanted, as libpq names it: `krbsrvname@host`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Service<'a> {
    pub name: &'a str,
    pub host: &'a str,
    /// Whether the server may act in our name.
    pub delegates: bool,
}

/// An exchange under way, with mutual authentication: it is not over before the server has shown who it is.
#[derive(Debug)]
pub struct Exchange {
    library: &'static Library,
    target: Name,
    context: Context,
    purpose: Purpose,
    delegates: bool,
}

impl Exchange {
    /// To be let in. Errors are texts in libpq's words, with hints of ours.
    pub fn to_log_in(service: &Service<'_>) -> Result<Self, String> {
        Self::begin(service, Purpose::Login)
    }

    fn begin(service: &Service<'_>, purpose: Purpose) -> Result<Self, String> {
        if service.host.is_empty() {
            return Err("host name must be specified".to_owned());
        }
        let library = Library::of_system()?;
        let principal = format!("{}@{}", service.name, service.host);
        let target =
            Name::import(library, &principal).map_err(|status| format!("GSSAPI name import error: {status}"))?;
        Ok(Self { library, target, context: Context::none(library), purpose, delegates: service.delegates })
    }

    /// Takes in what the server sent, which is nothing at first; what it is to be sent, if anything, and whether our
    /// side is done.
    pub fn go_on(&mut self, token: &[u8]) -> Result<Turn, String> {
        let Self { library, target, context, purpose, delegates } = self;
        library.initiate(context, target, *purpose, *delegates, token).map_err(|status| {
            let doing = match purpose {
                Purpose::Login => "GSSAPI continuation error",
                Purpose::Encryption => "could not initiate GSSAPI security context",
            };
            format!("{doing}: {status} {HINT}")
        })
    }
}

/// Fails where there is nothing to show who we are, before a server is asked for encryption.
pub fn require_credential() -> Result<(), String> {
    match Library::of_system()?.has_credential() {
        true => Ok(()),
        false => Err(format!("GSSAPI encryption required but no credential cache {HINT}")),
    }
}

const HINT: &str = "(hint: `klist` lists the tickets there are, `kinit` gets one)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_without_a_host_has_no_ticket() {
        let service = Service { name: "postgres", host: "", delegates: false };
        assert_eq!(Exchange::to_log_in(&service).unwrap_err(), "host name must be specified");
    }
}
