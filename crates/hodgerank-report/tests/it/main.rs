//! Integration tests of reports and figures, in one binary.

mod figure;
mod study;
