//! Draws one figure of each kind with made-up values: `gallery FOLDER`.

use std::f64::consts::TAU;
use std::path::Path;

use hodgerank_io::write::Outputs;
use hodgerank_report::chart::{
    Anchor, Axis, Chart, Colour, Hover, LegendEntry, LineCurve, Mark, PointShape, Ramp, Sign, Ticks,
};
use hodgerank_report::figure::{self, FigureOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: gallery FOLDER")?;
    let charts = [
        ranking(),
        bump(),
        outliers(),
        arrows(),
        paths(),
        shares(),
        triangles(),
        graph(),
        annotators(),
        heat_map(),
        image(),
        roc(),
        dense_points(),
        scripts(),
    ];
    figure::write(
        &charts,
        Path::new(&folder),
        "--figures",
        &FigureOptions::default(),
        &mut Outputs::new(&[]),
    )?;
    Ok(())
}

/// Returns a reproducible pseudo-random number from 0 to 1.
fn noise(k: usize, salt: f64) -> f64 {
    let value = ((k as f64 + 1.0) * 12.9898 + salt * 78.233).sin() * 43_758.545_3;
    value - value.floor()
}

fn axis(name: &str, from: f64, to: f64, ticks: Ticks) -> Axis {
    Axis { name: name.to_owned(), from, to, ticks }
}

fn labels(texts: impl IntoIterator<Item = String>) -> Ticks {
    Ticks::Labels { labels: texts.into_iter().collect() }
}

fn hidden(from: f64, to: f64) -> Axis {
    axis("", from, to, Ticks::Hidden)
}

fn chart(id: &str, title: &str, x: Axis, y: Axis, aspect: f64, marks: Vec<Mark>) -> Chart {
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        alt: format!("{title}, with made-up values."),
        note: None,
        x,
        y,
        aspect,
        marks,
        legend: Vec::new(),
    }
}

fn entry(name: &str, colour: Colour, sign: Sign) -> LegendEntry {
    LegendEntry { name: name.to_owned(), colour, sign }
}

fn points(colour: Colour, shape: PointShape, size: f64, x: Vec<f64>, y: Vec<f64>) -> Mark {
    Mark::Points { colour, shape, size, x, y, hover: Hover::Nothing, follows: None }
}

fn line(colour: Colour, curve: LineCurve, x: Vec<f64>, y: Vec<f64>) -> Mark {
    Mark::Line { colour, width: 2.0, dashed: false, curve, x, y, hover: String::new() }
}

fn segments(colour: Colour, arrow: bool, ends: &[[f64; 4]]) -> Mark {
    let column = |k: usize| ends.iter().map(|end| end[k]).collect();
    Mark::Segments {
        colour,
        width: 1.5,
        arrow,
        x0: column(0),
        y0: column(1),
        x1: column(2),
        y1: column(3),
        hover: Hover::Nothing,
    }
}

fn texts(colour: Colour, anchor: Anchor, at: &[(f64, f64, &str)]) -> Mark {
    Mark::Texts {
        colour,
        anchor,
        x: at.iter().map(|text| text.0).collect(),
        y: at.iter().map(|text| text.1).collect(),
        text: at.iter().map(|text| text.2.to_owned()).collect(),
    }
}

