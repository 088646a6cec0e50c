//! Fields of a record.

use memchr::memchr;

use crate::column_guess::SAMPLE_ROWS;
use crate::error::Problem;
use crate::labels::trimmed;
use crate::read::text_blocks::closing_quote;

/// A field of a record.
pub(super) struct Field {
    /// The range of its text, without quotes.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether its text has doubled quotes.
    pub(super) doubled: bool,
    /// The start of the next field, if there is one.
    pub(super) next: Option<usize>,
}

impl Field {
    pub(super) fn text<'a>(&self, record: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
        let text = &record[self.start..self.end];
        if self.doubled { single_quotes(text).into() } else { text.into() }
    }
}

pub(super) fn next_field(record: &[u8], at: usize, delimiter: u8) -> Result<Field, Problem> {
    if record.get(at) != Some(&b'"') {
        let end = memchr(delimiter, &record[at..]).map(|offset| at + offset);
        let next = end.map(|end| end + 1);
        return Ok(Field { start: at, end: end.unwrap_or(record.len()), doubled: false, next });
    }
    let close = closing_quote(record, at + 1).ok_or(Problem::UnclosedQuote)?;
    let next = match record.get(close + 1) {
        None => None,
        Some(&byte) if byte == delimiter => Some(close + 2),
        Some(_) => return Err(Problem::TextAfterQuote),
    };
    let doubled = memchr(b'"', &record[at + 1..close]).is_some();
    Ok(Field { start: at + 1, end: close, doubled, next })
}

/// The fields of a record at these indices; `None` for an empty one.
pub(in crate::read) fn field_texts(
    record: &[u8],
    delimiter: u8,
    indices: &[usize],
) -> Vec<Option<String>> {
    let record = without_line_end(record);
    let mut texts = vec![None; indices.len()];
    let (mut at, mut column) = (0, 0);
    // The record was read before, so its quotes are closed.
    while let Ok(field) = next_field(record, at, delimiter) {
        for (text, _) in texts.iter_mut().zip(indices).filter(|(_, index)| **index == column) {
            let content = field.text(record);
            *text = (!content.is_empty()).then(|| String::from_utf8_lossy(&content).into_owned());
        }
        match field.next {
            Some(next) => (at, column) = (next, column + 1),
            None => break,
        }
    }
    texts
}

fn single_quotes(text: &[u8]) -> Vec<u8> {
    let mut single = Vec::with_capacity(text.len());
    let mut after_quote = false;
    for &byte in text {
        after_quote = byte == b'"' && !after_quote;
        if byte != b'"' || after_quote {
            single.push(byte);
        }
    }
    single
}

pub(super) fn without_line_end(record: &[u8]) -> &[u8] {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    record.strip_suffix(b"\r").unwrap_or(record)
}

/// The fields of the first rows, from which columns are judged.
pub(super) fn sample_rows(text: &[u8], delimiter: u8) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text);
    let fields = |record: csv::ByteRecord| {
        record.iter().map(|field| String::from_utf8_lossy(trimmed(field)).into_owned()).collect()
    };
    reader.byte_records().map_while(Result::ok).take(SAMPLE_ROWS).map(fields).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_quotes() {
        let split = |record: &str| {
            let mut texts = Vec::new();
            let mut at = 0;
            loop {
                let field = next_field(record.as_bytes(), at, b',')?;
                texts.push(String::from_utf8(field.text(record.as_bytes()).into_owned()).unwrap());
                match field.next {
                    Some(next) => at = next,
                    None => return Ok::<_, Problem>(texts),
                }
            }
        };
        assert_eq!(split("a,b,").unwrap(), ["a", "b", ""]);
        assert_eq!(split("\"a,1\",\"b\"\"c\"\"\",\"\"").unwrap(), ["a,1", "b\"c\"", ""]);
        assert_eq!(split("5\" disk,x").unwrap(), ["5\" disk", "x"]);
        assert_eq!(split("\"a\"b,c"), Err(Problem::TextAfterQuote));
        assert_eq!(split("\"a,c"), Err(Problem::UnclosedQuote));
    }
}
