//! What a player sends: one statement, or several in a pipeline, which the server answers together; or one as a
//! text with its values in it.

use super::Sql;
use crate::wire::frontend::{self, Asking, Execution};
use crate::wire::parameter::Form;

/// A statement made ready: its messages but for the parameters.
#[derive(Debug, Clone)]
pub struct Prepared {
    execution: Execution,
    forms: Box<[Form]>,
    pub keeps_rows: bool,
}

impl Prepared {
    /// `name`: under which it is prepared.
    pub fn new(sql: &Sql, name: &str) -> Self {
        let count = u16::try_from(sql.parameters.len()).expect("a program's statements have few parameters");
        // No forms at all stand for text throughout, which is shorter.
        let forms = if sql.parameters.iter().all(|form| *form == Form::Text) { &[][..] } else { &sql.parameters };
        let asking = Asking { parse: None, describe: false, sync: false, forms };
        Self {
            execution: Execution::asking(name, count, asking),
            forms: sql.parameters.clone().into(),
            keeps_rows: sql.keeps_rows,
        }
    }
}

/// Statements are answered in the order in which they were put in. Together they are to stay below
/// 64 KiB: nothing is read while they are sent. Where no block is open they are one transaction.
#[derive(Debug)]
pub struct Request<'a> {
    prepared: &'a [Prepared],
    out: &'a mut Vec<u8>,
    sent: &'a mut Vec<usize>,
    /// The server comes to the end of a text by itself, and needs no Sync.
    is_text: bool,
}

/// The parameters of one statement, in their order.
#[derive(Debug)]
pub struct Arguments<'a> {
    forms: &'a [Form],
    out: &'a mut Vec<u8>,
}

impl<'a> Request<'a> {
    /// Both lists are taken over empty.
    pub fn new(prepared: &'a [Prepared], out: &'a mut Vec<u8>, sent: &'a mut Vec<usize>) -> Self {
        out.clear();
        sent.clear();
        Self { prepared, out, sent, is_text: false }
    }

    /// The execution of a statement by its number; `write` gives each of its parameters.
    #[inline]
    pub fn execute(&mut self, statement: usize, write: impl FnOnce(&mut Arguments<'_>)) {
        assert!(!self.is_text, "nothing is sent together with a text");
        let Prepared { execution, forms, .. } = &self.prepared[statement];
        self.sent.push(statement);
        execution.write(self.out, |out| {
            let mut arguments = Arguments { forms, out };
            write(&mut arguments);
            assert!(arguments.forms.is_empty(), "statement {statement} has more parameters than were given");
        });
    }

    /// A statement without parameters: BEGIN, COMMIT, ROLLBACK ...
    #[inline]
    pub fn run(&mut self, statement: usize) {
        self.execute(statement, |_| {});
    }

    /// A statement by its number as a text, which `write` appends and the server reads anew: the simple query
    /// protocol. It is a request of its own.
    #[inline]
    pub fn say(&mut self, statement: usize, write: impl FnOnce(&mut Vec<u8>)) {
        assert!(self.sent.is_empty(), "nothing is sent together with a text");
        self.sent.push(statement);
        self.is_text = true;
        frontend::written_query(self.out, write);
    }

    /// Closes the request; whether there is anything in it.
    #[inline]
    pub fn end(self) -> bool {
        if !self.is_text {
            self.out.extend_from_slice(frontend::SYNC);
        }
        !self.sent.is_empty()
    }
}

impl Arguments<'_> {
    #[inline]
    fn take(&mut self) -> Form {
        let (form, rest) = self.forms.split_first().expect("a parameter that the statement has");
        self.forms = rest;
        *form
    }

    #[inline]
    pub fn integer(&mut self, value: i64) -> &mut Self {
        match self.take() {
            Form::Text => frontend::parameter(itoa::Buffer::new().format(value).as_bytes(), self.out),
            form => assert!(form.write_integer(value, self.out), "{value} fits the type {}", form.name()),
        }
        self
    }

    #[inline]
    pub fn text(&mut self, text: &[u8]) -> &mut Self {
        assert_eq!(self.take(), Form::Text, "the form of a parameter that is given as text");
        frontend::parameter(text, self.out);
        self
    }

    /// A text that `write` appends.
    #[inline]
    pub fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        assert_eq!(self.take(), Form::Text, "the form of a parameter that is given as text");
        frontend::written_parameter(self.out, write);
        self
    }

    #[inline]
    pub fn null(&mut self) -> &mut Self {
        self.take();
        frontend::null_parameter(self.out);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared() -> [Prepared; 2] {
        [
            Prepared::new(&Sql::new("SELECT $1, $2", &[Form::Int4, Form::Text]), "P_0"),
            Prepared::new(&Sql::new("COMMIT", &[]), "P_1"),
        ]
    }

    #[test]
    fn a_pipeline_has_one_sync() {
        let (prepared, mut out, mut sent) = (prepared(), vec![1], vec![7]);
        let mut request = Request::new(&prepared, &mut out, &mut sent);
        request.execute(0, |arguments| {
            arguments.integer(258).text(b"x");
        });
        request.run(1);
        assert!(request.end());
        assert_eq!(sent, [0, 1]);
        let first: &[u8] = b"B\0\0\0\x20\0P_0\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\x01\x02\0\0\0\x01x\0\0";
        let second: &[u8] = b"B\0\0\0\x0f\0P_1\0\0\0\0\0\0\0";
        let execute: &[u8] = b"E\0\0\0\x09\0\0\0\0\0";
        let expect = [first, execute, second, execute, b"S\0\0\0\x04"].concat();
        assert_eq!(out, expect, "{out:?}");
    }

    #[test]
    fn a_text_is_a_request_without_a_sync() {
        let (prepared, mut out, mut sent) = (prepared(), vec![1], vec![7]);
        let mut request = Request::new(&prepared, &mut out, &mut sent);
        request.say(0, |out| out.extend_from_slice(b"SELECT 1, 'x'"));
        assert!(request.end());
        assert_eq!((&*sent, &*out), (&[0][..], &b"Q\0\0\0\x12SELECT 1, 'x'\0"[..]));
    }

    #[test]
    #[should_panic(expected = "more parameters than were given")]
    fn a_parameter_too_few_is_a_bug() {
        let (prepared, mut out, mut sent) = (prepared(), Vec::new(), Vec::new());
        Request::new(&prepared, &mut out, &mut sent).execute(0, |arguments| {
            arguments.integer(1);
        });
    }
}
