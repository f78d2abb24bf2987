//! What native programs and rows are given by name: typed, checked, and complete.

use std::collections::{BTreeMap, btree_map};
use std::fmt::{self, Display};
use std::ops::RangeInclusive;

#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text(String),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters(BTreeMap<String, Given>);

/// Takes parameters out one by one; what is left at the [`Reading::end`] is an error.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    given: &'a Parameters,
    asked: Vec<&'static str>,
}

impl Parameters {
    pub fn of<const N: usize>(given: [(&str, Given); N]) -> Self {
        given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    pub fn read(&self) -> Reading<'_> {
        Reading { given: self, asked: Vec::new() }
    }
}

impl FromIterator<(String, Given)> for Parameters {
    fn from_iter<T: IntoIterator<Item = (String, Given)>>(given: T) -> Self {
        Self(given.into_iter().collect())
    }
}

impl IntoIterator for Parameters {
    type Item = (String, Given);
    type IntoIter = btree_map::IntoIter<String, Given>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Reading<'_> {
    /// A whole number within the range.
    pub fn integer(&mut self, name: &'static str, range: RangeInclusive<i64>) -> Result<i64, String> {
        match self.take(name)? {
            Given::Integer(value) if range.contains(value) => Ok(*value),
            other => refuse(name, other, &format!("a whole number from {} to {}", range.start(), range.end())),
        }
    }

    /// [`Reading::integer`] for numbers that count something.
    pub fn count(&mut self, name: &'static str, range: RangeInclusive<u64>) -> Result<u64, String> {
        let (least, most) = (*range.start() as i64, i64::try_from(*range.end()).unwrap_or(i64::MAX));
        self.integer(name, least..=most).map(|value| value as u64)
    }

    /// A number within the range, whole ones included.
    pub fn number(&mut self, name: &'static str, range: RangeInclusive<f64>) -> Result<f64, String> {
        let given = self.take(name)?;
        let value = match given {
            Given::Integer(value) => *value as f64,
            Given::Number(value) => *value,
            Given::Boolean(_) | Given::Text(_) => f64::NAN,
        };
        match range.contains(&value) {
            true => Ok(value),
            false => refuse(name, given, &format!("a number from {} to {}", range.start(), range.end())),
        }
    }

    pub fn boolean(&mut self, name: &'static str) -> Result<bool, String> {
        match self.take(name)? {
            Given::Boolean(value) => Ok(*value),
            other => refuse(name, other, "true or false"),
        }
    }

    /// One of the words, by its place among them.
    pub fn choice(&mut self, name: &'static str, words: &[&str]) -> Result<usize, String> {
        let given = self.take(name)?;
        let place = match given {
            Given::Text(text) => words.iter().position(|word| word == text),
            _ => None,
        };
        place.map_or_else(|| refuse(name, given, &format!("one of {}", words.join(", "))), Ok)
    }

    pub fn text(&mut self, name: &'static str) -> Result<&str, String> {
        match self.take(name)? {
            Given::Text(text) => Ok(text),
            other => refuse(name, other, "a text"),
        }
    }

    /// Refuses what nobody asked for.
    pub fn end(self) -> Result<(), String> {
        match self.given.0.keys().find(|name| !self.asked.contains(&name.as_str())) {
            Some(name) => Err(format!("unknown parameter `{name}`, expected {}", listed(&self.asked))),
            None => Ok(()),
        }
    }

    fn take(&mut self, name: &'static str) -> Result<&Given, String> {
        self.asked.push(name);
        self.given.0.get(name).ok_or_else(|| format!("missing parameter `{name}`"))
    }
}

fn refuse<T>(name: &str, given: &Given, wanted: &str) -> Result<T, String> {
    Err(format!("parameter `{name}` is {given}, not {wanted}"))
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    }
}

impl Display for Given {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Integer(value) => write!(formatter, "{value}"),
            Given::Number(value) => write!(formatter, "{value}"),
            Given::Boolean(value) => write!(formatter, "{value}"),
            Given::Text(text) => write!(formatter, "\"{text}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_read_by_name_and_type() {
        let given = Parameters::of([
            ("a", Given::Integer(3)),
            ("b", Given::Number(0.5)),
            ("c", Given::Text("x".into())),
            ("d", Given::Boolean(true)),
        ]);
        let mut reading = given.read();
        assert_eq!(reading.integer("a", 0..=3), Ok(3));
        assert_eq!(reading.number("a", 0.0..=3.0), Ok(3.0));
        assert_eq!(reading.number("b", 0.0..=1.0), Ok(0.5));
        assert_eq!(reading.choice("c", &["y", "x"]), Ok(1));
        assert_eq!(reading.boolean("d"), Ok(true));
        assert_eq!(reading.end(), Ok(()));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_value() {
        let given = Parameters::of([("a", Given::Integer(4)), ("b", Given::Text("z".into()))]);
        let mut reading = given.read();
        assert_eq!(reading.integer("a", 0..=3).unwrap_err(), "parameter `a` is 4, not a whole number from 0 to 3");
        assert_eq!(reading.number("b", 0.0..=1.0).unwrap_err(), "parameter `b` is \"z\", not a number from 0 to 1");
        assert_eq!(reading.choice("b", &["x", "y"]).unwrap_err(), "parameter `b` is \"z\", not one of x, y");
        assert_eq!(reading.boolean("c").unwrap_err(), "missing parameter `c`");
        let mut reading = given.read();
        reading.integer("a", 0..=9).unwrap();
        assert_eq!(reading.end().unwrap_err(), "unknown parameter `b`, expected `a`");
    }
}
