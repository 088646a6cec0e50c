//! Tables for people, and how they are laid out in a terminal.
//!
//! A table is described once, with all its columns; Markdown and LaTeX show all of them. In a terminal, no
//! number, word or bar is ever broken over lines. If a table is too wide,
//! 1. labels take at most [`LABEL_WIDTH`] columns each;
//! 2. optional columns are left out, in the order that the table states. Where text or bars do not fit, numbers
//!    that were left out for them come back;
//! 3. labels are shortened further and end in `…`, and sentences are wrapped between words.

use std::borrow::Cow;

use crate::width::{
    at_level, common_level, longest_word, shortened, width_of, with_short_words, wrapping,
};

/// A label takes at most this much before columns are left out.
const LABEL_WIDTH: usize = 24;
/// The same for each of several columns of labels.
const SHARED_LABEL_WIDTH: usize = 16;
/// Labels are not shortened to less than this, and the names of a label of several names to less than the second.
const MIN_LABEL_WIDTH: usize = 8;
const MIN_NAME_WIDTH: usize = 4;
/// A column of sentences is not narrower than the first, and not wider than the second for the sake of a long
/// word.
const MIN_PROSE_WIDTH: usize = 16;
const MAX_WORD_WIDTH: usize = 24;
/// Blank columns between the columns of a table.
const GAP: usize = 2;

/// A table with a row of headings.
#[derive(Debug, Clone)]
pub(crate) struct TextTable {
    pub(crate) columns: Vec<Column>,
    /// What a narrow terminal leaves out, the first of them first: headings of columns, or the names of
    /// what [`Column::short`] lacks.
    optional: &'static [&'static str],
}

/// A column: a heading and a cell for each row.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) heading: Cow<'static, str>,
    pub(crate) cells: Cells,
    /// Shorter cells, and the name of what they lack.
    short: Option<(&'static str, Vec<String>)>,
}

/// The cells of a column.
#[derive(Debug, Clone)]
pub(crate) enum Cells {
    /// Numbers, right-aligned.
    Number(Vec<String>),
    /// A few words each, which stay whole.
    Phrase(Vec<String>),
    /// Labels, which can be shortened.
    Label(Vec<Label>),
    /// Sentences, which can be wrapped between words.
    Prose(Vec<String>),
    /// Bars of equal length; only terminals have them.
    Bar(Vec<String>),
}

/// One or more names.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    names: Vec<String>,
    separator: &'static str,
    /// Stands after the names, however short they are.
    mark: &'static str,
}

impl Label {
    pub(crate) fn new(name: String) -> Self {
        Self { names: vec![name], separator: "", mark: "" }
    }

    pub(crate) fn with_mark(self, mark: &'static str) -> Self {
        Self { mark, ..self }
    }

    /// Names that are shortened alike.
    pub(crate) fn of_names(names: Vec<String>, separator: &'static str) -> Self {
        Self { names, separator, mark: "" }
    }

    /// The whole label.
    pub(crate) fn text(&self) -> String {
        self.names.join(self.separator) + self.mark
    }

    /// The width of all that is not a name.
    fn fixed_width(&self) -> usize {
        width_of(self.mark) + width_of(self.separator) * self.names.len().saturating_sub(1)
    }

    fn parts(&self) -> Vec<(usize, usize)> {
        let min = if self.names.len() > 1 { MIN_NAME_WIDTH } else { MIN_LABEL_WIDTH };
        self.names.iter().map(|name| width_of(name)).map(|own| (own.min(min), own)).collect()
    }

    fn min_width(&self) -> usize {
        self.fixed_width() + self.parts().iter().map(|(min, _)| min).sum::<usize>()
    }

    fn fit(&self, width: usize) -> String {
        let parts = self.parts();
        let level = common_level(&parts, width.saturating_sub(self.fixed_width()));
        let names = self.names.iter().zip(parts);
        let names = names.map(|(name, part)| shortened(name, at_level(part, level)));
        names.collect::<Vec<_>>().join(self.separator) + self.mark
    }
}

impl Column {
    pub(crate) fn new(heading: impl Into<Cow<'static, str>>, cells: Cells) -> Self {
        Self { heading: heading.into(), cells, short: None }
    }

    /// A column of numbers.
    pub(crate) fn numbers<R>(
        heading: impl Into<Cow<'static, str>>,
        rows: &[R],
        cell: impl Fn(&R) -> String,
    ) -> Self {
        Self::new(heading, Cells::Number(rows.iter().map(cell).collect()))
    }

    /// A column of labels of one name each.
    pub(crate) fn labels<R>(
        heading: impl Into<Cow<'static, str>>,
        rows: &[R],
        name: impl Fn(&R) -> String,
    ) -> Self {
        let label = |row: &R| Label::new(name(row));
        Self::new(heading, Cells::Label(rows.iter().map(label).collect()))
    }

    /// A column of a few words each.
    pub(crate) fn phrases<R>(
        heading: impl Into<Cow<'static, str>>,
        rows: &[R],
        cell: impl Fn(&R) -> String,
    ) -> Self {
        Self::new(heading, Cells::Phrase(rows.iter().map(cell).collect()))
    }

