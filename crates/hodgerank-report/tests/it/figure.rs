//! Charts as SVG and PNG: every mark is drawn, labels are text, positions are right, output is
//! deterministic.

use std::collections::HashSet;

use hodgerank_io::write::Outputs;
use hodgerank_report::chart::{
    Anchor, Axis, Chart, Colour, Hover, LegendEntry, LineCurve, Mark, PointShape, Ramp, Sign, Ticks,
};
use hodgerank_report::figure::{self, FigureError, FigureOptions, draw};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Options, Tree};

const SHAPES: [PointShape; 6] = [
    PointShape::Circle,
    PointShape::Square,
    PointShape::Triangle,
    PointShape::Diamond,
    PointShape::Cross,
    PointShape::Plus,
];

/// Labels that must appear unchanged in every position.
pub(crate) const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "a & b &amp; c",
    "\"double\" 'single'",
    "$x$ and $\\frac{1}{2}$",
    "\\$5 \\\\$ $",
    "☕ 🍵 👩‍🔬",
    "קפה שחור",
    "]]> --> <!-- </svg>",
];

pub(crate) fn axis(from: f64, to: f64, ticks: Ticks) -> Axis {
    Axis { name: "axis".to_owned(), from, to, ticks }
}

pub(crate) fn labels(texts: &[&str]) -> Ticks {
    Ticks::Labels { labels: texts.iter().map(|&text| text.to_owned()).collect() }
}

pub(crate) fn chart(x: Axis, y: Axis, marks: Vec<Mark>) -> Chart {
    Chart {
        id: "test".to_owned(),
        title: "Title".to_owned(),
        alt: "What it shows.".to_owned(),
        note: None,
        x,
        y,
        aspect: 0.5,
        marks,
        legend: Vec::new(),
    }
}

pub(crate) fn numbers(marks: Vec<Mark>) -> Chart {
    chart(axis(0.0, 10.0, Ticks::Numbers), axis(0.0, 10.0, Ticks::Numbers), marks)
}

fn points(shape: PointShape, x: Vec<f64>, y: Vec<f64>) -> Mark {
    let colour = Colour::Kind(0);
    Mark::Points { colour, shape, size: 4.0, x, y, hover: Hover::Nothing, follows: None }
}

fn line(curve: LineCurve, x: Vec<f64>, y: Vec<f64>) -> Mark {
    let colour = Colour::Kind(1);
    Mark::Line { colour, width: 2.0, dashed: true, curve, x, y, hover: String::new() }
}

fn segments(arrow: bool) -> Mark {
    Mark::Segments {
        colour: Colour::Kind(2),
        width: 2.0,
        arrow,
        x0: vec![1.0, 5.0],
        y0: vec![1.0, 5.0],
        x1: vec![9.0, 5.0],
        y1: vec![2.0, 5.0],
        hover: Hover::Nothing,
    }
}

fn bars() -> Mark {
    Mark::Bars {
        colour: Colour::Kind(3),
        x0: vec![1.0],
        x1: vec![4.0],
        y0: vec![0.0],
        y1: vec![6.0],
        hover: Hover::Nothing,
    }
}

fn cells(ramp: Ramp, wide: u32, high: u32, value: impl Fn(u32, u32) -> f64) -> Mark {
    let places = || (0..high).flat_map(|row| (0..wide).map(move |column| (column, row)));
    Mark::Cells {
        x: places().map(|place| f64::from(place.0)).collect(),
        y: places().map(|place| f64::from(place.1)).collect(),
        width: 1.0,
        height: 1.0,
        value: places().map(|(column, row)| value(column, row)).collect(),
        ramp,
        hover: Hover::Nothing,
    }
}

fn intervals() -> Mark {
    let (x0, x1, y) = (vec![2.0, 4.0], vec![8.0, f64::INFINITY], vec![5.0, 7.0]);
    Mark::Intervals { colour: Colour::Kind(4), width: 2.0, x0, x1, y, follows: None }
}

fn bands() -> Mark {
    Mark::Bands { y0: vec![1.0], y1: vec![4.0], follows: None }
}

pub(crate) fn texts(text: &str) -> Mark {
    let text = vec![text.to_owned()];
    Mark::Texts { colour: Colour::Ink, anchor: Anchor::Middle, x: vec![5.0], y: vec![5.0], text }
}

