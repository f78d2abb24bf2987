//! What clients run: the scripts of `-b`, `-f`, `-N` and `-S`, and the variables that `-D` gives them.

use super::reading::Reading;
use crate::drive::dial::system_words;
use crate::faces::pgbench::{builtin, fatal, refuse_script};
use crate::script::encoding;
use crate::script::program::Source;
use crate::script::value::Value;
use std::fs;
use std::io::{self, Read};

const SCRIPTS_MAX: usize = 128;

impl Reading {
    pub(super) fn add_builtin(&mut self, name: &str, weight: u32) {
        let builtin = builtin::named(name);
        self.add_script(builtin.description, weight, builtin.script.to_owned());
        self.uses_builtin = true;
    }

    pub(super) fn add_file(&mut self, option: &str) {
        let (name, weight) = builtin::weighted(option);
        let mut bytes = Vec::new();
        let read = match name {
            "-" => io::stdin().lock().read_to_end(&mut bytes).map(drop),
            _ => match fs::File::open(name) {
                Ok(mut file) => file.read_to_end(&mut bytes).map(drop),
                Err(error) => fatal(format_args!("could not open file \"{name}\": {}", system_words(&error))),
            },
        };
        if let Err(error) = read {
            fatal(format_args!("could not read file \"{name}\": {}", system_words(&error)));
        }
        // As C does, which ends a text at its first zero byte.
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
        self.add_script(name, weight, encoding::text(&bytes));
    }

    fn add_script(&mut self, name: &str, weight: u32, text: String) {
        let full = self.compiler.scripts() >= SCRIPTS_MAX;
        let added = self.compiler.add(&Source { name: name.to_owned(), weight, text });
        if let Err(error) = added {
            refuse_script(&error);
        }
        if full {
            fatal(format_args!("at most {SCRIPTS_MAX} SQL scripts are allowed"));
        }
    }

    pub(super) fn define(&mut self, definition: &str) {
        let (name, value) = match definition.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => (name, value),
            _ => fatal(format_args!("invalid variable definition: \"{definition}\"")),
        };
        if crate::script::name_length(name.as_bytes()) != name.len() {
            fatal(format_args!("option: invalid variable name: \"{name}\""));
        }
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), Value::text(value.as_bytes())));
    }
}
