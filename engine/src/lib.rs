//! The load engine of pgverdict.
//!
//! One process holds connections to every server under test (an *arm*) and drives them in turn, in
//! short *slices*, each driving exactly one arm. What it measures it sums up and hands over between
//! slices; nothing crosses a process boundary while a slice runs. Imports point down this list:
//!
//! - [`faces`]: how the engine is talked to; the only place that knows JSON
//! - [`drive`]: sockets, threads, slices; the only place that knows the operating system
//! - [`measure`]: samples in, summaries out
//! - [`generate`]: rows of datasets
//! - [`workload`]: programs of the engine, in place of scripts
//! - [`parameters`]: what these two are given; [`keys`]: how both choose among records
//! - [`script`]: the language of pgbench
//! - [`wire`]: the PostgreSQL protocol

pub mod drive;
pub mod faces;
pub mod generate;
pub mod keys;
pub mod measure;
pub mod parameters;
pub mod script;
pub mod wire;
pub mod workload;