pub(crate) fn every_mark() -> Vec<Mark> {
    let mut marks: Vec<Mark> =
        SHAPES.iter().map(|&shape| points(shape, vec![2.0], vec![3.0])).collect();
    for curve in [LineCurve::Straight, LineCurve::Step, LineCurve::Smooth] {
        marks.push(line(curve, vec![1.0, 4.0, 9.0], vec![2.0, 8.0, 3.0]));
    }
    marks.extend([segments(false), segments(true), bars(), texts("word")]);
    marks.push(cells(Ramp::Steps, 4, 4, |x, y| f64::from(x + y) / 6.0));
    marks.push(cells(Ramp::Grey, 4, 4, |x, y| f64::from(x + y) / 6.0));
    marks.push(cells(Ramp::Diverging, 4, 4, |x, y| f64::from(x + y) / 6.0));
    marks.extend([intervals(), bands()]);
    marks
}

fn picture(chart: &Chart) -> Pixmap {
    Pixmap::decode_png(&draw(chart).png().unwrap()).unwrap()
}

/// Number of pixels that are not white.
fn inked(picture: &Pixmap) -> usize {
    picture
        .pixels()
        .iter()
        .filter(|dot| (dot.red(), dot.green(), dot.blue()) != (255, 255, 255))
        .count()
}

fn attribute(element: &str, name: &str) -> f64 {
    let start = element.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    element[start..].split('"').next().unwrap().parse().unwrap()
}

/// Position and unescaped text of each `<text>` element.
pub(crate) fn drawn_texts(svg: &str) -> Vec<(f64, f64, String)> {
    let elements = svg.split("<text ").skip(1);
    elements
        .map(|element| {
            let element = format!(" {element}");
            let (tag, rest) = element.split_once('>').unwrap();
            let text = rest.split_once("</text>").unwrap().0;
            let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            let text = text.replace("&apos;", "'").replace("&amp;", "&");
            (attribute(tag, "x"), attribute(tag, "y"), text)
        })
        .collect()
}

#[test]
fn every_mark_is_drawn() {
    let empty = inked(&picture(&numbers(Vec::new())));
    for mark in every_mark() {
        let with = inked(&picture(&numbers(vec![mark.clone()])));
        assert!(with > empty + 20, "{mark:?}: {with} of {empty}");
    }
}

#[test]
fn every_kind_of_ticks_is_drawn() {
    let kinds = [
        (Ticks::Numbers, 0.0, 10.0, "4"),
        (Ticks::Numbers, 0.0, -3e6, "−1,000,000"),
        (Ticks::Numbers, 0.0, 2e-8, "1.0×10⁻⁸"),
        (Ticks::Numbers, -3e12, 3e12, "−2×10¹²"),
        (Ticks::Shares, 0.0, 0.2, "10%"),
        (Ticks::Powers, -1.0, 3.0, "0.1"),
        (Ticks::Powers, -1.0, 4.0, "1,000"),
        (Ticks::Powers, -9.0, 2.0, "10⁻⁸"),
        (Ticks::Powers, 0.0, 1.5, "5"),
        (Ticks::Powers, 1.5, -0.5, "0.5"),
        (Ticks::Powers, 0.35, 0.65, "3.16"),
        (labels(&["one", "two", "three"]), -0.5, 2.5, "two"),
        (labels(&["one", "two", "three"]), 2.5, -0.5, "three"),
    ];
    for (ticks, from, to, expected) in kinds {
        for along in [false, true] {
            let mut one = numbers(every_mark());
            let axis = axis(from, to, ticks.clone());
            if along {
                one.x = axis;
            } else {
                one.y = axis;
            }
            let texts = drawn_texts(draw(&one).svg());
            let found = texts.iter().any(|(_, _, text)| text == expected);
            assert!(found, "{ticks:?} {along}: {expected} is not among {texts:?}");
            assert_eq!(texts.iter().filter(|(_, _, text)| text == "axis").count(), 2);
        }
    }
}

#[test]
fn a_hidden_axis_has_no_line_no_ticks_and_no_name() {
    let mut hidden = numbers(vec![points(PointShape::Circle, vec![5.0], vec![5.0])]);
    hidden.y.ticks = Ticks::Hidden;
    let svg = draw(&hidden).into_svg();
    let names = drawn_texts(&svg).into_iter().filter(|(_, _, text)| text == "axis");
    assert_eq!(names.count(), 1);
    // The remaining texts are upright, except for the name of the other axis.
    let level = svg.split("<line ").skip(1).filter(|line| {
        let line = format!(" {line}");
        attribute(&line, "y1") == attribute(&line, "y2")
    });
    assert_eq!(level.count(), 1);

    hidden.x.ticks = Ticks::Hidden;
    let svg = draw(&hidden).into_svg();
    assert!(!svg.contains("<line "));
    assert_eq!(drawn_texts(&svg).len(), 1, "only the title");
}

