//! Text in a figure: its width, and escaping.

use kuva::render::layout::{ComputedLayout, Layout};
use kuva::render::render::{Primitive, Scene};

use crate::chart::short_label;

/// Returns the width in pixels of the widest line, at least that of two characters.
///
/// The plotting library knows the character widths of its font but exposes only the space that it
/// reserves for category names, so the lines are measured as category names. Characters outside
/// that font (Chinese, Japanese, Korean, emoji) are as wide as high and are measured as `W`.
pub(super) fn widest<'a>(
    lines: impl IntoIterator<Item = &'a (impl AsRef<str> + 'a)>,
    size: u32,
) -> f64 {
    let stand_in = |c: char| if c >= '\u{2e80}' { 'W' } else { c };
    let measured = |line: &'a _| AsRef::<str>::as_ref(line).chars().map(stand_in).collect();
    let mut layout = Layout::new((0.0, 1.0), (0.0, 1.0)).with_tick_size(size);
    layout.y_categories = Some(lines.into_iter().map(measured).collect());
    ComputedLayout::from_layout(&layout).y_tick_label_px
}

/// Escapes every text of a scene, so that it is drawn literally.
///
/// The plotting library reads `$…$` as a formula and `\$` as a dollar sign. The whole scene is
/// escaped once, at the end, so that no label can be forgotten.
pub(super) fn escape_formulas(scene: &mut Scene) {
    for element in &mut scene.elements {
        if let Primitive::Text { content, .. } = element {
            *content = printable(content).replace('$', "\\$");
        }
    }
}

/// Replaces characters that are not allowed in an SVG file.
fn printable(text: &str) -> String {
    short_label(text, usize::MAX).replace(['\u{fffe}', '\u{ffff}'], "�")
}

/// Escapes text between tags.
pub(super) fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
