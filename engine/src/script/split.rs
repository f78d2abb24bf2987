//! Cuts a script into SQL statements and meta commands, as psql's lexer does: a semicolon inside
//! quotes, dollar quotes, comments, parentheses or a BEGIN ATOMIC body ends nothing.

use super::Fault;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As pgbench sends it: with the closing semicolon and C comments, without the blanks and line
    /// comments before it.
    Sql { text: String, at: usize },
    /// From the backslash to the end of the line and of those that continue it.
    Meta { at: usize, end: usize },
}

/// A script in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    pub pieces: Vec<Piece>,
    /// A quote or a comment that does not end. The last piece has it all; a server will refuse it.
    pub unterminated: Option<Fault>,
}

pub fn split(text: &str) -> Split {
    let mut splitter =
        Splitter { text, bytes: text.as_bytes(), at: 0, pieces: Vec::new(), unterminated: None, sql: Sql::default() };
    splitter.run();
    Split { pieces: splitter.pieces, unterminated: splitter.unterminated }
}

/// Where SQL begins and ends without the comments and blanks around it and without its semicolon.
pub fn bare(text: &str) -> std::ops::Range<usize> {
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let blanks = rest.len() - rest.trim_ascii_start().len();
        if blanks > 0 {
            start += blanks;
        } else if rest.starts_with("--") {
            start += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            start += comment_bytes(rest.as_bytes()).unwrap_or(rest.len());
        } else {
            break;
        }
    }
    let rest = &text[start..];
    let rest = rest.trim_ascii_end();
    let rest = rest.strip_suffix(';').unwrap_or(rest).trim_ascii_end();
    start..start + rest.len()
}

/// How long the C comment at the start is; they nest.
fn comment_bytes(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if bytes[at..].starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

struct Splitter<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    pieces: Vec<Piece>,
    unterminated: Option<Fault>,
    sql: Sql,
}

/// The statement being read.
#[derive(Default)]
struct Sql {
    text: String,
    begun_at: usize,
    parentheses: usize,
    /// The first words, as far as they can begin the definition of a function.
    words: Vec<String>,
    /// Open BEGIN and CASE in the body of an SQL-standard function.
    blocks: usize,
}

