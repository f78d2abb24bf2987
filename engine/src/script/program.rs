//! Scripts made ready to run: commands in order, variables as slots, statements numbered through.

use super::expression::{self, Expression, Slot};
use super::random::Prng;
use super::split::{self, Piece};
use super::value::Value;
use super::{Fault, ScriptError, name_length, parameters, position, token};
use std::collections::HashMap;

/// A script as the user gives it.
#[derive(Debug, Clone)]
pub struct Source {
    pub name: String,
    /// How often it is chosen, relative to the other scripts. 0: never.
    pub weight: u32,
    pub text: String,
}

#[derive(Debug)]
pub struct Program {
    pub scripts: Vec<Script>,
    pub statements: Vec<Statement>,
    /// What every client's variables are before its first transaction.
    pub initial: Vec<Value>,
    /// The variable `client_id`, where a script uses it and nobody defined it.
    pub client_id: Option<Slot>,
    weight: u64,
}

#[derive(Debug)]
pub struct Script {
    pub name: String,
    pub commands: Vec<Command>,
    weight: u64,
}

#[derive(Debug)]
pub enum Command {
    Set(Set),
    /// The index of a [`Statement`].
    Statement(usize),
}

/// `\set variable expression`
#[derive(Debug)]
pub struct Set {
    pub slot: Slot,
    pub expression: Expression,
    pub line: usize,
    pub column: usize,
}

#[derive(Debug)]
pub struct Statement {
    /// The index of its [`Script`].
    pub script: usize,
    /// As written, without the semicolon.
    pub text: String,
    /// With `$1`, `$2` ... for the variables.
    pub prepared_text: String,
    pub parameters: Vec<Slot>,
}

