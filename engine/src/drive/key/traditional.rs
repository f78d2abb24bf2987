//! Private keys that are encrypted in OpenSSL's own way, which is older than PKCS #8.
//!
//! RFC 1421's headers name the cipher and its initial vector, whose first eight bytes salt the password; a chain of MD5
//! of both is the cipher's key (OpenSSL's EVP_BytesToKey with a count of 1). What is encrypted is the key as PKCS #1
//! or SEC 1 has it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use md5::{Digest, Md5};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivateSec1KeyDer};

const SALT_BYTES: usize = 8;

/// Whether the text of a key's file is such a key.
pub fn is_one(text: &str) -> bool {
    text.contains("Proc-Type: 4,ENCRYPTED")
}

/// The key, or what is wrong with its text or the password.
pub fn decrypt(text: &str, password: &str) -> Result<PrivateKeyDer<'static>, String> {
    let (kind, rest) = text
        .split_once("-----BEGIN ")
        .and_then(|(_, rest)| rest.split_once(" PRIVATE KEY-----"))
        .ok_or("it has no first line")?;
    let (body, _) = rest.split_once("-----END ").ok_or("it has no last line")?;
    let body = body.replace("\r\n", "\n");
    let (headers, encoded) = body.trim_start().split_once("\n\n").ok_or("it has no empty line after its headers")?;
    let (cipher, vector) = headers
        .lines()
        .find_map(|line| line.strip_prefix("DEK-Info: "))
        .and_then(|info| info.trim().split_once(','))
        .ok_or("it does not say how it is encrypted")?;
    let vector = from_hex(vector).filter(|vector| vector.len() >= SALT_BYTES).ok_or("its initial vector is no such")?;
    let encoded: String = encoded.split_whitespace().collect();
    let mut bytes = STANDARD.decode(encoded).map_err(|error| error.to_string())?;

    let key = |length| key_of(password, &vector[..SALT_BYTES], length);
    let plain = match cipher {
        "AES-128-CBC" => unlock::<cbc::Decryptor<aes::Aes128>>(&key(16), &vector, &mut bytes),
        "AES-192-CBC" => unlock::<cbc::Decryptor<aes::Aes192>>(&key(24), &vector, &mut bytes),
        "AES-256-CBC" => unlock::<cbc::Decryptor<aes::Aes256>>(&key(32), &vector, &mut bytes),
        "DES-EDE3-CBC" => unlock::<cbc::Decryptor<des::TdesEde3>>(&key(24), &vector, &mut bytes),
        other => return Err(format!("it is encrypted by {other}, not by AES or triple DES")),
    }?;
    match kind {
        "RSA" => Ok(PrivatePkcs1KeyDer::from(plain).into()),
        "EC" => Ok(PrivateSec1KeyDer::from(plain).into()),
        other => Err(format!("it is a key of {other}, not of RSA or EC")),
    }
}

/// What the cipher has encrypted, which a wrong password gives a padding that is none, but for one time in 256.
fn unlock<Mode: KeyIvInit + BlockModeDecrypt>(key: &[u8], vector: &[u8], bytes: &mut [u8]) -> Result<Vec<u8>, String> {
    let mode = Mode::new_from_slices(key, vector).map_err(|error| error.to_string())?;
    let plain = mode.decrypt_padded::<Pkcs7>(bytes).map_err(|_| "its password is another")?;
    Ok(plain.to_vec())
}

fn key_of(password: &str, salt: &[u8], length: usize) -> Vec<u8> {
    let mut key: Vec<u8> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    while key.len() < length {
        last = Md5::new().chain_update(&last).chain_update(password).chain_update(salt).finalize().to_vec();
        key.extend(&last);
    }
    key.truncate(length);
    key
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}
