//! What the server says: bytes in, bytes out. Touches nothing.
//!
//! A SELECT has one row with one integer, other statements say what PostgreSQL would; BEGIN and END open and close a
//! transaction block. Nothing is stored, and no statement is looked into beyond its first word.

use std::collections::HashMap;

const PROTOCOL_3: u32 = 3 << 16;
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSSAPI: u32 = 80_877_104;

/// One column: abalance, int4, in text.
const COLUMNS: &[u8] =
    b"T\x00\x00\x00\x21\x00\x01abalance\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x17\x00\x04\xff\xff\xff\xff\x00\x00";
const ROW: &[u8] = b"D\x00\x00\x00\x0b\x00\x01\x00\x00\x00\x010";
const NO_COLUMNS: &[u8] = b"n\x00\x00\x00\x04";
const NO_PARAMETERS: &[u8] = b"t\x00\x00\x00\x06\x00\x00";
const PARSED: &[u8] = b"1\x00\x00\x00\x04";
const BOUND: &[u8] = b"2\x00\x00\x00\x04";
const CLOSED: &[u8] = b"3\x00\x00\x00\x04";
const EMPTY: &[u8] = b"I\x00\x00\x00\x04";

/// What a statement is, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Select,
    Begin,
    End,
    Empty,
    /// The tag that says it is done.
    Other(&'static str),
}

fn kind(sql: &[u8]) -> Kind {
    let sql = sql.trim_ascii();
    let end = sql.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(sql.len());
    match sql[..end].to_ascii_lowercase().as_slice() {
        b"" => Kind::Empty,
        b"select" => Kind::Select,
        b"begin" | b"start" => Kind::Begin,
        b"end" | b"commit" | b"rollback" | b"abort" => Kind::End,
        b"update" => Kind::Other("UPDATE 1"),
        b"insert" => Kind::Other("INSERT 0 1"),
        b"delete" => Kind::Other("DELETE 1"),
        _ => Kind::Other("SET"),
    }
}

/// Why a connection ends.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The client said so, or only came to cancel something.
    Asked,
    /// It spoke of something that this server does not know.
    Lost,
}

/// One client's conversation.
#[derive(Debug, Default)]
pub struct Session {
    begun: bool,
    in_block: bool,
    statements: HashMap<Vec<u8>, Kind>,
    portals: HashMap<Vec<u8>, Kind>,
}

impl Session {
    /// Answers the whole messages of `input` and says how many bytes of it they are; the rest is to be given again
    /// with what follows it.
    pub fn answer(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, End> {
        let mut at = 0;
        while let Some((tag, body, length)) = self.next(&input[at..])? {
            match tag {
                None => self.greet(body, output)?,
                Some(tag) => self.message(tag, body, output)?,
            }
            at += length;
        }
        Ok(at)
    }

    /// The tag, which the first messages lack, the body, and the length of all; `None` if it is not whole yet.
    #[allow(clippy::type_complexity)]
    fn next<'a>(&self, input: &'a [u8]) -> Result<Option<(Option<u8>, &'a [u8], usize)>, End> {
        let tagged = usize::from(self.begun);
        let Some(length) = input.get(tagged..tagged + 4) else { return Ok(None) };
        let length = u32::from_be_bytes(length.try_into().map_err(|_| End::Lost)?) as usize;
        if length < 4 {
            return Err(End::Lost);
        }
        let whole = tagged + length;
        Ok(input.get(..whole).map(|message| (self.begun.then(|| message[0]), &message[tagged + 4..], whole)))
    }

    fn greet(&mut self, body: &[u8], output: &mut Vec<u8>) -> Result<(), End> {
        let code = body.get(..4).ok_or(End::Lost)?;
        match u32::from_be_bytes(code.try_into().map_err(|_| End::Lost)?) {
            CANCEL => return Err(End::Asked),
            TLS | GSSAPI => output.push(b'N'),
            PROTOCOL_3 => {
                self.begun = true;
                output.extend_from_slice(b"R\x00\x00\x00\x08\x00\x00\x00\x00");
                for (name, value) in [
                    ("server_version", "18.0"),
                    ("server_encoding", "UTF8"),
                    ("client_encoding", "UTF8"),
                    ("integer_datetimes", "on"),
                    ("standard_conforming_strings", "on"),
                ] {
                    output.push(b'S');
                    output.extend_from_slice(&(4 + name.len() as u32 + 1 + value.len() as u32 + 1).to_be_bytes());
                    output.extend_from_slice(name.as_bytes());
                    output.push(0);
                    output.extend_from_slice(value.as_bytes());
                    output.push(0);
                }
                output.extend_from_slice(b"K\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x00\x02");
                self.ready(output);
            }
            _ => return Err(End::Lost),
        }
        Ok(())
    }

