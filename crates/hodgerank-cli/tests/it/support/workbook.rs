//! A small Excel workbook: an uncompressed zip archive of XML files.

/// A cell of a sheet.
pub(crate) enum Cell<'a> {
    Text(&'a str),
    Number(f64),
    Empty,
}

/// A workbook with these sheets.
pub(crate) fn workbook(sheets: &[(&str, Vec<Vec<Cell<'_>>>)]) -> Vec<u8> {
    const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let (mut listed, mut linked, mut files) = (String::new(), String::new(), Vec::new());
    for (k, (name, rows)) in sheets.iter().enumerate() {
        let n = k + 1;
        listed += &format!("<sheet name=\"{name}\" sheetId=\"{n}\" r:id=\"rId{n}\"/>");
        linked += &format!(
            "<Relationship Id=\"rId{n}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{n}.xml\"/>"
        );
        let text = format!(
            "{XML}<worksheet xmlns=\"{MAIN}\"><sheetData>{}</sheetData></worksheet>",
            sheet_rows(rows)
        );
        files.push((format!("xl/worksheets/sheet{n}.xml"), text));
    }
    let mut all = vec![
        (
            "[Content_Types].xml".to_owned(),
            format!(
                "{XML}<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"xml\" \
                 ContentType=\"application/xml\"/></Types>"
            ),
        ),
        (
            "_rels/.rels".to_owned(),
            format!(
                "{XML}<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"rId1\" \
                 Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!(
                "{XML}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{listed}</sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!(
                "{XML}<Relationships xmlns=\"{PACKAGE}/relationships\">{linked}</Relationships>"
            ),
        ),
    ];
    all.append(&mut files);
    zip(&all)
}

fn sheet_rows(rows: &[Vec<Cell<'_>>]) -> String {
    let mut text = String::new();
    for (r, row) in rows.iter().enumerate() {
        text += &format!("<row r=\"{}\">", r + 1);
        for (c, cell) in row.iter().enumerate() {
            let place = format!("{}{}", char::from(b'A' + c as u8), r + 1);
            match cell {
                Cell::Text(label) => {
                    let label = label.replace('&', "&amp;").replace('<', "&lt;");
                    text +=
                        &format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{label}</t></is></c>");
                }
                Cell::Number(number) => text += &format!("<c r=\"{place}\"><v>{number}</v></c>"),
                Cell::Empty => {}
            }
        }
        text += "</row>";
    }
    text
}

/// A zip archive of files that are stored as they are.
fn zip(files: &[(String, String)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let offset = archive.len() as u32;
        let mut crc = flate2::Crc::new();
        crc.update(text.as_bytes());
        let (size, name_length) = (text.len() as u32, name.len() as u16);
        // Version 2.0, no flags, stored, without a time.
        let mut common: Vec<u8> = Vec::new();
        for field in [20_u16, 0, 0, 0, 0x21] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc.sum(), size, size] {
            common.extend(field.to_le_bytes());
        }
        common.extend(name_length.to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name.as_bytes());
        archive.extend(text.as_bytes());
        directory.extend(b"PK\x01\x02");
        directory.extend(20_u16.to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, size, number) = (archive.len() as u32, directory.len() as u32, files.len() as u16);
    archive.append(&mut directory);
    archive.extend(b"PK\x05\x06");
    for field in [0_u16, 0, number, number] {
        archive.extend(field.to_le_bytes());
    }
    for field in [size, start] {
        archive.extend(field.to_le_bytes());
    }
    archive.extend(0_u16.to_le_bytes());
    archive
}
