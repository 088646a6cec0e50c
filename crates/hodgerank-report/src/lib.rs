//! Pictures of a study: one description of a chart serves the page and the printed figure.
//!
//! - [`chart`] describes a chart: axes, marks, legend, a text that stands for it.
//! - [`table`] describes a table that can be sorted and filtered.
//! - [`figure`] draws a chart on paper, as SVG and PNG; [`palette`] has the colours of print.
//! - [`document`] is what a page says of one or more studies, charts and tables in sections.
//! - [`findings`] finds everything that is shown of a study; [`study`] says it as such a document.
//! - [`page`] writes a document as one HTML file that needs nothing else.
//! - [`advice`] puts diagnoses into words.
//! - [`words`] writes numbers for people.

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
