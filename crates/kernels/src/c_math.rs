//! Calls functions of the C library that Rust's standard library links and does not offer.
//!
//! ClickHouse calls the same ones: results agree to the last digit, which those of a port do not.

mod library {
    // SAFETY: the C standard (lgamma_r: POSIX) gives these signatures; the functions take and give plain
    // numbers, and touch no memory but `sign`.
    unsafe extern "C" {
        pub(super) safe fn asinh(x: f64) -> f64;
        pub(super) safe fn acosh(x: f64) -> f64;
        pub(super) safe fn atanh(x: f64) -> f64;
        pub(super) safe fn erf(x: f64) -> f64;
        pub(super) safe fn erfc(x: f64) -> f64;
        pub(super) safe fn tgamma(x: f64) -> f64;
        pub(super) safe fn lgamma_r(x: f64, sign: &mut i32) -> f64;
    }
}

/// The inverse hyperbolic sine.
pub fn asinh(x: f64) -> f64 {
    library::asinh(x)
}

/// The inverse hyperbolic cosine.
pub fn acosh(x: f64) -> f64 {
    library::acosh(x)
}

/// The inverse hyperbolic tangent.
pub fn atanh(x: f64) -> f64 {
    library::atanh(x)
}

/// The error function.
pub fn erf(x: f64) -> f64 {
    library::erf(x)
}

/// 1 minus the error function, exact for great `x`.
pub fn erfc(x: f64) -> f64 {
    library::erfc(x)
}

/// The gamma function.
pub fn tgamma(x: f64) -> f64 {
    library::tgamma(x)
}

/// The logarithm of the gamma function's magnitude.
pub fn lgamma(x: f64) -> f64 {
    // `lgamma` would write the sign where other threads do, too.
    let mut sign = 0;
    library::lgamma_r(x, &mut sign)
}

#[cfg(test)]
mod tests {
    use super::{acosh, asinh, atanh, erf, erfc, lgamma, tgamma};

    #[test]
    fn values_are_those_of_the_functions() {
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-15 * b.abs(), "{a} {b}");
        near(asinh(1.0), 0.881_373_587_019_543);
        near(acosh(2.0), 1.316_957_896_924_816_6);
        near(atanh(0.5), 0.549_306_144_334_054_8);
        near(erf(0.5), 0.520_499_877_813_046_5);
        near(erfc(0.5), 0.479_500_122_186_953_5);
        near(tgamma(5.5), 52.342_777_784_553_52);
        near(lgamma(-0.5), 1.265_512_123_484_645_4);
    }
}