    fn message(&mut self, tag: u8, body: &[u8], output: &mut Vec<u8>) -> Result<(), End> {
        match tag {
            b'Q' => {
                let (sql, _) = text(body)?;
                let kind = kind(sql);
                if kind == Kind::Select {
                    output.extend_from_slice(COLUMNS);
                }
                self.execute(kind, output);
                self.ready(output);
            }
            b'P' => {
                let (name, rest) = text(body)?;
                let (sql, _) = text(rest)?;
                self.statements.insert(name.to_vec(), kind(sql));
                output.extend_from_slice(PARSED);
            }
            b'B' => {
                let (portal, rest) = text(body)?;
                let (statement, _) = text(rest)?;
                let kind = *self.statements.get(statement).ok_or(End::Lost)?;
                match self.portals.get_mut(portal) {
                    Some(known) => *known = kind,
                    None => drop(self.portals.insert(portal.to_vec(), kind)),
                }
                output.extend_from_slice(BOUND);
            }
            b'D' => {
                let (&what, rest) = body.split_first().ok_or(End::Lost)?;
                let (name, _) = text(rest)?;
                let named = if what == b'S' { &self.statements } else { &self.portals };
                let kind = *named.get(name).ok_or(End::Lost)?;
                if what == b'S' {
                    output.extend_from_slice(NO_PARAMETERS);
                }
                output.extend_from_slice(if kind == Kind::Select { COLUMNS } else { NO_COLUMNS });
            }
            b'E' => {
                let (portal, _) = text(body)?;
                let kind = *self.portals.get(portal).ok_or(End::Lost)?;
                self.execute(kind, output);
            }
            b'C' => output.extend_from_slice(CLOSED),
            b'S' => self.ready(output),
            b'H' => {}
            b'X' => return Err(End::Asked),
            _ => return Err(End::Lost),
        }
        Ok(())
    }

    fn execute(&mut self, kind: Kind, output: &mut Vec<u8>) {
        let tag = match kind {
            Kind::Empty => return output.extend_from_slice(EMPTY),
            Kind::Select => {
                output.extend_from_slice(ROW);
                "SELECT 1"
            }
            Kind::Begin => {
                self.in_block = true;
                "BEGIN"
            }
            Kind::End => {
                self.in_block = false;
                "COMMIT"
            }
            Kind::Other(tag) => tag,
        };
        output.push(b'C');
        output.extend_from_slice(&(4 + tag.len() as u32 + 1).to_be_bytes());
        output.extend_from_slice(tag.as_bytes());
        output.push(0);
    }

    fn ready(&self, output: &mut Vec<u8>) {
        output.extend_from_slice(b"Z\x00\x00\x00\x05");
        output.push(if self.in_block { b'T' } else { b'I' });
    }
}

/// The bytes before the next zero, and those behind it.
fn text(body: &[u8]) -> Result<(&[u8], &[u8]), End> {
    let end = body.iter().position(|&byte| byte == 0).ok_or(End::Lost)?;
    Ok((&body[..end], &body[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut made = vec![tag];
        made.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        made.extend_from_slice(body);
        made
    }

    fn greeted() -> Session {
        let mut session = Session::default();
        let mut output = Vec::new();
        let startup = [&[0, 0, 0, 17][..], &PROTOCOL_3.to_be_bytes(), b"user\0me\0\0"].concat();
        assert_eq!(session.answer(&startup, &mut output), Ok(startup.len()));
        assert!(output.ends_with(b"Z\x00\x00\x00\x05I"));
        session
    }

    fn tags(mut output: &[u8]) -> Vec<char> {
        let mut found = Vec::new();
        while let [tag, a, b, c, d, ..] = *output {
            found.push(char::from(tag));
            output = &output[1 + u32::from_be_bytes([a, b, c, d]) as usize..];
        }
        assert!(output.is_empty());
        found
    }

    #[test]
    fn a_prepared_select_has_one_row() {
        let mut session = greeted();
        let mut output = Vec::new();
        let input = [
            message(b'P', b"one\0SELECT abalance FROM x\0\0\0"),
            message(b'S', b""),
            message(b'B', b"\0one\0\0\0\0\0\0\0"),
            message(b'D', b"P\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
        ]
        .concat();
        assert_eq!(session.answer(&input, &mut output), Ok(input.len()));
        assert_eq!(tags(&output), ['1', 'Z', '2', 'T', 'D', 'C', 'Z']);
    }

    #[test]
    fn a_block_is_open_from_begin_to_end() {
        let mut session = greeted();
        for (sql, state) in [("BEGIN", b'T'), ("update t set a = 1", b'T'), (" end", b'I')] {
            let mut output = Vec::new();
            let input = message(b'Q', format!("{sql};\0").as_bytes());
            assert_eq!(session.answer(&input, &mut output), Ok(input.len()));
            assert_eq!(tags(&output), ['C', 'Z']);
            assert_eq!(output.last(), Some(&state));
        }
    }

    #[test]
    fn a_message_in_parts_waits_for_its_end() {
        let mut session = greeted();
        let input = message(b'Q', b"SELECT 1\0");
        for cut in 0..input.len() {
            let mut output = Vec::new();
            assert_eq!(session.answer(&input[..cut], &mut output), Ok(0));
            assert!(output.is_empty());
        }
        let mut output = Vec::new();
        assert_eq!(session.answer(&input, &mut output), Ok(input.len()));
        assert_eq!(tags(&output), ['T', 'D', 'C', 'Z']);
    }

    #[test]
    fn what_it_does_not_know_ends_the_connection() {
        for input in [message(b'?', b""), message(b'B', b"\0none\0"), message(b'Q', b"no end"), vec![b'Q', 0, 0, 0, 1]]
        {
            assert_eq!(greeted().answer(&input, &mut Vec::new()), Err(End::Lost));
        }
        assert_eq!(greeted().answer(&message(b'X', b""), &mut Vec::new()), Err(End::Asked));
    }
}
