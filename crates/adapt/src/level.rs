//! Says how wide kernels may work: what the processor has, and at most what somebody allows.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// Families of instructions, each including the ones before it of the same processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimdLevel {
    /// What every processor of the target has; the compiler may still use SSE2 or NEON.
    Scalar,
    /// NEON, which every aarch64 processor has: the compiler uses it at the level before, too.
    Neon,
    /// SSE4.2 and popcnt.
    Sse42,
    /// AVX2, BMI1 and BMI2.
    Avx2,
    /// AVX-512 with F, BW, DQ and VL.
    Avx512,
}

/// The name of a level is none of [`SimdLevel::ALL`], nor `auto`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevel(String);

/// Number in `FORCED` that forces nothing.
const AUTO: u8 = u8::MAX;

static FORCED: AtomicU8 = AtomicU8::new(AUTO);

impl SimdLevel {
    /// Every level, narrow ones first.
    pub const ALL: [Self; 5] = [
        Self::Scalar,
        Self::Neon,
        Self::Sse42,
        Self::Avx2,
        Self::Avx512,
    ];

    /// The name that settings use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Sse42 => "sse42",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The widest level of this processor.
    pub fn detected() -> Self {
        static DETECTED: OnceLock<SimdLevel> = OnceLock::new();
        *DETECTED.get_or_init(detect)
    }

    /// The level to use: the detected one, or a narrower one that was forced.
    #[inline]
    pub fn current() -> Self {
        let forced = FORCED.load(Ordering::Relaxed);
        let allowed = Self::ALL.get(usize::from(forced));
        allowed.map_or_else(Self::detected, |level| (*level).min(Self::detected()))
    }

    /// Lets kernels use at most `level`; `None` is `auto`.
    pub fn force(level: Option<Self>) {
        FORCED.store(level.map_or(AUTO, |level| level as u8), Ordering::Relaxed);
    }

    /// Reads a setting's value: the name of a level, or `auto` for `None`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse_setting(text: &str) -> Result<Option<Self>, UnknownLevel> {
        match text {
            "auto" => Ok(None),
            name => name.parse().map(Some),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> SimdLevel {
    use std::arch::is_x86_feature_detected as has;
    if !(has!("sse4.2") && has!("popcnt")) {
        return SimdLevel::Scalar;
    }
    if !(has!("avx2") && has!("bmi1") && has!("bmi2")) {
        return SimdLevel::Sse42;
    }
    if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
        return SimdLevel::Avx512;
    }
    SimdLevel::Avx2
}

#[cfg(target_arch = "aarch64")]
fn detect() -> SimdLevel {
    SimdLevel::Neon
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> SimdLevel {
    SimdLevel::Scalar
}

impl FromStr for SimdLevel {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let mut all = Self::ALL.into_iter();
        all.find(|level| level.name() == name)
            .ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = SimdLevel::ALL.map(SimdLevel::name).join(", ");
        write!(f, "expected one of auto, {names}: {}", self.0)
    }
}

impl std::error::Error for UnknownLevel {}

#[cfg(test)]
mod tests {
    use super::SimdLevel;

    #[test]
    fn names_are_read_back() {
        for level in SimdLevel::ALL {
            assert_eq!(SimdLevel::parse_setting(level.name()), Ok(Some(level)));
        }
        assert_eq!(SimdLevel::parse_setting("auto"), Ok(None));
        let e = SimdLevel::parse_setting("mmx").unwrap_err();
        assert_eq!(
            e.to_string(),
            "expected one of auto, scalar, neon, sse42, avx2, avx512: mmx"
        );
    }

    #[test]
    fn a_forced_level_is_a_limit_and_no_promise() {
        SimdLevel::force(Some(SimdLevel::Scalar));
        assert_eq!(SimdLevel::current(), SimdLevel::Scalar);
        SimdLevel::force(Some(SimdLevel::Avx512));
        assert_eq!(SimdLevel::current(), SimdLevel::detected());
        SimdLevel::force(None);
        assert_eq!(SimdLevel::current(), SimdLevel::detected());
    }
}
