//! Tables as LaTeX, in the style of the package `booktabs`.

use std::io::{self, Write};

use crate::text_table::{Cells, Column, TextTable};

/// Tables with more rows can continue on the next page (package `longtable`).
const MAX_ROWS_ON_A_PAGE: usize = 40;

/// Text as it is to appear.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut previous = ' ';
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str(r"\textbackslash{}"),
            '~' => escaped.push_str(r"\textasciitilde{}"),
            '^' => escaped.push_str(r"\textasciicircum{}"),
            '<' => escaped.push_str(r"\textless{}"),
            '>' => escaped.push_str(r"\textgreater{}"),
            '|' => escaped.push_str(r"\textbar{}"),
            '%' | '$' | '#' | '_' | '&' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            // After \\, these would belong to the command.
            '[' | ']' | '*' => escaped.push_str(&format!("{{{letter}}}")),
            // Two hyphens would become a dash.
            '-' if previous == '-' => escaped.push_str("{}-"),
            '\n' | '\r' => escaped.push(' '),
            letter => match symbol(letter) {
                Some(symbol) => escaped.push_str(symbol),
                None => escaped.push(letter),
            },
        }
        previous = letter;
    }
    escaped
}

/// Symbols of our own texts that pdfLaTeX does not have as characters.
fn symbol(letter: char) -> Option<&'static str> {
    Some(match letter {
        '–' => "--",
        '…' => r"\ldots{}",
        '−' => "$-$",
        '±' => r"$\pm$",
        '∞' => r"$\infty$",
        '→' => r"$\rightarrow$",
        '↑' => r"$\uparrow$",
        '↓' => r"$\downarrow$",
        'λ' => r"$\lambda$",
        'τ' => r"$\tau$",
        'ε' => r"$\varepsilon$",
        _ => return None,
    })
}

/// A number with a minus sign in place of a hyphen.
fn number(text: &str) -> String {
    escape(&text.replace('-', "−"))
}

/// Writes a table. Numbers are right-aligned, and have equal numbers of decimals within a column.
pub(super) fn write(table: &TextTable, out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<&Column> = table.columns.iter().filter(|column| !column.is_bar()).collect();
    let alignment = columns.iter().map(|column| match column.cells {
        Cells::Number(_) => "r",
        Cells::Prose(_) => r"p{0.3\linewidth}",
        Cells::Label(_) | Cells::Phrase(_) | Cells::Bar(_) => "l",
    });
    let alignment: String = alignment.collect();
    let is_long = table.rows() > MAX_ROWS_ON_A_PAGE;
    let name = if is_long { "longtable" } else { "tabular" };
    let row = |cells: Vec<String>| format!("{} \\\\", cells.join(" & "));
    let heading = row(columns.iter().map(|column| escape(&column.heading)).collect());
    writeln!(out, "\\begin{{{name}}}{{{alignment}}}\n\\toprule\n{heading}\n\\midrule")?;
    if is_long {
        writeln!(out, "\\endhead")?;
    }
    for k in 0..table.rows() {
        let cells = columns.iter().map(|column| match column.is_number() {
            true => number(&column.text(k)),
            false => escape(&column.text(k)),
        });
        writeln!(out, "{}", row(cells.collect()))?;
    }
    writeln!(out, "\\bottomrule\n\\end{{{name}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(
            escape(r"\ % $ # _ & { } ~ ^"),
            r"\textbackslash{} \% \$ \# \_ \& \{ \} \textasciitilde{} \textasciicircum{}"
        );
        assert_eq!(escape("[a] a--b 1–2 é"), "{[}a{]} a-{}-b 1--2 é");
    }

    #[test]
    fn numbers_are_right_aligned_and_have_minus_signs() {
        let table = TextTable::new(vec![
            Column::labels("item", &["50% off", "b"], |name| (*name).to_owned()),
            Column::numbers("score", &[-0.25, 1.0], |score: &f64| format!("{score:.2}")),
        ]);
        let mut out = Vec::new();
        write(&table, &mut out).unwrap();
        let expected = "\\begin{tabular}{lr}\n\\toprule\nitem & score \\\\\n\\midrule\n\
                        50\\% off & $-$0.25 \\\\\nb & 1.00 \\\\\n\\bottomrule\n\\end{tabular}\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn long_tables_continue_on_the_next_page() {
        let rows: Vec<usize> = (0..=MAX_ROWS_ON_A_PAGE).collect();
        let table = TextTable::new(vec![Column::numbers("k", &rows, usize::to_string)]);
        let mut out = Vec::new();
        write(&table, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("\\begin{longtable}{r}"), "{text}");
        assert!(text.contains("\\endhead") && text.ends_with("\\end{longtable}\n\n"), "{text}");
    }
}
