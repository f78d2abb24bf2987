//! What we read of a server's certificate ourselves: how it was signed, and a name that only its subject has.

use rustls_pki_types::ServerName;
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// The digest that binds a SCRAM exchange to the connection: RFC 5929, tls-server-end-point. None where the algorithm
/// that signed the certificate has no digest of its own, and so no binding.
pub fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let algorithm = read(certificate)?.signature_algorithm().oid.to_string();
    match algorithm.as_str() {
        SHA384_WITH_RSA | ECDSA_WITH_SHA384 => Some(Sha384::digest(certificate).to_vec()),
        SHA512_WITH_RSA | ECDSA_WITH_SHA512 => Some(Sha512::digest(certificate).to_vec()),
        // MD5 and SHA-1 count as SHA-256.
        MD5_WITH_RSA | SHA1_WITH_RSA | SHA256_WITH_RSA | ECDSA_WITH_SHA1 | ECDSA_WITH_SHA224 | ECDSA_WITH_SHA256 => {
            Some(Sha256::digest(certificate).to_vec())
        }
        _ => None,
    }
}

const MD5_WITH_RSA: &str = "1.2.840.113549.1.1.4";
const SHA1_WITH_RSA: &str = "1.2.840.113549.1.1.5";
const SHA256_WITH_RSA: &str = "1.2.840.113549.1.1.11";
const SHA384_WITH_RSA: &str = "1.2.840.113549.1.1.12";
const SHA512_WITH_RSA: &str = "1.2.840.113549.1.1.13";
const ECDSA_WITH_SHA1: &str = "1.2.840.10045.4.1";
const ECDSA_WITH_SHA224: &str = "1.2.840.10045.4.3.1";
const ECDSA_WITH_SHA256: &str = "1.2.840.10045.4.3.2";
const ECDSA_WITH_SHA384: &str = "1.2.840.10045.4.3.3";
const ECDSA_WITH_SHA512: &str = "1.2.840.10045.4.3.4";

/// The common name of the certificate's subject, where that is what is to be compared with the host: as libpq has it,
/// where no alternative name of the host's kind (a name, an address) is in it.
pub fn common_name_instead(certificate: &[u8], host: &ServerName<'_>) -> Option<String> {
    let certificate = read(certificate)?;
    let subject = certificate.tbs_certificate();
    let alternatives = subject.get_extension::<SubjectAltName>().ok()?;
    let is_of_its_kind = |name: &GeneralName| match host {
        ServerName::IpAddress(_) => matches!(name, GeneralName::IpAddress(_)),
        _ => matches!(name, GeneralName::DnsName(_)),
    };
    if alternatives.is_some_and(|(_, names)| names.0.iter().any(is_of_its_kind)) {
        return None;
    }
    Some(subject.subject().common_name().ok()??.value().into_owned())
}

/// Whether a name that may begin with `*.` is the host's: the star is one label, and case does not matter.
pub fn is_for(name: &str, host: &str) -> bool {
    let (name, host) = (name.to_ascii_lowercase(), host.to_ascii_lowercase());
    match name.strip_prefix("*.") {
        Some(domain) if !domain.is_empty() => {
            host.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && rest == domain)
        }
        _ => name == host,
    }
}

fn read(certificate: &[u8]) -> Option<CertificateInner<Raw>> {
    CertificateInner::from_der(certificate).ok()
}

#[cfg(test)]
mod tests {
    use super::is_for;

    #[test]
    fn a_star_is_one_label() {
        assert!(is_for("*.example.org", "db.example.org"));
        assert!(is_for("DB.example.org", "db.EXAMPLE.org"));
        assert!(!is_for("*.example.org", "example.org"));
        assert!(!is_for("*.example.org", ".example.org"));
        assert!(!is_for("*.example.org", "a.db.example.org"));
        assert!(!is_for("*.", "db."));
        assert!(!is_for("*", "db"));
        assert!(!is_for("d*.example.org", "db.example.org"));
    }
}
