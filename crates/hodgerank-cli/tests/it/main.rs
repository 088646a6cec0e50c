//! Integration tests of the program, in one binary.

mod annotators;
mod bad_input;
mod clean;
mod clean_refused;
mod common_situations;
mod compare_path;
mod cross_validation;
mod damaged_files;
mod decompose;
mod diagnose;
mod every_command;
mod experiment;
mod formats;
mod golden;
mod library;
mod outliers;
mod output;
mod rank;
mod report;
mod simulate_demo;
mod studies;
mod support;
