//! Messages as they arrive, told apart by their headers. Whoever listens says which ones it wants
//! whole; the others are skipped by length and never held, so an idle connection owns no buffer and
//! a large result costs no memory.

use super::backend::{self, HEADER_BYTES};
use super::{HELD_BYTES_MAX, WireError};
use std::mem;

pub trait Listener {
    /// Whether a message of this type is to be had whole.
    fn wants(&self, tag: u8) -> bool;

    /// How long a message of this type may be that is had whole.
    fn held_bytes_max(&self, _: u8) -> usize {
        HELD_BYTES_MAX
    }

    /// A message: header and body, or nothing but its tag where it was not wanted or not whole.
    fn hear(&mut self, tag: u8, message: &[u8]) -> Result<(), WireError>;
}

#[derive(Debug, Default)]
pub struct Stream {
    /// The begun message, when it is one that is wanted or its header is incomplete.
    carry: Vec<u8>,
    /// How long the carried message has to become before it is worth another look.
    wanted: usize,
    /// How much of a message that nobody wants is still to come.
    skip: usize,
}

impl Stream {
    /// Takes what was read from the server.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8], listener: &mut impl Listener) -> Result<(), WireError> {
        if self.carry.is_empty() {
            return self.scan(bytes, listener);
        }
        self.carry.extend_from_slice(bytes);
        if self.carry.len() < self.wanted {
            return Ok(());
        }
        let whole = mem::take(&mut self.carry);
        self.scan(&whole, listener)
    }

    #[inline]
    fn scan(&mut self, mut bytes: &[u8], listener: &mut impl Listener) -> Result<(), WireError> {
        if self.skip > 0 {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
        }
        while !bytes.is_empty() {
            let Some(header) = backend::header(bytes)? else {
                self.carry(bytes, HEADER_BYTES);
                return Ok(());
            };
            let end = backend::message_bytes(header);
            if bytes.len() >= end {
                listener.hear(header.tag(), &bytes[..end])?;
                bytes = &bytes[end..];
            } else if listener.wants(header.tag()) {
                backend::refuse_too_long(header, listener.held_bytes_max(header.tag()))?;
                self.carry(bytes, end);
                return Ok(());
            } else {
                listener.hear(header.tag(), &[])?;
                self.skip = end - bytes.len();
                return Ok(());
            }
        }
        Ok(())
    }

    #[cold]
    fn carry(&mut self, bytes: &[u8], wanted: usize) {
        self.carry.extend_from_slice(bytes);
        self.wanted = wanted;
    }
}
