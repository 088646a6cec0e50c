//! Numbers as tick labels.

/// Formats a number with the digits that distinguish it from its neighbours, `step` away.
pub(super) fn number(value: f64, step: f64) -> String {
    if value.abs() < 1e-6 * step {
        return "0".to_owned();
    }
    if !value.is_finite() || !step.is_finite() {
        return if value < 0.0 { "−∞" } else { "∞" }.to_owned();
    }
    let last_digit = (step.log10() + 1e-9).floor() as i32;
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    if size >= 1e7 || last_digit < -5 {
        let exponent = (size.log10() + 1e-12).floor() as i32;
        let digits = usize::try_from(exponent - last_digit).unwrap_or(0).min(15);
        let mantissa = format!("{:.digits$}", size / 10f64.powi(exponent));
        return format!("{sign}{mantissa}×10{}", superscript(f64::from(exponent)));
    }
    let digits = usize::try_from(-last_digit).unwrap_or(0);
    let text = format!("{size:.digits$}");
    if size < 1_000.0 {
        return format!("{sign}{text}");
    }
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (k, digit) in whole.chars().enumerate() {
        if k > 0 && (whole.len() - k) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// Formats a power of ten as a plain number, with three digits where ticks lie between the powers.
pub(super) fn plain_power(exponent: f64, step: f64) -> String {
    let digits = if step < 0.999 { 2.0 } else { 0.0 };
    number(10f64.powf(exponent), 10f64.powf((exponent + 1e-9).floor() - digits))
}

/// Formats a power of ten as `10³`, or `3.2×10³` where ticks lie between the powers.
pub(super) fn power_of_ten(exponent: f64, step: f64) -> String {
    let whole = exponent.floor();
    if step >= 0.999 || exponent - whole < 1e-6 {
        return format!("10{}", superscript(exponent.round()));
    }
    format!("{}×10{}", number(10f64.powf(exponent - whole), 0.1), superscript(whole))
}

fn superscript(exponent: f64) -> String {
    format!("{exponent:.0}")
        .chars()
        .map(|digit| match digit {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            _ => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_distinguish_ticks() {
        let cases = [
            (0.0, 1.0, "0"),
            (-1e-18, 0.1, "0"),
            (0.30000000000000004, 0.1, "0.3"),
            (-2.5, 0.5, "−2.5"),
            (1500.0, 500.0, "1,500"),
            (-1_234_567.0, 1.0, "−1,234,567"),
            (12_345.5, 0.5, "12,345.5"),
            (2e7, 1e7, "2×10⁷"),
            (1.5e9, 5e8, "1.5×10⁹"),
            (3e-8, 1e-8, "3×10⁻⁸"),
            (f64::INFINITY, 1.0, "∞"),
        ];
        for (value, step, text) in cases {
            assert_eq!(number(value, step), text);
        }
        assert_eq!(plain_power(-2.0, 1.0), "0.01");
        assert_eq!(plain_power(4.0, 1.0), "10,000");
        assert_eq!(plain_power(0.5, 0.1), "3.16");
        assert_eq!(power_of_ten(-12.0, 2.0), "10⁻¹²");
        assert_eq!(power_of_ten(9.5, 0.5), "3.2×10⁹");
    }
}
