//! Finds what the differences between all values of a column are multiples of.
//!
//! Times of whole seconds are often counted in milliseconds, prices of whole units in cents; floats of few digits end
//! with bits that are 0. Divided by their step, such values need fewer bits.

use basalt_kernels::widest::{Loop, widest};

/// Values of a batch that are looked at before all of them are.
const SAMPLED_VALUES: usize = 64;

/// Values that are looked at without a branch.
const GROUP_VALUES: usize = 256;

/// The step of some values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// One of the values, if there is any.
    anchor: Option<u64>,
    /// The greatest number that divides all differences; 0 if all values are the same.
    divisor: u64,
}

impl Step {
    /// The step of any values whatever.
    pub(super) fn one() -> Self {
        Self {
            anchor: Some(0),
            divisor: 1,
        }
    }

    /// What to divide differences by.
    pub(super) fn divisor(self) -> ExactDivisor {
        ExactDivisor::new(self.divisor.max(1))
    }

    /// Takes the values of a batch.
    pub(super) fn include<V: Copy>(&mut self, values: &[V], ordinal: impl Fn(V) -> u64 + Copy) {
        let Some(first) = values.first() else {
            return;
        };
        self.include_one(ordinal(*first));
        let stride = values.len().div_ceil(SAMPLED_VALUES).max(1);
        for value in values.iter().step_by(stride) {
            self.include_one(ordinal(*value));
        }
        let anchor = self.anchor.unwrap_or(0);
        let all = AreMultiples {
            values,
            ordinal,
            anchor,
            divisor: match self.divisor {
                0 => ExactDivisor::ZERO,
                _ => self.divisor(),
            },
        };
        if self.divisor == 1 || widest(all) {
            return;
        }
        for value in values {
            self.include_one(ordinal(*value));
            if self.divisor == 1 {
                return;
            }
        }
    }

    /// Takes a value.
    pub(super) fn include_one(&mut self, ordinal: u64) {
        match self.anchor {
            None => self.anchor = Some(ordinal),
            Some(_) if self.divisor == 1 => {}
            Some(anchor) => {
                self.divisor = greatest_common_divisor(ordinal.abs_diff(anchor), self.divisor);
            }
        }
    }

    /// Takes the values of another step.
    pub(super) fn merge(&mut self, other: &Self) {
        if let Some(anchor) = other.anchor {
            self.divisor = greatest_common_divisor(self.divisor, other.divisor);
            self.include_one(anchor);
        }
    }
}

/// Euclid's algorithm.
fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether values differ from the anchor by multiples of the divisor.
struct AreMultiples<'a, V, F> {
    values: &'a [V],
    ordinal: F,
    anchor: u64,
    divisor: ExactDivisor,
}

impl<V: Copy, F: Fn(V) -> u64> Loop for AreMultiples<'_, V, F> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let are_multiples = |group: &[V]| {
            let differences = group.iter();
            let differences = differences.map(|v| (self.ordinal)(*v).abs_diff(self.anchor));
            differences.fold(true, |all, d| all & self.divisor.divides(d))
        };
        self.values.chunks(GROUP_VALUES).all(are_multiples)
    }
}

/// Divides multiples of a number, without a division.
///
/// Modulo `2^64`, an odd number has an inverse; what is left of the number is a shift (Granlund and Montgomery,
/// "Division by invariant integers using multiplication", 1994, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExactDivisor {
    divisor: u64,
    inverse: u64,
    shift: u32,
    most: u64,
}

impl ExactDivisor {
    /// Of which 0 is the only multiple.
    const ZERO: Self = Self {
        divisor: 0,
        inverse: 1,
        shift: 0,
        most: 0,
    };

    /// For a number that is not 0.
    pub(super) fn new(divisor: u64) -> Self {
        let divisor = divisor.max(1);
        let shift = divisor.trailing_zeros();
        let odd = divisor >> shift;
        // Right to three bits; each round of Newton's method doubles them.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Self {
            divisor,
            inverse,
            shift,
            most: u64::MAX / divisor,
        }
    }

    /// The number.
    #[inline(always)]
    pub(super) fn get(self) -> u64 {
        self.divisor
    }

    /// Whether `value` is a multiple.
    #[inline(always)]
    fn divides(self, value: u64) -> bool {
        value.wrapping_mul(self.inverse).rotate_right(self.shift) <= self.most
    }

    /// The quotient of a multiple.
    #[inline(always)]
    pub(super) fn divide(self, multiple: u64) -> u64 {
        multiple.wrapping_mul(self.inverse) >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert_eq, prop_oneof, proptest};

    use super::{ExactDivisor, Step};

    fn step_of(batches: &[&[u64]]) -> Step {
        let mut step = Step::default();
        batches
            .iter()
            .for_each(|values| step.include(values, |v| v));
        step
    }

    #[test]
    fn a_step_divides_all_differences() {
        assert_eq!(step_of(&[]).divisor().get(), 1);
        assert_eq!(step_of(&[&[7, 7], &[7]]).divisor().get(), 1);
        assert_eq!(step_of(&[&[7, 1007], &[5007]]).divisor().get(), 1000);
        assert_eq!(step_of(&[&[7, 1007], &[5507]]).divisor().get(), 500);
        // What differs may be no part of the sample.
        let mut values = vec![3; 10_000];
        values[4711] = 63;
        assert_eq!(step_of(&[&values]).divisor().get(), 60);
        values[4713] = 13;
        assert_eq!(step_of(&[&values, &[3]]).divisor().get(), 10);
        assert_eq!(step_of(&[&[0, u64::MAX]]).divisor().get(), u64::MAX);
    }

    proptest! {
        #[test]
        fn as_the_division(divisor in prop_oneof![1u64.., 1u64..5000], factor in any::<u64>(), other in any::<u64>()) {
            let exact = ExactDivisor::new(divisor);
            let quotient = factor % (u64::MAX / divisor).saturating_add(1).max(1);
            prop_assert_eq!(exact.divide(quotient * divisor), quotient);
            prop_assert_eq!(exact.divides(other), other % divisor == 0);
        }

        #[test]
        fn merged_as_all_at_once(
            first in prop::collection::vec(0u64..40, 0..9),
            second in prop::collection::vec(0u64..40, 0..9),
            step in 1u64..100,
        ) {
            let of = |values: &[u64]| values.iter().map(|v| v * step + 5).collect::<Vec<_>>();
            let (first, second) = (of(&first), of(&second));
            let mut merged = step_of(&[&first]);
            merged.merge(&step_of(&[&second]));
            let all = step_of(&[&first, &second]);
            prop_assert_eq!(merged.divisor(), all.divisor());
        }
    }
}
