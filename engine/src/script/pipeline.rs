//! Pipelines of a script that is yet to run: what would fail on every way through it is found beforehand.

use super::program::{Action, Command, Statement};

/// On which ways a command is come to: with a pipeline open, without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ways {
    open: bool,
    closed: bool,
}

impl Ways {
    const NONE: Ways = Ways { open: false, closed: false };

    fn join(&mut self, other: Ways) {
        *self = Ways { open: self.open || other.open, closed: self.closed || other.closed };
    }

    fn only_open(self) -> bool {
        self.open && !self.closed
    }

    fn only_closed(self) -> bool {
        self.closed && !self.open
    }
}

/// The command that cannot be executed, and why, in pgbench's words; `commands.len()`: the end of the script. Which ways
/// are taken is not known, so what may go well on one of them is left to the run.
pub fn check(commands: &[Command], statements: &[Statement]) -> Result<(), (usize, String)> {
    // Jumps lead forward only: one pass sees every way. Those who jump to an `\elif` are to compute it, those who come
    // from the branch before are to leave.
    let (mut come, mut jumped) = (vec![Ways::NONE; commands.len() + 1], vec![Ways::NONE; commands.len() + 1]);
    come[0] = Ways { open: false, closed: true };
    for (at, command) in commands.iter().enumerate() {
        let mut ways = come[at];
        match &command.action {
            Action::If(condition) | Action::Elif(condition) => {
                if matches!(command.action, Action::Elif(_)) {
                    come[condition.end].join(ways);
                    ways = jumped[at];
                }
                let to_elif = matches!(commands.get(condition.otherwise).map(|to| &to.action), Some(Action::Elif(_)));
                let jumps = if to_elif && condition.otherwise != condition.end { &mut jumped } else { &mut come };
                jumps[condition.otherwise].join(ways);
            }
            Action::Else { end } => {
                come[*end].join(ways);
                // Nobody comes to the branch by way of its `\else`.
                continue;
            }
            Action::StartPipeline if ways.only_open() => return Err((at, "already in pipeline mode".to_owned())),
            Action::StartPipeline => ways = Ways { open: true, closed: false },
            Action::SyncPipeline | Action::EndPipeline if ways.only_closed() => {
                return Err((at, "not in pipeline mode".to_owned()));
            }
            Action::EndPipeline => ways = Ways { open: false, closed: true },
            Action::Statement(number) if ways.only_open() => {
                if let Some(store) = &statements[*number].store {
                    return Err((at, format!("{} is not allowed in pipeline mode", store.name())));
                }
            }
            _ => {}
        }
        come[at + 1].join(ways);
    }
    match come[commands.len()].only_open() {
        true => Err((commands.len(), "end of script reached with pipeline open".to_owned())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::{Program, Source};

    fn check(text: &str, expect: &str) {
        let source = Source { name: "s".into(), weight: 1, text: text.into() };
        let found = Program::compile(&[source], &[], &[]);
        assert_eq!(found.map_or_else(|error| error.what, |_| String::new()), expect, "{text}");
    }

    #[test]
    fn what_fails_on_every_way_is_refused_beforehand() {
        check("\\startpipeline\nSELECT 1;\n\\endpipeline\n", "");
        check("SELECT 1;\n\\endpipeline\n", "not in pipeline mode");
        check("SELECT 1;\n\\syncpipeline\n", "not in pipeline mode");
        check("\\startpipeline\n\\startpipeline\nSELECT 1;\n\\endpipeline", "already in pipeline mode");
        check("\\startpipeline\nSELECT 1;\n", "end of script reached with pipeline open");
        check("\\startpipeline\nSELECT 1 \\gset\n\\endpipeline", "\\gset is not allowed in pipeline mode");
        let branches =
            "\\startpipeline\n\\if 1\nSELECT 1;\n\\endpipeline\n\\elif 0\n\\endpipeline\n\\else\n\\endpipeline\n";
        check(&format!("{branches}\\endif\n"), "");
        check(&format!("{branches}\\endif\n\\endpipeline\n"), "not in pipeline mode");
    }

    #[test]
    fn what_may_go_well_is_left_to_the_run() {
        check("\\set a 1\n\\if :a\n\\startpipeline\n\\endif\nSELECT 1;\n\\if :a\n\\endpipeline\n\\endif\n", "");
        check("\\if 1\n\\startpipeline\n\\elif 0\nSELECT 2;\n\\endif\nSELECT 1;\n\\endpipeline\n", "");
    }
}
