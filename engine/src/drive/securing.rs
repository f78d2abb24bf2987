//! From connection options to how a connection is secured: whether by TLS, and what the server has to show.

use super::conninfo::Settings;
use super::dial::TlsMode;
use super::key::KeyPassword;
use super::tls::{TlsSettings, Verify, Version};
use std::fs;
use std::path::{Path, PathBuf};

/// Where systems keep the certificates they trust: Debian's place and Fedora's, SUSE's, Alpine's.
const SYSTEM_ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// `folder`: where libpq looks for files that nobody named, the user's `.postgresql`.
pub fn secure(settings: &Settings, folder: Option<&Path>) -> Result<(TlsMode, TlsSettings), String> {
    let get = |name: &str| settings.get(name).map(String::as_str);
    let file = |name: &str, usual: &str| {
        let named = get(name).map(PathBuf::from);
        named.or_else(|| folder.map(|folder| folder.join(usual)).filter(|file| file.exists()))
    };
    let of_system = get("sslrootcert") == Some("system");
    let roots = if of_system { Some(system_roots()?) } else { file("sslrootcert", "root.crt") };
    let client = file("sslcert", "postgresql.crt").filter(|file| file.exists()).zip(file("sslkey", "postgresql.key"));
    let client = match get("sslcertmode").unwrap_or("allow") {
        "allow" | "require" => client,
        "disable" => None,
        other => return Err(format!("invalid sslcertmode value: \"{other}\"")),
    };
    let sslmode = get("sslmode").unwrap_or(if of_system { "verify-full" } else { "prefer" });
    if of_system && sslmode != "verify-full" {
        return Err(format!(
            "weak sslmode \"{sslmode}\" may not be used with sslrootcert=system (use \"verify-full\")"
        ));
    }
    let chain_if_rooted = if roots.is_some() { Verify::Chain } else { Verify::Nothing };
    let (mode, verify) = match sslmode {
        "disable" => (TlsMode::Disable, Verify::Nothing),
        "allow" => (TlsMode::Allow, Verify::Nothing),
        "prefer" => (TlsMode::Prefer, Verify::Nothing),
        // As libpq has it for compatibility: who has a root certificate wants it looked at.
        "require" => (TlsMode::Require, chain_if_rooted),
        "verify-ca" => (TlsMode::Require, Verify::Chain),
        "verify-full" => (TlsMode::Require, Verify::ChainAndName),
        other => return Err(format!("invalid sslmode value: \"{other}\"")),
    };
    let at_once = match get("sslnegotiation").unwrap_or("postgres") {
        "postgres" => false,
        "direct" if mode == TlsMode::Require => true,
        "direct" => {
            return Err(format!(
                "weak sslmode \"{sslmode}\" may not be used with sslnegotiation=direct (use \"require\", \
                 \"verify-ca\", or \"verify-full\")"
            ));
        }
        other => return Err(format!("invalid sslnegotiation value: \"{other}\"")),
    };
    let sni = match get("sslsni").unwrap_or("1") {
        "1" => true,
        "0" => false,
        other => return Err(format!("invalid sslsni value: \"{other}\"")),
    };
    let versions = (version(settings, "ssl_min_protocol_version")?, version(settings, "ssl_max_protocol_version")?);
    if let (Some(least), Some(most)) = versions
        && least > most
    {
        return Err("invalid SSL protocol version range".to_owned());
    }
    // Where a file is needed and is not there, connecting says so.
    let usual = || folder.map(|folder| folder.join("root.crt"));
    let roots = roots.or_else(usual).filter(|_| verify != Verify::Nothing);
    let revocations = if verify == Verify::Nothing { Vec::new() } else { revocations(settings, folder)? };
    let key_password = get("sslpassword").map(KeyPassword::from);
    let wants_certificate = get("sslcertmode") == Some("require");
    let settings =
        TlsSettings { verify, roots, client, key_password, wants_certificate, at_once, sni, versions, revocations };
    Ok((mode, settings))
}

fn system_roots() -> Result<PathBuf, String> {
    let found = SYSTEM_ROOTS.iter().map(PathBuf::from).find(|file| file.exists());
    found.ok_or_else(|| format!("the system has no certificates in {}", SYSTEM_ROOTS.join(", ")))
}

/// Older ones than 1.2 we do not speak: whoever allows them gets 1.2 or newer.
fn version(settings: &Settings, name: &str) -> Result<Option<Version>, String> {
    match settings.get(name).map(|value| value.to_ascii_lowercase()).as_deref() {
        None => Ok(None),
        Some("tlsv1" | "tlsv1.1") if name == "ssl_min_protocol_version" => Ok(None),
        Some(old @ ("tlsv1" | "tlsv1.1")) => Err(format!("{name} \"{old}\" is not supported: TLSv1.2 is the oldest")),
        Some("tlsv1.2") => Ok(Some(Version::Tls12)),
        Some("tlsv1.3") => Ok(Some(Version::Tls13)),
        Some(_) => Err(format!("invalid \"{name}\" value: \"{}\"", settings[name])),
    }
}

/// Files of revoked certificates: one that is named or the usual one, and those of a folder.
fn revocations(settings: &Settings, folder: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    let named = settings.get("sslcrl").map(PathBuf::from);
    let listed = settings.get("sslcrldir").map(PathBuf::from);
    let usual = || folder.map(|folder| folder.join("root.crl")).filter(|file| file.exists());
    let mut files: Vec<PathBuf> =
        if named.is_none() && listed.is_none() { usual().into_iter().collect() } else { named.into_iter().collect() };
    if let Some(listed) = listed {
        let entries = fs::read_dir(&listed)
            .map_err(|error| format!("could not read the directory \"{}\": {error}", listed.display()))?;
        files.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::super::conninfo;
    use super::*;

    fn secured(text: &str) -> Result<(TlsMode, TlsSettings), String> {
        secure(&conninfo::parse(text).unwrap(), None)
    }

    #[test]
    fn weak_modes_are_refused_where_they_would_be_a_lie() {
        for (text, expect) in [
            (
                "sslnegotiation=direct",
                "weak sslmode \"prefer\" may not be used with sslnegotiation=direct (use \"require\", \"verify-ca\", or \
                 \"verify-full\")",
            ),
            ("sslnegotiation=indirect", "invalid sslnegotiation value: \"indirect\""),
            ("sslsni=2", "invalid sslsni value: \"2\""),
            ("sslmode=strict", "invalid sslmode value: \"strict\""),
            ("ssl_min_protocol_version=SSLv3", "invalid \"ssl_min_protocol_version\" value: \"SSLv3\""),
            ("ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2", "invalid SSL protocol version range"),
            (
                "ssl_max_protocol_version=TLSv1.1",
                "ssl_max_protocol_version \"tlsv1.1\" is not supported: TLSv1.2 is the oldest",
            ),
            ("sslcertmode=always", "invalid sslcertmode value: \"always\""),
        ] {
            assert_eq!(secured(text).unwrap_err(), expect, "{text}");
        }
    }

    #[test]
    fn tls_may_begin_at_once_where_it_is_required() {
        let (mode, tls) = secured("sslmode=require sslnegotiation=direct sslsni=0").unwrap();
        assert_eq!((mode, tls.at_once, tls.sni), (TlsMode::Require, true, false));
        assert_eq!(secured("ssl_min_protocol_version=TLSv1").unwrap().1.versions, (None, None));
    }
}
