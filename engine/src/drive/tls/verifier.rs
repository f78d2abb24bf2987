//! Whether a server's certificate is what was asked for, as libpq has it.

use super::certificate::{common_name_instead, is_for};
use super::{TlsSettings, Verify};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub struct Verifier {
    verify: Verify,
    roots: Vec<CertificateDer<'static>>,
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    pub fn of(
        settings: &TlsSettings,
        roots: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let verify = settings.verify;
        let chain = match verify {
            Verify::Nothing => None,
            Verify::Chain | Verify::ChainAndName => {
                let mut store = RootCertStore::empty();
                store.add_parsable_certificates(roots.iter().cloned());
                // With lists, every authority of the chain has to have one, as libpq asks of OpenSSL.
                let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider))
                    .with_crls(revocations(&settings.revocations)?);
                Some(builder.build().map_err(|error| error.to_string())?)
            }
        };
        Ok(Self { verify, roots, chain, provider })
    }
}

fn revocations(files: &[PathBuf]) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    let mut lists = Vec::new();
    for path in files {
        let read = CertificateRevocationListDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        lists.extend(
            read.map_err(|error| format!("could not read the list of revocations \"{}\": {error}", path.display()))?,
        );
    }
    Ok(lists)
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        // A server's own certificate among those we trust needs no authority, as OpenSSL has it.
        let verified = if self.roots.iter().any(|root| root == end_entity) {
            rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)
        } else {
            // The name is the last that is looked at: where it is wrong, the chain is right.
            chain.verify_server_cert(end_entity, intermediates, name, ocsp, now).map(drop)
        };
        match verified {
            Err(error) if is_about_the_name(&error) => {
                if self.verify == Verify::ChainAndName {
                    verify_common_name(end_entity, name, error)?;
                }
            }
            other => other?,
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn is_about_the_name(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
    )
}

/// Whether the name that only the subject has is the host's; what was wrong before, where there is no such.
fn verify_common_name(certificate: &CertificateDer<'_>, host: &ServerName<'_>, before: Error) -> Result<(), Error> {
    match common_name_instead(certificate, host) {
        None => Err(before),
        Some(name) if is_for(&name, &host.to_str()) => Ok(()),
        Some(name) => Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            expected: host.to_owned(),
            presented: vec![format!("CommonName(\"{name}\")")],
        })),
    }
}
