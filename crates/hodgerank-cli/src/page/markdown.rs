//! Tables as Markdown (GitHub's dialect): `| rank | item |`.

use std::io::{self, Write};

use crate::text_table::{Column, TextTable};

/// Characters that Markdown would interpret; a backslash before them keeps them.
const SPECIAL: &str = r"\`*_[]<>#|~$&";

/// Text as it is to appear, on one line.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => escaped.push(' '),
            letter => {
                if SPECIAL.contains(letter) {
                    escaped.push('\\');
                }
                escaped.push(letter);
            }
        }
    }
    escaped
}

/// Writes a table. Numbers are right-aligned.
pub(super) fn write(table: &TextTable, out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<&Column> = table.columns.iter().filter(|column| !column.is_bar()).collect();
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let heading = columns.iter().map(|column| escape(&column.heading));
    writeln!(out, "{}", row(heading.collect()))?;
    let rule = columns.iter().map(|column| if column.is_number() { "---:" } else { "---" });
    writeln!(out, "{}", row(rule.map(str::to_owned).collect()))?;
    for k in 0..table.rows() {
        let cells = columns.iter().map(|column| escape(&column.text(k)));
        writeln!(out, "{}", row(cells.collect()))?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(escape("a|b_c*\n<d>"), r"a\|b\_c\* \<d\>");
        assert_eq!(escape("0.5 (1–2), −3%"), "0.5 (1–2), −3%");
    }

    #[test]
    fn tables_have_a_rule_that_aligns_numbers() {
        let table = TextTable::new(vec![
            Column::labels("item", &["a|b"], |name| (*name).to_owned()),
            Column::numbers("votes", &[3], |votes: &i32| votes.to_string()),
        ]);
        let mut out = Vec::new();
        write(&table, &mut out).unwrap();
        let expected = "| item | votes |\n| --- | ---: |\n| a\\|b | 3 |\n\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
