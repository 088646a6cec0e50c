//! A document as one HTML file that needs nothing else: no network, no other file.
//!
//! Labels are data. They stand in a block of JSON that the page's script reads, and reach the page as
//! text nodes only. A Content-Security-Policy lets exactly our script and style run (by their
//! SHA-256) and forbids everything else, every request included.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::document::{Document, RANKING, StudyPage};
use crate::table::Values;

const SHELL: &str = include_str!("../page/shell.html");

/// Names and texts of the page's own files.
macro_rules! files {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../page/", $name)))),*] };
}

/// Styles, then modules, in the order of `page/order.txt`: each module imports only from those
/// before it.
const FILES: &[(&str, &str)] = files!(
    "style.css"
    "slider.css"
    "chart.css"
    "table.css"
    "paper.css"
    "format.js"
    "scale.js"
    "rows.js"
    "stops.js"
    "dom.js"
    "measure.js"
    "layout.js"
    "shapes.js"
    "crowd.js"
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

/// Rows of a ranking that a reader without scripts sees.
const PLAIN_ROWS: usize = 100;

impl Document {
    /// Writes the page.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_html(&self, out: &mut impl Write) -> io::Result<()> {
        let (style, script) = (style(), script());
        let csp = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
            hash(&script),
            hash(&style)
        );
        let data = in_script(&serde_json::to_string(self)?);
        let mut rest = SHELL;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            out.write_all(before.as_bytes())?;
            match name {
                "csp" => out.write_all(csp.as_bytes())?,
                "title" => out.write_all(escaped(&self.title).as_bytes())?,
                "style" => out.write_all(style.as_bytes())?,
                "script" => out.write_all(script.as_bytes())?,
                "data" => out.write_all(data.as_bytes())?,
                "noscript" => out.write_all(self.without_script().as_bytes())?,
                other => return Err(io::Error::other(format!("the shell asks for {other}"))),
            }
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }

    /// What a reader without scripts gets: the words and the ranking.
    fn without_script(&self) -> String {
        self.studies.iter().map(without_script).collect()
    }
}

fn without_script(study: &StudyPage) -> String {
    let mut html = String::new();
    if let Some(by) = &study.by {
        html.push_str(&format!("<h2>{}</h2>", escaped(by)));
    }
    for sentence in study.summary.iter().chain(&study.warnings) {
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
        for k in 0..item.len().min(PLAIN_ROWS) {
            html.push_str(&format!(
                "<tr><td>{}</td><td>{}</td><td>{:.3}</td></tr>",
                rank[k].unwrap_or(0),
                escaped(&study.items[item[k] as usize]),
                score[k].unwrap_or(0.0),
            ));
        }
        html.push_str("</table>");
        if item.len() > PLAIN_ROWS {
            html.push_str(&format!("<p>… and {} more items</p>", item.len() - PLAIN_ROWS));
        }
    }
    html
}

fn style() -> String {
    FILES.iter().filter(|(name, _)| name.ends_with(".css")).map(|(_, text)| *text).collect()
}

/// All modules as one: imports go, and what was exported is simply there.
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

/// JSON that no label can end the script element of.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(letter),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_in_their_order() {
        let order: Vec<&str> = include_str!("../page/order.txt").lines().collect();
        assert_eq!(FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), order);
    }

    #[test]
    fn nothing_of_modules_is_left() {
        let script = script();
        assert!(
            !script.lines().any(|line| line.starts_with("import") || line.starts_with("export"))
        );
        assert!(!script.contains("</script"), "the script would end there");
        assert!(!style().contains("</style"), "the style would end there");
    }

    #[test]
    fn labels_cannot_leave_their_place() {
        let document = Document {
            schema: Document::SCHEMA,
            title: "</title><script>alert(1)</script>".to_owned(),
            program: String::new(),
            studies: vec![StudyPage {
                by: Some("</script><b>".to_owned()),
                items: vec!["<!--<script>".to_owned()],
                facts: Vec::new(),
                summary: vec!["</noscript><i>".to_owned()],
                warnings: Vec::new(),
                slider: None,
                sections: Vec::new(),
            }],
        };
        let mut html = Vec::new();
        document.write_html(&mut html).unwrap();
        let html = String::from_utf8(html).unwrap();
        for wrong in ["<script>alert", "<b>", "<i>", "<!--<", "{{"] {
            assert!(!html.contains(wrong), "{wrong}");
        }
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("</noscript>").count(), 1);
    }
}
