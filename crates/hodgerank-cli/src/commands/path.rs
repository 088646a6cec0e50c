//! Formatted text of `hodgerank path`.

use std::io;

use hodgerank_commands::path::{PathDocument, PathEvent, StudyPath};

use crate::output::{FormattedText, Style};
use crate::ranking_table::visible;

impl FormattedText for PathDocument {
    fn write_text(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        self.paths.iter().try_for_each(|path| draw(path, style, out))
    }
}

fn draw(path: &StudyPath, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut table = style.table();
    table.set_header(vec!["knot", path.parameter, "what", "value"]);
    let max_rows = if style.top > 0 { style.top } else { usize::MAX };
    for line in path.lines.iter().take(max_rows) {
        let (what, value) = match (&line.item, &line.event) {
            (Some(item), _) => (visible(item), line.score),
            (None, Some(event)) => {
                let pair = format!("{} – {}", visible(&event.left), visible(&event.right));
                let PathEvent { change, y, votes, .. } = event;
                (format!("{change}: {pair}, y = {y}, {votes} votes"), event.residual)
            }
            (None, None) => continue,
        };
        let value = value.map_or(String::new(), |value| format!("{value:.4}"));
        table.add_row(vec![line.knot.to_string(), format!("{:.5}", line.at), what, value]);
    }
    writeln!(out, "{table}")?;
    if path.lines.len() > max_rows {
        let more = path.lines.len() - max_rows;
        writeln!(out, "… and {more} more rows (--top 0 shows all; --format csv contains all)")?;
    }
    Ok(())
}
