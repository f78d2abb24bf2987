//! Which variables the columns of a result go to, known when the statements have been prepared.

use super::expression::Slot;
use super::name_length;
use super::program::{Program, Store};

/// By column: its variable, or `None` where no script uses it.
pub type Targets = Box<[Option<Slot>]>;

/// A variable that only the columns of a result may set, and where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promised {
    pub slot: Slot,
    /// `script "name" line 2 column 5`
    pub place: String,
}

impl Store {
    /// As a script has it.
    pub fn name(&self) -> &'static str {
        if self.all { "\\aset" } else { "\\gset" }
    }
}

impl Program {
    /// By statement, where its columns go; `None`: nowhere. `columns`: of each statement the names of its columns, as
    /// the server told them when it prepared it. What pgbench finds out row by row is refused here: names that no
    /// variable can have, and variables that no result sets.
    pub fn targets(&self, columns: &[Vec<String>]) -> Result<Vec<Option<Targets>>, String> {
        let mut targets = Vec::with_capacity(self.statements.len());
        for (number, (statement, columns)) in self.statements.iter().zip(columns).enumerate() {
            let Some(store) = &statement.store else {
                targets.push(None);
                continue;
            };
            let script = &self.scripts[statement.script].name;
            let of_column = |column: &String| {
                let name = format!("{}{column}", store.prefix);
                match name_length(name.as_bytes()) == name.len() && !name.is_empty() {
                    true => Ok(self.slot(&name)),
                    false => Err(format!(
                        "script \"{script}\": {} of statement {number}: invalid variable name: \"{name}\" (hint: name \
                         the column, with AS)",
                        store.name()
                    )),
                }
            };
            targets.push(Some(columns.iter().map(of_column).collect::<Result<Targets, String>>()?));
        }
        let set = |slot| targets.iter().flatten().any(|targets| targets.contains(&Some(slot)));
        match self.promised.iter().find(|promised| !set(promised.slot)) {
            None => Ok(targets),
            Some(Promised { slot, place }) => {
                Err(format!("{place}: undefined variable \"{}\", which no column sets either", self.names[*slot]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::Source;
    use super::*;

    fn targets(text: &str, columns: &[&str]) -> Result<Vec<Option<Targets>>, String> {
        let source = Source { name: "s".into(), weight: 1, text: text.into() };
        let program = Program::compile(&[source], &[], &[]).unwrap();
        let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        program.targets(&[columns, Vec::new()])
    }

    #[test]
    fn columns_go_to_the_variables_of_their_names() {
        let text = "SELECT a, b FROM t \\gset p_\nSELECT :p_b;\n";
        let slot = |found: Vec<Option<Targets>>| found[0].as_ref().unwrap().to_vec();
        assert_eq!(slot(targets(text, &["a", "b"]).unwrap()), [None, Some(0)]);
        let error = targets(text, &["a", "c"]).unwrap_err();
        assert_eq!(error, "script \"s\" line 2 column 8: undefined variable \"p_b\", which no column sets either");
        let error = targets(text, &["?column?", "b"]).unwrap_err();
        assert!(error.contains("invalid variable name: \"p_?column?\""), "{error}");
    }
}
