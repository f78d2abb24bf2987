//! The greeting: startup, authentication, and what the server says of itself.

use super::conversation::Conversation;
use super::demands::{Method, Methods};
use super::failure::Failure;
use super::gss::{Exchange, Service};
use super::tls::{self, Tls};
use crate::wire::backend::{self, Message};
use crate::wire::frontend;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use std::io;

/// What the server says of itself when a connection opens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Greeting {
    pub backend_pid: i32,
    /// What a request to cancel must name.
    pub secret_key: i32,
    pub server_version: String,
}

/// Whether a password exchange has to be bound to the TLS connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Disable,
    Prefer,
    Require,
}

#[derive(Debug, Clone)]
pub struct Login<'a> {
    pub user: &'a str,
    pub password: Option<&'a str>,
    pub binding: Binding,
    /// The ways to be let in that are allowed; `None`: any.
    pub methods: Option<&'a Methods>,
    /// Whether the server has to ask for our certificate, and gets it.
    pub wants_certificate: bool,
    /// Whose ticket a server that asks for GSSAPI gets; `None`: we have none to give.
    pub service: Option<Service<'a>>,
    /// All parameters of the startup message.
    pub parameters: &'a [(&'a str, &'a str)],
}

/// Why there was no greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unwelcome {
    /// A password is wanted in this way, and there is none.
    NoPassword(&'static str),
    /// We cannot authenticate in this way.
    Unsupported(&'static str),
    /// The exchange did not come to an end that we trust.
    Untrusted(String),
    Failure(Failure),
    /// We were let in before it failed: there is nothing to gain from another way in.
    Inside(Failure),
}

impl From<Failure> for Unwelcome {
    fn from(failure: Failure) -> Self {
        Unwelcome::Failure(failure)
    }
}

pub fn greet(conversation: &mut Conversation, login: &Login<'_>) -> Result<Greeting, Unwelcome> {
    conversation.send(&frontend::startup(login.parameters))?;
    let mut greeting = Greeting::default();
    let mut authentication =
        Authentication { login, scram: None, gss: None, bound: false, finished: false, done: false };
    loop {
        let message = conversation.hear();
        match message
            .map_err(|failure| if authentication.done { Unwelcome::Inside(failure) } else { failure.into() })?
        {
            Message::ParameterStatus(body) => {
                let (name, value) = match (body.name(), body.value()) {
                    (Ok(name), Ok(value)) => (name, value),
                    (Err(error), _) | (_, Err(error)) => {
                        let error = backend::malformed(backend::PARAMETER_STATUS_TAG, error);
                        return Err(conversation.spoke_nonsense(&error).into());
                    }
                };
                if name == "server_version" {
                    greeting.server_version = value.to_owned();
                }
            }
            Message::BackendKeyData(body) => {
                (greeting.backend_pid, greeting.secret_key) = (body.process_id(), body.secret_key());
            }
            Message::ReadyForQuery(_) => return Ok(greeting),
            other => authentication.step(conversation, &other)?,
        }
    }
}

struct Authentication<'a, 'b> {
    login: &'a Login<'b>,
    scram: Option<ScramSha256>,
    gss: Option<Exchange>,
    /// Whether the exchange was bound to the TLS connection.
    bound: bool,
    /// Whether something was asked of us, and that exchange has come to its end.
    finished: bool,
    done: bool,
}

impl Authentication<'_, '_> {
    fn step(&mut self, conversation: &mut Conversation, message: &Message) -> Result<(), Unwelcome> {
        match message {
            Message::AuthenticationOk if self.login.binding == Binding::Require && !(self.bound && self.finished) => {
                Err(untrusted("channel binding required, but server authenticated client without channel binding"))
            }
            Message::AuthenticationOk => {
                if self.login.wants_certificate
                    && let Some(what) = conversation.socket().tls().map_or(Some(tls::NOT_ASKED), Tls::kept_certificate)
                {
                    return Err(untrusted(what));
                }
                // Who agreed on encryption with GSSAPI has shown who he is.
                let shown = conversation.socket().is_under_gss() && self.check(Method::Gss).is_ok();
                if !self.finished && !shown {
                    self.check(Method::None)?;
                }
                self.done = true;
                Ok(())
            }
            Message::AuthenticationCleartextPassword => {
                self.check(Method::Password)?;
                let password = self.password("a password in clear text")?;
                conversation.send(&frontend::password(password.as_bytes()))?;
                self.finished = true;
                Ok(())
            }
            Message::AuthenticationMd5Password(body) => {
                self.check(Method::Md5)?;
                let password = self.password("an MD5 password")?;
                let hash = md5_hash(self.login.user.as_bytes(), password.as_bytes(), body.salt());
                conversation.send(&frontend::password(hash.as_bytes()))?;
                self.finished = true;
                Ok(())
            }
            Message::AuthenticationSasl(body) => {
                self.check(Method::Scram)?;
                if self.login.password.is_none() {
                    return Err(Unwelcome::NoPassword("a SASL password"));
                }
                let mut mechanisms = Vec::new();
                let mut offered = body.mechanisms();
                while let Some(mechanism) = offered.next().map_err(|error| malformed(conversation, &error))? {
                    mechanisms.push(mechanism.to_owned());
                }
                self.begin_scram(conversation, &mechanisms)
            }
            Message::AuthenticationSaslContinue(body) => {
                let scram = self.scram.as_mut().ok_or_else(|| untrusted("unexpected SASL message"))?;
                scram.update(body.data()).map_err(|error| untrusted(&error.to_string()))?;
                Ok(conversation.send(&frontend::sasl_response(scram.message()))?)
            }
            Message::AuthenticationSaslFinal(body) => {
                let scram = self.scram.as_mut().ok_or_else(|| untrusted("unexpected SASL message"))?;
                let finished = scram.finish(body.data());
                finished.map_err(|_| untrusted("incorrect server signature"))?;
                self.finished = true;
                Ok(())
            }
            Message::AuthenticationGss => {
                self.check(Method::Gss)?;
                self.begin_gss(conversation)
            }
            Message::AuthenticationGssContinue(body) => self.go_on_with_gss(conversation, body.data()),
            Message::AuthenticationSspi => {
                self.check(Method::Sspi)?;
                Err(Unwelcome::Unsupported("SSPI"))
            }
            Message::AuthenticationKerberosV5 => Err(Unwelcome::Unsupported("Kerberos")),
            Message::AuthenticationScmCredential => Err(Unwelcome::Unsupported("credentials of the operating system")),
            _ => Ok(()),
        }
    }

    /// Fails if what the server asks for is not among what is allowed.
    fn check(&self, method: Method) -> Result<(), Unwelcome> {
        self.login.methods.map_or(Ok(()), |methods| methods.check(method)).map_err(Unwelcome::Untrusted)
    }

    /// Fails if the exchange has to be bound to the TLS connection: only SCRAM's can be.
    fn check_binding(&self) -> Result<(), Unwelcome> {
        match self.login.binding {
            Binding::Require => {
                Err(untrusted("channel binding required but not supported by server's authentication request"))
            }
            Binding::Disable | Binding::Prefer => Ok(()),
        }
    }

    fn password(&self, wanted: &'static str) -> Result<&str, Unwelcome> {
        self.check_binding()?;
        self.login.password.ok_or(Unwelcome::NoPassword(wanted))
    }

    fn begin_gss(&mut self, conversation: &mut Conversation) -> Result<(), Unwelcome> {
        self.check_binding()?;
        if self.gss.is_some() {
            return Err(untrusted("duplicate GSS authentication request"));
        }
        let service = self.login.service.as_ref().ok_or(Unwelcome::Unsupported("GSSAPI"))?;
        self.gss = Some(Exchange::to_log_in(service).map_err(Unwelcome::Untrusted)?);
        self.go_on_with_gss(conversation, &[])
    }

    fn go_on_with_gss(&mut self, conversation: &mut Conversation, received: &[u8]) -> Result<(), Unwelcome> {
        let exchange = self.gss.as_mut().filter(|_| !self.finished);
        let exchange = exchange.ok_or_else(|| untrusted("unexpected GSSAPI message"))?;
        let turn = exchange.go_on(received).map_err(Unwelcome::Untrusted)?;
        if !turn.token.is_empty() {
            conversation.send(&frontend::gss_response(&turn.token))?;
        }
        self.finished = turn.is_done;
        Ok(())
    }

    fn begin_scram(&mut self, conversation: &mut Conversation, mechanisms: &[String]) -> Result<(), Unwelcome> {
        let offers = |name: &str| mechanisms.iter().any(|mechanism| mechanism == name);
        let binding = self.login.binding;
        let tls = conversation.socket().tls();
        let end_point = match tls {
            Some(tls) if binding != Binding::Disable => tls.server_end_point(),
            _ => None,
        };
        let (mechanism, channel) = match end_point {
            Some(end_point) if offers(SCRAM_SHA_256_PLUS) => {
                self.bound = true;
                (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(end_point))
            }
            _ if binding == Binding::Require => {
                return Err(untrusted(
                    "channel binding is required, but server did not offer an authentication method that supports channel binding",
                ));
            }
            // We could have bound it and the server could not: it will notice if that was a lie.
            Some(_) if offers(SCRAM_SHA_256) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            None if offers(SCRAM_SHA_256) => (SCRAM_SHA_256, ChannelBinding::unsupported()),
            _ => return Err(Unwelcome::Unsupported("a SASL mechanism other than SCRAM-SHA-256")),
        };
        let password = self.login.password.unwrap_or_default();
        let scram = ScramSha256::new(password.as_bytes(), channel);
        conversation.send(&frontend::sasl_initial_response(mechanism, scram.message()))?;
        self.scram = Some(scram);
        Ok(())
    }
}

fn malformed(conversation: &Conversation, error: &io::Error) -> Unwelcome {
    conversation.spoke_nonsense(&backend::malformed(backend::AUTHENTICATION_TAG, error)).into()
}

fn untrusted(what: &str) -> Unwelcome {
    Unwelcome::Untrusted(what.to_owned())
}
