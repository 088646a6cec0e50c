//! Integration tests of reports and figures, in one binary.

mod annotators;
mod figure;
mod figure_options;
mod live;
mod overview;
mod study;
