//! Statements: how they are sent in each protocol, and what is done with the answer.

use super::{Client, Desk, PIPELINE_BYTES, Phase, Trouble};
use crate::drive::connect;
use crate::drive::pgbench::settings::Mode;
use crate::drive::pgbench::voice;
use crate::script::name_length;
use crate::script::program::{Action, Program, Statement};
use crate::script::value::Value;
use crate::wire::frontend;

impl Client {
    pub(super) fn start_statement(&mut self, desk: &mut Desk<'_>, number: usize) -> Phase {
        let statement = &desk.program.statements[number];
        if self.piping
            && let Some(store) = &statement.store
        {
            let name = if store.all { "aset" } else { "gset" };
            self.command_failed(name, &format!("\\{name} is not allowed in pipeline mode"));
            return Phase::Aborted;
        }
        if desk.settings.mode == Mode::Prepared && !self.prepared[number] {
            return self.prepare(desk, &[number], false);
        }
        self.send_statement(desk, number)
    }

    /// Sends what prepares the statements, each with an answer of its own.
    pub(super) fn prepare(&mut self, desk: &mut Desk<'_>, numbers: &[usize], pipeline: bool) -> Phase {
        let mut out = Vec::new();
        let describe = desk.settings.binary_parameters;
        self.reply.describes = describe;
        self.reply.described.clear();
        self.preparing = numbers.to_vec();
        for &number in numbers {
            let name = connect::prepared_name(number);
            voice::debug(format_args!("client {} preparing {name}", self.number));
            frontend::parse(&name, &desk.program.statements[number].prepared_text, describe, &mut out);
            // Also if the server refuses it: the execution will say so again, and end the client.
            self.prepared[number] = true;
        }
        self.reply.expect(numbers.len(), None);
        desk.transport.send(self.place, &out);
        Phase::Preparing { pipeline }
    }

    pub(super) fn was_prepared(&mut self, desk: &mut Desk<'_>, pipeline: bool) -> Phase {
        let action = &desk.program.scripts[self.script].commands[self.command].action;
        self.reply.describes = false;
        self.learn_forms(desk);
        if let Some(error) = self.reply.error.take() {
            let query = match action {
                Action::Statement(number) => Some(&desk.program.statements[*number].prepared_text),
                _ => None,
            };
            let query = query.map(|query| String::from_utf8_lossy(query));
            voice::error(error.shown(query.as_deref(), true));
        }
        match action {
            _ if pipeline => {
                self.piping = true;
                Phase::EndCommand
            }
            Action::Statement(number) => self.send_statement(desk, *number),
            _ => unreachable!("only statements and pipelines prepare"),
        }
    }

    pub(super) fn send_statement(&mut self, desk: &mut Desk<'_>, number: usize) -> Phase {
        let statement = &desk.program.statements[number];
        if self.piping {
            let mut pipe = std::mem::take(&mut self.pipe);
            let written = self.write_execution(desk, number, &mut pipe);
            let full = pipe.len() >= PIPELINE_BYTES;
            self.pipe = pipe;
            if !written {
                return Phase::Aborted;
            }
            self.tell_sending(desk, statement, number);
            if full {
                self.send_pipe(desk);
            }
            return Phase::EndCommand;
        }
        let mut out = std::mem::take(&mut desk.outgoing);
        out.clear();
        let written = match desk.settings.mode {
            Mode::Simple => {
                frontend::written_query(&mut out, |out| self.write_text(statement, out));
                true
            }
            Mode::Extended | Mode::Prepared => self.write_execution(desk, number, &mut out),
        };
        if !written {
            return Phase::Aborted;
        }
        self.tell_sending(desk, statement, number);
        self.reply.expect(1, statement.store.as_ref());
        desk.transport.send(self.place, &out);
        desk.outgoing = out;
        Phase::Answered
    }

    pub(super) fn tell_sending(&self, desk: &Desk<'_>, statement: &Statement, number: usize) {
        if !voice::debugging() {
            return;
        }
        let text = match desk.settings.mode {
            Mode::Simple => {
                let mut text = Vec::new();
                self.write_text(statement, &mut text);
                String::from_utf8_lossy(&text).into_owned()
            }
            Mode::Extended => String::from_utf8_lossy(&statement.prepared_text).into_owned(),
            Mode::Prepared => connect::prepared_name(number),
        };
        voice::debug(format_args!("client {} sending {text}", self.number));
    }