fn ranking() -> Chart {
    let names = [
        "Blue Mountain, washed",
        "espresso",
        "Kona",
        "flat white",
        "Yirgacheffe natural",
        "ristretto",
        "cold brew with tonic and lime",
        "filter",
        "instant",
        "barley",
    ];
    let n = 30;
    let position = |k: usize| k as f64;
    let score = |k: usize| 2.4 - 0.17 * k as f64 + 0.1 * noise(k, 1.0);
    let half = |k: usize| 0.15 + 0.3 * noise(k, 2.0);
    let ends: Vec<[f64; 4]> = (0..n)
        .map(|k| [score(k) - half(k), position(k), score(k) + half(k), position(k)])
        .collect();
    let shown = (0..n).map(|k| format!("{} {}", names[k % names.len()], k + 1));
    let mut chart = chart(
        "ranking",
        "Ranking of 30 drinks, with intervals of 95%",
        axis("score (log-odds)", -3.2, 3.2, Ticks::Numbers),
        axis("item", n as f64 - 0.5, -0.5, labels(shown)),
        1.05,
        vec![
            segments(Colour::Muted, false, &ends),
            points(
                Colour::Kind(0),
                PointShape::Circle,
                4.0,
                (0..n).map(score).collect(),
                (0..n).map(position).collect(),
            ),
            points(
                Colour::Kind(1),
                PointShape::Diamond,
                4.0,
                (0..n).map(|k| score(k) + 0.4 * noise(k, 3.0) - 0.2).collect(),
                (0..n).map(position).collect(),
            ),
        ],
    );
    chart.note = Some("The first 30 of 412 items are shown.".to_owned());
    chart.legend = vec![
        entry("robust score", Colour::Kind(0), Sign::Point(PointShape::Circle)),
        entry("least squares", Colour::Kind(1), Sign::Point(PointShape::Diamond)),
        entry("interval of 95%", Colour::Muted, Sign::Line),
    ];
    chart
}

fn bump() -> Chart {
    let methods = [
        "least squares",
        "Huber",
        "Bradley–Terry",
        "Thurstone",
        "Elo",
        "PageRank",
        "Borda",
        "win rate",
        "median of paths",
    ];
    let items =
        ["amber", "beryl", "citrine", "diamond", "emerald", "fluorite", "garnet", "howlite"];
    let rank = |item: usize, method: usize| {
        let value = |item: usize| item as f64 + 1.6 * noise(item * 9 + method, 5.0);
        (0..items.len()).filter(|&other| value(other) < value(item)).count() as f64
    };
    let mut marks = Vec::new();
    for item in 0..items.len() {
        let x: Vec<f64> = (0..methods.len()).map(|method| method as f64).collect();
        let y: Vec<f64> = (0..methods.len()).map(|method| rank(item, method)).collect();
        let colour = Colour::Kind(item as u8);
        marks.push(line(colour, LineCurve::Smooth, x.clone(), y.clone()));
        marks.push(points(colour, PointShape::Circle, 5.0, x, y));
    }
    let last: Vec<(f64, f64, &str)> =
        (0..items.len()).map(|item| (8.2, rank(item, 8), items[item])).collect();
    marks.push(texts(Colour::Ink, Anchor::Start, &last));
    chart(
        "bump",
        "Places of the first eight items by nine methods",
        axis("method", -0.2, 8.2, labels(methods.map(str::to_owned))),
        axis("position", 7.4, -0.4, labels((1..=8).map(|position| position.to_string()))),
        0.55,
        marks,
    )
}

fn outliers() -> Chart {
    let mut marks = Vec::new();
    for (shape, salt) in
        [(PointShape::Circle, 1.0), (PointShape::Triangle, 2.0), (PointShape::Square, 3.0)]
    {
        for step in 0..10_u8 {
            let many = 12;
            let at = |k: usize, more: f64| noise(k + 100 * usize::from(step), salt + more);
            marks.push(points(
                Colour::Step(step),
                shape,
                3.0,
                (0..many).map(|k| 1.0 + 3.5 * at(k, 7.0)).collect(),
                (0..many).map(|k| f64::from(step) / 10.0 + 0.3 * at(k, 9.0)).collect(),
            ));
        }
    }
    marks.push(Mark::Line {
        colour: Colour::Ink,
        width: 1.5,
        dashed: true,
        curve: LineCurve::Straight,
        x: vec![0.9, 4.6],
        y: vec![0.8, 0.8],
        hover: String::new(),
    });
    let mut chart = chart(
        "outlier-map",
        "Votes by leverage and standardised residual",
        axis("number of votes of the annotator", 0.8, 4.7, Ticks::Powers),
        axis("share of votes against the ranking", -0.02, 1.25, Ticks::Shares),
        0.6,
        marks,
    );
    chart.legend = vec![
        entry("not flagged", Colour::Step(1), Sign::Point(PointShape::Circle)),
        entry("doubtful", Colour::Step(5), Sign::Point(PointShape::Triangle)),
        entry("flagged", Colour::Step(9), Sign::Point(PointShape::Square)),
        entry("threshold", Colour::Ink, Sign::Dashes),
    ];
    chart
}

