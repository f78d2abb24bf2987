//! The TPC-C-like workload: the five transactions of clause 2 of the standard, as statements or as
//! calls of functions of the server. Every deviation is in docs/workloads/tpcc.md.

mod calls;
mod customer;
mod delivery;
mod input;
mod mix;
mod new_order;
mod order_status;
mod payment;
mod player;
mod statements;
mod stock_level;
mod terminal;

use super::{Opened, Player, Sql, Workload};
use crate::generate::tpcc::WAREHOUSES_MAX;
use crate::parameters::{Parameters, Reading};
use mix::{KINDS, Mix};
use player::{Terms, TpccPlayer, Variant};
use std::sync::Arc;
use terminal::{Spread, terminals};

const NAME: &str = "tpcc";

/// Of keying and think times, as a multiple of the standard's.
const WAITS_MAX: f64 = 1.0;

const TRIES_MAX: u64 = 1000;

struct Tpcc {
    statements: Vec<Sql>,
    warehouses: u64,
    spread: Spread,
    terms: Arc<Terms>,
}

/// Takes `tpcc` and no other name.
pub fn open(name: &str, parameters: &Parameters) -> Opened {
    (name == NAME).then(|| Ok(Arc::new(read(parameters)?) as Arc<dyn Workload>))
}

fn read(parameters: &Parameters) -> Result<Tpcc, String> {
    let mut reading = parameters.read();
    let warehouses = reading.count("scale", 1..=WAREHOUSES_MAX)?;
    let spread = Spread::ALL[reading.choice("terminals", &Spread::NAMES)?];
    let variant = Variant::ALL[reading.choice("variant", &Variant::NAMES)?];
    let isolation = statements::ISOLATIONS[reading.choice("isolation", &statements::ISOLATION_NAMES)?];
    let mix = read_mix(&mut reading)?;
    let waits = reading.number("waits", 0.0..=WAITS_MAX)?;
    let tries_max = reading.count("tries", 1..=TRIES_MAX)? as u32;
    reading.end()?;
    let statements = match variant {
        Variant::Statements => statements::all(isolation),
        Variant::Functions => calls::all(isolation),
    };
    Ok(Tpcc { statements, warehouses, spread, terms: Arc::new(Terms { variant, mix, waits, tries_max }) })
}

fn read_mix(reading: &mut Reading<'_>) -> Result<Mix, String> {
    if reading.boolean("deck")? {
        return Ok(Mix::Deck);
    }
    let mut weights = [0; KINDS.len()];
    const NAMES: [&str; KINDS.len()] =
        ["weight_new_order", "weight_payment", "weight_order_status", "weight_delivery", "weight_stock_level"];
    for (weight, name) in weights.iter_mut().zip(NAMES) {
        *weight = reading.count(name, 0..=1_000_000)?;
    }
    Mix::weighted(weights)
}

impl Workload for Tpcc {
    fn statements(&self) -> &[Sql] {
        &self.statements
    }

    fn kinds(&self) -> &[&'static str] {
        &KINDS
    }

    fn players(&self, clients: usize, _opening: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String> {
        let terminals = terminals(self.spread, self.warehouses, clients as u64)?;
        Ok(terminals
            .into_iter()
            .enumerate()
            .map(|(client, terminal)| {
                Box::new(TpccPlayer::new(client, terminal, Arc::clone(&self.terms))) as Box<dyn Player>
            })
            .collect())
    }
}

#[cfg(test)]
mod tests;