    /// The statement with the values of its variables; unknown ones stay as they are.
    pub(super) fn write_text(&self, statement: &Statement, out: &mut Vec<u8>) {
        let text = &statement.text;
        let mut copied = 0;
        for (place, &slot) in statement.uses.iter().zip(&statement.parameters) {
            out.extend_from_slice(&text[copied..place.start]);
            if !self.variables[slot].write_text(out) {
                out.extend_from_slice(&text[place.clone()]);
            }
            copied = place.end;
        }
        out.extend_from_slice(&text[copied..]);
    }

    pub(super) fn send_pipe(&mut self, desk: &mut Desk<'_>) {
        desk.transport.send(self.place, &self.pipe);
        self.pipe.clear();
    }

    pub(super) fn answered(&mut self, desk: &mut Desk<'_>) -> Phase {
        if self.reply.copies {
            voice::error("COPY is not supported in pgbench, aborting");
            return Phase::Aborted;
        }
        let action = &desk.program.scripts[self.script].commands[self.command].action;
        let statement = match action {
            Action::Statement(number) => Some(&desk.program.statements[*number]),
            _ => None,
        };
        if let Some(error) = &self.reply.error {
            self.trouble = match error.sqlstate.as_str() {
                "40001" => Trouble::Serialization,
                "40P01" => Trouble::Deadlock,
                _ => Trouble::Other,
            };
            let query = match (statement, desk.settings.mode) {
                (Some(statement), Mode::Extended) => {
                    Some(String::from_utf8_lossy(&statement.prepared_text).into_owned())
                }
                (Some(statement), Mode::Simple) => {
                    let mut text = Vec::new();
                    self.write_text(statement, &mut text);
                    Some(String::from_utf8_lossy(&text).into_owned())
                }
                _ => None,
            };
            if self.trouble == Trouble::Other {
                self.tell_error(query.as_deref());
                return Phase::Aborted;
            }
            if desk.settings.verbose_errors {
                let (number, command, script) = (self.number, self.command, self.script);
                let text = error.shown(query.as_deref(), true);
                voice::info(format_args!(
                    "client {number} got an error in command {command} (SQL) of script {script}; {text}"
                ));
            }
            return Phase::Failed;
        }
        if let Some(store) = statement.and_then(|statement| statement.store.as_ref())
            && !self.store(desk.program, store.all, &store.prefix)
        {
            self.trouble = Trouble::Other;
            return Phase::Aborted;
        }
        if self.piping {
            for left in (1..=self.syncs).rev() {
                voice::debug(format_args!("client {} pipeline ending, ongoing syncs: {left}", self.number));
            }
        }
        self.piping = false;
        Phase::EndCommand
    }

    /// Puts columns into variables.
    pub(super) fn store(&mut self, program: &Program, all: bool, prefix: &str) -> bool {
        let complain = |query: usize, what: &str| {
            let (number, script, command) = (self.number, self.script, self.command);
            voice::error(format_args!("client {number} script {script} command {command} query {query}: {what}"));
        };
        if !all && self.reply.rows_last != 1 {
            let last = self.reply.results.saturating_sub(1);
            complain(last, &format!("expected one row, got {}", self.reply.rows_last));
            return false;
        }
        let columns = self.reply.stored.iter().flat_map(|(query, row)| row.iter().map(move |column| (*query, column)));
        for (query, (column, value)) in columns {
            let name = format!("{prefix}{column}");
            match program.slot(&name) {
                Some(slot) => self.variables[slot] = Value::Text(value.as_str().into()),
                // No script uses it.
                None if name_length(name.as_bytes()) == name.len() && !name.is_empty() => {}
                None => {
                    let how = if all { "aset" } else { "gset" };
                    voice::error(format_args!("{how}: invalid variable name: \"{name}\""));
                    complain(query, &format!("error storing into variable {name}"));
                    return false;
                }
            }
        }
        true
    }

    pub(super) fn tell_error(&mut self, query: Option<&str>) {
        let Some(error) = &self.reply.error else { return };
        // Of a pipeline every command is looked at by itself.
        let result = if self.piping { 0 } else { self.reply.results };
        let (number, script, command) = (self.number, self.script, self.command);
        let text = error.shown(query, true);
        voice::error(format_args!(
            "client {number} script {script} aborted in command {command} query {result}: {text}"
        ));
    }
}
