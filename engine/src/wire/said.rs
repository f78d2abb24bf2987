//! What a server said, as every PostgreSQL client shows it.

use super::ServerError;
use std::fmt::Write as _;

/// Of a line with an error at most this many characters are shown, and so many to the right of it.
const LINE_CHARACTERS_MAX: usize = 60;
const RIGHT_CHARACTERS_MIN: usize = 10;

impl ServerError {
    pub fn field(&self, letter: u8) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == letter).map(|(_, text)| text.as_str())
    }

    /// Several lines, each with its newline. `query`: what was sent, if it was sent as text.
    /// Notices are shown without their context.
    pub fn shown(&self, query: Option<&str>, with_context: bool) -> String {
        let mut text = String::new();
        if let Some(severity) = self.field(b'S') {
            write!(text, "{severity}:  ").expect("a String takes all");
        }
        text += &self.message;
        let internal_query = self.field(b'q');
        let (query, position) = match (self.field(b'P'), self.field(b'p')) {
            (Some(position), _) => (query, Some(position)),
            (None, Some(position)) => (internal_query, Some(position)),
            (None, None) => (None, None),
        };
        let excerpt = match (query, position) {
            (Some(query), Some(position)) => position.parse().ok().and_then(|position| excerpt(query, position)),
            (None, Some(position)) => {
                write!(text, " at character {position}").expect("a String takes all");
                None
            }
            (_, None) => None,
        };
        text.push('\n');
        text += &excerpt.unwrap_or_default();
        let context = with_context.then(|| self.field(b'W')).flatten();
        let parts =
            [("DETAIL", self.field(b'D')), ("HINT", self.field(b'H')), ("QUERY", internal_query), ("CONTEXT", context)];
        for (name, part) in parts {
            if let Some(part) = part {
                writeln!(text, "{name}:  {part}").expect("a String takes all");
            }
        }
        text
    }
}

/// The line of a query with the character at `position`, counted from 1, and a caret under it.
fn excerpt(query: &str, position: usize) -> Option<String> {
    let characters: Vec<char> = query.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    let at = position.checked_sub(1).filter(|&at| at <= characters.len())?;
    let breaks = |c: &char| matches!(c, '\n' | '\r');
    let number = query.chars().take(at).filter(|&c| c == '\n').count() + 1;
    let mut begin = characters[..at].iter().rposition(breaks).map_or(0, |found| found + 1);
    let mut end = characters[at..].iter().position(breaks).map_or(characters.len(), |found| at + found);
    let (mut cut_left, mut cut_right) = ("", "");
    if end - begin > LINE_CHARACTERS_MAX {
        if begin + LINE_CHARACTERS_MAX >= at + RIGHT_CHARACTERS_MIN {
            (end, cut_right) = (begin + LINE_CHARACTERS_MAX, "...");
        } else {
            if at + RIGHT_CHARACTERS_MIN < end {
                (end, cut_right) = (at + RIGHT_CHARACTERS_MIN, "...");
            }
            if end - begin > LINE_CHARACTERS_MAX {
                (begin, cut_left) = (end - LINE_CHARACTERS_MAX, "...");
            }
        }
    }
    let before = format!("LINE {number}: {cut_left}");
    let line: String = characters[begin..end].iter().collect();
    let blanks = " ".repeat(before.chars().count() + at - begin);
    Some(format!("{before}{line}{cut_right}\n{blanks}^\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(fields: &[(u8, &str)]) -> ServerError {
        let fields = fields.iter().map(|&(letter, text)| (letter, text.to_owned())).collect();
        ServerError { sqlstate: "42601".into(), message: "syntax error at or near \";\"".into(), fields }
    }

    #[test]
    fn an_error_points_into_the_query() {
        let error = error(&[(b'S', "ERROR"), (b'P', "13"), (b'H', "look"), (b'W', "here")]);
        let shown = "ERROR:  syntax error at or near \";\"\nLINE 2:  1 + ;\n             ^\nHINT:  look\n";
        assert_eq!(error.shown(Some("SELECT\n 1 + ;"), false), shown);
        assert_eq!(error.shown(Some("SELECT\n 1 + ;"), true), format!("{shown}CONTEXT:  here\n"));
        assert!(error.shown(None, false).starts_with("ERROR:  syntax error at or near \";\" at character 13\n"));
    }

    #[test]
    fn long_lines_are_cut_around_the_error() {
        let query = format!("{}x{}", "a".repeat(100), "b".repeat(100));
        let shown = error(&[(b'P', "101")]).shown(Some(&query), false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1], format!("LINE 1: ...{}x{}...", "a".repeat(50), "b".repeat(9)));
        assert_eq!(lines[2].find('^'), lines[1].find('x'));
    }
}
