//! Excel workbooks: a sheet is read as CSV text, so that rows have the line numbers of the sheet.

use std::io::{BufReader, Cursor};
use std::sync::Arc;

use calamine::{Data, ExcelDateTime, Reader as _, Xlsx, XlsxError};

use super::catch_panics::{damaged, decode};
use super::delimited;
use super::fingerprint::HashedFile;
use super::options::ReadOptions;
use super::parallel::FileReport;
use super::rows::RowSink;
use super::source::OpenedFile;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::limits::MAX_COLUMNS;
use crate::table_head::TableHead;
use crate::write::push_field;

const FORMAT: &str = Format::Xlsx.title();

/// Rows of a sheet in Excel.
const MAX_ROWS: u32 = 1 << 20;

/// Reads a sheet of a workbook. The head of the table is that of a CSV file.
pub(super) fn read<S: RowSink>(
    file: OpenedFile,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let name = Arc::clone(&file.name);
    let content = file.content.clone();
    let handle = HashedFile::new(file.into_file()?, content);
    let text = decode(&name, FORMAT, || {
        let corrupt = |error: XlsxError| damaged(&name, FORMAT, error);
        let mut workbook: Xlsx<_> = Xlsx::new(BufReader::new(handle)).map_err(corrupt)?;
        let sheet = chosen_sheet(&name, &workbook.sheet_names(), options.sheet.as_deref())?;
        let mut text = SheetText::default();
        let mut cells = workbook.worksheet_cells_reader(&sheet).map_err(corrupt)?;
        // Cell by cell: a table of all cells would have to be as large as the sheet.
        while let Some(cell) = cells.next_cell().map_err(corrupt)? {
            let place = cell.get_position();
            if place.0 < text.row || place.0 >= MAX_ROWS {
                return Err(damaged(&name, FORMAT, "a cell is not in its row"));
            }
            text.push(place, &cell_text(&Data::from(cell.get_value().clone())));
        }
        Ok(text.finish())
    })?;
    if text.is_empty() {
        return Err(Error::Empty { file: name });
    }
    let options = ReadOptions { delimiter: Some(b','), ..options.clone() };
    let source = delimited::TextSource {
        name,
        format: Format::Csv,
        reader: Box::new(Cursor::new(text)),
        decimal_comma: true,
    };
    let (report, head) = delimited::read_text(source, &options, sinks)?;
    Ok((report, TableHead { stored_as: Format::Xlsx, ..head }))
}

fn chosen_sheet(file: &Arc<str>, sheets: &[String], wanted: Option<&str>) -> Result<String> {
    let Some(wanted) = wanted else {
        return sheets.first().cloned().ok_or_else(|| Error::Empty { file: Arc::clone(file) });
    };
    let found = sheets.iter().find(|sheet| sheet.as_str() == wanted.trim());
    found.cloned().ok_or_else(|| Error::NoSheet {
        file: Arc::clone(file),
        sheet: wanted.to_owned(),
        sheets: sheets.to_vec(),
    })
}

/// The cells of a sheet as CSV. The first row with cells is the header; cells to the right of it have no
/// column and are left out. Rows without cells are blank lines.
#[derive(Default)]
struct SheetText {
    text: Vec<u8>,
    /// The row that is being written, from 0.
    row: u32,
    cells: Vec<String>,
    /// Number of columns, once the header was written.
    width: Option<usize>,
}

impl SheetText {
    fn push(&mut self, (row, column): (u32, u32), cell: &str) {
        if cell.is_empty() {
            return;
        }
        while self.row < row {
            self.end_row();
        }
        let column = column as usize;
        if self.width.is_some_and(|width| column >= width) || column >= MAX_COLUMNS {
            return;
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        self.cells[column] = cell.to_owned();
    }

    fn end_row(&mut self) {
        if !self.cells.is_empty() {
            let width = *self.width.get_or_insert(self.cells.len());
            self.cells.resize(width, String::new());
            for (column, cell) in self.cells.drain(..).enumerate() {
                if column > 0 {
                    self.text.push(b',');
                }
                // A cell of several lines would change the line numbers of the rows below it.
                let cell = cell.replace(['\r', '\n'], " ");
                push_field(&mut self.text, cell.as_bytes(), b',');
            }
        }
        self.text.push(b'\n');
        self.row += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        if !self.cells.is_empty() {
            self.end_row();
        }
        self.text
    }
}

fn cell_text(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Int(number) => number.to_string(),
        // A whole number is written without decimals: labels are often numbers.
        Data::Float(number) => number.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::DateTime(time) => iso_time(time),
        Data::Error(error) => error.to_string(),
    }
}

/// A date, or a date and time, as in `2026-11-18T09:30:00`.
fn iso_time(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        return time.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second) {
        (0, 0, 0) => date,
        _ => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    #[test]
    fn cells_are_written_as_people_read_them() {
        let time =
            |value| Data::DateTime(ExcelDateTime::new(value, ExcelDateTimeType::DateTime, false));
        let cells = [
            (Data::Float(16.0), "16"),
            (Data::Float(0.25), "0.25"),
            (Data::Bool(true), "true"),
            (Data::Empty, ""),
            (time(45_292.0), "2024-01-01"),
            (time(45_292.5), "2024-01-01T12:00:00"),
        ];
        for (cell, text) in cells {
            assert_eq!(cell_text(&cell), text);
        }
    }

    #[test]
    fn rows_keep_their_numbers() {
        let mut sheet = SheetText::default();
        for (place, cell) in [
            ((2, 1), "left"),
            ((2, 2), "right, \"b\""),
            ((4, 1), "a\nb"),
            ((4, 7), "a remark"),
            ((6, 2), "c"),
        ] {
            sheet.push(place, cell);
        }
        let csv = String::from_utf8(sheet.finish()).unwrap();
        assert_eq!(csv, "\n\n,left,\"right, \"\"b\"\"\"\n\n,a b,\n\n,,c\n");
        assert!(SheetText::default().finish().is_empty());
    }
}
