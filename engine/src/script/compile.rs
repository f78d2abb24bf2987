//! From the text of scripts to a program.

use super::expression::{Expression, Slot};
use super::meta::{self, Meta, Order, Target};
use super::parameters::{self, PARAMETERS_MAX};
use super::program::{Action, Command, Condition, Dialect, Program, Risk, Script, Set, Source, Statement, Store};
use super::split::{self, Piece};
use super::stored::Promised;
use super::value::Value;
use super::{Context, Fault, Lines, ScriptError};
use super::{condition, encoding, pipeline};
use std::collections::HashMap;

/// Takes scripts one after the other and makes a program of them.
pub struct Compiler {
    dialect: Dialect,
    /// What a campaign may do only if it says so.
    allowed: Vec<Risk>,
    sources: Vec<Source>,
    scripts: Vec<Script>,
    statements: Vec<Statement>,
    slots: HashMap<String, Slot>,
    names: Vec<Box<str>>,
    values: Vec<Value>,
    /// Whether anything ever gives the variable a value.
    assigned: Vec<bool>,
    uses: Vec<Usage>,
}

/// A variable was used here; it had better be defined somewhere.
struct Usage {
    script: usize,
    at: usize,
    slot: Slot,
}

impl Compiler {
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            allowed: Vec::new(),
            sources: Vec::new(),
            scripts: Vec::new(),
            statements: Vec::new(),
            slots: HashMap::new(),
            names: Vec::new(),
            values: Vec::new(),
            assigned: Vec::new(),
            uses: Vec::new(),
        }
    }

    pub fn allow(&mut self, risk: Risk) {
        self.allowed.push(risk);
    }

    pub fn scripts(&self) -> usize {
        self.scripts.len()
    }

    pub fn define(&mut self, name: &str, value: Value) {
        let slot = self.slot(name);
        self.values[slot] = value;
        self.assigned[slot] = true;
    }

    pub fn add(&mut self, source: &Source) -> Result<(), Box<ScriptError>> {
        match self.script(source) {
            Ok(script) => {
                self.scripts.push(script);
                self.sources.push(source.clone());
                Ok(())
            }
            Err(fault) => Err(ScriptError::new(&source.name, &source.text, fault)),
        }
    }

    /// `parameters`: whether statements get numbered parameters, whose number is limited.
    pub fn finish(mut self, parameters: bool) -> Result<Program, Box<ScriptError>> {
        if parameters {
            self.refuse_too_many_parameters()?;
        }
        let client_id = self.slots.get("client_id").copied().filter(|&slot| !self.assigned[slot]);
        if let Some(slot) = client_id {
            self.assigned[slot] = true;
        }
        let promised = match self.dialect {
            Dialect::Campaign => self.refuse_undefined()?,
            Dialect::Pgbench => Vec::new(),
        };
        let weight = self.scripts.iter().map(|script| script.weight).sum();
        let Self { scripts, statements, slots, names, values: initial, .. } = self;
        let names = names.iter().map(|name| encoding::shown(name).into()).collect();
        Ok(Program { scripts, statements, initial, names, client_id, promised, slots, weight })
    }

    fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        let slot = self.values.len();
        self.slots.insert(name.to_owned(), slot);
        self.names.push(name.into());
        self.values.push(Value::Unset);
        self.assigned.push(false);
        slot
    }

    fn used(&mut self, name: &str, at: usize) -> Slot {
        let slot = self.slot(name);
        self.uses.push(Usage { script: self.scripts.len(), at, slot });
        slot
    }

    fn script(&mut self, source: &Source) -> Result<Script, Fault> {
        let text = source.text.as_str();
        if let Some(at) = text.find('\0') {
            return Err(Fault::new(at, "a zero byte, which SQL cannot contain"));
        }
        let first_statement = self.statements.len();
        let split::Split { pieces, unterminated } = split::split(text);
        if let (Dialect::Campaign, Some(fault)) = (self.dialect, unterminated) {
            return Err(fault);
        }
        let (mut commands, lines) = (Vec::new(), Lines::of(text));
        let mut places = Vec::new();
        for piece in pieces {
            let at = match piece {
                Piece::Sql { text, at } => {
                    commands.extend(self.statement(&lines, text, at));
                    at
                }
                Piece::Meta { at, end } => {
                    self.meta(&lines, at, end, &mut commands)?;
                    at
                }
            };
            places.resize(commands.len(), at);
        }
        if commands.is_empty() && self.dialect == Dialect::Pgbench {
            return Err(Fault::new(0, "empty command list").within(Context::Whole));
        }
        // Such a script would keep its thread to itself and never look up.
        if self.statements.len() == first_statement && self.dialect == Dialect::Campaign {
            return Err(Fault::new(0, "the script has no SQL statement"));
        }
        let place = |command: usize| places.get(command).copied().unwrap_or(text.len());
        condition::join(&mut commands).map_err(|fault| match fault.context {
            Context::Condition { command } if self.dialect == Dialect::Campaign => {
                Fault { at: place(command - 1), ..fault }
            }
            _ => fault,
        })?;
        if self.dialect == Dialect::Campaign {
            pipeline::check(&commands, &self.statements).map_err(|(command, what)| Fault::new(place(command), what))?;
        }
        Ok(Script { name: source.name.clone(), commands, weight: u64::from(source.weight) })
    }

    fn statement(&mut self, lines: &Lines<'_>, text: String, at: usize) -> Option<Command> {
        let bare = split::bare(&text);
        let (text, at) = match self.dialect {
            Dialect::Campaign if bare.is_empty() => return None,
            Dialect::Campaign => (text[bare.clone()].to_owned(), at + bare.start),
            Dialect::Pgbench => (text, at),
        };
        let (prepared_text, uses) = parameters::replace(&text);
        let parameters = uses.iter().map(|used| self.used(used.name, at + used.at)).collect();
        let place = |at: usize| encoding::bytes(&text[..at]).len();
        let uses = uses.iter().map(|used| place(used.at)..place(used.at + 1 + used.name.len())).collect();
        // As much as pgbench keeps of it.
        const FIRST_LINE_BYTES: usize = 127;
        let first_line = text.split(['\n', '\r']).next().unwrap_or_default();
        let first_line = encoding::shown(&first_line[..first_line.floor_char_boundary(FIRST_LINE_BYTES)]);
        let script = self.scripts.len();
        let (text, prepared_text) = (encoding::bytes(&text).into(), encoding::bytes(&prepared_text).into());
        self.statements.push(Statement { script, text, prepared_text, parameters, uses, store: None });
        let action = Action::Statement(self.statements.len() - 1);
        let (line, column) = lines.position(at);
        Some(Command { first_line, words: Vec::new(), line, column, action })
    }

    fn meta(&mut self, lines: &Lines<'_>, at: usize, end: usize, commands: &mut Vec<Command>) -> Result<(), Fault> {
        let text = lines.text;
        let campaign = self.dialect == Dialect::Campaign;
        let read = meta::read(text, at, end, &mut |name, at, assigned| {
            let slot = if assigned { self.slot(name) } else { self.used(name, at) };
            self.assigned[slot] |= assigned;
            slot
        });
        // Of what a campaign does not measure the reason comes before what is wrong with it.
        let name = text[at + 1..end].split_ascii_whitespace().next().unwrap_or_default();
        if campaign {
            refuse(name, at, &self.allowed)?;
        }
        let Some(Meta { words, order }) = read? else { return Ok(()) };
        let first_line = encoding::shown(text[at..end].trim_end_matches(['\n', '\r']));
        let action = match order {
            Order::Set { target, expression, expression_at } => {
                if campaign {
                    refuse_target(&target, at)?;
                    refuse_shown(&expression, at)?;
                }
                let (line, column) = lines.position(expression_at);
                Action::Set(Set { target, expression, line, column })
            }
            Order::Gset { prefix } => return self.store(commands, Store { all: false, prefix }, at, end),
            Order::Aset { prefix } => return self.store(commands, Store { all: true, prefix }, at, end),
            Order::If(expression) | Order::Elif(expression) if campaign && expression.shows() => {
                return refuse_shown(&expression, at);
            }
            Order::SetShell { target: target @ Target::Invalid(_), .. } if campaign => {
                return refuse_target(&target, at);
            }
            Order::If(expression) => Action::If(Condition { expression, otherwise: 0, end: 0 }),
            Order::Elif(expression) => Action::Elif(Condition { expression, otherwise: 0, end: 0 }),
            Order::Else => Action::Else { end: 0 },
            Order::Endif => Action::Endif,
            Order::Sleep(sleep) => Action::Sleep(sleep),
            Order::Shell(line) => Action::Shell(line),
            Order::SetShell { target, line } => Action::SetShell { target, line },
            Order::StartPipeline => Action::StartPipeline,
            Order::SyncPipeline => Action::SyncPipeline,
            Order::EndPipeline => Action::EndPipeline,
        };
        let (line, column) = lines.position(at);
        commands.push(Command { first_line, words, line, column, action });
        Ok(())
    }

    /// `\gset` and `\aset` belong to the statement before them.
    fn store(&mut self, commands: &mut [Command], store: Store, begin: usize, end: usize) -> Result<(), Fault> {
        if let Some(Command { action: Action::Statement(number), .. }) = commands.last() {
            let statement = &mut self.statements[*number];
            if statement.store.is_none() {
                statement.store = Some(store);
                return Ok(());
            }
        }
        let context = Context::Meta { name: None, begin, end, shown: false, pointed: false };
        let fault = Fault::new(begin, "\\gset must follow an SQL command").within(context);
        Err(match commands.last() {
            Some(Command { first_line, words, .. }) if !words.is_empty() => fault.about(first_line),
            _ => fault,
        })
    }

    fn refuse_too_many_parameters(&self) -> Result<(), Box<ScriptError>> {
        let Some(statement) = self.statements.iter().find(|statement| statement.parameters.len() > PARAMETERS_MAX)
        else {
            return Ok(());
        };
        let source = &self.sources[statement.script];
        let text = encoding::text(&statement.text);
        let before = encoding::text(&statement.text[..statement.uses[PARAMETERS_MAX].start]).len();
        let at = source.text.find(&text).unwrap_or(0) + before;
        let what = format!("statement has too many arguments (maximum is {PARAMETERS_MAX}): {text}");
        Err(ScriptError::new(&source.name, &source.text, Fault::new(at, what).within(Context::Whole)))
    }

    /// pgbench passes NULL for a variable that nobody defined. Here that is an error: a mistyped
    /// name would measure a statement that finds nothing, with great certainty. What a column might set is left
    /// until its name is known.
    fn refuse_undefined(&self) -> Result<Vec<Promised>, Box<ScriptError>> {
        let prefixes: Vec<&str> =
            self.statements.iter().filter_map(|one| Some(one.store.as_ref()?.prefix.as_str())).collect();
        let mut promised = Vec::new();
        for Usage { script, at, slot } in self.uses.iter().filter(|usage| !self.assigned[usage.slot]) {
            let (source, name) = (&self.sources[*script], &self.names[*slot]);
            let fault = Fault::new(*at, format!("undefined variable \"{name}\""));
            let error = ScriptError::new(&source.name, &source.text, fault);
            if !prefixes.iter().any(|prefix| name.len() > prefix.len() && name.starts_with(prefix)) {
                return Err(error);
            }
            let place = format!("script \"{}\" line {} column {}", error.script, error.line, error.column);
            promised.push(Promised { slot: *slot, place });
        }
        Ok(promised)
    }
}