fn arrows() -> Chart {
    let ends: Vec<[f64; 4]> = (0..14)
        .map(|k| {
            let x = k as f64;
            [x, 3.0 * noise(k, 1.0), x + 0.25, 3.0 * noise(k, 2.0)]
        })
        .collect();
    chart(
        "arrows",
        "How scores move when flagged votes are left out",
        axis("item", -0.5, 14.0, labels((0..14).map(|k| format!("item {k}")))),
        axis("score", -0.2, 3.2, Ticks::Numbers),
        0.45,
        vec![segments(Colour::Kind(1), true, &ends)],
    )
}

fn paths() -> Chart {
    let mut marks = Vec::new();
    let steps = 3000;
    let x: Vec<f64> = (0..steps).map(|k| -4.0 + 5.0 * k as f64 / steps as f64).collect();
    for item in 0..8_u8 {
        let start = f64::from(item) / 2.0 - 1.8;
        let y = x.iter().map(|&x| start / (1.0 + (-x - f64::from(item % 3)).exp())).collect();
        marks.push(line(Colour::Kind(item), LineCurve::Straight, x.clone(), y));
    }
    marks.push(line(
        Colour::Ink,
        LineCurve::Step,
        (0..=10).map(|k| -4.0 + f64::from(k) / 2.0).collect(),
        (0..=10).map(|k| -2.0 + f64::from(k * k) / 50.0).collect(),
    ));
    marks.push(segments(Colour::Faint, false, &[[-1.3, -2.1, -1.3, 1.9]]));
    marks.push(texts(Colour::Muted, Anchor::Start, &[(-1.25, 1.75, "chosen")]));
    let mut chart = chart(
        "path",
        "Scores along the path, from no vote flagged to all",
        axis("penalty λ", -4.0, 1.0, Ticks::Powers),
        axis("score", -2.1, 1.9, Ticks::Numbers),
        0.6,
        marks,
    );
    chart.legend = (0..8_u8)
        .map(|item| entry(&format!("item {item}"), Colour::Kind(item), Sign::Line))
        .collect();
    chart
}

fn shares() -> Chart {
    let parts = [("agreement", 0.71), ("cycles of three", 0.21), ("harmonic", 0.08)];
    let mut marks = Vec::new();
    let mut legend = Vec::new();
    let mut from = 0.0;
    for (k, (name, share)) in parts.into_iter().enumerate() {
        let colour = Colour::Kind(k as u8);
        marks.push(Mark::Bars {
            colour,
            x0: vec![from],
            x1: vec![from + share],
            y0: vec![0.0],
            y1: vec![1.0],
            hover: Hover::Nothing,
        });
        legend.push(entry(&format!("{name} ({:.0}%)", 100.0 * share), colour, Sign::Bar));
        from += share;
    }
    let x = axis("share of the squared flow", 0.0, 1.0, Ticks::Shares);
    let mut chart = chart("shares", "What the votes are made of", x, hidden(0.0, 1.0), 0.09, marks);
    chart.legend = legend;
    chart
}

fn triangles() -> Chart {
    let mut marks = Vec::new();
    for k in 0..3 {
        let centre = 3.0 * f64::from(k);
        let corner = |turn: f64| (centre + (TAU * turn).sin(), (TAU * turn).cos());
        let corners = [corner(0.0), corner(1.0 / 3.0), corner(2.0 / 3.0)];
        let sides: Vec<[f64; 4]> = (0..3)
            .map(|side| {
                let ((x0, y0), (x1, y1)) = (corners[side], corners[(side + 1) % 3]);
                let at = |share: f64| (x0 + share * (x1 - x0), y0 + share * (y1 - y0));
                let (first, second) = (at(0.14), at(0.86));
                [first.0, first.1, second.0, second.1]
            })
            .collect();
        marks.push(segments(Colour::Kind(1), true, &sides));
        let names = [
            (corners[0].0, 1.2, "rock"),
            (corners[1].0, -0.75, "paper"),
            (corners[2].0, -0.75, "scissors"),
        ];
        marks.push(texts(Colour::Ink, Anchor::Middle, &names));
        marks.push(texts(Colour::Muted, Anchor::Middle, &[(centre, 0.0, "12 : 3")]));
    }
    let (x, y) = (hidden(-1.5, 7.5), hidden(-1.1, 1.5));
    chart("triangles", "The three strongest cycles", x, y, 0.29, marks)
}

