//! Integration tests of the program, in one binary.

mod annotators;
mod bad_input;
mod clean;
mod clean_refused;
mod compare_path;
mod cross_validation;
mod damaged_files;
mod decompose;
mod diagnose;
mod every_file;
mod everyday;
mod experiment;
mod formats;
mod library;
mod outliers;
mod output;
mod rank;
mod report;
mod simulate_demo;
mod studies;
mod support;
