//! Integration tests of the experiments, in one binary.

mod small_settings;