fn graph() -> Chart {
    let n = 16;
    let position = |k: usize| {
        let turn = TAU * k as f64 / n as f64;
        (turn.cos() * (0.7 + 0.3 * noise(k, 4.0)), turn.sin() * (0.7 + 0.3 * noise(k, 4.0)))
    };
    let mut ends = Vec::new();
    for one in 0..n {
        for other in 0..one {
            if noise(one * n + other, 6.0) < 0.25 {
                let ((x0, y0), (x1, y1)) = (position(one), position(other));
                ends.push([x0, y0, x1, y1]);
            }
        }
    }
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n).map(position).unzip();
    let names: Vec<String> = (0..n).map(|k| format!("item {k}")).collect();
    let at: Vec<(f64, f64, &str)> =
        (0..n).map(|k| (x[k], y[k] + 0.07, names[k].as_str())).collect();
    let marks = vec![
        segments(Colour::Faint, false, &ends),
        points(Colour::Kind(0), PointShape::Circle, 6.0, x.clone(), y.clone()),
        texts(Colour::Ink, Anchor::Middle, &at),
    ];
    chart("graph", "Who met whom", hidden(-1.1, 1.1), hidden(-1.1, 1.1), 0.8, marks)
}

fn annotators() -> Chart {
    let n = 120;
    let rate = |k: usize| 0.05 + 0.5 * (k as f64 / n as f64).powi(2);
    let half = |k: usize| 0.02 + 0.05 * noise(k, 8.0);
    let ends: Vec<[f64; 4]> = (0..n)
        .map(|k| [(rate(k) - half(k)).max(0.0), k as f64, rate(k) + half(k), k as f64])
        .collect();
    let (x, y) = ((0..n).map(rate).collect(), (0..n).map(|k| k as f64).collect());
    chart(
        "annotators",
        "Error rates of annotators",
        axis("share of flagged votes", 0.0, 0.7, Ticks::Shares),
        axis("annotator", -1.0, n as f64, labels((0..n).map(|k| format!("annotator-{k:04}")))),
        0.7,
        vec![
            segments(Colour::Muted, false, &ends),
            points(Colour::Kind(0), PointShape::Circle, 2.5, x, y),
        ],
    )
}

fn cells(wide: usize, high: usize, ramp: Ramp, value: impl Fn(f64, f64) -> f64) -> Mark {
    let places = || (0..high).flat_map(|row| (0..wide).map(move |column| (column, row)));
    Mark::Cells {
        x: places().map(|(column, _)| column as f64).collect(),
        y: places().map(|(_, row)| row as f64).collect(),
        width: 1.0,
        height: 1.0,
        value: places().map(|(column, row)| value(column as f64, row as f64)).collect(),
        ramp,
        hover: Hover::Nothing,
    }
}

fn heat_map() -> Chart {
    let names =
        |k: usize| format!("method {}", ["A", "B long name", "C", "D"][k % 4].repeat(1 + k % 2));
    let mark = cells(12, 12, Ramp::Steps, |x, y| 1.0 - (x - y).abs() / 11.0);
    let side = || labels((0..12).map(names));
    let x = axis("method", -0.5, 11.5, side());
    let y = axis("method", 11.5, -0.5, side());
    let mut chart = chart("heat-map", "Agreement of methods (Kendall's τ)", x, y, 0.8, vec![mark]);
    chart.legend = (0..10_u8)
        .step_by(3)
        .map(|step| entry(&format!("{:.1}", f64::from(step) / 9.0), Colour::Step(step), Sign::Bar))
        .collect();
    chart
}

