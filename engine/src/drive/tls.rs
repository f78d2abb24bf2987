//! TLS over a connected socket, by rustls.

mod certificate;
mod verifier;

use super::key::{self, KeyPassword};
use rustls::client::ResolvesClientCert;
use rustls::crypto::ring;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, ClientConfig, ClientConnection, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use verifier::Verifier;

/// What is asked of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    Nothing,
    /// That an authority we trust has signed it.
    Chain,
    /// That it is also for the host we asked for.
    ChainAndName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    Tls12,
    Tls13,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    pub verify: Verify,
    /// Files with certificates in PEM.
    pub roots: Option<PathBuf>,
    /// Our own certificate and its key.
    pub client: Option<(PathBuf, PathBuf)>,
    /// Of the key.
    pub key_password: Option<KeyPassword>,
    /// Whether the server has to ask for our certificate, and gets it.
    pub wants_certificate: bool,
    /// Whether TLS begins without a question whether the server can.
    pub at_once: bool,
    /// Whether the server is told whom we want to talk to.
    pub sni: bool,
    /// The oldest and the newest that is allowed.
    pub versions: (Option<Version>, Option<Version>),
    /// Files with lists of revoked certificates in PEM.
    pub revocations: Vec<PathBuf>,
}

impl TlsSettings {
    /// The file with the certificates that are to be trusted, where it is not there.
    pub fn missing_roots(&self) -> Option<&Path> {
        let roots = self.roots.as_deref().filter(|_| self.verify != Verify::Nothing)?;
        (!roots.exists()).then_some(roots)
    }
}

#[derive(Debug)]
pub struct Tls {
    connection: ClientConnection,
    identity: Arc<Identity>,
}

impl Tls {
    /// Shakes hands with the server at the other end of `raw`.
    pub fn over(raw: &mut (impl Read + Write), host: &str, settings: &TlsSettings) -> Result<Self, String> {
        let name = match ServerName::try_from(host.to_owned()) {
            Ok(name) => name,
            Err(_) if settings.verify != Verify::ChainAndName => {
                ServerName::try_from("unnamed").expect("a name of a host")
            }
            Err(error) => return Err(format!("SSL error: no certificate can be for \"{host}\": {error}")),
        };
        let identity = Arc::new(Identity::of(settings)?);
        let config = config(settings, &identity)?;
        let mut connection = ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())?;
        connection.set_buffer_limit(None);
        while connection.is_handshaking() {
            connection.complete_io(raw).map_err(|error| refused(&error, host))?;
        }
        Ok(Self { connection, identity })
    }

    /// Decrypted bytes; 0: the other side has closed.
    pub fn receive(&mut self, raw: &mut (impl Read + Write), buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Closed without a farewell, as servers that die do.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            if self.connection.read_tls(raw)? == 0 {
                return Ok(0);
            }
            let processed = self.connection.process_new_packets();
            processed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            self.send_on(raw)?;
        }
    }

    /// Takes all of the bytes, and sends what there is room for.
    pub fn send(&mut self, raw: &mut (impl Read + Write), bytes: &[u8]) -> io::Result<usize> {
        self.connection.writer().write_all(bytes)?;
        self.send_on(raw)?;
        Ok(bytes.len())
    }

    fn send_on(&mut self, raw: &mut (impl Read + Write)) -> io::Result<()> {
        while self.holds() {
            match self.connection.write_tls(raw) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                written => drop(written?),
            }
        }
        Ok(())
    }

    /// Whether there was no room for all.
    pub fn holds(&self) -> bool {
        self.connection.wants_write()
    }

    /// What speaks against it that the server has asked for our certificate and got it, in libpq's words.
    pub fn kept_certificate(&self) -> Option<&'static str> {
        match (self.identity.asked.load(Ordering::Relaxed), &self.identity.certified) {
            (false, _) => Some(NOT_ASKED),
            (true, None) => Some("server accepted connection without a valid SSL certificate"),
            (true, Some(_)) => None,
        }
    }

    /// What binds a SCRAM exchange to this connection.
    pub fn server_end_point(&self) -> Option<Vec<u8>> {
        certificate::end_point(self.connection.peer_certificates()?.first()?)
    }
}

/// Why there was no handshake, in libpq's words where it has some.
fn refused(error: &io::Error, host: &str) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(reason)) => match reason {
            CertificateError::NotValidForName => format!("server certificate does not match host name \"{host}\""),
            CertificateError::NotValidForNameContext { presented, .. } => {
                let names: Vec<&str> = presented.iter().filter_map(|name| name.split('"').nth(1)).collect();
                let first = names.first().copied().unwrap_or_default();
                let others = match names.len() {
                    0 | 1 => String::new(),
                    2 => " (and 1 other name)".to_owned(),
                    count => format!(" (and {} other names)", count - 1),
                };
                format!("server certificate for \"{first}\"{others} does not match host name \"{host}\"")
            }
            other => format!("SSL error: certificate verify failed ({other:?})"),
        },
        _ => format!("SSL error: {error}"),
    }
}

/// What is said where a certificate was to be asked for and was not.
pub const NOT_ASKED: &str = "server did not request an SSL certificate";

/// Our own certificate, if we have one, and whether the server has asked for it.
#[derive(Debug)]
struct Identity {
    certified: Option<Arc<CertifiedKey>>,
    asked: AtomicBool,
}

impl Identity {
    fn of(settings: &TlsSettings) -> Result<Self, String> {
        let certified = match &settings.client {
            None => None,
            Some((certificate, key)) => {
                let key = key::read(key, settings.key_password.as_ref())?;
                let certified = CertifiedKey::from_der(certificates(certificate)?, key, &ring::default_provider());
                Some(Arc::new(certified.map_err(|error| error.to_string())?))
            }
        };
        Ok(Self { certified, asked: AtomicBool::new(false) })
    }
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        self.certified.clone()
    }

    fn has_certs(&self) -> bool {
        self.certified.is_some()
    }
}

fn config(settings: &TlsSettings, identity: &Arc<Identity>) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let (least, most) = settings.versions;
    let allowed =
        |version: Version| least.is_none_or(|least| version >= least) && most.is_none_or(|most| version <= most);
    let known = [(Version::Tls12, &rustls::version::TLS12), (Version::Tls13, &rustls::version::TLS13)];
    let versions: Vec<_> = known.into_iter().filter(|(version, _)| allowed(*version)).map(|(_, name)| name).collect();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(&versions);
    let roots = settings.roots.as_deref().map(certificates).transpose()?.unwrap_or_default();
    let verifier = Verifier::of(settings, roots, provider)?;
    let builder =
        builder.map_err(|error| error.to_string())?.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = builder.with_client_cert_resolver(Arc::clone(identity) as Arc<dyn ResolvesClientCert>);
    config.enable_sni = settings.sni;
    if settings.at_once {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    read.map_err(|error| format!("could not read certificate file \"{}\": {error}", path.display()))
}
