//! Rows of datasets, straight into the text of COPY. No sockets here: whoever sends the rows takes
//! them a piece at a time.

pub mod pgbench;
