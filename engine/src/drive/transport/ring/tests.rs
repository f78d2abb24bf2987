use super::*;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::{env, fs, process, thread};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

/// A ring that watches as many sockets, and their other ends; `None` where the kernel has no ring.
fn watched(name: &str, count: usize) -> Option<(Ring, Vec<Socket>, Vec<UnixStream>)> {
    let mut ring = match Ring::for_sockets(count) {
        Ok(ring) => ring,
        Err(error) => {
            eprintln!("NOT TESTED: io_uring, which this kernel does not allow: {error}");
            return None;
        }
    };
    let path: PathBuf = env::temp_dir().join(format!("pgv-ring-{}-{name}", process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let pairs = (0..count).map(|_| (Socket::connect_unix(&path).unwrap(), listener.accept().unwrap().0));
    let (ours, theirs): (Vec<_>, Vec<_>) = pairs.collect();
    fs::remove_file(&path).unwrap();
    for (number, socket) in ours.iter().enumerate() {
        ring.watch(number, socket).unwrap();
    }
    Some((ring, ours, theirs))
}

/// What the next event is of, and the bytes; `None`: closed.
fn next(ring: &mut Ring) -> (usize, Option<Vec<u8>>) {
    loop {
        match ring.next_event() {
            Some(Event::Received { token, taken }) => {
                let bytes = ring.bytes(&taken).to_vec();
                ring.give_back(taken);
                return (token, Some(bytes));
            }
            Some(Event::Closed { token }) => return (token, None),
            Some(told) => panic!("{told:?}"),
            None => ring.wait(PATIENCE).unwrap(),
        }
    }
}

#[test]
fn every_socket_gets_what_was_sent_to_it() {
    let Some((mut ring, _ours, mut theirs)) = watched("each", 100) else { return };
    for turn in 0..50_u8 {
        for (number, other) in theirs.iter_mut().enumerate() {
            ring.send(number, &[number as u8, turn]);
            if number % 10 == 9 {
                ring.wait(Some(Duration::ZERO)).unwrap();
            }
            other.set_read_timeout(PATIENCE).unwrap();
        }
        ring.wait(Some(Duration::ZERO)).unwrap();
        for (number, other) in theirs.iter_mut().enumerate() {
            let mut got = [0; 2];
            other.read_exact(&mut got).unwrap();
            assert_eq!(got, [number as u8, turn]);
            other.write_all(&[turn, number as u8]).unwrap();
        }
        let mut seen: Vec<usize> = (0..theirs.len())
            .map(|_| {
                let (token, bytes) = next(&mut ring);
                assert_eq!(bytes.as_deref(), Some(&[turn, token as u8][..]));
                token
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..theirs.len()).collect::<Vec<_>>());
    }
}

#[test]
fn more_than_all_buffers_and_more_than_a_socket_holds_comes_through_in_order() {
    let Some((mut ring, _ours, mut theirs)) = watched("much", 1) else { return };
    let mut other = theirs.remove(0);
    let all: Vec<u8> = (0..5_000_000_u32).map(|number| (number / 7) as u8).collect();
    let expected = all.clone();
    // It reads nothing before it has written everything.
    let peer = thread::spawn(move || {
        other.write_all(&expected).unwrap();
        let mut got = vec![0; 3 * expected.len()];
        other.read_exact(&mut got).unwrap();
        got
    });
    for part in [&all, &all, &all] {
        ring.send(0, part);
    }
    let mut got = Vec::new();
    while let (0, Some(bytes)) = next(&mut ring) {
        got.extend(bytes);
    }
    assert!(got == all, "{} of {} bytes", got.len(), all.len());
    assert!(peer.join().unwrap() == [&all[..], &all, &all].concat());
}

#[test]
fn a_closed_socket_is_told_once_and_again_to_whoever_sends() {
    let Some((mut ring, _ours, mut theirs)) = watched("closed", 2) else { return };
    theirs[0].write_all(b"last words").unwrap();
    drop(theirs.remove(0));
    assert_eq!(next(&mut ring), (0, Some(b"last words".to_vec())));
    assert_eq!(next(&mut ring), (0, None));
    theirs[0].write_all(b"I live").unwrap();
    assert_eq!(next(&mut ring), (1, Some(b"I live".to_vec())));
    ring.send(0, b"anybody there?");
    assert_eq!(next(&mut ring), (0, None));
}

#[test]
fn waiting_ends_at_its_limit() {
    let Some((mut ring, _ours, _theirs)) = watched("limit", 1) else { return };
    ring.wait(Some(Duration::from_millis(1))).unwrap();
    assert!(ring.next_event().is_none());
}

#[test]
fn a_ring_with_requests_under_way_can_be_dropped() {
    let Some((mut ring, ours, theirs)) = watched("dropped", 3) else { return };
    ring.send(1, &vec![1; 10_000_000]);
    ring.wait(Some(Duration::ZERO)).unwrap();
    drop(ring);
    // It is let go of: its other end sees what comes.
    drop(ours);
    let mut rest = Vec::new();
    { &theirs[1] }.read_to_end(&mut rest).unwrap();
    assert!(!rest.is_empty() && rest.iter().all(|&byte| byte == 1));
}