/// What pgbench only finds out when it runs.
fn refuse_target(target: &Target, at: usize) -> Result<(), Fault> {
    match target {
        Target::Slot(_) => Ok(()),
        Target::Invalid(name) => Err(Fault::new(at, format!("invalid variable name: \"{name}\""))),
    }
}

fn refuse_shown(expression: &Expression, at: usize) -> Result<(), Fault> {
    match expression.shows() {
        true => Err(Fault::new(at, "debug() prints while a campaign measures, and is refused")),
        false => Ok(()),
    }
}

/// What a campaign does not know, or does not do unless it is allowed.
fn refuse(name: &str, at: usize, allowed: &[Risk]) -> Result<(), Fault> {
    const KNOWN: [&str; 11] =
        ["aset", "elif", "else", "endif", "endpipeline", "gset", "if", "set", "sleep", "startpipeline", "syncpipeline"];
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    if is("shell") || is("setshell") {
        return match allowed.contains(&Risk::Shell) {
            true => Ok(()),
            false => Err(Fault::new(
                at,
                format!(
                    "meta command \"\\{name}\" runs a command on this host while it is measured, and is refused unless \
                     `shell` is allowed"
                ),
            )),
        };
    }
    match KNOWN.into_iter().any(is) {
        true => Ok(()),
        false => Err(Fault::new(at, format!("meta command \"\\{name}\" is unknown"))),
    }
}
