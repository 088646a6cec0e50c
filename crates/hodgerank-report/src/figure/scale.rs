//! Axis scales and tick labels in the coordinates of the plotting library.
//!
//! The library requires increasing axes whose span is neither tiny nor huge. One factor ensures
//! both: `u = factor · value`. It is negative for a decreasing axis and a power of ten where the span
//! is extreme. Tick steps are 1, 2 or 5 times a power of ten; of labels every first, second, fifth, …
//! is shown. A logarithmic axis over few powers of ten has ticks at 1, 2, 5, 10, 20, … and uses the
//! library's own logarithmic scale, `u = 10^(factor · value)`.

use std::sync::Arc;

use kuva::TickFormat;
use kuva::render::render_utils::{generate_ticks_log, generate_ticks_with_step};

use super::TICK_SIZE;
use super::number::{number, plain_power, power_of_ten};
use super::text::widest;
use crate::chart::{Axis, Ticks, short_label};

/// An axis in the coordinates of the plotting library.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    factor: f64,
    /// Whether the library's logarithmic scale is used.
    pub(super) log: bool,
    /// The left or lower end.
    pub(super) from: f64,
    /// The right or upper end, larger than `from`.
    pub(super) to: f64,
}

impl Scale {
    pub(super) fn new(axis: &Axis) -> Self {
        let finite = axis.from.is_finite() && axis.to.is_finite();
        let (mut from, mut to) = if finite { (axis.from, axis.to) } else { (0.0, 1.0) };
        // An axis of zero length is widened around its only value.
        if from == to {
            let half = (0.05 * from.abs()).max(0.5);
            (from, to) = (from - half, to + half);
        }
        let half_span = to / 2.0 - from / 2.0;
        let decade = half_span.abs().log10().floor();
        let power = if (-6.0..=9.0).contains(&decade) { 0.0 } else { -decade };
        let factor = 10f64.powi(power.clamp(-300.0, 300.0) as i32).copysign(half_span);
        let (from, to) = (from * factor, to * factor);
        let log = axis.ticks == Ticks::Powers && is_few_powers(from, to);
        if log {
            return Self { factor, log, from: 10f64.powf(from), to: 10f64.powf(to) };
        }
        Self { factor, log, from, to }
    }

    /// Converts a value to the coordinates of the plotting library.
    pub(super) fn position(&self, value: f64) -> f64 {
        let position = value * self.factor;
        if self.log { 10f64.powf(position) } else { position }
    }

    /// Whether the axis lies between two values.
    fn within(&self, low: f64, high: f64) -> bool {
        let inside = |end: f64| (low..=high).contains(&(end / self.factor));
        inside(self.from) && inside(self.to)
    }

    fn span(&self) -> f64 {
        self.to - self.from
    }
}

/// Whether the library draws two to a dozen ticks for these powers of ten. It has none below 10⁻¹⁰.
fn is_few_powers(from: f64, to: f64) -> bool {
    let few = from >= -9.0 && to <= 12.0 && to.ceil() - from.floor() <= 3.0;
    few && generate_ticks_log(10f64.powf(from), 10f64.powf(to)).len() >= 2
}

/// The positions and labels of ticks.
pub(super) struct TickPlan {
    /// Distance between ticks in the library's coordinates; `None` on its logarithmic scale.
    pub(super) step: Option<f64>,
    /// The label of a tick at a position in the library's coordinates.
    pub(super) format: TickFormat,
    /// Width of the widest label in pixels.
    pub(super) widest: f64,
    /// Whether labels are rotated because they are too long to fit next to each other.
    pub(super) rotated: bool,
}

/// Angle of rotated labels in degrees.
pub(super) const TICK_ANGLE: f64 = -40.0;

/// Height of a line of tick labels in pixels.
pub(super) const LINE_HEIGHT: f64 = TICK_SIZE as f64 * 1.3;

/// Chooses the ticks of an axis that is `length` pixels long. Labels are at most `max_label` pixels
/// wide.
pub(super) fn plan(
    axis: &Axis,
    scale: Scale,
    length: f64,
    is_horizontal: bool,
    max_label: f64,
) -> TickPlan {
    match &axis.ticks {
        Ticks::Hidden => TickPlan {
            step: Some(2.0 * scale.span()),
            format: TickFormat::Custom(Arc::new(|_| String::new())),
            widest: 0.0,
            rotated: false,
        },
        Ticks::Labels { labels } => plan_labels(labels, scale, length, is_horizontal, max_label),
        Ticks::Numbers => plan_numbers(scale, length, is_horizontal, 0.0, number),
        Ticks::Shares => plan_numbers(scale, length, is_horizontal, 0.0, |value, step| {
            format!("{}%", number(100.0 * value, 100.0 * step))
        }),
        Ticks::Powers if scale.log => plan_log(scale),
        // All ticks of an axis have the same notation.
        Ticks::Powers if scale.within(-3.0, 5.0) => {
            plan_powers(scale, length, is_horizontal, plain_power)
        }
        Ticks::Powers => plan_powers(scale, length, is_horizontal, power_of_ten),
    }
}

