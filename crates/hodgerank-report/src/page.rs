//! Writes a report as one self-contained HTML file: no network, no other file.
//!
//! Labels are data. They are part of a JSON block that the page's script reads, and become text nodes
//! only. A Content-Security-Policy allows the page's own script and style (by their SHA-256) and
//! nothing else, network requests included.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::document::{RANKING, ReportPage, StudyPage};
use crate::table::Values;

const TEMPLATE: &str = include_str!("../page/template.html");

/// Names and contents of the page's files.
macro_rules! files {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../page/", $name)))),*] };
}

/// Styles, then modules, in the order of `page/order.txt`: each module imports only from modules
/// before it.
const FILES: &[(&str, &str)] = files!(
    "palette.css"
    "style.css"
    "slider.css"
    "chart.css"
    "table.css"
    "print.css"
    "format.js"
    "scale.js"
    "table-rows.js"
    "state.js"
    "dom.js"
    "measure.js"
    "layout.js"
    "shapes.js"
    "raster.js"
    "marks.js"
    "nearest.js"
    "hover.js"
    "legend.js"
    "axes.js"
    "chart.js"
    "table.js"
    "slider.js"
    "theme.js"
    "study.js"
    "main.js"
);

/// Maximum number of rows of the ranking that is shown without JavaScript.
const MAX_NOSCRIPT_ROWS: usize = 100;

impl ReportPage {
    /// Writes the report as HTML.
    ///
    /// # Errors
    /// If writing to `out` fails.
    pub fn write_html(&self, out: &mut impl Write) -> io::Result<()> {
        let (style, script) = (style(), script());
        let csp = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
            hash(&script),
            hash(&style)
        );
        let data = escape_json(&serde_json::to_string(self)?);
        let mut rest = TEMPLATE;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            out.write_all(before.as_bytes())?;
            match name {
                "csp" => out.write_all(csp.as_bytes())?,
                "title" => out.write_all(escaped(&self.title).as_bytes())?,
                "style" => out.write_all(style.as_bytes())?,
                "script" => out.write_all(script.as_bytes())?,
                "data" => out.write_all(data.as_bytes())?,
                "noscript" => out.write_all(self.noscript().as_bytes())?,
                other => return Err(io::Error::other(format!("unknown placeholder {other}"))),
            }
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }

    /// Returns what is shown without JavaScript: the summary and the ranking.
    fn noscript(&self) -> String {
        self.studies.iter().map(study_noscript).collect()
    }
}

fn study_noscript(study: &StudyPage) -> String {
    let mut html = String::new();
    if let Some(by) = &study.by {
        html.push_str(&format!("<h2>{}</h2>", escaped(by)));
    }
    if let Some(headline) = &study.headline {
        html.push_str(&format!("<p>{} {}</p>", escaped(&headline.value), escaped(&headline.text)));
    }
    let summary = study.summary.iter().chain(&study.more).map(|sentence| &sentence.text);
    for sentence in summary.chain(&study.warnings) {
        html.push_str(&format!("<p>{}</p>", escaped(sentence)));
    }
    let tables = study.sections.iter().flat_map(|section| &section.tables);
    let Some(ranking) = tables.into_iter().find(|table| table.id == RANKING) else { return html };
    let column = |id: &str| ranking.columns.iter().find(|column| column.id == id);
    let values = ["rank", "item", "score"].map(|id| column(id).map(|column| &column.values));
    if let [Some(Values::Whole(rank)), Some(Values::Item(item)), Some(Values::Number(score))] =
        values
    {
        html.push_str("<table><tr><th>rank</th><th>item</th><th>score</th></tr>");
        for k in 0..item.len().min(MAX_NOSCRIPT_ROWS) {
            html.push_str(&format!(
                "<tr><td>{}</td><td>{}</td><td>{:.3}</td></tr>",
                rank[k].unwrap_or(0),
                escaped(&study.items[item[k] as usize]),
                score[k].unwrap_or(0.0),
            ));
        }
        html.push_str("</table>");
        if item.len() > MAX_NOSCRIPT_ROWS {
            html.push_str(&format!("<p>… and {} more items</p>", item.len() - MAX_NOSCRIPT_ROWS));
        }
    }
    html
}

/// The content of one of the page's styles or modules, for other pages in the same style. Modules import each other
/// from the same folder.
#[must_use]
pub fn file(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, content)| *content)
}

/// All styles of the page.
#[must_use]
pub fn style() -> String {
    FILES.iter().filter(|(name, _)| name.ends_with(".css")).map(|(_, text)| *text).collect()
}

/// Joins all modules into one script, without `import` lines and `export` keywords.
fn script() -> String {
    let modules = FILES.iter().filter(|(name, _)| name.ends_with(".js"));
    let mut script = String::new();
    for line in modules.flat_map(|(_, module)| module.lines()) {
        if !line.starts_with("import ") {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Escapes JSON so that no label can close the script element.
fn escape_json(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(character),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Headline;

    #[test]
    fn files_are_in_the_order_of_order_txt() {
        let order: Vec<&str> = include_str!("../page/order.txt").lines().collect();
        assert_eq!(FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), order);
    }

    #[test]
    fn the_script_has_no_imports_or_exports() {
        let script = script();
        assert!(
            !script.lines().any(|line| line.starts_with("import") || line.starts_with("export"))
        );
        assert!(!script.contains("</script"), "this would close the script element");
        assert!(!style().contains("</style"), "this would close the style element");
    }

    #[test]
    fn labels_cannot_inject_markup() {
        let report = ReportPage {
            schema: ReportPage::SCHEMA,
            title: "</title><script>alert(1)</script>".to_owned(),
            program: String::new(),
            by: Some("<i>".to_owned()),
            studies: vec![StudyPage {
                by: Some("</script><b>".to_owned()),
                items: vec!["<!--<script>".to_owned()],
                headline: Some(Headline {
                    value: "<b>".to_owned(),
                    text: "</noscript>".to_owned(),
                }),
                overview: None,
                more: Vec::new(),
                facts: Vec::new(),
                summary: vec!["</noscript><i>".to_owned().into()],
                warnings: Vec::new(),
                slider: None,
                sections: Vec::new(),
            }],
        };
        let mut html = Vec::new();
        report.write_html(&mut html).unwrap();
        let html = String::from_utf8(html).unwrap();
        for wrong in ["<script>alert", "<b>", "<i>", "<!--<", "{{"] {
            assert!(!html.contains(wrong), "{wrong}");
        }
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("</noscript>").count(), 1);
    }
}
