//! Figures as PDF, of other widths and without a title.

use std::collections::HashSet;

use hodgerank_report::chart::{Colour, LegendEntry, Sign, Ticks};
use hodgerank_report::figure::{FigureOptions, draw, draw_with};
use resvg::usvg::{Options, Tree};

use crate::figure::{HOSTILE, axis, chart, drawn_texts, every_mark, labels, numbers, texts};

/// Whether bytes contain a text.
fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn pdf_files_have_the_size_of_the_figure() {
    let one = numbers(every_mark());
    let options = |width: &str| FigureOptions { width: width.parse().unwrap(), title: true };
    for (width, points) in [("16cm", 453.54), ("8cm", 226.77), ("3.5in", 252.0)] {
        let pdf = draw_with(&one, &options(width)).pdf().unwrap();
        assert!(pdf.starts_with(b"%PDF-") && contains(&pdf, "%%EOF"));
        let text = String::from_utf8_lossy(&pdf);
        let (_, size) = text.split_once("/MediaBox [0 0 ").unwrap();
        let found: f64 = size.split(' ').next().unwrap().parse().unwrap();
        assert!((found - points).abs() < 0.01, "{width}: {found}");
        assert!(contains(&pdf, "/Title (Title)"));
        // The translucent bands.
        assert!(contains(&pdf, "/ExtGState"));
    }
    assert_eq!(draw(&one).pdf().unwrap(), draw(&one).pdf().unwrap(), "deterministic");
    for label in HOSTILE {
        let pdf = draw(&numbers(vec![texts(label)])).pdf().unwrap();
        assert!(contains(&pdf, "%%EOF"), "{label}");
    }
}

/// At half the width, texts have the same size and everything is inside the figure.
#[test]
fn narrow_figures_are_legible() {
    let names: Vec<String> = (0..12).map(|k| format!("a rather long name {k}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows = axis(11.5, -0.5, labels(&names));
    let mut one = chart(axis(0.0, 10.0, Ticks::Numbers), rows, every_mark());
    let entry = |name: &str| LegendEntry::new(name, Colour::Kind(0), Sign::Line);
    one.legend = vec![entry("short"), entry(&"a very long entry of the legend ".repeat(4))];
    one.title =
        "A title that is longer than a narrow figure is wide, so that it has lines".to_owned();
    let narrow = FigureOptions { width: "8cm".parse().unwrap(), title: true };
    let svg = draw_with(&one, &narrow).into_svg();
    let sizes = |svg: &str| -> HashSet<String> {
        let found = svg.split("font-size=\"").skip(1);
        found.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    assert_eq!(sizes(&svg), sizes(draw(&one).svg()), "the same sizes of text");
    let tree = Tree::from_str(&svg, &Options::default()).unwrap();
    assert_eq!(tree.size().width().round(), 302.0);
    let drawn: Vec<String> = drawn_texts(&svg).into_iter().map(|(_, _, text)| text).collect();
    let shown = drawn.iter().filter(|text| text.starts_with("a rather")).count();
    assert_eq!(shown, 12, "every row has its label: {drawn:?}");
    assert!(drawn.iter().any(|text| text.starts_with("a very long") && text.ends_with('…')));
}

#[test]
fn titles_can_be_left_out() {
    let one = numbers(every_mark());
    let bare = FigureOptions { title: false, ..FigureOptions::default() };
    let (with, without) = (draw(&one).into_svg(), draw_with(&one, &bare).into_svg());
    let count = |svg: &str| drawn_texts(svg).iter().filter(|(_, _, text)| text == "Title").count();
    assert_eq!((count(&with), count(&without)), (1, 0));
    assert!(without.contains("<title>Title</title>"), "screen readers still read it");
    let height = |svg: &str| Tree::from_str(svg, &Options::default()).unwrap().size().height();
    assert!(height(&without) < height(&with));
}