    /// A column of sentences.
    pub(crate) fn sentences<R>(
        heading: impl Into<Cow<'static, str>>,
        rows: &[R],
        cell: impl Fn(&R) -> String,
    ) -> Self {
        Self::new(heading, Cells::Prose(rows.iter().map(cell).collect()))
    }

    /// The column with shorter cells for narrow terminals, which lack what `name` says.
    pub(crate) fn with_short(self, name: &'static str, cells: Vec<String>) -> Self {
        Self { short: Some((name, cells)), ..self }
    }

    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        match &self.cells {
            Cells::Label(cells) => cells.len(),
            Cells::Number(cells)
            | Cells::Phrase(cells)
            | Cells::Prose(cells)
            | Cells::Bar(cells) => cells.len(),
        }
    }

    /// The whole text of a cell.
    pub(crate) fn text(&self, row: usize) -> String {
        match &self.cells {
            Cells::Label(cells) => cells[row].text(),
            Cells::Number(cells)
            | Cells::Phrase(cells)
            | Cells::Prose(cells)
            | Cells::Bar(cells) => cells[row].clone(),
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.cells, Cells::Number(_))
    }

    pub(crate) fn is_bar(&self) -> bool {
        matches!(self.cells, Cells::Bar(_))
    }

    fn shortened(&self) -> Self {
        let cells = self.short.as_ref().map(|(_, cells)| match self.cells {
            Cells::Number(_) => Cells::Number(cells.clone()),
            _ => Cells::Phrase(cells.clone()),
        });
        Self { cells: cells.unwrap_or_else(|| self.cells.clone()), short: None, ..self.clone() }
    }

    /// The largest of a width of the cells, and the heading.
    fn largest(&self, width: impl Fn(usize) -> usize) -> usize {
        (0..self.len()).map(width).fold(width_of(&self.heading), usize::max)
    }

    fn full_width(&self) -> usize {
        self.largest(|row| width_of(&self.text(row)))
    }

    /// The width below which the column cannot go.
    fn min_width(&self) -> usize {
        match &self.cells {
            Cells::Label(labels) => self.largest(|row| labels[row].min_width()),
            Cells::Prose(cells) => {
                let words = cells.iter().map(|cell| longest_word(cell));
                let longest = words.fold(longest_word(&self.heading), usize::max);
                longest.clamp(MIN_PROSE_WIDTH, MAX_WORD_WIDTH).min(self.full_width())
            }
            _ => self.full_width(),
        }
    }

    /// The width for which other columns are left out.
    fn wanted_width(&self, label_width: usize) -> usize {
        let full = self.full_width();
        match &self.cells {
            Cells::Label(labels) => {
                let names = labels.iter().map(|label| label.names.len()).max().unwrap_or(1);
                full.min(label_width * names.max(1)).max(self.min_width())
            }
            Cells::Prose(_) => self.min_width(),
            _ => full,
        }
    }

    /// The lines of a cell in this width.
    fn lines(&self, row: usize, width: usize) -> Vec<String> {
        match &self.cells {
            Cells::Label(labels) => vec![labels[row].fit(width)],
            Cells::Prose(cells) => {
                let text = with_short_words(&cells[row], width);
                let lines = textwrap::wrap(&text, wrapping(width));
                lines.into_iter().map(Cow::into_owned).collect()
            }
            _ => vec![self.text(row)],
        }
    }
}

