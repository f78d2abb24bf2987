//! Scripts made ready to run: commands in order, variables as slots, statements numbered through.

use super::expression::{Expression, Slot};
use super::meta::{self, Meta, Order, Sleep, Target, Word};
use super::parameters::{self, PARAMETERS_MAX};
use super::random::Prng;
use super::split::{self, Piece};
use super::value::Value;
use super::{Context, Fault, ScriptError, position};
use std::collections::HashMap;
use std::ops::Range;

/// A script as the user gives it.
#[derive(Debug, Clone)]
pub struct Source {
    pub name: String,
    /// How often it is chosen, relative to the other scripts. 0: never.
    pub weight: u32,
    pub text: String,
}

/// Whose rules a script is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// What would go wrong while it runs, and what a campaign does not measure, is refused.
    Campaign,
    /// Exactly as pgbench does.
    Pgbench,
}

#[derive(Debug)]
pub struct Program {
    pub scripts: Vec<Script>,
    pub statements: Vec<Statement>,
    /// What every client's variables are before its first transaction.
    pub initial: Vec<Value>,
    /// The name of every slot.
    pub names: Vec<Box<str>>,
    /// The variable `client_id`, where a script uses it and nobody defined it.
    pub client_id: Option<Slot>,
    slots: HashMap<String, Slot>,
    weight: u64,
}

#[derive(Debug)]
pub struct Script {
    pub name: String,
    pub commands: Vec<Command>,
    pub weight: u64,
}

#[derive(Debug)]
pub struct Command {
    /// The first line of the command, or all of a meta command: what reports call it.
    pub first_line: String,
    /// The words of a meta command as far as they are no expression; none of SQL.
    pub words: Vec<String>,
    pub action: Action,
}

