//! Samples in, summaries out. The hot path only appends to a [`recorder`]; everything else is done
//! between slices: exact percentiles ([`summary`]), what can be added up ([`totals`], [`moments`]),
//! and histograms for storage and tails ([`histogram`]).

pub mod counts;
pub mod distributions;
pub mod histogram;
pub mod intervals;
pub mod moments;
pub mod recorder;
pub mod seconds;
pub mod summary;
pub mod totals;
