//! Distribution functions that tests need, by series and continued fractions.

use basalt_kernels::c_math::{erfc, lgamma as ln_gamma};

/// Probability that a standard normal value is above `x`.
pub(crate) fn normal_above(x: f64) -> f64 {
    erfc(x / std::f64::consts::SQRT_2) / 2.0
}

/// Probability that a value of Student's distribution is farther from 0 than `t`, either way.
pub(super) fn student_beyond(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// Probability that a value of Fisher's distribution is above `f`.
pub(super) fn fisher_above(f: f64, between: f64, within: f64) -> f64 {
    incomplete_beta(within / 2.0, between / 2.0, within / (within + between * f))
}

/// The `x` from 0 up at which the falling `beyond` is `probability`, by bisection.
pub(crate) fn where_falls_to(probability: f64, beyond: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1.0;
    while beyond(high) > probability && high < 1e300 {
        high *= 2.0;
    }
    let mut low = 0.0;
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if beyond(middle) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The regularized incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if !(0.0..=1.0).contains(&x) || a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - front.exp() * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// Lentz's evaluation of the continued fraction of the incomplete beta function.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const STEPS: u32 = 500;
    let nonzero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}
