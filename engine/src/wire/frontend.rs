//! Messages to the server, written into a caller's buffer.

/// Version 3.0, which every server since 7.4 speaks.
const PROTOCOL_VERSION: i32 = 3 << 16;

/// The message that opens a connection: the only one without a type.
pub fn startup(parameters: &[(&str, &str)], out: &mut Vec<u8>) {
    body(out, |out| {
        out.extend_from_slice(&PROTOCOL_VERSION.to_be_bytes());
        for (name, value) in parameters {
            string(name, out);
            string(value, out);
        }
        out.push(0);
    });
}

pub fn parse(statement: &str, text: &str, out: &mut Vec<u8>) {
    message(b'P', out, |out| {
        string(statement, out);
        string(text, out);
        // No types are given: the server infers them, as for pgbench.
        out.extend_from_slice(&0u16.to_be_bytes());
    });
}

pub fn describe_statement(statement: &str, out: &mut Vec<u8>) {
    message(b'D', out, |out| {
        out.push(b'S');
        string(statement, out);
    });
}

pub fn sync(out: &mut Vec<u8>) {
    message(b'S', out, |_| {});
}

pub fn query(text: &str, out: &mut Vec<u8>) {
    message(b'Q', out, |out| string(text, out));
}

pub fn terminate(out: &mut Vec<u8>) {
    message(b'X', out, |_| {});
}

pub fn copy_done(out: &mut Vec<u8>) {
    message(b'c', out, |_| {});
}

/// CopyData around the rows that `rows` appends.
pub fn copy_data(out: &mut Vec<u8>, rows: impl FnOnce(&mut Vec<u8>)) {
    message(b'd', out, rows);
}

/// Bind, Execute and Sync of one prepared statement. All but the parameters is the same every
/// time, so it is written once and copied.
#[derive(Debug, Clone)]
pub struct Execution {
    /// From the type of Bind up to the number of parameters.
    head: Box<[u8]>,
    /// The rest of Bind, Execute and Sync.
    tail: Box<[u8]>,
}

/// What ends Bind: no result formats, that is, all results as text.
const BIND_END: [u8; 2] = 0u16.to_be_bytes();

impl Execution {
    pub fn new(statement: &str, parameters: u16) -> Self {
        let mut head = vec![b'B', 0, 0, 0, 0];
        string("", &mut head);
        string(statement, &mut head);
        head.extend_from_slice(&0u16.to_be_bytes()); // all parameters as text
        head.extend_from_slice(&parameters.to_be_bytes());

        let mut tail = BIND_END.to_vec();
        message(b'E', &mut tail, |out| {
            string("", out);
            out.extend_from_slice(&0i32.to_be_bytes()); // all rows
        });
        sync(&mut tail);
        Self { head: head.into(), tail: tail.into() }
    }

    /// Writes the three messages; `parameters` appends exactly the promised number of them with
    /// [`parameter`] or [`null_parameter`].
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>, parameters: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        out.extend_from_slice(&self.head);
        parameters(out);
        let bind_bytes = out.len() + BIND_END.len() - start - 1;
        out.extend_from_slice(&self.tail);
        set_length(out, start + 1, bind_bytes);
    }
}

/// One parameter of Bind as text.
#[inline]
pub fn parameter(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as i32).to_be_bytes());
    out.extend_from_slice(text);
}

#[inline]
pub fn null_parameter(out: &mut Vec<u8>) {
    out.extend_from_slice(&(-1i32).to_be_bytes());
}

fn string(text: &str, out: &mut Vec<u8>) {
    // Callers refuse text with a zero byte where the user can still be told which.
    debug_assert!(!text.as_bytes().contains(&0));
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn message(tag: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    body(out, write);
}

fn body(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let bytes = out.len() - at;
    set_length(out, at, bytes);
}

fn set_length(out: &mut [u8], at: usize, bytes: usize) {
    let length = i32::try_from(bytes).expect("our messages are bounded far below 2 GiB");
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_is_bind_execute_and_sync() {
        let mut out = Vec::new();
        let execution = Execution::new("P_0", 2);
        execution.write(&mut out, |out| {
            parameter(b"42", out);
            null_parameter(out);
        });
        let bind: &[u8] = b"B\0\0\0\x19\0P_0\0\0\0\0\x02\0\0\0\x0242\xff\xff\xff\xff\0\0";
        let rest: &[u8] = b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
        assert_eq!(out, [bind, rest].concat());
    }

    #[test]
    fn a_startup_message_has_no_type() {
        let mut out = Vec::new();
        startup(&[("user", "u")], &mut out);
        assert_eq!(out, b"\0\0\0\x10\0\x03\0\0user\0u\0\0");
    }
}
