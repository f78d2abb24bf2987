//! `\if` and its branches: whether they fit together, and where each goes on.

use super::program::{Action, Command};
use super::{Context, Fault};

/// Tells every condition where its branches go on.
pub fn join(commands: &mut [Command]) -> Result<(), Fault> {
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
                close(commands, &branches, at);
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { fault(commands.len(), "\\if without matching \\endif") }
}

fn close(commands: &mut [Command], branches: &[usize], endif: usize) {
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
