//! Our own private key: read from its file, and decrypted if it is encrypted.

mod traditional;

use pkcs8::{EncryptedPrivateKeyInfoRef, SecretDocument};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt;
use std::fs;
use std::path::Path;

/// The password of a key, which no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyPassword(String);

impl From<&str> for KeyPassword {
    fn from(password: &str) -> Self {
        Self(password.to_owned())
    }
}

impl fmt::Debug for KeyPassword {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("KeyPassword")
    }
}

const ENCRYPTED: [&str; 2] = ["-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----END ENCRYPTED PRIVATE KEY-----"];

/// The key in a PEM file.
pub fn read(path: &Path, password: Option<&KeyPassword>) -> Result<PrivateKeyDer<'static>, String> {
    let refused = |what: &dyn fmt::Display| format!("could not load private key file \"{}\": {what}", path.display());
    let text = fs::read_to_string(path).map_err(|error| refused(&error))?;
    let begin = text.find(ENCRYPTED[0]);
    if begin.is_none() && !traditional::is_one(&text) {
        return PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| refused(&error));
    }
    let Some(KeyPassword(password)) = password else {
        return Err(refused(&"it is encrypted, and there is no sslpassword"));
    };
    let Some(begin) = begin else {
        return traditional::decrypt(&text, password).map_err(|error| refused(&error));
    };
    let end = text[begin..].find(ENCRYPTED[1]).map_or(text.len(), |end| begin + end + ENCRYPTED[1].len());
    let (_, document) = SecretDocument::from_pem(&text[begin..end]).map_err(|error| refused(&error))?;
    let encrypted = EncryptedPrivateKeyInfoRef::try_from(document.as_bytes()).map_err(|error| refused(&error))?;
    let key = encrypted.decrypt(password).map_err(|error| refused(&error))?;
    Ok(PrivatePkcs8KeyDer::from(key.as_bytes().to_vec()).into())
}
