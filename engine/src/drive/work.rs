//! What the clients of a crew do: run scripts, or what a native program says.

use super::client::player::PlayerPart;
use super::client::script::ScriptPart;
use super::connect::Preparing;
use crate::measure::recorder::Shape;
use crate::script::program::Program;
use crate::workload::Workload;
use std::sync::Arc;

#[derive(Clone)]
pub enum Work {
    Scripts(Arc<Program>),
    Native(Arc<dyn Workload>),
}

/// What the clients of one thread share.
pub enum Part {
    Scripts(ScriptPart),
    Native(PlayerPart),
}

impl Work {
    pub fn part(&self) -> Part {
        match self {
            Work::Scripts(program) => Part::Scripts(ScriptPart::of(Arc::clone(program))),
            Work::Native(workload) => Part::Native(PlayerPart::of(workload.statements())),
        }
    }

    /// What is prepared on every connection.
    pub fn statements(&self) -> Vec<Preparing<'_>> {
        match self {
            Work::Scripts(program) => program
                .statements
                .iter()
                .map(|statement| Preparing {
                    text: &statement.prepared_text,
                    parameters: statement.parameters.len(),
                    forms: &[],
                })
                .collect(),
            Work::Native(workload) => workload
                .statements()
                .iter()
                .map(|sql| Preparing {
                    text: sql.text.as_bytes(),
                    parameters: sql.parameters.len(),
                    forms: &sql.parameters,
                })
                .collect(),
        }
    }

    /// Kinds of transactions. Of scripts each is one, where there are several.
    pub fn kinds(&self) -> Vec<&str> {
        match self {
            Work::Scripts(program) if program.scripts.len() == 1 => Vec::new(),
            Work::Scripts(program) => program.scripts.iter().map(|script| script.name.as_str()).collect(),
            Work::Native(workload) => workload.kinds().to_vec(),
        }
    }

    /// Whether it says itself when a slice is over.
    pub fn ends(&self) -> bool {
        match self {
            Work::Scripts(_) => false,
            Work::Native(workload) => workload.ends(),
        }
    }

    /// Of what is recorded.
    pub fn shape(&self) -> Shape {
        let statements = match self {
            Work::Scripts(program) => program.statements.len(),
            Work::Native(workload) => workload.statements().len(),
        };
        Shape { statements, kinds: self.kinds().len() }
    }
}