#[test]
fn points_match_the_axis() {
    for (from, to) in [(0.0, 10.0), (10.0, 0.0), (-3.0, 12.0)] {
        let at = vec![2.0, 4.0, 6.0];
        let mut one = numbers(vec![points(PointShape::Circle, at.clone(), at)]);
        one.x = axis(from, to, Ticks::Numbers);
        let svg = draw(&one).into_svg();
        let texts = drawn_texts(&svg);
        let circles: Vec<&str> = svg.split("<circle").skip(1).collect();
        assert_eq!(circles.len(), 3);
        for (circle, label) in circles.iter().zip(["2", "4", "6"]) {
            let mut ticks = texts.iter().filter(|(_, _, text)| text == label);
            let x_tick = ticks.clone().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
            let y_tick = ticks.find(|tick| tick.1 != x_tick.1).unwrap();
            assert!((attribute(circle, "cx") - x_tick.0).abs() < 0.2, "{circle} {x_tick:?}");
            // The baseline is half a capital letter below the tick.
            assert!((attribute(circle, "cy") + 3.65 - y_tick.1).abs() < 0.4, "{circle} {y_tick:?}");
        }
    }
}

#[test]
fn points_match_an_axis_of_few_powers() {
    for (from, to) in [(-0.5, 1.5), (1.5, -0.5)] {
        let at = vec![5f64.log10(), 1.0];
        let mut one = numbers(vec![points(PointShape::Circle, at, vec![0.1, 0.1])]);
        one.x = axis(from, to, Ticks::Powers);
        one.y.to = 0.2;
        let svg = draw(&one).into_svg();
        let texts = drawn_texts(&svg);
        for (circle, label) in svg.split("<circle").skip(1).zip(["5", "10"]) {
            let tick = texts.iter().find(|(_, _, text)| text == label).unwrap();
            assert!((attribute(circle, "cx") - tick.0).abs() < 0.2, "{circle} {tick:?}");
        }
    }
}

#[test]
fn markup_in_labels_is_escaped() {
    for hostile in HOSTILE {
        let mut one = numbers(vec![texts(hostile)]);
        one.title = hostile.to_owned();
        one.alt = hostile.to_owned();
        one.note = Some(hostile.to_owned());
        one.x.name = hostile.to_owned();
        one.y = Axis { name: hostile.to_owned(), ..axis(0.5, -0.5, labels(&[hostile])) };
        let (name, colour, sign) = (hostile.to_owned(), Colour::Ink, Sign::Bar);
        one.legend = vec![LegendEntry { name, colour, sign }];
        let figure = draw(&one);
        let texts = drawn_texts(figure.svg());
        let count = texts.iter().filter(|(_, _, text)| text == hostile).count();
        assert_eq!(count, 7, "{hostile}: {texts:?}");
        Tree::from_str(figure.svg(), &Options::default()).unwrap();
        assert!(!figure.svg().contains("<script"));
        assert!(inked(&Pixmap::decode_png(&figure.png().unwrap()).unwrap()) > 1000);
    }
}

#[test]
fn control_characters_give_valid_files() {
    let mut one = numbers(vec![texts("a\u{0}b\u{1b}c\u{ffff}d")]);
    one.alt = "\u{8}\u{fffe}".to_owned();
    let figure = draw(&one);
    Tree::from_str(figure.svg(), &Options::default()).unwrap();
    assert!(drawn_texts(figure.svg()).iter().any(|(_, _, text)| text == "a␀b␛c�d"));
}

