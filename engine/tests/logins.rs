//! Servers that let a client in before it could be sure of them, which libpq refuses where it is told what to require.

use pgverdict_engine::drive::connection::Connection;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::{env, fs, process, thread};

const OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const SASL: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
const GSS_CONTINUE: &[u8] = b"R\0\0\0\x09\0\0\0\x08x";
const SSPI: &[u8] = b"R\0\0\0\x08\0\0\0\x09";
const READY: &[u8] = b"Z\0\0\0\x05I";

/// Opens a connection, with these options, to a server that says these things whatever it hears.
fn check(said: &[&[u8]], options: &str, expect: Result<(), &str>) {
    let folder = folder();
    let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
    let said = said.concat();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        hear(&mut stream);
        stream.write_all(&said).unwrap();
        // Up to the end: closing with something unread would take back what was said.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let dsn = format!("host={} port=5432 user=somebody {options}", folder.display());
    let opened = Connection::named(&dsn, "bench", Some("secret")).unwrap().open();
    let found = opened.map(|_| ()).map_err(|refusal| refusal.text);
    server.join().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    match (&found, expect) {
        (Ok(()), Ok(())) => {}
        (Err(text), Err(why)) => assert!(text.contains(why), "{options}: {text}"),
        _ => panic!("{options}: {found:?}"),
    }
}

/// The startup message.
fn hear(stream: &mut UnixStream) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    stream.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize - 4]).unwrap();
}

fn folder() -> PathBuf {
    let name = format!("pgv-{}-{:?}", process::id(), thread::current().id());
    let folder = env::temp_dir().join(name.replace(['(', ')'], ""));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn an_exchange_that_was_not_finished_is_none() {
    let early = [SASL, OK, READY];
    check(&early, "require_auth=scram-sha-256", Err("server did not complete authentication"));
    check(&early, "require_auth=!none", Err("server did not complete authentication"));
    check(&early, "", Ok(()));
}

#[test]
fn nothing_goes_on_that_did_not_begin() {
    check(&[GSS_CONTINUE, OK, READY], "", Err("unexpected GSSAPI message"));
}

#[test]
fn what_only_windows_has_is_refused() {
    check(&[SSPI], "", Err("the server wants SSPI, and we cannot authenticate that way"));
}
