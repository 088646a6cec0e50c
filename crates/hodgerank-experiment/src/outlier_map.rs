//! Flagged votes of two methods: a map over pairs of items, and arrows.
//!
//! A vote that prefers item 1 to item 2 is at (item 2, item 1). Items are in the order of least
//! squares, the worst first, so that a vote against that order is below the diagonal.

use hodgerank::ComparisonGraph;
use hodgerank::fit::Fit;
use hodgerank_report::chart::{
    Axis, Chart, Colour, Hover, LegendEntry, Mark, PointShape, Sign, short_label,
};

use crate::charts::{OUTLIER, chart, points};

/// Votes are coloured in bands: the most suspicious 5% of the votes, the next 5%, …, the rest.
const BAND_SHARE: f64 = 0.05;
const BANDS: usize = 5;
/// Colour steps of the bands, strong to weak.
const BAND_COLOURS: [u8; BANDS + 1] = [9, 7, 5, 3, 2, 0];

/// Which of two methods flag a distinct vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Both,
    OnlyFirst,
    OnlySecond,
    Neither,
}

/// The fits of two methods on a study.
pub(crate) struct OutlierMap<'a> {
    pub(crate) graph: &'a ComparisonGraph,
    pub(crate) items: &'a [String],
    /// Least squares scores.
    pub(crate) l2: &'a [f64],
    pub(crate) first: &'a Fit,
    pub(crate) second: &'a Fit,
}

