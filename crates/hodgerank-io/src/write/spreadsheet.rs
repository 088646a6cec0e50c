//! Cells that spreadsheet programs would take for formulas.
//!
//! A spreadsheet runs a cell of a CSV file that begins with `=`, `+`, `-` or `@`, so a label from a
//! stranger could do harm there. With an apostrophe before it, it is text.

use std::borrow::Cow;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// How labels are written to CSV and TSV. Numbers are always numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelStyle {
    /// As they are.
    #[default]
    Exact,
    /// With an apostrophe before labels that spreadsheet programs would take for formulas.
    SpreadsheetSafe,
}

impl LabelStyle {
    /// The cell of a label.
    pub(super) fn cell(self, label: &str) -> Cow<'_, str> {
        if self == Self::SpreadsheetSafe && is_formula(label.as_bytes()) {
            Cow::Owned(format!("'{label}"))
        } else {
            Cow::Borrowed(label)
        }
    }

    /// Rows of a delimited file, with quotes and line ends.
    pub(super) fn rows(self, rows: &[u8], delimiter: u8) -> Cow<'_, [u8]> {
        match self {
            Self::Exact => Cow::Borrowed(rows),
            Self::SpreadsheetSafe => safe_rows(rows, delimiter),
        }
    }
}

/// Whether a spreadsheet would take a cell for a formula. Line breaks and tabs count too, because
/// some programs drop them first; so do the wide forms of the signs.
fn is_formula(cell: &[u8]) -> bool {
    const SIGNS: [&str; 11] = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];
    SIGNS.iter().any(|sign| cell.starts_with(sign.as_bytes())) && !is_number(cell)
}

fn is_number(cell: &[u8]) -> bool {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    // The parser also knows words such as "-inf".
    cell.iter().all(is_digit)
        && std::str::from_utf8(cell).is_ok_and(|text| text.parse::<f64>().is_ok())
}

fn safe_rows(rows: &[u8], delimiter: u8) -> Cow<'_, [u8]> {
    let mut safe: Vec<u8> = Vec::new();
    // Rows before this position have been copied.
    let mut copied = 0;
    let mut at = if rows.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    while at < rows.len() {
        let is_quoted = rows[at] == b'"';
        let start = at + usize::from(is_quoted);
        let (content, end) = field_end(rows, start, is_quoted, delimiter);
        if is_formula(&rows[start..content]) {
            safe.extend_from_slice(&rows[copied..start]);
            safe.push(b'\'');
            copied = start;
        }
        at = end + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(rows);
    }
    safe.extend_from_slice(&rows[copied..]);
    Cow::Owned(safe)
}

/// The end of a field's content, and the position of the delimiter or line end after it.
fn field_end(rows: &[u8], start: usize, is_quoted: bool, delimiter: u8) -> (usize, usize) {
    let mut content = None;
    let mut end = start;
    if is_quoted {
        // A quote inside a quoted field is written twice.
        while end < rows.len() {
            match (rows[end], rows.get(end + 1)) {
                (b'"', Some(b'"')) => end += 2,
                (b'"', _) => break,
                _ => end += 1,
            }
        }
        end = end.min(rows.len());
        content = Some(end);
    }
    while end < rows.len() && rows[end] != delimiter && rows[end] != b'\n' {
        end += 1;
    }
    let is_line_end = end == rows.len() || rows[end] == b'\n';
    let without_return =
        if is_line_end && end > start && rows[end - 1] == b'\r' { end - 1 } else { end };
    (content.unwrap_or(without_return), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_and_numbers_stay() {
        let safe = |label| LabelStyle::SpreadsheetSafe.cell(label).into_owned();
        for label in
            ["=1+1", "+a", "-a", "@SUM", "\tx", "\r=x", "-1+cmd|' /C calc'!A0", "＝1", "-inf"]
        {
            assert_eq!(safe(label), format!("'{label}"));
            assert_eq!(LabelStyle::Exact.cell(label), label);
        }
        for label in ["", "a", "-1", "+1.5e-3", "'=x", "a=b", "é"] {
            assert_eq!(safe(label), label);
        }
    }

    #[test]
    fn rows_keep_their_quotes_and_line_ends() {
        let safe = |rows: &str, delimiter| {
            let rows = LabelStyle::SpreadsheetSafe.rows(rows.as_bytes(), delimiter).into_owned();
            String::from_utf8(rows).unwrap()
        };
        for (rows, expected) in [
            ("a,b,-1\r\n", "a,b,-1\r\n"),
            ("=a,-b,-1\n", "'=a,'-b,-1\n"),
            ("\"=a,x\",\"y\"\"\n=z\",@\r\n", "\"'=a,x\",\"y\"\"\n=z\",'@\r\n"),
            ("a,\r\n", "a,\r\n"),
            ("a,=", "a,'="),
            ("\"-1\",\"-x\"", "\"-1\",\"'-x\""),
            ("\u{feff}=left,right\n\n@x,y\n", "\u{feff}'=left,right\n\n'@x,y\n"),
            ("\"=unclosed", "\"'=unclosed"),
            ("\"\",=a\n", "\"\",'=a\n"),
            ("", ""),
        ] {
            assert_eq!(safe(rows, b','), expected);
        }
        assert_eq!(safe("a,=b\t=c\n", b'\t'), "a,=b\t'=c\n");
    }
}
