//! How the engine is talked to. A face turns what it hears into calls of [`crate::drive`], and what
//! comes back into its own words.

pub mod pgbench;
pub mod seam;