impl OutlierMap<'_> {
    fn agreement(&self, g: usize) -> Agreement {
        match (self.first.flagged[g] > 0.0, self.second.flagged[g] > 0.0) {
            (true, true) => Agreement::Both,
            (true, false) => Agreement::OnlyFirst,
            (false, true) => Agreement::OnlySecond,
            (false, false) => Agreement::Neither,
        }
    }

    /// Returns how many distinct votes both flag, only the first, and only the second.
    pub(crate) fn counts(&self) -> [usize; 3] {
        let of = |wanted| {
            let groups = 0..self.graph.groups().len();
            groups.filter(|&g| self.agreement(g) == wanted).count()
        };
        [Agreement::Both, Agreement::OnlyFirst, Agreement::OnlySecond].map(of)
    }

    /// Returns the preferred item and the other one. A tie counts as a preference for the item with
    /// the lower score.
    fn sides(&self, g: usize) -> (usize, usize) {
        let groups = self.graph.groups();
        let (left, right) = (groups.left[g] as usize, groups.right[g] as usize);
        let is_right = groups.y[g] < 0.0 || (groups.y[g] == 0.0 && self.l2[left] > self.l2[right]);
        if is_right { (right, left) } else { (left, right) }
    }

    /// Returns the items from worst to best by least squares, and the position of each item.
    fn order(&self) -> (Vec<usize>, Vec<f64>) {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by(|&a, &b| self.l2[a].total_cmp(&self.l2[b]));
        let mut position = vec![0.0; order.len()];
        order.iter().enumerate().for_each(|(k, &item)| position[item] = k as f64);
        (order, position)
    }

    fn labels(&self, order: &[usize]) -> Vec<String> {
        order.iter().map(|&item| short_label(&self.items[item], 12)).collect()
    }

    /// Returns the band of each distinct vote, by the order in which the first method flags them.
    fn bands(&self) -> Vec<usize> {
        let groups = self.graph.groups();
        let mut bands = vec![BANDS; groups.len()];
        let mut votes = 0.0;
        for entry in &self.first.entries {
            let g = entry.group as usize;
            bands[g] = ((votes / (BAND_SHARE * groups.votes())) as usize).min(BANDS);
            votes += groups.weight[g];
        }
        bands
    }

    fn names(&self) -> (&'static str, &'static str) {
        (self.first.method.as_str(), self.second.method.as_str())
    }

    fn hover(&self, g: usize) -> String {
        let (one, two) = self.sides(g);
        let groups = self.graph.groups();
        let word = if groups.y[g] == 0.0 { "ties with" } else { "over" };
        format!("{} {word} {}: {} votes", self.items[one], self.items[two], groups.weight[g])
    }

    /// Returns the map: colours show the band, shapes which method flags the vote.
    pub(crate) fn map(&self, id: &str, title: &str) -> Chart {
        let (first, second) = self.names();
        let (bands, (order, position)) = (self.bands(), self.order());
        let kinds = [
            (Agreement::Neither, PointShape::Plus, "neither".to_owned()),
            (Agreement::Both, PointShape::Circle, "both".to_owned()),
            (Agreement::OnlyFirst, PointShape::Triangle, format!("only {first}")),
            (Agreement::OnlySecond, PointShape::Diamond, format!("only {second}")),
        ];
        let mut marks = Vec::new();
        // The most suspicious are drawn last, on top.
        for band in (0..=BANDS).rev() {
            for (agreement, shape, _) in &kinds {
                let wanted = |&g: &usize| bands[g] == band && self.agreement(g) == *agreement;
                let own: Vec<usize> = (0..bands.len()).filter(wanted).collect();
                if own.is_empty() {
                    continue;
                }
                let at = |&g: &usize| {
                    let (one, two) = self.sides(g);
                    (position[two], position[one])
                };
                let positions: Vec<_> = own.iter().map(at).collect();
                let words = own.iter().map(|&g| self.hover(g)).collect();
                marks.push(points(Colour::Step(BAND_COLOURS[band]), *shape, &positions, words));
            }
        }
        let names = self.labels(&order);
        let x = Axis::labels("item 2, the other", names.clone());
        let y = Axis::labels("item 1, preferred", names);
        let [both, only_first, only_second] = self.counts();
        let alt = format!(
            "Each point is a distinct vote for item 1 over item 2. {both} distinct votes are \
             flagged by both methods, {only_first} only by {first}, {only_second} only by {second}."
        );
        let mut chart = chart(id, title, &alt, x, y, marks);
        chart.aspect = 1.0;
        let share = |band: usize| format!("top {:.0}%", 100.0 * BAND_SHARE * (band + 1) as f64);
        let band = |band: usize| {
            let name = if band == BANDS { "the rest".to_owned() } else { share(band) };
            LegendEntry::new(&name, Colour::Step(BAND_COLOURS[band]), Sign::Bar)
        };
        let sign = |(_, shape, name): &(_, PointShape, String)| {
            LegendEntry::new(format!("flagged by {name}"), Colour::Ink, Sign::Point(*shape))
        };
        chart.legend = (0..=BANDS).map(band).chain(kinds.iter().map(sign)).collect();
        chart
    }

    /// Returns flagged votes as arrows from the preferred item to the other. Arrows that point up are
    /// against the order of least squares.
    pub(crate) fn arrows(&self, id: &str, title: &str) -> Chart {
        let (first, second) = self.names();
        let (order, position) = self.order();
        let kinds = [
            (Agreement::Both, Colour::Kind(0), "both".to_owned()),
            (Agreement::OnlyFirst, OUTLIER, format!("only {first}")),
            (Agreement::OnlySecond, Colour::Kind(2), format!("only {second}")),
        ];
        let mut marks = Vec::new();
        for (agreement, colour, _) in &kinds {
            let wanted = |&g: &usize| self.agreement(g) == *agreement;
            let own: Vec<usize> = (0..self.graph.groups().len()).filter(wanted).collect();
            let end = |take: fn((usize, usize)) -> usize| {
                own.iter().map(|&g| position[take(self.sides(g))]).collect::<Vec<f64>>()
            };
            marks.push(Mark::Segments {
                colour: *colour,
                width: 1.5,
                arrow: true,
                x0: vec![0.0; own.len()],
                y0: end(|sides| sides.0),
                x1: vec![1.0; own.len()],
                y1: end(|sides| sides.1),
                hover: Hover::Words { words: own.iter().map(|&g| self.hover(g)).collect() },
            });
        }
        let x = Axis::labels("", vec!["preferred".to_owned(), "the other".to_owned()]);
        let y = Axis::labels("item, best by l2 at the top", self.labels(&order));
        let (against, all) = self.against_l2();
        let alt = format!(
            "{all} flagged distinct votes as arrows; {against} of them contradict the order of \
             least squares."
        );
        let mut chart = chart(id, title, &alt, x, y, marks);
        let sign = |(_, colour, name): &(_, Colour, String)| {
            LegendEntry::new(format!("flagged by {name}"), *colour, Sign::Line)
        };
        chart.legend = kinds.iter().map(sign).collect();
        chart
    }

    /// Returns how many flagged distinct votes contradict least squares, and how many are flagged,
    /// not counting ties.
    pub(crate) fn against_l2(&self) -> (usize, usize) {
        let flagged =
            |&g: &usize| self.agreement(g) != Agreement::Neither && self.graph.groups().y[g] != 0.0;
        let against = |&g: &usize| {
            let (one, two) = self.sides(g);
            self.l2[one] < self.l2[two]
        };
        let all: Vec<usize> = (0..self.graph.groups().len()).filter(flagged).collect();
        (all.iter().copied().filter(|g| against(g)).count(), all.len())
    }
}