/// Formats a value, given the distance to the next tick.
type TickText = fn(f64, f64) -> String;

fn plan_log(scale: Scale) -> TickPlan {
    let text = move |position: f64| {
        let value = 10f64.powf(position.log10() / scale.factor);
        number(value, 10f64.powf((value.log10() + 1e-9).floor()))
    };
    let texts: Vec<String> =
        generate_ticks_log(scale.from, scale.to).into_iter().map(text).collect();
    let widest = widest(&texts, TICK_SIZE);
    TickPlan { step: None, format: TickFormat::Custom(Arc::new(text)), widest, rotated: false }
}

/// Places ticks at integer powers of ten if at least two of them are on the axis.
fn plan_powers(scale: Scale, length: f64, is_horizontal: bool, write: TickText) -> TickPlan {
    let one = scale.factor.abs();
    let whole = (scale.to / one).floor() - (scale.from / one).ceil() >= 1.0;
    plan_numbers(scale, length, is_horizontal, if whole { one } else { 0.0 }, write)
}

/// Places ticks at round numbers, at least `min_step` apart in the library's coordinates.
fn plan_numbers(
    scale: Scale,
    length: f64,
    is_horizontal: bool,
    min_step: f64,
    write: TickText,
) -> TickPlan {
    let mut max_ticks = (length / if is_horizontal { 62.0 } else { 46.0 }).clamp(2.0, 12.0);
    loop {
        let step = round_step(scale.span() / max_ticks).max(min_step);
        let value_step = (step / scale.factor).abs();
        let text = move |position: f64| write(position / scale.factor, value_step);
        let widest = widest(&texts(scale, step, &text), TICK_SIZE);
        let fits = !is_horizontal || widest + 8.0 <= length * step / scale.span();
        if fits || max_ticks <= 2.0 {
            let format = TickFormat::Custom(Arc::new(text));
            return TickPlan { step: Some(step), format, widest, rotated: false };
        }
        max_ticks = (max_ticks * 0.7).max(2.0);
    }
}

fn texts(scale: Scale, step: f64, text: &dyn Fn(f64) -> String) -> Vec<String> {
    generate_ticks_with_step(scale.from, scale.to, step).into_iter().map(text).collect()
}

fn plan_labels(
    labels: &[String],
    scale: Scale,
    length: f64,
    is_horizontal: bool,
    max_label: f64,
) -> TickPlan {
    let mut max_characters = 48;
    let shorten = |max_characters: usize| -> Vec<String> {
        labels.iter().map(|label| short_label(label, max_characters)).collect()
    };
    let mut shown = shorten(max_characters);
    while widest(&shown, TICK_SIZE) > max_label && max_characters > 8 {
        max_characters -= 4;
        shown = shorten(max_characters);
    }
    let widest = widest(&shown, TICK_SIZE);
    let distance = length / scale.span().max(f64::MIN_POSITIVE) * scale.factor.abs();
    let rotated = is_horizontal && widest + 8.0 > distance && widest > 4.0 * LINE_HEIGHT;
    let needed = if is_horizontal && !rotated { widest + 8.0 } else { LINE_HEIGHT };
    let stride = strides().find(|&stride| stride * distance >= needed).unwrap_or(1.0);
    let factor = scale.factor;
    let text = move |position: f64| {
        let index = (position / factor).round();
        let label = if index < 0.0 { None } else { shown.get(index as usize) };
        label.cloned().unwrap_or_default()
    };
    let step = Some(stride * factor.abs());
    TickPlan { step, format: TickFormat::Custom(Arc::new(text)), widest, rotated }
}

/// 1, 2, 5, 10, 20, …
fn strides() -> impl Iterator<Item = f64> {
    (0..18).flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade)))
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is not much below `step`.
fn round_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    let digit = step / decade;
    let round = [1.0, 2.0, 5.0].into_iter().find(|&round| digit <= round * 1.25);
    round.unwrap_or(10.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (step, round) in [(0.9, 1.0), (1.2, 1.0), (1.3, 2.0), (3.0, 5.0), (7.0, 10.0)] {
            assert_eq!(round_step(step), round);
            assert!((round_step(1e-3 * step) - 1e-3 * round).abs() < 1e-12);
        }
        assert_eq!(strides().take(7).collect::<Vec<_>>(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    }

    #[test]
    fn scales_increase_and_have_moderate_spans() {
        for (from, to) in [(0.0, 1.0), (1.0, 0.0), (2.0, 2.0), (0.0, 1e-30), (-1e300, 1e300)] {
            let ticks = Ticks::Numbers;
            let scale = Scale::new(&Axis { name: String::new(), from, to, ticks });
            assert!(scale.span() > 1e-7 && scale.span() < 1e11, "{scale:?}");
            assert!(scale.position(from) >= scale.from && scale.position(to) <= scale.to);
        }
    }
}
