//! Divides by a number that stays the same, with a multiplication instead of a division.
//!
//! For a divisor `d` that is no power of two, with `l = floor(log2(d))` and `W` the word's bits,
//! the quotient of every word `n` is `(((n - q) >> 1) + q) >> l`, where `q` is the upper word of
//! `magic * n` and `magic` the low word of `floor(2^(W+l+1) / d) + 1` (Granlund and Montgomery,
//! "Division by invariant integers using multiplication", 1994). A power of two has magic 0.

/// A word that has a reciprocal.
pub(crate) trait Word: Copy {
    /// Bits of the word.
    const BITS: u32;
    /// The low bits of a wider number.
    fn truncate(wide: u128) -> Self;
    /// The word as a wider number.
    fn widen(self) -> u128;
    /// The quotient, with reciprocal and shift as above.
    fn divide(self, magic: Self, shift: u32) -> Self;
}

impl Word for u32 {
    const BITS: u32 = 32;

    fn truncate(wide: u128) -> Self {
        wide as u32
    }

    fn widen(self) -> u128 {
        u128::from(self)
    }

    #[inline(always)]
    fn divide(self, magic: Self, shift: u32) -> Self {
        let q = ((u64::from(magic) * u64::from(self)) >> 32) as u32;
        ((self.wrapping_sub(q) >> 1).wrapping_add(q)) >> shift
    }
}

impl Word for u64 {
    const BITS: u32 = 64;

    fn truncate(wide: u128) -> Self {
        wide as u64
    }

    fn widen(self) -> u128 {
        u128::from(self)
    }

    #[inline(always)]
    fn divide(self, magic: Self, shift: u32) -> Self {
        let q = ((u128::from(magic) * u128::from(self)) >> 64) as u64;
        ((self.wrapping_sub(q) >> 1).wrapping_add(q)) >> shift
    }
}

/// A divisor and its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divider<T> {
    magic: T,
    shift: u32,
}

impl<T: Word> Divider<T> {
    /// The reciprocal of `divisor`; 0 and 1 have none.
    pub(crate) fn new(divisor: T) -> Option<Self> {
        let wide = divisor.widen();
        if wide <= 1 {
            return None;
        }
        let log = wide.ilog2();
        if wide.is_power_of_two() {
            let magic = T::truncate(0);
            return Some(Self {
                magic,
                shift: log - 1,
            });
        }
        // 2^(W + l) < 2^127; the last bit of the doubled quotient comes from the remainder.
        let power = 1_u128 << (T::BITS + log);
        let (quotient, remainder) = (power / wide, power % wide);
        let bit = u128::from(remainder * 2 >= wide);
        Some(Self {
            magic: T::truncate(quotient * 2 + bit + 1),
            shift: log,
        })
    }

    /// `n / divisor`.
    #[inline(always)]
    pub(crate) fn divide(self, n: T) -> T {
        n.divide(self.magic, self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::Divider;

    #[test]
    fn quotients_are_exact() {
        let edges = [
            0,
            1,
            2,
            3,
            7,
            255,
            256,
            65_535,
            1 << 31,
            (1 << 32) - 1,
            1 << 32,
            1 << 63,
        ];
        let mut numbers: Vec<u64> = edges
            .iter()
            .flat_map(|n: &u64| [n.wrapping_sub(1), *n, n.wrapping_add(1)])
            .collect();
        numbers.extend((0..2000_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        for d in numbers.iter().copied().filter(|d| *d > 1) {
            let divider = Divider::new(d).expect("divisor");
            let narrow = Divider::new(d as u32);
            for n in numbers.iter().copied() {
                assert_eq!(divider.divide(n), n / d, "{n} / {d}");
                if let Some(narrow) = narrow {
                    assert_eq!(narrow.divide(n as u32), n as u32 / d as u32, "{n} / {d}");
                }
            }
        }
        assert!(Divider::new(1_u64).is_none() && Divider::new(0_u32).is_none());
    }
}
