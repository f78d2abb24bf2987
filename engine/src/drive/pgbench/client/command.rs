//! Meta commands.

use super::{Client, Desk, Now, Phase};
use crate::drive::pgbench::settings::Mode;
use crate::drive::pgbench::{meta, voice};
use crate::script::evaluate::Scope;
use crate::script::expression::Expression;
use crate::script::meta::Target;
use crate::script::program::{Action, Command, Program};
use crate::script::value::{Scalar, Value, write_double};
use crate::wire::frontend;

impl Client {
    /// Executes a meta command. `name`: as the script has it.
    pub(super) fn execute(&mut self, desk: &mut Desk<'_>, now: &mut Now, action: &Action, name: &str) -> Phase {
        let over = desk.over.is_set();
        match action {
            Action::Statement(_) => unreachable!("no meta command"),
            Action::Set(set) => {
                let Some(scalar) = self.evaluate(desk, &set.expression) else {
                    self.command_failed(name, "evaluation of meta-command failed");
                    return Phase::Aborted;
                };
                self.assign(&set.target, Value::Scalar(scalar), name, "assignment of meta-command failed")
            }
            Action::Elif(_) if !self.jumped => Phase::EndCommand,
            Action::If(condition) | Action::Elif(condition) => {
                let Some(scalar) = self.evaluate(desk, &condition.expression) else {
                    self.command_failed(name, "evaluation of meta-command failed");
                    return Phase::Aborted;
                };
                self.skips = !scalar.is_true();
                Phase::EndCommand
            }
            Action::Else { .. } | Action::Endif => Phase::EndCommand,
            Action::Sleep(sleep) => match meta::sleep_time(sleep, name, &self.variables) {
                Some(time) => Phase::Sleeping { until_us: now.us() + time.as_micros() as i64 },
                None => {
                    self.command_failed("sleep", "execution of meta-command failed");
                    Phase::Aborted
                }
            },
            Action::Shell(line) => match meta::run_shell(line, &self.variables, over) {
                true => Phase::EndCommand,
                false => {
                    self.command_failed("shell", "execution of meta-command failed");
                    Phase::Aborted
                }
            },
            Action::SetShell { target, line } => match meta::ask_shell(line, &self.variables, over) {
                Some(value) => {
                    let value = Value::Scalar(Scalar::Integer(value));
                    self.assign(target, value, "setshell", "execution of meta-command failed")
                }
                None => {
                    self.command_failed("setshell", "execution of meta-command failed");
                    Phase::Aborted
                }
            },
            Action::StartPipeline => self.start_pipeline(desk),
            Action::SyncPipeline if self.piping => {
                self.sync();
                Phase::EndCommand
            }
            Action::EndPipeline if self.piping => {
                self.sync();
                self.send_pipe(desk);
                Phase::Answered
            }
            Action::SyncPipeline | Action::EndPipeline => {
                let name = if matches!(action, Action::SyncPipeline) { "syncpipeline" } else { "endpipeline" };
                self.command_failed(name, "not in pipeline mode");
                Phase::Aborted
            }
        }
    }

    /// Ends a part of the pipeline, or all of it.
    pub(super) fn sync(&mut self) {
        frontend::sync(&mut self.pipe);
        self.reply.awaited += 1;
        self.syncs += 1;
    }

    /// Executes the `\set`s from here on that are well, without a turn for each: they wait for nothing. One in trouble is
    /// left to [`Client::execute`], which finds the same trouble. `false`: there was none.
    pub(super) fn set_in_a_row(&mut self, desk: &mut Desk<'_>) -> bool {
        let program = desk.program;
        let (commands, before) = (&program.scripts[self.script].commands, self.command);
        while let Some(Command { action: Action::Set(set), .. }) = commands.get(self.command)
            && let Target::Slot(slot) = set.target
        {
            let functions = self.functions.clone();
            let mut scope = Scope { variables: &self.variables, prng: &mut self.functions, shown: &mut desk.shown };
            match set.expression.evaluate(&mut scope) {
                Ok(scalar) if desk.shown.is_empty() => self.variables[slot] = Value::Scalar(scalar),
                _ => {
                    // Drawn and shown again by whoever tells of it.
                    self.functions = functions;
                    desk.shown.clear();
                    break;
                }
            }
            self.command += 1;
        }
        self.command > before
    }

    pub(super) fn evaluate(&mut self, desk: &mut Desk<'_>, expression: &Expression) -> Option<Scalar> {
        let mut scope = Scope { variables: &self.variables, prng: &mut self.functions, shown: &mut desk.shown };
        let evaluated = expression.evaluate(&mut scope);
        if !desk.shown.is_empty() {
            for scalar in desk.shown.drain(..) {
                show(self.script, self.command, scalar);
            }
        }
        match evaluated {
            Ok(scalar) => Some(scalar),
            Err(error) => {
                if let Some(words) = error.words(&desk.program.names) {
                    voice::error(words);
                }
                None
            }
        }
    }

    pub(super) fn assign(&mut self, target: &Target, value: Value, name: &str, failed: &str) -> Phase {
        match target {
            Target::Slot(slot) => {
                self.variables[*slot] = value;
                Phase::EndCommand
            }
            Target::Invalid(variable) => {
                voice::error(format_args!("{name}: invalid variable name: \"{variable}\""));
                self.command_failed(&name.to_ascii_lowercase(), failed);
                Phase::Aborted
            }
        }
    }

    pub(super) fn start_pipeline(&mut self, desk: &mut Desk<'_>) -> Phase {
        if desk.settings.mode == Mode::Simple {
            self.command_failed("startpipeline", "cannot use pipeline mode with the simple query protocol");
            return Phase::Aborted;
        }
        if self.piping {
            self.command_failed("startpipeline", "already in pipeline mode");
            return Phase::Aborted;
        }
        self.reply.expect(0, None);
        self.syncs = 0;
        // Preparing inside of the pipeline would give its transaction a snapshot too early.
        let wanted = match desk.settings.mode {
            Mode::Prepared => self.unprepared_in_pipeline(desk.program),
            _ => Vec::new(),
        };
        if !wanted.is_empty() {
            return self.prepare(desk, &wanted, true);
        }
        self.piping = true;
        Phase::EndCommand
    }

    /// The statements up to the pipeline's end that are to be prepared.
    pub(super) fn unprepared_in_pipeline(&self, program: &Program) -> Vec<usize> {
        let rest = &program.scripts[self.script].commands[self.command + 1..];
        rest.iter()
            .take_while(|command| !matches!(command.action, Action::EndPipeline))
            .filter_map(|command| match command.action {
                Action::Statement(number) if !self.prepared[number] => Some(number),
                _ => None,
            })
            .collect()
    }
}

/// What `debug()` prints.
fn show(script: usize, command: usize, scalar: Scalar) {
    let value = match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Boolean(value) => format!("boolean {value}"),
        Scalar::Integer(value) => format!("int {value}"),
        Scalar::Double(value) => {
            let mut text = b"double ".to_vec();
            write_double(value, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
    };
    voice::raw(&format!("debug(script={script},command={}): {value}", command + 1));
}
