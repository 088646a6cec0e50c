//! The HTML report of a study, and its charts as figures for print.
//!
//! A chart is described once ([`chart::Chart`]); the script of the page and the printed figure both
//! draw it.
//!
//! | module | purpose |
//! |---|---|
//! | [`findings`] | computes everything that the report shows about a study |
//! | [`study`] | turns it into sections of text, charts and tables |
//! | [`document`] | the data of a page |
//! | [`page`] | writes a page as one self-contained HTML file |
//! | [`chart`], [`table`] | descriptions of charts and tables, independent of how they are drawn |
//! | [`figure`] | draws charts as SVG, PDF and PNG |
//! | [`palette`] | the colours of print |
//! | [`advice`] | puts diagnoses into words |
//! | [`words`] | formats numbers |

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

pub mod advice;
pub mod chart;
pub mod document;
pub mod figure;
pub mod findings;
pub mod page;
pub mod palette;
pub mod study;
pub mod table;
pub mod words;
