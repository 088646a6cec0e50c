//! From values of an axis to the plotting library's numbers, and the texts beside the ticks.
//!
//! The library wants axes that rise and spans that are neither tiny nor huge. One factor does both:
//! `u = factor · value`, negative where the axis runs the other way, a power of ten where the span
//! is extreme. Steps are 1, 2 or 5 times a power of ten; labels stand at every first, second,
//! fifth, … place. Over a few powers of ten ticks stand at 1, 2, 5, 10, 20, …: there the library's
//! own logarithmic axis is used, `u = 10^(factor · value)`.

use std::sync::Arc;

use kuva::TickFormat;
use kuva::render::render_utils::{generate_ticks_log, generate_ticks_with_step};

use super::TICK_SIZE;
use super::number::{number, plain_power, power_of_ten};
use super::text::widest;
use crate::chart::{Axis, Ticks, short};

/// An axis in the plotting library's numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    factor: f64,
    /// Whether the library takes logarithms.
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
        // An axis without a length shows its one value in the middle.
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

    /// A value in the plotting library's numbers.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = value * self.factor;
        if self.log { 10f64.powf(place) } else { place }
    }

    /// Whether all values lie between two.
    fn within(&self, low: f64, high: f64) -> bool {
        let inside = |end: f64| (low..=high).contains(&(end / self.factor));
        inside(self.from) && inside(self.to)
    }

    fn span(&self) -> f64 {
        self.to - self.from
    }
}

/// Whether the library has two to a dozen ticks for these powers; it knows none below 10⁻¹⁰.
fn is_few_powers(from: f64, to: f64) -> bool {
    let few = from >= -9.0 && to <= 12.0 && to.ceil() - from.floor() <= 3.0;
    few && generate_ticks_log(10f64.powf(from), 10f64.powf(to)).len() >= 2
}

/// Where ticks stand and what stands beside them.
pub(super) struct TickPlan {
    /// Distance of ticks, in the plotting library's numbers; it has its own for logarithms.
    pub(super) step: Option<f64>,
    /// The text of a tick at a place in the plotting library's numbers.
    pub(super) format: TickFormat,
    /// Width of the widest text, in pixels.
    pub(super) widest: f64,
    /// Whether texts lean, because they are too long to lie beside each other.
    pub(super) leaning: bool,
}

/// Angle of texts that lean, in degrees.
pub(super) const LEAN: f64 = -40.0;

/// Room that one line of ticks' text takes across the axis.
const LINE: f64 = TICK_SIZE as f64 * 1.3;

/// Ticks of an axis of `pixels` length; texts lie `along` a horizontal axis and take at most
/// `room` pixels.
pub(super) fn plan(axis: &Axis, scale: Scale, pixels: f64, along: bool, room: f64) -> TickPlan {
    match &axis.ticks {
        Ticks::Hidden => TickPlan {
            step: Some(2.0 * scale.span()),
            format: TickFormat::Custom(Arc::new(|_| String::new())),
            widest: 0.0,
            leaning: false,
        },
        Ticks::Labels { labels } => plan_labels(labels, scale, pixels, along, room),
        Ticks::Numbers => plan_numbers(scale, pixels, along, 0.0, number),
        Ticks::Shares => plan_numbers(scale, pixels, along, 0.0, |value, step| {
            format!("{}%", number(100.0 * value, 100.0 * step))
        }),
        Ticks::Powers if scale.log => plan_log(scale),
        // One way of writing for all ticks of an axis.
        Ticks::Powers if scale.within(-3.0, 5.0) => plan_powers(scale, pixels, along, plain_power),
        Ticks::Powers => plan_powers(scale, pixels, along, power_of_ten),
    }
}

/// The text of a value whose neighbours are a step away.
type Write = fn(f64, f64) -> String;

fn plan_log(scale: Scale) -> TickPlan {
    let text = move |place: f64| {
        let value = 10f64.powf(place.log10() / scale.factor);
        number(value, 10f64.powf((value.log10() + 1e-9).floor()))
    };
    let texts: Vec<String> =
        generate_ticks_log(scale.from, scale.to).into_iter().map(text).collect();
    let widest = widest(&texts, TICK_SIZE);
    TickPlan { step: None, format: TickFormat::Custom(Arc::new(text)), widest, leaning: false }
}

/// Ticks at whole powers, where there are at least two.
fn plan_powers(scale: Scale, pixels: f64, along: bool, write: Write) -> TickPlan {
    let one = scale.factor.abs();
    let whole = (scale.to / one).floor() - (scale.from / one).ceil() >= 1.0;
    plan_numbers(scale, pixels, along, if whole { one } else { 0.0 }, write)
}

/// Ticks at least `least` apart, in the plotting library's numbers.
fn plan_numbers(scale: Scale, pixels: f64, along: bool, least: f64, write: Write) -> TickPlan {
    let mut most = (pixels / if along { 62.0 } else { 46.0 }).clamp(2.0, 12.0);
    loop {
        let step = round_step(scale.span() / most).max(least);
        let value_step = (step / scale.factor).abs();
        let text = move |place: f64| write(place / scale.factor, value_step);
        let widest = widest(&texts(scale, step, &text), TICK_SIZE);
        let fits = !along || widest + 8.0 <= pixels * step / scale.span();
        if fits || most <= 2.0 {
            let format = TickFormat::Custom(Arc::new(text));
            return TickPlan { step: Some(step), format, widest, leaning: false };
        }
        most = (most * 0.7).max(2.0);
    }
}

fn texts(scale: Scale, step: f64, text: &dyn Fn(f64) -> String) -> Vec<String> {
    generate_ticks_with_step(scale.from, scale.to, step).into_iter().map(text).collect()
}

fn plan_labels(labels: &[String], scale: Scale, pixels: f64, along: bool, room: f64) -> TickPlan {
    // Labels are cut further only where they would take the place of the chart itself.
    let mut most = 48;
    let mut shown: Vec<String> = labels.iter().map(|label| short(label, most)).collect();
    while widest(&shown, TICK_SIZE) > room && most > 8 {
        most -= 4;
        shown = labels.iter().map(|label| short(label, most)).collect();
    }
    let widest = widest(&shown, TICK_SIZE);
    let distance = pixels / scale.span().max(f64::MIN_POSITIVE) * scale.factor.abs();
    let leaning = along && widest + 8.0 > distance && widest > 4.0 * LINE;
    let needed = if along && !leaning { widest + 8.0 } else { LINE };
    let stride = strides().find(|&stride| stride * distance >= needed).unwrap_or(1.0);
    let factor = scale.factor;
    let text = move |place: f64| {
        let index = (place / factor).round();
        let label = if index < 0.0 { None } else { shown.get(index as usize) };
        label.cloned().unwrap_or_default()
    };
    let step = Some(stride * factor.abs());
    TickPlan { step, format: TickFormat::Custom(Arc::new(text)), widest, leaning }
}

/// 1, 2, 5, 10, 20, …
fn strides() -> impl Iterator<Item = f64> {
    (0..18).flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade)))
}

/// The smallest of 1, 2 and 5 times a power of ten that is not much below `step`.
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
    fn scales_rise_and_are_of_a_common_size() {
        for (from, to) in [(0.0, 1.0), (1.0, 0.0), (2.0, 2.0), (0.0, 1e-30), (-1e300, 1e300)] {
            let ticks = Ticks::Numbers;
            let scale = Scale::new(&Axis { name: String::new(), from, to, ticks });
            assert!(scale.span() > 1e-7 && scale.span() < 1e11, "{scale:?}");
            assert!(scale.place(from) >= scale.from && scale.place(to) <= scale.to);
        }
    }
}
