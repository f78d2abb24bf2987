//! `:name` in SQL becomes `$n`, as pgbench's prepared mode does it: everywhere, inside quotes and
//! comments too, but not behind a second colon (`::` is a cast).

use super::name_length;

/// As in pgbench. The same variable twice counts twice.
pub const PARAMETERS_MAX: usize = 255;

/// Where a variable is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use<'a> {
    pub name: &'a str,
    /// Its colon's place in the statement.
    pub at: usize,
}

/// The text with `$1`, `$2` ... and the variables they stand for.
pub fn replace(text: &str) -> (String, Vec<Use<'_>>) {
    let bytes = text.as_bytes();
    let mut replaced = String::with_capacity(text.len());
    let mut uses = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(colon) = text[at..].find(':').map(|found| at + found) {
        let length = name_length(&bytes[colon + 1..]);
        if length == 0 {
            at = colon + bytes[colon..].iter().take_while(|&&byte| byte == b':').count();
            continue;
        }
        at = colon + 1 + length;
        uses.push(Use { name: &text[colon + 1..at], at: colon });
        replaced.push_str(&text[copied..colon]);
        replaced.push('$');
        replaced.push_str(&uses.len().to_string());
        copied = at;
    }
    replaced.push_str(&text[copied..]);
    (replaced, uses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str, names: &[&str]) {
        let (replaced, uses) = replace(text);
        assert_eq!(replaced, expect);
        assert_eq!(uses.iter().map(|used| used.name).collect::<Vec<_>>(), names);
    }

    #[test]
    fn variables_become_numbered_parameters() {
        check("SELECT :a, :b2+:a", "SELECT $1, $2+$3", &["a", "b2", "a"]);
        check("SELECT ':a' -- :a", "SELECT '$1' -- $2", &["a", "a"]);
        check("SELECT 1::int, '12:30', a[1:2]", "SELECT 1::int, '12:30', a[1:2]", &[]);
        check("SELECT :a::int, x:::b", "SELECT $1::int, x:::b", &["a"]);
        check("SELECT :größe", "SELECT $1", &["größe"]);
        check(":", ":", &[]);
    }
}