impl Splitter<'_> {
    fn run(&mut self) {
        while self.at < self.bytes.len() {
            if let Err(fault) = self.step() {
                self.unterminated = Some(fault);
                self.append(self.at, self.bytes.len());
                self.at = self.bytes.len();
            }
        }
        self.end_sql();
    }

    fn step(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let byte = self.bytes[start];
        match byte {
            b'-' if self.next_is(b"--") => {
                let end = self.find(start, b"\n").unwrap_or(self.bytes.len());
                self.blank(end);
                return Ok(());
            }
            _ if byte.is_ascii_whitespace() || byte == b'\x0b' => {
                self.blank(start + 1);
                return Ok(());
            }
            b'/' if self.next_is(b"/*") => match comment_bytes(&self.bytes[start..]) {
                Some(bytes) => self.at += bytes,
                None => return Err(Fault::new(start, "unterminated comment")),
            },
            b';' if self.sql.parentheses == 0 && self.sql.blocks == 0 => {
                self.at += 1;
                self.append(start, self.at);
                self.end_sql();
                return Ok(());
            }
            b'\\' => {
                self.backslash();
                return Ok(());
            }
            b'\'' => self.at = self.quoted_end(start + 1, b'\'', false)?,
            b'"' => self.at = self.quoted_end(start + 1, b'"', false)?,
            b'e' | b'E' if self.bytes.get(start + 1) == Some(&b'\'') => {
                self.at = self.quoted_end(start + 2, b'\'', true)?;
            }
            b'$' => self.at = self.dollar_quoted_end()?,
            b'(' => {
                self.sql.parentheses += 1;
                self.at += 1;
            }
            b')' => {
                self.sql.parentheses = self.sql.parentheses.saturating_sub(1);
                self.at += 1;
            }
            _ if super::begins_name(byte) => self.word(),
            // A number takes the name characters that follow, so that `1e'` begins no string.
            _ if byte.is_ascii_digit() => self.at = self.word_end(),
            _ => self.at += 1,
        }
        self.append(start, self.at);
        Ok(())
    }

    fn next_is(&self, prefix: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(prefix)
    }

    fn find(&self, from: usize, what: &[u8]) -> Option<usize> {
        self.bytes[from..].windows(what.len()).position(|window| window == what).map(|found| from + found)
    }

    fn append(&mut self, start: usize, end: usize) {
        if self.sql.text.is_empty() {
            self.sql.begun_at = start;
        }
        self.sql.text.push_str(&self.text[start..end]);
    }

    /// Blanks and line comments are kept inside a statement and dropped before it.
    fn blank(&mut self, end: usize) {
        if !self.sql.text.is_empty() {
            self.append(self.at, end);
        }
        self.at = end;
    }

    fn end_sql(&mut self) {
        let sql = std::mem::take(&mut self.sql);
        if !sql.text.is_empty() {
            self.pieces.push(Piece::Sql { text: sql.text, at: sql.begun_at });
        }
    }

    /// A doubled quote needs no care: it ends one string and begins the next.
    fn quoted_end(&self, from: usize, quote: u8, backslash_escapes: bool) -> Result<usize, Fault> {
        let mut at = from;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' if backslash_escapes => at += 2,
                _ if byte == quote && backslash_escapes && self.bytes.get(at + 1) == Some(&quote) => at += 2,
                _ if byte == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        let kind = if quote == b'"' { "identifier" } else { "string" };
        Err(Fault::new(self.at, format!("unterminated quoted {kind}")))
    }

    /// `$tag$ ... $tag$`; a lone dollar or a parameter such as `$1` is just itself.
    fn dollar_quoted_end(&self) -> Result<usize, Fault> {
        let tag = super::name_length(&self.bytes[self.at + 1..]);
        let after = self.at + 1 + tag;
        if self.bytes.get(after) != Some(&b'$') {
            return Ok(self.at + 1);
        }
        let quote = &self.bytes[self.at..=after];
        match self.find(after + 1, quote) {
            Some(end) => Ok(end + quote.len()),
            None => Err(Fault::new(self.at, "unterminated dollar-quoted string")),
        }
    }

    fn word_end(&self) -> usize {
        let continues = |&byte: &u8| super::continues_name(byte) || byte == b'$';
        let rest = &self.bytes[self.at..];
        self.at + rest.iter().position(|byte| !continues(byte)).unwrap_or(rest.len())
    }

    /// psql's heuristic: only in CREATE [OR REPLACE] FUNCTION or PROCEDURE does BEGIN open a body.
    fn word(&mut self) {
        let end = self.word_end();
        let word = self.text[self.at..end].to_ascii_lowercase();
        self.at = end;
        let sql = &mut self.sql;
        if sql.words.len() < 4 {
            sql.words.push(word.clone());
        }
        let words: Vec<&str> = sql.words.iter().map(String::as_str).collect();
        let defines = matches!(
            words[..],
            ["create", "function" | "procedure", ..] | ["create", "or", "replace", "function" | "procedure"]
        );
        if !defines || sql.parentheses > 0 {
            return;
        }
        match word.as_str() {
            "begin" => sql.blocks += 1,
            "case" if sql.blocks > 0 => sql.blocks += 1,
            "end" => sql.blocks = sql.blocks.saturating_sub(1),
            _ => {}
        }
    }

    fn backslash(&mut self) {
        let start = self.at;
        // `\;` joins commands into one message and `\:` is a colon that names no variable.
        if let Some(b';' | b':') = self.bytes.get(start + 1) {
            self.append(start + 1, start + 2);
            self.at = start + 2;
            return;
        }
        self.end_sql();
        self.at = self.line_end(start + 1);
        self.pieces.push(Piece::Meta { at: start, end: self.at });
    }

    /// The end of a line that goes on after a backslash before the newline.
    fn line_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(newline) = self.find(at, b"\n") {
            let line = &self.bytes[at..newline];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.ends_with(b"\\") || newline == at {
                return newline;
            }
            at = newline + 1;
        }
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let Split { pieces, unterminated } = split(text);
        assert_eq!(unterminated, None);
        let found = pieces.iter().map(|piece| match piece {
            Piece::Sql { text, .. } => text,
            Piece::Meta { at, end } => &text[*at..*end],
        });
        assert_eq!(found.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn semicolons_end_statements_only_outside_of_everything() {
        check("SELECT 1; SELECT 2", &["SELECT 1;", "SELECT 2"]);
        check("SELECT 'a;''b;'; x", &["SELECT 'a;''b;';", "x"]);
        check(r"SELECT E'a\';b', 'c\'; x", &[r"SELECT E'a\';b', 'c\';", "x"]);
        check("SELECT fee'a;\\'; x", &["SELECT fee'a;\\';", "x"]);
        check("SELECT \"a;b\"; x", &["SELECT \"a;b\";", "x"]);
        check("SELECT $$a;b$$, $x$;$$;$x$, $1; x", &["SELECT $$a;b$$, $x$;$$;$x$, $1;", "x"]);
        check("SELECT a$b$; x$b$", &["SELECT a$b$;", "x$b$"]);
        check("SELECT /* ; /* ; */ ; */ 1 -- ;\n+ 2; x", &["SELECT /* ; /* ; */ ; */ 1 -- ;\n+ 2;", "x"]);
        check("CREATE RULE r AS DO (a; b); x", &["CREATE RULE r AS DO (a; b);", "x"]);
        check(";  ; -- nothing\n/* nothing */", &[";", ";", "/* nothing */"]);
        check("-- nothing\n", &[]);
    }

    #[test]
    fn a_function_body_is_one_statement() {
        let function =
            "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN a THEN b END; SELECT 2; END;";
        check(&format!("{function} BEGIN; END;"), &[function, "BEGIN;", "END;"]);
    }

    #[test]
    fn line_comments_before_a_statement_are_dropped() {
        check("-- why\n SELECT 1; -- end", &["SELECT 1;"]);
        check("-- why\n/* how */ SELECT 1", &["/* how */ SELECT 1"]);
    }

    #[test]
    fn meta_commands_take_their_line() {
        check("\\set a 1\n\\set b 2\r\nSELECT 1;", &["\\set a 1", "\\set b 2\r", "SELECT 1;"]);
        check("\\set a 1 + \\\n  2\nSELECT 1;", &["\\set a 1 + \\\n  2", "SELECT 1;"]);
        check("SELECT 1 \\gset\nSELECT 2", &["SELECT 1 ", "\\gset", "SELECT 2"]);
        check("SELECT 1 \\; SELECT 2;", &["SELECT 1 ; SELECT 2;"]);
    }

    #[test]
    fn what_does_not_end_is_told_and_kept() {
        for (text, at) in [("SELECT 'a", 7), ("x /* y", 2), ("a; $q$ $$", 3), ("\"", 0), ("E'\\", 0)] {
            let Split { pieces, unterminated } = split(text);
            assert_eq!(unterminated.unwrap().at, at, "{text}");
            let Some(Piece::Sql { text: last, .. }) = pieces.last() else { panic!("{pieces:?}") };
            assert!(text.ends_with(last.as_str()), "{text}");
        }
    }

    #[test]
    fn bare_sql_has_no_comments_around_it() {
        for (text, expect) in [
            ("SELECT 1;", "SELECT 1"),
            ("/* a /* b */ */ -- c\n SELECT 1 ; ", "SELECT 1"),
            ("/* only */", ""),
            (";", ""),
            ("SELECT /* in */ 1", "SELECT /* in */ 1"),
        ] {
            assert_eq!(&text[bare(text)], expect, "{text}");
        }
    }
}