#[test]
fn figures_have_accessible_title_and_description() {
    let mut one = numbers(Vec::new());
    one.alt = "5 < 6 & so on".to_owned();
    let svg = draw(&one).into_svg();
    assert!(svg.starts_with("<svg "));
    assert!(svg.contains("><title>Title</title><desc>5 &lt; 6 &amp; so on</desc>"));
    assert!(svg.contains(r#"font-family="DejaVu Sans, Arial, sans-serif""#));
    assert!(!svg.contains("@font-face") && !svg.contains("<script"));
}

#[test]
fn png_files_have_print_resolution() {
    let png = draw(&numbers(every_mark())).png().unwrap();
    let reader = png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap();
    let info = reader.info();
    assert_eq!(info.width, 1890);
    // Half as high as wide, plus title and legend.
    assert!((900..1250).contains(&info.height), "{}", info.height);
    let dots = info.pixel_dims.unwrap();
    assert_eq!((dots.xppu, dots.yppu, dots.unit), (11811, 11811, png::Unit::Meter));
    let picture = Pixmap::decode_png(&png).unwrap();
    let colours: HashSet<[u8; 3]> =
        picture.pixels().iter().map(|dot| [dot.red(), dot.green(), dot.blue()]).collect();
    assert!(colours.len() > 20);
    assert!(picture.pixels()[0].red() == 255, "the corner is white");
}

#[test]
fn output_is_deterministic() {
    let one = numbers(every_mark());
    let (first, second) = (draw(&one), draw(&one));
    assert_eq!(first, second);
    assert_eq!(first.png().unwrap(), second.png().unwrap());
}

#[test]
fn unusual_charts_are_drawn() {
    let point = || vec![points(PointShape::Circle, vec![3.0], vec![3.0])];
    let nothing = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let kinds = [Ticks::Numbers, Ticks::Shares, Ticks::Powers, labels(&[]), Ticks::Hidden];
    let ends = [
        (3.0, 3.0),
        (f64::NAN, 1.0),
        (f64::NEG_INFINITY, f64::INFINITY),
        (-1e308, 1e308),
        (1e-320, 2e-320),
        (1e15, 1e15 + 1.0),
        (5.0, 5.0 + 1e-15),
    ];
    for ticks in kinds {
        for (from, to) in ends {
            for aspect in [f64::NAN, 0.0, 0.5] {
                for marks in [Vec::new(), point(), every_mark()] {
                    let side = || axis(from, to, ticks.clone());
                    let mut one = chart(side(), side(), marks);
                    one.aspect = aspect;
                    let svg = draw(&one).into_svg();
                    let tree = Tree::from_str(&svg, &Options::default());
                    assert!(tree.is_ok() && !svg.contains("NaN") && !svg.contains("inf "), "{svg}");
                }
            }
        }
    }
    let lost = numbers(vec![
        points(PointShape::Circle, nothing.clone(), nothing.clone()),
        points(PointShape::Plus, nothing.clone(), nothing.clone()),
        line(LineCurve::Smooth, nothing.clone(), nothing),
        line(LineCurve::Straight, Vec::new(), Vec::new()),
    ]);
    assert_eq!(inked(&picture(&lost)), inked(&picture(&numbers(Vec::new()))));
}

#[test]
fn lines_break_at_missing_points() {
    let y = vec![1.0, 2.0, f64::NAN, 4.0, 1.0];
    let svg = draw(&numbers(vec![line(LineCurve::Straight, vec![1.0, 2.0, 3.0, 4.0, 5.0], y)]));
    let path = svg.svg().split("<path d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(path.matches('M').count(), 2);
    assert_eq!(path.matches('L').count(), 2);
}

#[test]
fn large_charts_give_small_files() {
    let many = 100_000_u32;
    let x: Vec<f64> = (0..many).map(|k| 10.0 * f64::from(k) / f64::from(many)).collect();
    let y: Vec<f64> = x.iter().map(|x| 5.0 + 4.0 * (7e4 * x).sin()).collect();
    let noise = draw(&numbers(vec![line(LineCurve::Straight, x.clone(), y)]));
    assert!(noise.svg().len() < 120_000, "{}", noise.svg().len());

    let same = draw(&numbers(vec![points(PointShape::Circle, x.clone(), vec![5.0; x.len()])]));
    assert!(same.svg().len() < 200_000, "{}", same.svg().len());

    let cell = |x: u32, y: u32| f64::from((x * 31 + y * 17) % 256) / 255.0;
    let mut image = numbers(vec![cells(Ramp::Grey, 181, 162, cell)]);
    (image.x, image.y) = (axis(-0.5, 180.5, Ticks::Hidden), axis(161.5, -0.5, Ticks::Hidden));
    let image = draw(&image);
    assert!(image.svg().len() < 1_200_000, "{}", image.svg().len());
    image.png().unwrap();
    let mut plain = numbers(vec![cells(Ramp::Grey, 181, 162, |_, _| 0.5)]);
    (plain.x, plain.y) = (axis(-0.5, 180.5, Ticks::Hidden), axis(161.5, -0.5, Ticks::Hidden));
    assert!(draw(&plain).svg().len() < 8_000);
}

#[test]
fn cells_show_their_values_without_gaps() {
    let mut one =
        numbers(vec![cells(Ramp::Grey, 40, 30, |x, _| if x < 20 { 0.0 } else { 1.0 / 3.0 })]);
    (one.x, one.y) = (axis(-0.5, 39.5, Ticks::Hidden), axis(29.5, -0.5, Ticks::Hidden));
    let picture = picture(&one);
    let (wide, row) = (picture.width(), picture.height() / 2);
    let dots: HashSet<u8> = (60..wide - 60).map(|x| picture.pixel(x, row).unwrap().red()).collect();
    assert_eq!(dots, HashSet::from([0, 85]));
}

#[test]
fn labels_do_not_overlap() {
    let names: Vec<String> = (0..500).map(|k| format!("item number {k}")).collect();
    let ticks = Ticks::Labels { labels: names };
    let one = chart(axis(-0.5, 499.5, ticks.clone()), axis(499.5, -0.5, ticks), Vec::new());
    let texts = drawn_texts(draw(&one).svg());
    let items: Vec<_> = texts.iter().filter(|text| text.2.starts_with("item")).collect();
    assert!(items.len() > 20 && items.len() < 80, "{}", items.len());
    for (k, one) in items.iter().enumerate() {
        for other in &items[k + 1..] {
            let far = (one.0 - other.0).abs().max((one.1 - other.1).abs());
            assert!(far >= 12.0, "{one:?} {other:?}");
        }
    }
}

#[test]
fn files_are_written_in_a_new_folder() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("new/figures");
    let mut charts = vec![numbers(every_mark()), numbers(Vec::new())];
    charts[1].id = "second-one".to_owned();
    let files = figure::write(
        &charts,
        &folder,
        "--figures",
        &FigureOptions::default(),
        &mut Outputs::new(&[]),
    )
    .unwrap();
    let names: Vec<_> =
        files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    let expected =
        ["test.svg", "test.pdf", "test.png", "second-one.svg", "second-one.pdf", "second-one.png"];
    assert_eq!(names, expected);
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), draw(&charts[0]).svg());
    assert_eq!(std::fs::read(&files[4]).unwrap(), draw(&charts[1]).pdf().unwrap());
    assert_eq!(std::fs::read(&files[5]).unwrap(), draw(&charts[1]).png().unwrap());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 6);
}

