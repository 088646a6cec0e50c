//! Pictures of a study: one description of a chart serves the page and the printed figure.
//!
//! - [`chart`] describes a chart: axes, marks, legend, a text that stands for it.
//! - [`table`] describes a table that can be sorted and filtered.
//! - [`figure`] draws a chart on paper, as SVG and PNG; [`palette`] has the colours of print.
//! - [`document`] is what a page says of one or more studies, charts and tables in sections.
//!
//! Nothing here reads votes or solves anything: what is shown is handed over.

pub mod chart;
pub mod document;
pub mod figure;
pub mod palette;
pub mod table;
