//! Computes the error function and the gamma function.
//!
//! Near zero the error function is a series of positive terms, far out a continued fraction. The
//! gamma function is Stirling's series at 13 and above, which smaller arguments reach through
//! `gamma(x + 1) = x * gamma(x)`, and negative ones through the reflection formula.

use std::f64::consts::PI;

const TWO_OVER_SQRT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// From here on the continued fraction of `erfc` is the better one.
const FRACTION_FROM: f64 = 2.0;

/// The error function.
pub(super) fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let magnitude = x.abs();
    let value = if magnitude < FRACTION_FROM {
        erf_series(magnitude)
    } else {
        1.0 - erfc_fraction(magnitude)
    };
    value.copysign(x)
}

/// `1 - erf(x)` without the loss of digits for great `x`.
pub(crate) fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 0.5 {
        1.0 - erf(x)
    } else if x < FRACTION_FROM {
        1.0 - erf_series(x)
    } else {
        erfc_fraction(x)
    }
}

/// `2/sqrt(pi) * exp(-x^2) * sum of 2^n x^(2n+1) / (1 * 3 * … * (2n+1))`.
fn erf_series(x: f64) -> f64 {
    let square = x * x;
    let (mut term, mut sum) = (x, x);
    let mut odd = 1.0;
    while term > sum * 1e-17 {
        odd += 2.0;
        term *= 2.0 * square / odd;
        sum += term;
    }
    TWO_OVER_SQRT_PI * (-square).exp() * sum
}

/// `exp(-x^2)/sqrt(pi) * 1/(x + 1/2/(x + 1/(x + 3/2/(x + …))))`, from the inside out.
fn erfc_fraction(x: f64) -> f64 {
    /// Enough for full precision from `FRACTION_FROM` on.
    const LEVELS: u32 = 120;
    if x > 27.3 {
        return 0.0;
    }
    let mut value = x;
    for level in (1..=LEVELS).rev() {
        value = x + f64::from(level) / 2.0 / value;
    }
    (-x * x).exp() / (value * PI.sqrt())
}

/// Coefficients of Stirling's series: B(2k) / (2k (2k-1)).
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

const STIRLING_FROM: f64 = 13.0;

fn stirling_tail(x: f64) -> f64 {
    let square = 1.0 / (x * x);
    STIRLING.iter().rev().fold(0.0, |sum, c| sum * square + c) / x
}

/// `x * (x+1) * … `, up to where Stirling's series begins, and the argument there.
fn shifted(x: f64) -> (f64, f64) {
    let (mut x, mut product) = (x, 1.0);
    while x < STIRLING_FROM {
        product *= x;
        x += 1.0;
    }
    (product, x)
}

/// The logarithm of the gamma function's magnitude.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x <= 0.0 {
        if x.trunc() == x {
            return f64::INFINITY;
        }
        return (PI / sin_pi(x).abs()).ln() - ln_gamma(1.0 - x);
    }
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    let (product, x) = shifted(x);
    let half_ln_two_pi = 0.918_938_533_204_672_8;
    (x - 0.5) * x.ln() - x + half_ln_two_pi + stirling_tail(x) - product.ln()
}

/// The gamma function.
pub(super) fn gamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x <= 0.0 {
        if x == 0.0 {
            return 1.0 / x;
        }
        if x.trunc() == x {
            return f64::NAN;
        }
        return PI / (sin_pi(x) * gamma(1.0 - x));
    }
    if x.trunc() == x && x <= 23.0 {
        // Exact in a float: 22! has 53 significant bits at most.
        return (1..x as u32).fold(1.0, |product, n| product * f64::from(n));
    }
    let (product, x) = shifted(x);
    // In two halves, as the power alone overflows first.
    let half = x.powf(x / 2.0 - 0.25);
    half * (-x).exp() * half * (2.0 * PI).sqrt() * stirling_tail(x).exp() / product
}

/// `sin(pi * x)`, with the whole turns taken off exactly.
fn sin_pi(x: f64) -> f64 {
    (PI * (x % 2.0)).sin()
}

#[cfg(test)]
mod tests {
    use super::{erf, erfc, gamma, ln_gamma};

    /// Values of ClickHouse, which agree in all but the last digit.
    #[test]
    fn values_agree() {
        let cases = [
            (erf(0.5), 0.520_499_877_813_046_5),
            (erf(2.5), 0.999_593_047_982_555),
            (erf(-1.5), -0.966_105_146_475_310_8),
            (erfc(0.5), 0.479_500_122_186_953_5),
            (erfc(3.0), 0.000_022_090_496_998_585_438),
            (ln_gamma(5.5), 3.957_813_967_618_716_5),
            (ln_gamma(0.5), 0.572_364_942_924_700_1),
            (ln_gamma(-1.5), 0.860_047_015_376_481),
            (gamma(5.0), 24.0),
            (gamma(0.5), 1.772_453_850_905_516),
            (gamma(-1.5), 2.363_271_801_207_355),
        ];
        for (found, expected) in cases {
            let difference: f64 = (found - expected) / expected;
            assert!(difference.abs() < 4e-15, "{found} for {expected}");
        }
    }
}
