//! Parameters of statements: as text, as pgbench sends them, or numbers in binary form.

use super::{Client, Desk};
use crate::drive::connect;
use crate::drive::pgbench::desk::Binary;
use crate::script::encoding;
use crate::script::program::Statement;
use crate::script::value::{Guess, Scalar, Value};
use crate::wire::frontend::{self, Asking, Execution};
use crate::wire::parameter::Form;

impl Client {
    /// Keeps what the server said of the statements that were prepared. All clients of a thread share it: the first
    /// to know tells.
    pub(super) fn learn_forms(&mut self, desk: &mut Desk<'_>) {
        for (number, types) in self.preparing.drain(..).zip(self.reply.described.drain(..)) {
            let wanted = desk.program.statements[number].parameters.len();
            let forms: Vec<Form> = types.into_iter().map(Form::of).collect();
            if desk.binaries[number].is_some() || forms.len() != wanted || forms.iter().all(|form| form.code() == 0) {
                continue;
            }
            let parameters = u16::try_from(wanted).expect("the script was checked for it");
            let asking = |sync| {
                let asking = Asking { parse: None, describe: true, sync, forms: &forms };
                Execution::asking(&connect::prepared_name(number), parameters, asking)
            };
            let (alone, piped) = (asking(true), asking(false));
            desk.binaries[number] = Some(Binary { forms, alone, piped });
        }
    }

    /// Appends what executes a statement with the variables as they are; `false`: a value is none of its type, as was
    /// said.
    #[inline]
    pub(super) fn write_execution(&self, desk: &Desk<'_>, number: usize, out: &mut Vec<u8>) -> bool {
        let statement = &desk.program.statements[number];
        match &desk.binaries[number] {
            None => {
                let executions = if self.piping { desk.executions_piped } else { desk.executions };
                executions[number].write(out, |out| self.write_texts(statement, out));
                true
            }
            Some(binary) => {
                let execution = if self.piping { &binary.piped } else { &binary.alone };
                let mut refused = None;
                execution.write(out, |out| refused = self.write_binaries(statement, &binary.forms, out));
                if let Some(what) = &refused {
                    self.command_failed("SQL", what);
                }
                refused.is_none()
            }
        }
    }

    #[inline]
    fn write_texts(&self, statement: &Statement, out: &mut Vec<u8>) {
        for &slot in &statement.parameters {
            match &self.variables[slot] {
                Value::Unset => frontend::null_parameter(out),
                value => frontend::written_parameter(out, |out| {
                    value.write_text(out);
                }),
            }
        }
    }

    /// What cannot be sent, if something cannot.
    #[inline]
    fn write_binaries(&self, statement: &Statement, forms: &[Form], out: &mut Vec<u8>) -> Option<String> {
        for (&slot, &form) in statement.parameters.iter().zip(forms) {
            let value = &self.variables[slot];
            let guessed = match (form, value) {
                (_, Value::Unset) | (_, Value::Scalar(Scalar::Null)) => {
                    frontend::null_parameter(out);
                    continue;
                }
                (Form::Text, value) => {
                    frontend::written_parameter(out, |out| {
                        value.write_text(out);
                    });
                    continue;
                }
                (_, Value::Scalar(scalar)) => *scalar,
                (_, Value::Text(text)) => match Scalar::guess(text) {
                    Guess::Scalar(scalar) => scalar,
                    _ => {
                        let text = encoding::shown(text);
                        return Some(format!("invalid input syntax for type {}: \"{text}\"", form.name()));
                    }
                },
            };
            let written = match guessed {
                Scalar::Integer(value) => form.write_integer(value, out),
                Scalar::Double(value) => form.write_double(value, out),
                Scalar::Boolean(_) | Scalar::Null => false,
            };
            if !written {
                let mut text = Vec::new();
                value.write_text(&mut text);
                let text = String::from_utf8_lossy(&text);
                return Some(format!("value \"{text}\" is none of type {}", form.name()));
            }
        }
        None
    }
}
