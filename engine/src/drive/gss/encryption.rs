//! A connection that GSSAPI encrypts: packets of a length and what the library has wrapped, in both directions.

use super::library::{Context, Library, Purpose};
use super::{Exchange, Service};
use std::io::{self, ErrorKind, Read, Write};

/// The most that either side sends as one packet, its length included: PostgreSQL's PQ_GSS_MAX_PACKET_SIZE.
const PACKET_BYTES_MAX: usize = 16 * 1024;
/// The same before encryption begins: a ticket may be long (PQ_GSS_AUTH_BUFFER_SIZE).
const TOKEN_BYTES_MAX: usize = 64 * 1024;
const LENGTH_BYTES: usize = 4;

#[derive(Debug)]
pub struct Encryption {
    library: &'static Library,
    context: Context,
    /// How much is wrapped at once, so that a packet is not too long.
    text_bytes_max: usize,
    /// What was received of the next packet.
    wrapped: Vec<u8>,
    /// What was unwrapped and not taken yet.
    text: Vec<u8>,
    /// Whole packets, and the rest of one: the server expects them in their order.
    unsent: Vec<u8>,
}

impl Encryption {
    /// Agrees on it with the server at the other end of `raw`, who has said that it can.
    pub fn over(raw: &mut (impl Read + Write), service: &Service<'_>) -> Result<Self, String> {
        let mut exchange = Exchange::begin(service, Purpose::Encryption)?;
        let mut received = Vec::new();
        loop {
            let turn = exchange.go_on(&received)?;
            if !turn.token.is_empty() {
                raw.write_all(&packet(&turn.token))
                    .map_err(|error| format!("could not send data to server: {error}"))?;
            }
            if turn.is_done {
                break;
            }
            received = token(raw)?;
        }
        let (library, context) = (exchange.library, exchange.context);
        let text_bytes_max = library
            .wraps_at_most(&context, (PACKET_BYTES_MAX - LENGTH_BYTES) as u32)
            .map_err(|status| format!("GSSAPI size check error: {status}"))?;
        Ok(Self { library, context, text_bytes_max, wrapped: Vec::new(), text: Vec::new(), unsent: Vec::new() })
    }

    /// Decrypted bytes; 0: the other side has closed.
    pub fn receive(&mut self, raw: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
        while self.text.is_empty() {
            // No more than a packet may have: what is unwrapped now is then taken now, where there is room for as much.
            // Who waits for sockets is not told of what would be left.
            let room = buffer.len().min(PACKET_BYTES_MAX - self.wrapped.len());
            let bytes = raw.read(&mut buffer[..room])?;
            if bytes == 0 {
                return Ok(0);
            }
            self.wrapped.extend_from_slice(&buffer[..bytes]);
            self.unwrap_whole_packets()?;
        }
        let taken = self.text.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&self.text[..taken]);
        self.text.drain(..taken);
        Ok(taken)
    }

    fn unwrap_whole_packets(&mut self) -> io::Result<()> {
        let mut done = 0;
        while let Some((length, rest)) = self.wrapped[done..].split_first_chunk::<LENGTH_BYTES>() {
            let length = u32::from_be_bytes(*length) as usize;
            check_length(length, PACKET_BYTES_MAX).map_err(refused)?;
            let Some(wrapped) = rest.get(..length) else { break };
            let (text, is_secret) = self
                .library
                .unwrap(&self.context, wrapped)
                .map_err(|status| refused(format!("GSSAPI unwrap error: {status}")))?;
            if !is_secret {
                return Err(refused("incoming GSSAPI message did not use confidentiality".to_owned()));
            }
            self.text.extend_from_slice(&text);
            done += LENGTH_BYTES + length;
        }
        self.wrapped.drain(..done);
        Ok(())
    }

    /// Takes all of the bytes, and sends what there is room for.
    pub fn send(&mut self, raw: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        for text in bytes.chunks(self.text_bytes_max) {
            let (wrapped, is_secret) = self
                .library
                .wrap(&self.context, text)
                .map_err(|status| refused(format!("GSSAPI wrap error: {status}")))?;
            if !is_secret {
                return Err(refused("outgoing GSSAPI message would not use confidentiality".to_owned()));
            }
            self.unsent.extend_from_slice(&packet(&wrapped));
        }
        while self.holds() {
            match raw.write(&self.unsent) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                written => drop(self.unsent.drain(..written?)),
            }
        }
        Ok(bytes.len())
    }

    /// Whether there was no room for all.
    pub fn holds(&self) -> bool {
        !self.unsent.is_empty()
    }
}

fn packet(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("tokens and packets are short");
    [&length.to_be_bytes(), content].concat()
}

/// The next token of a server that has not agreed yet.
fn token(raw: &mut impl Read) -> Result<Vec<u8>, String> {
    let unheard = |error: io::Error| match error.kind() {
        ErrorKind::UnexpectedEof => "server closed the connection unexpectedly".to_owned(),
        _ => format!("could not receive data from server: {error}"),
    };
    let mut length = [0; LENGTH_BYTES];
    raw.read_exact(&mut length).map_err(unheard)?;
    let length = u32::from_be_bytes(length) as usize;
    check_length(length, TOKEN_BYTES_MAX)?;
    let mut token = vec![0; length];
    raw.read_exact(&mut token).map_err(unheard)?;
    Ok(token)
}

fn check_length(length: usize, most: usize) -> Result<(), String> {
    let most = most - LENGTH_BYTES;
    if length <= most {
        return Ok(());
    }
    Err(format!("oversize GSSAPI packet sent by the server ({length} > {most})"))
}

fn refused(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_up_to_its_end_and_no_longer_than_is_allowed() {
        let mut sent: &[u8] = b"\0\0\0\x02abc";
        assert_eq!(token(&mut sent).unwrap(), b"ab");
        assert_eq!(token(&mut sent).unwrap_err(), "server closed the connection unexpectedly");
        let error = token(&mut &b"Error"[..]).unwrap_err();
        assert_eq!(error, "oversize GSSAPI packet sent by the server (1165128303 > 65532)");
    }
}
