//! Integration tests of reading and writing files, in one binary.

mod changed_input;
mod properties;
mod support;
