//! Scripts made ready to run: commands in order, variables as slots, statements numbered through.

use super::ScriptError;
use super::compile::Compiler;
use super::expression::{Expression, Slot};
use super::meta::{Sleep, Target, Word};
use super::random::Prng;
use super::stored::Promised;
use super::value::Value;
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

/// What scripts of campaigns may do only where it was allowed by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// `\shell` and `\setshell`.
    Shell,
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
    /// In campaigns: what only results may set.
    pub(super) promised: Vec<Promised>,
    pub(super) slots: HashMap<String, Slot>,
    pub(super) weight: u64,
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
    /// Where it begins.
    pub line: usize,
    pub column: usize,
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
    pub text: Box<[u8]>,
    /// With `$1`, `$2` ... for the variables.
    pub prepared_text: Box<[u8]>,
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
    pub fn compile(
        sources: &[Source],
        variables: &[(String, Value)],
        allowed: &[Risk],
    ) -> Result<Self, Box<ScriptError>> {
        let mut compiler = Compiler::new(Dialect::Campaign);
        allowed.iter().for_each(|&risk| compiler.allow(risk));
        for (name, value) in variables {
            compiler.define(name, value.clone());
        }
        for source in sources {
            compiler.add(source)?;
        }
        compiler.finish(true)
    }

    /// Whether its scripts have nothing but `\set` and SQL whose rows nobody keeps.
    pub fn is_plain(&self) -> bool {
        let mut commands = self.scripts.iter().flat_map(|script| &script.commands);
        commands.all(|command| match command.action {
            Action::Set(_) => true,
            Action::Statement(number) => self.statements[number].store.is_none(),
            _ => false,
        })
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

#[cfg(test)]
mod tests {
    use super::super::evaluate::Scope;
    use super::super::value::Scalar;
    use super::super::{ErrorContext, encoding};
    use super::*;

    fn compile(text: &str) -> Result<Program, String> {
        let source = Source { name: "s".into(), weight: 1, text: text.into() };
        let variables = [("scale".to_owned(), Scalar::Integer(3).into())];
        Program::compile(&[source], &variables, &[]).map_err(|error| error.to_string())
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
        assert_eq!(&*statement.prepared_text, b"SELECT abalance FROM a WHERE aid = $1");
        assert_eq!(set.target, Target::Slot(statement.parameters[0]));
        let mut shown = Vec::new();
        let mut scope = Scope { variables: &program.initial, prng: &mut Prng::seeded(1), shown: &mut shown };
        let drawn = set.expression.evaluate(&mut scope).unwrap();
        assert!((1..=300_000).contains(&drawn.integer().unwrap()));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, expect) in [
            (
                "SELECT 1;\n  \\shell date\n",
                "script \"s\" line 2 column 3: meta command \"\\shell\" runs a command on this host while it is measured, and \
                 is refused unless `shell` is allowed",
            ),
            ("SELECT 1 AS a \\gset p_\nSELECT :q", "script \"s\" line 2 column 8: undefined variable \"q\""),
            ("SELECT 1;\n\\if 1", "script \"s\" line 2 column 6: \\if without matching \\endif"),
            ("SELECT 1;\n\\endpipeline", "script \"s\" line 2 column 1: not in pipeline mode"),
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
        let program = Program::compile(&[source(1), source(0), source(3)], &[], &[]).unwrap();
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
        assert_eq!(&*program.statements[1].text, b"/* c */ SELECT 2;");
        for text in ["\\gset", "\\set a 1\n\\gset", "SELECT 1 \\gset\n\\aset"] {
            assert_eq!(pgbench(text).unwrap_err().what, "\\gset must follow an SQL command", "{text}");
        }
    }

    #[test]
    fn a_script_need_not_be_utf_8() {
        let text = encoding::text(b"SELECT '\xfc', :gr\xf6\xdfe, :a;\n\\set gr\xf6\xdfe 1 +");
        let error = pgbench(&text).unwrap_err();
        assert_eq!((error.line, error.what.as_str()), (2, "syntax error"));
        let ErrorContext::Meta { shown, pointed, .. } = error.context else { panic!("{:?}", error.context) };
        assert_eq!((shown.as_deref(), pointed), (Some("\\set gr\u{fffd}\u{fffd}e 1 +"), Some(13)));

        let error = pgbench(&encoding::text(b"\\set a 1 \xfc\xfc")).unwrap_err();
        assert!(matches!(error.context, ErrorContext::Meta { pointed: Some(10), .. }), "{:?}", error.context);

        let program = pgbench(text.strip_suffix(" +").unwrap()).unwrap();
        let statement = &program.statements[0];
        assert_eq!(&*statement.text, b"SELECT '\xfc', :gr\xf6\xdfe, :a;");
        assert_eq!(&*statement.prepared_text, b"SELECT '\xfc', $1, $2;");
        let used = |number: usize| &statement.text[statement.uses[number].clone()];
        assert_eq!((used(0), used(1)), (&b":gr\xf6\xdfe"[..], &b":a"[..]));
        let Action::Set(set) = &program.scripts[0].commands[1].action else { panic!("{:?}", program.scripts) };
        assert_eq!(set.target, Target::Slot(statement.parameters[0]));
        assert_eq!(&*program.names[statement.parameters[0]], "gr\u{fffd}\u{fffd}e");
    }
}
