//! Integration tests of reading and writing files, in one binary.

mod properties;