fn image() -> Chart {
    let mark = cells(181, 162, Ramp::Grey, |x, y| {
        let (x, y) = (x / 181.0 - 0.5, y / 162.0 - 0.5);
        0.5 + 0.5 * (40.0 * (x * x + y * y)).cos() * (1.0 - x.hypot(y))
    });
    let (x, y) = (hidden(-0.5, 180.5), hidden(161.5, -0.5));
    chart("image", "An image of 181 × 162 cells", x, y, 162.0 / 181.0, vec![mark])
}

fn roc() -> Chart {
    let share: Vec<f64> = (0..=50).map(|k| f64::from(k) / 50.0).collect();
    let curve = |power: f64| share.iter().map(|x| x.powf(power)).collect::<Vec<f64>>();
    let mut chart = chart(
        "roc",
        "Finding planted outliers",
        axis("false alarms", 0.0, 1.0, Ticks::Shares),
        axis("found", 0.0, 1.0, Ticks::Shares),
        0.8,
        vec![
            Mark::Line {
                colour: Colour::Muted,
                width: 1.0,
                dashed: true,
                curve: LineCurve::Straight,
                x: vec![0.0, 1.0],
                y: vec![0.0, 1.0],
                hover: String::new(),
            },
            line(Colour::Kind(0), LineCurve::Straight, share.clone(), curve(0.15)),
            line(Colour::Kind(1), LineCurve::Straight, share.clone(), curve(0.4)),
            points(Colour::Kind(0), PointShape::Plus, 5.0, vec![0.06], vec![0.06_f64.powf(0.15)]),
            points(Colour::Kind(1), PointShape::Cross, 5.0, vec![0.1], vec![0.1_f64.powf(0.4)]),
        ],
    );
    chart.legend = vec![
        entry("robust (AUC 0.870)", Colour::Kind(0), Sign::Line),
        entry("residuals (AUC 0.714)", Colour::Kind(1), Sign::Line),
        entry("chance", Colour::Muted, Sign::Dashes),
    ];
    chart
}

fn dense_points() -> Chart {
    let n = 20_000;
    let spread = |k: usize, salt: f64| (0..4).map(|j| noise(4 * k + j, salt)).sum::<f64>() - 2.0;
    let x: Vec<f64> = (0..n).map(|k| spread(k, 1.0)).collect();
    let y = (0..n).map(|k| 40_000.0 * (x[k] + spread(k, 2.0))).collect();
    chart(
        "dense-points",
        "Twenty thousand votes",
        axis("predicted", -2.0, 2.0, Ticks::Numbers),
        axis("observed", -140_000.0, 140_000.0, Ticks::Numbers),
        0.6,
        vec![points(Colour::Kind(0), PointShape::Circle, 1.5, x, y)],
    )
}

fn scripts() -> Chart {
    let names = [
        "<script>alert(1)</script>",
        "Tom & \"Jerry's\"",
        "$x^2$ costs $5",
        "קפה שחור",
        "قهوة",
        "コーヒーとお茶",
        "咖啡",
        "☕ 🍵",
        "Ελληνικός",
        "кофе",
    ];
    let n = names.len();
    let (x, y) = ((0..n).map(|k| k as f64).collect(), (0..n).map(|k| k as f64).collect());
    let mut chart = chart(
        "scripts",
        "Labels are data: <b>bold</b> & $\\alpha$",
        axis("$x$ in <units>", -0.5, n as f64, Ticks::Numbers),
        axis("label", n as f64 - 0.5, -0.5, labels(names.map(str::to_owned))),
        0.5,
        vec![
            points(Colour::Kind(2), PointShape::Square, 5.0, x, y),
            texts(Colour::Ink, Anchor::Start, &[(4.0, 1.0, "$y$ & <text>")]),
        ],
    );
    chart.legend = vec![entry("$z$ <&>", Colour::Kind(2), Sign::Point(PointShape::Square))];
    chart
}
