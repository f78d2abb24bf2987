//! A PostgreSQL server that does nothing, at once: what is measured against it is the load generator and the kernel.
//!
//!     pgverdict-null-server SOCKET
//!
//! Listens on a Unix socket, one thread, and says `ready`. Ends with its standard input, and so with whoever
//! started it. It knows enough of the protocol for what pgbench sends, in text.

mod protocol;

use mio::net::{UnixListener, UnixStream};
use mio::{Events, Interest, Poll, Token};
use protocol::Session;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;

const LISTENER: Token = Token(usize::MAX);
const CHUNK: usize = 64 * 1024;

struct Connection {
    stream: UnixStream,
    session: Session,
    /// The beginning of a message whose end has not come.
    rest: Vec<u8>,
    /// What the socket did not take yet.
    unsent: Vec<u8>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path] = arguments.as_slice() else {
        eprintln!("error: usage: pgverdict-null-server SOCKET");
        return ExitCode::from(2);
    };
    std::thread::spawn(|| {
        // Nobody writes there; the end of input is the end of whoever started us.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    match serve(path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot serve {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(path: &str) -> io::Result<()> {
    let mut listener = UnixListener::bind(path)?;
    let mut poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    println!("ready");
    io::stdout().flush()?;
    let mut events = Events::with_capacity(1024);
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut free = Vec::new();
    let mut chunk = vec![0; CHUNK];
    let mut output = Vec::with_capacity(CHUNK);
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &events {
            if event.token() == LISTENER {
                accept(&listener, &poll, &mut connections, &mut free)?;
                continue;
            }
            let Token(number) = event.token();
            let Some(connection) = connections[number].as_mut() else { continue };
            if connection.go_on(&mut chunk, &mut output).is_err() {
                connections[number] = None; // which closes it, and takes it out of the poll
                free.push(number);
            }
        }
    }
}

fn accept(
    listener: &UnixListener,
    poll: &Poll,
    connections: &mut Vec<Option<Connection>>,
    free: &mut Vec<usize>,
) -> io::Result<()> {
    loop {
        let mut stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let number = free.pop().unwrap_or_else(|| {
            connections.push(None);
            connections.len() - 1
        });
        poll.registry().register(&mut stream, Token(number), Interest::READABLE | Interest::WRITABLE)?;
        connections[number] =
            Some(Connection { stream, session: Session::default(), rest: Vec::new(), unsent: Vec::new() });
    }
}

impl Connection {
    /// Reads, answers and writes as far as it can without waiting. An error: the connection is over.
    fn go_on(&mut self, chunk: &mut [u8], output: &mut Vec<u8>) -> io::Result<()> {
        let over = || io::Error::from(ErrorKind::ConnectionAborted);
        loop {
            let got = match self.stream.read(chunk) {
                Ok(0) => return Err(over()),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            output.clear();
            if self.rest.is_empty() {
                let used = self.session.answer(&chunk[..got], output).map_err(|_| over())?;
                self.rest.extend_from_slice(&chunk[used..got]);
            } else {
                self.rest.extend_from_slice(&chunk[..got]);
                let used = self.session.answer(&self.rest, output).map_err(|_| over())?;
                self.rest.drain(..used);
            }
            self.send(output)?;
            // A short read says that the socket is empty; a notice of more will come.
            if got < chunk.len() {
                return Ok(());
            }
        }
    }

    fn send(&mut self, output: &[u8]) -> io::Result<()> {
        let waiting = !self.unsent.is_empty();
        if waiting {
            self.unsent.extend_from_slice(output);
        }
        let mut sent = 0;
        let bytes: &[u8] = if waiting { &self.unsent } else { output };
        while sent < bytes.len() {
            match self.stream.write(&bytes[sent..]) {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero)),
                Ok(some) => sent += some,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if waiting {
            self.unsent.drain(..sent);
        } else {
            self.unsent.extend_from_slice(&output[sent..]);
        }
        Ok(())
    }
}
