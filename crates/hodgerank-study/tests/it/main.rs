//! Tests of a study as a whole.

mod client;
mod ranking;
mod security;
mod voting;
