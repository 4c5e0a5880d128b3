//! Adds floating-point numbers up, with or without missing values.
//!
//! **Order of summation.** What forms of [`Order::Lanes`] give is defined by `scalar::lanes`: a row is added to the lane that
//! [`lane_of`](crate::fold::lane_of) gives (the first half of the rows goes to lanes 0 to 15, the second to lanes 16 to
//! 31, so that both are read at once), lanes start at 0 and take their rows in order, missing values add nothing, and at
//! the end the upper half of the lanes is added to the lower half until one is left. Every form of
//! [`Order::Lanes`] gives that result bit for bit, so choosing between them changes nothing but the
//! time. Thirty-two lanes are what four registers of AVX-512 hold: enough that no addition waits for
//! the one before it.
//!
//! Queries add in twice the precision ([`twofold`]), so that no order shows. The other forms are for comparison:
//!
//! * [`Order::Twofold`]: what queries call.
//! * [`Order::Rows`]: one value after the other, as the textbook's loop does.
//! * [`Order::Kahan`]: the same with Kahan's compensation for what an addition rounds away.
//! * [`Order::KahanLanes`]: 32 lanes with compensation each, folded with compensation.
//!
//! Nothing here is left to the compiler's idea of associativity: it has none for floats, and the
//! lanes are written out. Tests: `tests.rs`; bench: `sum`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use basalt_adapt::{Choice, SimdLevel, WorkUnit};

use crate::{Bitmap, level, twofold};

/// Lanes of a sum.
pub const NUM_LANES: usize = crate::fold::NUM_LANES;

/// The order in which a form adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In 32 lanes: the order that defines the result.
    Lanes,
    /// One after the other.
    Rows,
    /// One after the other, compensated.
    Kahan,
    /// In 32 lanes, compensated.
    KahanLanes,
    /// In 32 lanes, in twice the precision, rounded once: in practice in any order.
    Twofold,
}

/// One way to add values up.
#[derive(Debug)]
pub struct Form {
    /// Its name, as settings and tables have it.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The order in which it adds.
    pub order: Order,
    /// What the processor must have.
    pub level: SimdLevel,
    run: fn(&[f64], Option<Bitmap<'_>>) -> f64,
}

impl Form {
    /// The sum of the values that are there.
    ///
    /// # Panics
    /// If the bitmap has another number of rows.
    #[inline]
    pub fn sum(&self, values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
        assert!(validity.is_none_or(|bits| bits.len() == values.len()));
        (self.run)(values, validity)
    }
}

const fn form(
    (name, level): (&'static str, SimdLevel),
    order: Order,
    description: &'static str,
    run: fn(&[f64], Option<Bitmap<'_>>) -> f64,
) -> Form {
    Form {
        name,
        description,
        order,
        level,
        run,
    }
}

/// Every form that this target knows, the specification first.
pub static ALL_FORMS: &[Form] = &[
    form(
        ("lanes", SimdLevel::Scalar),
        Order::Lanes,
        "unrolled by hand into 32 lanes",
        scalar::lanes,
    ),
    #[cfg(target_arch = "x86_64")]
    form(
        ("lanes_avx2", SimdLevel::Avx2),
        Order::Lanes,
        "32 lanes in eight registers",
        avx2::lanes,
    ),
    #[cfg(target_arch = "x86_64")]
    form(
        ("lanes_avx512", SimdLevel::Avx512),
        Order::Lanes,
        "32 lanes in four registers, masks from the bitmap",
        avx512::lanes,
    ),
    form(
        ("twofold", SimdLevel::Scalar),
        Order::Twofold,
        "32 lanes in twice the precision, in the widest registers: what queries call",
        |values, validity| twofold::sum(values, validity, |value| value).rounded().sum,
    ),
    form(
        ("plain", SimdLevel::Scalar),
        Order::Rows,
        "the plain loop",
        scalar::rows,
    ),
    form(
        ("kahan", SimdLevel::Scalar),
        Order::Kahan,
        "compensated, one after the other",
        scalar::kahan,
    ),
    form(
        ("kahan_lanes", SimdLevel::Scalar),
        Order::KahanLanes,
        "compensated in 32 lanes",
        scalar::kahan_lanes,
    ),
    #[cfg(target_arch = "x86_64")]
    form(
        ("kahan_lanes_avx2", SimdLevel::Avx2),
        Order::KahanLanes,
        "compensated in 32 lanes",
        avx2::kahan_lanes,
    ),
    #[cfg(target_arch = "x86_64")]
    form(
        ("kahan_lanes_avx512", SimdLevel::Avx512),
        Order::KahanLanes,
        "compensated in 32 lanes",
        avx512::kahan_lanes,
    ),
];

/// Every form that may run here and now, the specification first.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    let current = level::current();
    ALL_FORMS.iter().filter(move |form| form.level <= current)
}

/// The form of this name, if it may run here and now.
pub fn form_named(name: &str) -> Option<&'static Form> {
    forms().find(|form| form.name == name)
}

/// Decides between the forms that add in lanes.
pub static CHOICE: Choice = Choice::new(
    "sum_f64",
    "how Float64 values are added up",
    WorkUnit::Row,
    &["lanes", "lanes_avx2", "lanes_avx512"],
);

#[cfg(test)]
mod tests;