#[derive(Debug)]
pub enum Action {
    Set(Set),
    /// The index of a [`Statement`].
    Statement(usize),
    If(Condition),
    /// Computed by whoever did not come from the branch before; others go to `end`.
    Elif(Condition),
    /// Whoever comes here comes from the branch before.
    Else {
        end: usize,
    },
    Endif,
    Sleep(Sleep),
    Shell(Vec<Word>),
    SetShell {
        target: Target,
        line: Vec<Word>,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

/// `\set variable expression`
#[derive(Debug)]
pub struct Set {
    pub target: Target,
    pub expression: Expression,
    pub line: usize,
    pub column: usize,
}

#[derive(Debug)]
pub struct Condition {
    pub expression: Expression,
    /// The command to go on with if it does not hold. An [`Action::Elif`] is then to be computed.
    pub otherwise: usize,
    /// The command behind the whole `\if`.
    pub end: usize,
}

#[derive(Debug)]
pub struct Statement {
    /// The index of its [`Script`].
    pub script: usize,
    /// As written. In campaigns without the semicolon and the comments around it.
    pub text: String,
    /// With `$1`, `$2` ... for the variables.
    pub prepared_text: String,
    pub parameters: Vec<Slot>,
    /// Where in `text` the parameters stand.
    pub uses: Vec<Range<usize>>,
    pub store: Option<Store>,
}

/// What becomes of the columns that come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// `\aset`: of every result, of its last row; `\gset`: of the last result, which has one row.
    pub all: bool,
    /// Before the names of the columns.
    pub prefix: String,
}

impl Program {
    /// For a campaign, in prepared mode.
    pub fn compile(sources: &[Source], variables: &[(String, Value)]) -> Result<Self, Box<ScriptError>> {
        let mut compiler = Compiler::new(Dialect::Campaign);
        for (name, value) in variables {
            compiler.define(name, value.clone());
        }
        for source in sources {
            compiler.add(source)?;
        }
        compiler.finish(true)
    }

    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// Gives a variable its initial value, if any script knows it.
    pub fn define(&mut self, name: &str, value: Value) {
        if let Some(slot) = self.slot(name) {
            self.initial[slot] = value;
        }
    }

    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Draws the script of the next transaction, as pgbench does; one script alone draws nothing.
    #[inline]
    pub fn choose(&self, prng: &mut Prng) -> usize {
        if self.scripts.len() == 1 {
            return 0;
        }
        let mut left = prng.up_to(self.weight - 1);
        for (index, script) in self.scripts.iter().enumerate() {
            match left.checked_sub(script.weight) {
                Some(rest) => left = rest,
                None => return index,
            }
        }
        unreachable!("what was drawn is below the sum of the weights")
    }
}

/// Takes scripts one after the other and makes a program of them.
pub struct Compiler {
    dialect: Dialect,
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
        if self.dialect == Dialect::Campaign {
            self.refuse_undefined()?;
        }
        let weight = self.scripts.iter().map(|script| script.weight).sum();
        let Self { scripts, statements, slots, names, values: initial, .. } = self;
        Ok(Program { scripts, statements, initial, names, client_id, slots, weight })
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
        let mut commands = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Sql { text, at } => commands.extend(self.statement(text, at)),
                Piece::Meta { at, end } => self.meta(text, at, end, &mut commands)?,
            }
        }
        if commands.is_empty() && self.dialect == Dialect::Pgbench {
            return Err(Fault::new(0, "empty command list").within(Context::Whole));
        }
        // Such a script would keep its thread to itself and never look up.
        if self.statements.len() == first_statement && self.dialect == Dialect::Campaign {
            return Err(Fault::new(0, "the script has no SQL statement"));
        }
        join_conditions(&mut commands)?;
        Ok(Script { name: source.name.clone(), commands, weight: u64::from(source.weight) })
    }

    fn statement(&mut self, text: String, at: usize) -> Option<Command> {
        let bare = split::bare(&text);
        let (text, at) = match self.dialect {
            Dialect::Campaign if bare.is_empty() => return None,
            Dialect::Campaign => (text[bare.clone()].to_owned(), at + bare.start),
            Dialect::Pgbench => (text, at),
        };
        let (prepared_text, uses) = parameters::replace(&text);
        let parameters = uses.iter().map(|used| self.used(used.name, at + used.at)).collect();
        let uses = uses.iter().map(|used| used.at..used.at + 1 + used.name.len()).collect();
        // As much as pgbench keeps of it.
        const FIRST_LINE_BYTES: usize = 127;
        let first_line = text.split(['\n', '\r']).next().unwrap_or_default();
        let first_line = first_line[..first_line.floor_char_boundary(FIRST_LINE_BYTES)].to_owned();
        let script = self.scripts.len();
        self.statements.push(Statement { script, text, prepared_text, parameters, uses, store: None });
        let action = Action::Statement(self.statements.len() - 1);
        Some(Command { first_line, words: Vec::new(), action })
    }

    fn meta(&mut self, text: &str, at: usize, end: usize, commands: &mut Vec<Command>) -> Result<(), Fault> {
        let campaign = self.dialect == Dialect::Campaign;
        let read = meta::read(text, at, end, &mut |name, at, assigned| {
            let slot = if assigned { self.slot(name) } else { self.used(name, at) };
            self.assigned[slot] |= assigned;
            slot
        });
        // Of what a campaign does not measure the reason comes before what is wrong with it.
        let name = text[at + 1..end].split_ascii_whitespace().next().unwrap_or_default();
        if campaign && !name.eq_ignore_ascii_case("set") {
            return Err(refuse(name, at));
        }
        let Some(Meta { words, order }) = read? else { return Ok(()) };
        let first_line = text[at..end].trim_end_matches(['\n', '\r']).to_owned();
        let action = match order {
            Order::Set { target, expression, expression_at } => {
                if campaign {
                    refuse_in_campaign(&target, &expression, at)?;
                }
                let (line, column) = position(text, expression_at);
                Action::Set(Set { target, expression, line, column })
            }
            Order::Gset { prefix } => return self.store(commands, Store { all: false, prefix }, at, end),
            Order::Aset { prefix } => return self.store(commands, Store { all: true, prefix }, at, end),
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
        commands.push(Command { first_line, words, action });
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
        let at = source.text.find(&statement.text).unwrap_or(0) + statement.uses[PARAMETERS_MAX].start;
        let what = format!("statement has too many arguments (maximum is {PARAMETERS_MAX}): {}", statement.text);
        Err(ScriptError::new(&source.name, &source.text, Fault::new(at, what).within(Context::Whole)))
    }

    /// pgbench passes NULL for a variable that nobody defined. Here that is an error: a mistyped
    /// name would measure a statement that finds nothing, with great certainty.
    fn refuse_undefined(&self) -> Result<(), Box<ScriptError>> {
        match self.uses.iter().find(|usage| !self.assigned[usage.slot]) {
            None => Ok(()),
            Some(Usage { script, at, slot }) => {
                let source = &self.sources[*script];
                let fault = Fault::new(*at, format!("undefined variable \"{}\"", self.names[*slot]));
                Err(ScriptError::new(&source.name, &source.text, fault))
            }
        }
    }
}

