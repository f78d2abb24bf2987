//! A command line in options and the rest, as the C library's `getopt_long` reads it: options may
//! come behind other arguments, long ones may be shortened, short ones joined.

/// A long option, and the letter or number that stands for it.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    pub long: &'static str,
    pub key: char,
    pub has_value: bool,
    /// Its name may be shortened. What pgbench does not know may not be: it would take the short
    /// names of what pgbench does know.
    pub can_be_short: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub key: char,
    /// Empty where the option has none.
    pub value: String,
}

/// Hands out options one by one; what is left are the other arguments.
pub struct Getopt<'a> {
    program: &'a str,
    known: &'a [Known],
    arguments: std::vec::IntoIter<String>,
    /// Letters of joined short options that are still to come.
    joined: String,
    pub others: Vec<String>,
}

impl<'a> Getopt<'a> {
    pub fn new(program: &'a str, known: &'a [Known], arguments: Vec<String>) -> Self {
        Self { program, known, arguments: arguments.into_iter(), joined: String::new(), others: Vec::new() }
    }

    fn short(&mut self) -> Result<Given, String> {
        let key = self.joined.remove(0);
        let program = self.program;
        let known = self.known.iter().find(|known| known.key == key && key.is_ascii_alphabetic());
        match known {
            None => Err(format!("{program}: invalid option -- '{key}'")),
            Some(Known { has_value: false, .. }) => Ok(Given { key, value: String::new() }),
            Some(_) if !self.joined.is_empty() => Ok(Given { key, value: std::mem::take(&mut self.joined) }),
            Some(_) => match self.arguments.next() {
                Some(value) => Ok(Given { key, value }),
                None => Err(format!("{program}: option requires an argument -- '{key}'")),
            },
        }
    }

    fn long(&mut self, argument: &str) -> Result<Given, String> {
        let program = self.program;
        let (name, value) = argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value)));
        let exact = self.known.iter().find(|known| known.long == name);
        let candidates: Vec<&Known> = match exact {
            Some(exact) => vec![exact],
            None => self.known.iter().filter(|known| known.can_be_short && known.long.starts_with(name)).collect(),
        };
        let [Known { long, key, has_value, .. }] = candidates[..] else {
            if candidates.is_empty() {
                return Err(format!("{program}: unrecognized option '--{argument}'"));
            }
            let names: Vec<String> = candidates.iter().map(|known| format!("'--{}'", known.long)).collect();
            return Err(format!("{program}: option '--{argument}' is ambiguous; possibilities: {}", names.join(" ")));
        };
        match (has_value, value) {
            (false, Some(_)) => Err(format!("{program}: option '--{long}' doesn't allow an argument")),
            (false, None) => Ok(Given { key: *key, value: String::new() }),
            (true, Some(value)) => Ok(Given { key: *key, value: value.to_owned() }),
            (true, None) => match self.arguments.next() {
                Some(value) => Ok(Given { key: *key, value }),
                None => Err(format!("{program}: option '--{long}' requires an argument")),
            },
        }
    }
}

impl Iterator for Getopt<'_> {
    type Item = Result<Given, String>;

    /// The next option, or what is wrong with it.
    fn next(&mut self) -> Option<Self::Item> {
        if !self.joined.is_empty() {
            return Some(self.short());
        }
        loop {
            let argument = self.arguments.next()?;
            if argument == "--" {
                self.others.extend(self.arguments.by_ref());
                return None;
            }
            if let Some(long) = argument.strip_prefix("--") {
                return Some(self.long(long));
            }
            match argument.strip_prefix('-') {
                Some(letters) if !letters.is_empty() => {
                    self.joined = letters.to_owned();
                    return Some(self.short());
                }
                _ => self.others.push(argument),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Known; 4] = [
        Known { long: "client", key: 'c', has_value: true, can_be_short: true },
        Known { long: "log", key: 'l', has_value: false, can_be_short: true },
        Known { long: "log-prefix", key: '1', has_value: true, can_be_short: true },
        Known { long: "latency", key: 'L', has_value: true, can_be_short: true },
    ];

    fn check(arguments: &[&str], given: &[(char, &str)], others: &[&str]) {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut getopt = Getopt::new("p", &KNOWN, arguments);
        let mut found = Vec::new();
        for option in getopt.by_ref() {
            let Given { key, value } = option.unwrap();
            found.push((key, value));
        }
        let given: Vec<_> = given.iter().map(|&(key, value)| (key, value.to_owned())).collect();
        assert_eq!((found, getopt.others), (given, others.iter().map(|&other| other.to_owned()).collect()));
    }

    #[test]
    fn options_are_found_wherever_they_stand() {
        check(&["x", "-lc5", "y", "-c", "6", "--cl=7"], &[('l', ""), ('c', "5"), ('c', "6"), ('c', "7")], &["x", "y"]);
        check(&["--log", "--log-p", "z", "--", "-l"], &[('l', ""), ('1', "z")], &["-l"]);
        check(&["-"], &[], &["-"]);
    }

    #[test]
    fn what_is_wrong_is_told_as_the_c_library_does() {
        for (argument, what) in [
            ("-x", "p: invalid option -- 'x'"),
            ("-1", "p: invalid option -- '1'"),
            ("-c", "p: option requires an argument -- 'c'"),
            ("---log", "p: unrecognized option '---log'"),
            ("--l", "p: option '--l' is ambiguous; possibilities: '--log' '--log-prefix' '--latency'"),
            ("--log=1", "p: option '--log' doesn't allow an argument"),
            ("--client", "p: option '--client' requires an argument"),
        ] {
            let mut getopt = Getopt::new("p", &KNOWN, vec![argument.to_owned()]);
            assert_eq!(getopt.next(), Some(Err(what.to_owned())));
        }
    }
}