impl Program {
    pub fn compile(sources: &[Source], variables: &[(String, Value)]) -> Result<Self, ScriptError> {
        let mut compiler = Compiler::default();
        for (name, value) in variables {
            let slot = compiler.slot(name);
            compiler.values[slot] = value.clone();
            compiler.assigned[slot] = true;
        }
        let scripts = sources
            .iter()
            .enumerate()
            .map(|(index, source)| {
                compiler.script(index, source).map_err(|fault| ScriptError::new(&source.name, &source.text, fault))
            })
            .collect::<Result<Vec<_>, _>>()?;

        let client_id = compiler.slots.get("client_id").copied().filter(|&slot| !compiler.assigned[slot]);
        if let Some(slot) = client_id {
            compiler.assigned[slot] = true;
        }
        compiler.refuse_undefined(sources)?;
        let weight = scripts.iter().map(|script| script.weight).sum();
        Ok(Self { scripts, statements: compiler.statements, initial: compiler.values, client_id, weight })
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

#[derive(Default)]
struct Compiler {
    slots: HashMap<String, Slot>,
    values: Vec<Value>,
    /// Whether anything ever gives the variable a value.
    assigned: Vec<bool>,
    uses: Vec<Usage>,
    statements: Vec<Statement>,
}

/// A variable was used here; it had better be defined somewhere.
struct Usage {
    script: usize,
    at: usize,
    slot: Slot,
    name: String,
}

impl Compiler {
    fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        let slot = self.values.len();
        self.slots.insert(name.to_owned(), slot);
        self.values.push(Value::Unset);
        self.assigned.push(false);
        slot
    }

    fn used(&mut self, script: usize, name: &str, at: usize) -> Slot {
        let slot = self.slot(name);
        self.uses.push(Usage { script, at, slot, name: name.to_owned() });
        slot
    }

    fn script(&mut self, index: usize, source: &Source) -> Result<Script, Fault> {
        if let Some(at) = source.text.find('\0') {
            return Err(Fault::new(at, "a zero byte, which SQL cannot contain"));
        }
        let first_statement = self.statements.len();
        let mut commands = Vec::new();
        for piece in split::split(&source.text)? {
            commands.push(match piece {
                Piece::Sql { text, at } => self.statement(index, text, at)?,
                Piece::Meta { name, at, arguments, arguments_at } => {
                    if !name.eq_ignore_ascii_case("set") {
                        return Err(refuse(name, at));
                    }
                    self.set(index, &source.text, arguments, arguments_at)?
                }
            });
        }
        // Such a script would keep its thread to itself and never look up.
        if self.statements.len() == first_statement {
            return Err(Fault::new(0, "the script has no SQL statement"));
        }
        Ok(Script { name: source.name.clone(), commands, weight: u64::from(source.weight) })
    }

    fn statement(&mut self, script: usize, text: String, at: usize) -> Result<Command, Fault> {
        let moved = |fault: Fault| Fault { at: at + fault.at, ..fault };
        let (prepared_text, uses) = parameters::replace(&text).map_err(moved)?;
        let parameters = uses.iter().map(|used| self.used(script, used.name, at + used.at)).collect();
        self.statements.push(Statement { script, text: text.clone(), prepared_text, parameters });
        Ok(Command::Statement(self.statements.len() - 1))
    }

    fn set(&mut self, script: usize, text: &str, arguments: &str, at: usize) -> Result<Command, Fault> {
        let end = at + arguments.len();
        let blanks = arguments.len() - arguments.trim_ascii_start().len();
        let (name_at, arguments) = (at + blanks, &arguments[blanks..]);
        let word_bytes = arguments.find(|c: char| c.is_ascii_whitespace()).unwrap_or(arguments.len());
        let name = &arguments[..word_bytes];
        if name.is_empty() {
            return Err(Fault::new(end, "\\set needs a variable and an expression"));
        }
        if name_length(name.as_bytes()) != name.len() {
            return Err(Fault::new(name_at, format!("invalid variable name: \"{name}\"")));
        }
        let tokens = token::tokens(&arguments[word_bytes..], name_at + word_bytes)?;
        let expression = expression::parse(&tokens, end, &mut |name, at| self.used(script, name, at))?;
        let slot = self.slot(name);
        self.assigned[slot] = true;
        let (line, column) = position(text, tokens.first().map_or(end, |placed| placed.at));
        Ok(Command::Set(Set { slot, expression, line, column }))
    }

    /// pgbench passes NULL for a variable that nobody defined. Here that is an error: a mistyped
    /// name would measure a statement that finds nothing, with great certainty.
    fn refuse_undefined(&self, sources: &[Source]) -> Result<(), ScriptError> {
        match self.uses.iter().find(|usage| !self.assigned[usage.slot]) {
            None => Ok(()),
            Some(Usage { script, at, name, .. }) => {
                let source = &sources[*script];
                let fault = Fault::new(*at, format!("undefined variable \"{name}\""));
                Err(ScriptError::new(&source.name, &source.text, fault))
            }
        }
    }
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
        let [Command::Set(set), Command::Statement(0)] = &program.scripts[0].commands[..] else {
            panic!("{:?}", program.scripts[0].commands)
        };
        assert_eq!((set.line, set.column), (1, 10));
        let statement = &program.statements[0];
        assert_eq!(statement.prepared_text, "SELECT abalance FROM a WHERE aid = $1");
        assert_eq!(statement.parameters, [set.slot]);
        let drawn = set.expression.evaluate(&program.initial, &mut Prng::seeded(1)).unwrap();
        assert!((1..=300_000).contains(&drawn.integer().unwrap()));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, expect) in [
            ("SELECT 1;\n  \\sleep 1\n", "script \"s\" line 2 column 3: meta command \"\\sleep\" is not supported yet"),
            ("\\foo", "script \"s\" line 1 column 1: meta command \"\\foo\" is unknown"),
            ("\\set", "script \"s\" line 1 column 5: \\set needs a variable and an expression"),
            ("\\set 1a 1", "script \"s\" line 1 column 6: invalid variable name: \"1a\""),
            ("\\set a 1 +", "script \"s\" line 1 column 11: the expression ends too early"),
            ("\\set a rnd(1)", "script \"s\" line 1 column 8: unknown function \"rnd\""),
            ("SELECT 1;\nSELECT 'ä', :b;", "script \"s\" line 2 column 13: undefined variable \"b\""),
            ("\\set a :b\nSELECT 1", "script \"s\" line 1 column 8: undefined variable \"b\""),
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
}