impl TextTable {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, optional: &[] }
    }

    /// The table with columns that narrow terminals leave out, in this order.
    pub(crate) fn leaving_out(self, optional: &'static [&'static str]) -> Self {
        Self { optional, ..self }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// The names of everything in it: headings, and what shorter cells would lack.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let short = |column: &Column| column.short.as_ref().map(|(name, _)| *name);
        self.columns
            .iter()
            .flat_map(move |column| std::iter::once(&*column.heading).chain(short(column)))
    }

    /// Whether all columns fit, labels being shortened to what they may take.
    fn fits(columns: &[&Column], width: usize) -> bool {
        let is_label = |column: &&&Column| matches!(column.cells, Cells::Label(_));
        let several = columns.iter().filter(is_label).count() > 1;
        let label_width = if several { SHARED_LABEL_WIDTH } else { LABEL_WIDTH };
        let wanted = columns.iter().map(|column| column.wanted_width(label_width)).sum::<usize>();
        wanted + GAP * columns.len().saturating_sub(1) <= width
    }

    /// Splits a table that is too wide into tables that fit, each with the first column.
    pub(crate) fn blocks(&self, width: usize) -> Vec<Self> {
        let Some((first, rest)) = self.columns.split_first() else { return Vec::new() };
        let mut blocks: Vec<Vec<&Column>> = Vec::new();
        for column in rest {
            match blocks.last_mut() {
                Some(block) if Self::fits(&[&block[..], &[column]].concat(), width) => {
                    block.push(column);
                }
                _ => blocks.push(vec![first, column]),
            }
        }
        let table = |block: Vec<&Column>| Self {
            columns: block.into_iter().cloned().collect(),
            optional: self.optional,
        };
        blocks.into_iter().map(table).collect()
    }

    /// The table in a terminal of this width.
    pub(crate) fn lay_out(&self, width: usize) -> LaidOut {
        let short: Vec<Column> = self.columns.iter().map(Column::shortened).collect();
        let mut kept: Vec<Option<&Column>> = Vec::new();
        for (column, short) in self.columns.iter().zip(&short) {
            let is_optional = self.optional.iter().any(|name| *name == column.heading);
            let is_shortable =
                column.short.as_ref().is_some_and(|(name, _)| self.optional.contains(name));
            kept.push(match (is_optional, is_shortable) {
                (true, _) => None,
                (_, true) => Some(short),
                _ => Some(column),
            });
        }
        let mut left_out = Vec::new();
        let mut has_room = true;
        for &name in self.optional.iter().rev() {
            let named = |column: &Column| {
                column.heading == name || column.short.as_ref().is_some_and(|(own, _)| *own == name)
            };
            let Some(place) = self.columns.iter().position(named) else { continue };
            let before = kept[place].replace(&self.columns[place]);
            let is_fitting = Self::fits(&kept.iter().copied().flatten().collect::<Vec<_>>(), width);
            if !(has_room && is_fitting) {
                kept[place] = before;
                left_out.push(name);
                has_room &= !self.columns[place].is_number();
            }
        }
        left_out.reverse();
        let columns: Vec<&Column> = kept.into_iter().flatten().collect();
        // Labels and sentences share the rest of the width.
        let parts: Vec<(usize, usize)> =
            columns.iter().map(|column| (column.min_width(), column.full_width())).collect();
        let is_flexible =
            |column: &Column| matches!(column.cells, Cells::Label(_) | Cells::Prose(_));
        let of = |flexible: bool| {
            let own = columns
                .iter()
                .zip(&parts)
                .filter(move |(column, _)| is_flexible(column) == flexible);
            own.map(|(_, part)| *part).collect::<Vec<_>>()
        };
        let fixed: usize = of(false).iter().map(|(_, own)| own).sum();
        let gaps = GAP * columns.len().saturating_sub(1);
        let level = common_level(&of(true), width.saturating_sub(fixed + gaps));
        let lay = |(column, part): (&&Column, &(usize, usize))| {
            let width = if is_flexible(column) { at_level(*part, level) } else { part.1 };
            LaidOutColumn {
                heading: textwrap::wrap(&column.heading, wrapping(width))
                    .into_iter()
                    .map(Cow::into_owned)
                    .collect(),
                rows: (0..column.len()).map(|row| column.lines(row, width)).collect(),
                width,
                is_number: column.is_number(),
                is_bar: column.is_bar(),
            }
        };
        LaidOut { columns: columns.iter().zip(&parts).map(lay).collect(), left_out }
    }
}

/// A table whose columns have widths.
#[derive(Debug)]
pub(crate) struct LaidOut {
    columns: Vec<LaidOutColumn>,
    /// What was left out, in the order in which it was.
    pub(crate) left_out: Vec<&'static str>,
}

#[derive(Debug)]
struct LaidOutColumn {
    heading: Vec<String>,
    /// The lines of each cell.
    rows: Vec<Vec<String>>,
    width: usize,
    is_number: bool,
    is_bar: bool,
}

const BOLD: &str = "1";
const CYAN: &str = "36";

impl LaidOut {
    /// The lines of the table; with colour and bold type if `is_styled`.
    pub(crate) fn lines(&self, is_styled: bool) -> Vec<String> {
        let style = |code: &'static str| is_styled.then_some(code);
        let mut lines = self
            .row_lines(|column| &column.heading, |column| style(BOLD).filter(|_| !column.is_bar));
        let widths = self.columns.iter().map(|column| column.width);
        let width = widths.sum::<usize>() + GAP * self.columns.len().saturating_sub(1);
        lines.push("─".repeat(width));
        let rows = self.columns.first().map_or(0, |column| column.rows.len());
        for row in 0..rows {
            let code = |column: &LaidOutColumn| style(CYAN).filter(|_| column.is_bar);
            lines.extend(self.row_lines(|column| &column.rows[row], code));
        }
        lines
    }

    fn row_lines<'a>(
        &'a self,
        cell: impl Fn(&'a LaidOutColumn) -> &'a [String],
        code: impl Fn(&LaidOutColumn) -> Option<&'static str>,
    ) -> Vec<String> {
        let height = self.columns.iter().map(|column| cell(column).len()).max().unwrap_or(0);
        let line = |k: usize| {
            let cells = self.columns.iter().map(|column| {
                let text = cell(column).get(k).map_or("", String::as_str);
                let blank = " ".repeat(column.width.saturating_sub(width_of(text)));
                let text = match code(column) {
                    Some(code) if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
                    _ => text.to_owned(),
                };
                if column.is_number { blank + &text } else { text + &blank }
            });
            cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}