#[test]
fn names_outside_the_folder_are_rejected() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("figures");
    for id in ["", "../up", "a/b", "a--b", "con.txt", "a b"] {
        let mut one = numbers(Vec::new());
        one.id = id.to_owned();
        let error = figure::write(
            [&one],
            &folder,
            "--figures",
            &FigureOptions::default(),
            &mut Outputs::new(&[]),
        )
        .unwrap_err();
        assert!(matches!(error, FigureError::Name { .. }), "{id}: {error}");
    }
    let twice = [numbers(Vec::new()), numbers(Vec::new())];
    let error = figure::write(
        &twice,
        &folder,
        "--figures",
        &FigureOptions::default(),
        &mut Outputs::new(&[]),
    )
    .unwrap_err();
    assert!(matches!(error, FigureError::Name { .. }));
    assert!(!folder.exists());
}

#[test]
fn error_bars_have_caps_and_bands_let_the_grid_through() {
    let hidden = || Axis::hidden(0.0, 10.0);
    let drawn = draw(&chart(hidden(), hidden(), vec![intervals()])).into_svg();
    // A bar and two caps; the unbounded interval is left out.
    let path = drawn.split("<path d=\"").find(|part| part.contains("stroke=\"#e69f00\""));
    let path = path.expect("error bars in their colour").split('"').next().unwrap();
    assert_eq!(path.matches('M').count(), 3, "{path}");
    let with_bands = draw(&numbers(vec![bands()])).into_svg();
    assert!(with_bands.contains("fill-opacity=\"0.07\""), "{with_bands}");
    let shaded = inked(&picture(&chart(hidden(), hidden(), vec![bands()])));
    let all = picture(&chart(hidden(), hidden(), Vec::new()));
    let share = (shaded - inked(&all)) as f64 / f64::from(all.width() * all.height());
    assert!((0.2..0.4).contains(&share), "3 of 10 units are shaded: {share}");
}
