//! Text in a figure: how wide it is, and how it comes through unchanged.

use kuva::render::layout::{ComputedLayout, Layout};
use kuva::render::render::{Primitive, Scene};

use crate::chart::short;

/// Width of the widest of some lines in pixels, and at least that of two letters.
///
/// The plotting library measures with the widths of its own font, but only hands out the room for
/// the names of categories; so the lines are measured as such names. Letters outside that font
/// (Chinese, Japanese, Korean, emoji) are as wide as they are high, so they are measured as `W`.
pub(super) fn widest<'a>(
    lines: impl IntoIterator<Item = &'a (impl AsRef<str> + 'a)>,
    size: u32,
) -> f64 {
    let wide = |letter: char| if letter >= '\u{2e80}' { 'W' } else { letter };
    let measured = |line: &'a _| AsRef::<str>::as_ref(line).chars().map(wide).collect();
    let mut layout = Layout::new((0.0, 1.0), (0.0, 1.0)).with_tick_size(size);
    layout.y_categories = Some(lines.into_iter().map(measured).collect());
    ComputedLayout::from_layout(&layout).y_tick_label_px
}

/// Makes every text of a scene come out as it was given.
///
/// The plotting library reads `$…$` as a formula, unless the dollar has a backslash before it, which
/// it takes away. Done once for the whole scene, at its end, so that no label can be forgotten.
pub(super) fn protect(scene: &mut Scene) {
    for element in &mut scene.elements {
        if let Primitive::Text { content, .. } = element {
            *content = shown(content).replace('$', "\\$");
        }
    }
}

/// A text with nothing in it that an SVG file cannot hold.
pub(super) fn shown(text: &str) -> String {
    short(text, usize::MAX).replace(['\u{fffe}', '\u{ffff}'], "�")
}

/// A text between tags.
pub(super) fn escaped(text: &str) -> String {
    shown(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