/// Tells every condition where its branches go on.
fn join_conditions(commands: &mut [Command]) -> Result<(), Fault> {
    let fault =
        |command: usize, what: &str| Err(Fault::new(0, what).within(Context::Condition { command: command + 1 }));
    // The `\if`, `\elif` and `\else` of every open condition.
    let mut open: Vec<Vec<usize>> = Vec::new();
    for at in 0..commands.len() {
        let closed_by_else = open.last().is_some_and(|branches| {
            branches.last().is_some_and(|&last| matches!(commands[last].action, Action::Else { .. }))
        });
        match &commands[at].action {
            Action::If(_) => open.push(vec![at]),
            Action::Elif(_) | Action::Else { .. } => {
                let name = if matches!(commands[at].action, Action::Elif(_)) { "elif" } else { "else" };
                let Some(branches) = open.last_mut() else {
                    return fault(at, &format!("\\{name} without matching \\if"));
                };
                if closed_by_else {
                    return fault(at, &format!("\\{name} after \\else"));
                }
                branches.push(at);
            }
            Action::Endif => {
                let Some(branches) = open.pop() else { return fault(at, "\\endif without matching \\if") };
                close_condition(commands, &branches, at);
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { fault(commands.len(), "\\if without matching \\endif") }
}

fn close_condition(commands: &mut [Command], branches: &[usize], endif: usize) {
    for (place, &branch) in branches.iter().enumerate() {
        let next = branches.get(place + 1).copied();
        let next_is_else = next.is_some_and(|next| matches!(commands[next].action, Action::Else { .. }));
        match &mut commands[branch].action {
            Action::If(condition) | Action::Elif(condition) => {
                condition.otherwise = match next {
                    // Nothing is to be done at an `\else` or `\endif` that is jumped to.
                    Some(next) if next_is_else => next + 1,
                    Some(next) => next,
                    None => endif + 1,
                };
                condition.end = endif + 1;
            }
            Action::Else { end } => *end = endif + 1,
            _ => unreachable!("only these are branches"),
        }
    }
}

/// What pgbench only finds out when it runs.
fn refuse_in_campaign(target: &Target, expression: &Expression, at: usize) -> Result<(), Fault> {
    if let Target::Invalid(name) = target {
        return Err(Fault::new(at, format!("invalid variable name: \"{name}\"")));
    }
    if expression.shows() {
        return Err(Fault::new(at, "debug() prints while a campaign measures, and is refused"));
    }
    Ok(())
}

fn refuse(name: &str, at: usize) -> Fault {
    const NOT_YET: [&str; 12] = [
        "aset",
        "elif",
        "else",
        "endif",
        "endpipeline",
        "gset",
        "if",
        "setshell",
        "shell",
        "sleep",
        "startpipeline",
        "syncpipeline",
    ];
    let known = NOT_YET.iter().any(|known| known.eq_ignore_ascii_case(name));
    let what = if known { "is not supported yet" } else { "is unknown" };
    Fault::new(at, format!("meta command \"\\{name}\" {what}"))
}

#[cfg(test)]
mod tests {
    use super::super::ErrorContext;
    use super::super::evaluate::Scope;
    use super::super::value::Scalar;
    use super::*;

    fn compile(text: &str) -> Result<Program, String> {
        let source = Source { name: "s".into(), weight: 1, text: text.into() };
        let variables = [("scale".to_owned(), Scalar::Integer(3).into())];
        Program::compile(&[source], &variables).map_err(|error| error.to_string())
    }

    #[test]
    fn select_only_becomes_a_draw_and_a_statement() {
        let program =
            compile("\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM a WHERE aid = :aid;\n").unwrap();
        let [Command { action: Action::Set(set), .. }, Command { action: Action::Statement(0), .. }] =
            &program.scripts[0].commands[..]
        else {
            panic!("{:?}", program.scripts[0].commands)
        };
        assert_eq!((set.line, set.column), (1, 10));
        let statement = &program.statements[0];
        assert_eq!(statement.prepared_text, "SELECT abalance FROM a WHERE aid = $1");
        assert_eq!(set.target, Target::Slot(statement.parameters[0]));
        let mut shown = Vec::new();
        let mut scope = Scope { variables: &program.initial, prng: &mut Prng::seeded(1), shown: &mut shown };
        let drawn = set.expression.evaluate(&mut scope).unwrap();
        assert!((1..=300_000).contains(&drawn.integer().unwrap()));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, expect) in [
            ("SELECT 1;\n  \\sleep 1\n", "script \"s\" line 2 column 3: meta command \"\\sleep\" is not supported yet"),
            ("\\foo", "script \"s\" line 1 column 1: meta command \"\\foo\" is unknown"),
            ("\\set", "script \"s\" line 1 column 5: missing argument"),
            ("\\set 1a 1", "script \"s\" line 1 column 1: invalid variable name: \"1a\""),
            ("\\set a 1 +", "script \"s\" line 1 column 10: syntax error"),
            ("\\set a rnd(1)", "script \"s\" line 1 column 8: unexpected function name (rnd)"),
            ("SELECT 1;\nSELECT 'ä', :b;", "script \"s\" line 2 column 13: undefined variable \"b\""),
            ("\\set a :b\nSELECT 1", "script \"s\" line 1 column 8: undefined variable \"b\""),
            (
                "\\set a debug(1)",
                "script \"s\" line 1 column 1: debug() prints while a campaign measures, and is refused",
            ),
            ("-- nothing\n", "script \"s\" line 1 column 1: the script has no SQL statement"),
            ("SELECT 'a", "script \"s\" line 1 column 8: unterminated quoted string"),
        ] {
            assert_eq!(compile(text).unwrap_err(), expect, "{text}");
        }
    }

    #[test]
    fn scripts_are_chosen_by_weight() {
        let source = |weight| Source { name: "s".into(), weight, text: "SELECT :client_id".into() };
        let program = Program::compile(&[source(1), source(0), source(3)], &[]).unwrap();
        assert!(program.client_id.is_some());
        let mut prng = Prng::seeded(9);
        let mut counts = [0; 3];
        for _ in 0..4000 {
            counts[program.choose(&mut prng)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((900..1100).contains(&counts[0]), "{counts:?}");
    }

    fn pgbench(text: &str) -> Result<Program, Box<ScriptError>> {
        let mut compiler = Compiler::new(Dialect::Pgbench);
        compiler.add(&Source { name: "s".into(), weight: 1, text: text.into() })?;
        compiler.finish(true)
    }

    #[test]
    fn conditions_know_where_to_go_on() {
        let text = "\\if 1\nSELECT 1;\n\\elif 2\nSELECT 2;\n\\else\nSELECT 3;\n\\endif\n\\if 3\n\\endif\n";
        let program = pgbench(text).unwrap();
        let found: Vec<(usize, usize)> = program.scripts[0]
            .commands
            .iter()
            .filter_map(|command| match &command.action {
                Action::If(condition) | Action::Elif(condition) => Some((condition.otherwise, condition.end)),
                Action::Else { end } => Some((0, *end)),
                _ => None,
            })
            .collect();
        assert_eq!(found, [(2, 7), (5, 7), (0, 7), (9, 9)]);
    }

    #[test]
    fn conditions_are_checked() {
        for (text, command, what) in [
            ("\\if 1", 2, "\\if without matching \\endif"),
            ("\\elif 1", 1, "\\elif without matching \\if"),
            ("\\else", 1, "\\else without matching \\if"),
            ("\\endif", 1, "\\endif without matching \\if"),
            ("\\if 1\n\\else\n\\elif 0\n\\endif", 3, "\\elif after \\else"),
            ("\\if 1\n\\else\n\\else\n\\endif", 3, "\\else after \\else"),
        ] {
            let error = pgbench(text).unwrap_err();
            assert_eq!((error.what.as_str(), error.context), (what, ErrorContext::Condition { command }));
        }
    }

    #[test]
    fn results_are_stored_by_the_statement_before() {
        let program = pgbench("SELECT 1 AS a \\gset p_\n/* c */ SELECT 2;\n").unwrap();
        let store = Store { all: false, prefix: "p_".into() };
        assert_eq!(program.statements[0].store, Some(store));
        assert_eq!(program.statements[1].text, "/* c */ SELECT 2;");
        for text in ["\\gset", "\\set a 1\n\\gset", "SELECT 1 \\gset\n\\aset"] {
            assert_eq!(pgbench(text).unwrap_err().what, "\\gset must follow an SQL command", "{text}");
        }
    }
}
