//! Draws random numbers that are the same on every machine and in every version.
//!
//! SplitMix64: a counter and a mixing function. Nothing here may change, or files of the same seed would differ;
//! that is why it is not a crate, whose generators may change between versions.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes all bits of `x` (a bijection), so that neighbouring numbers give unrelated ones.
pub(crate) const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A fixed number below `n` for the key and the salt: the way to derive an attribute from an id.
pub(crate) const fn draw(key: u64, salt: u64, n: u64) -> u64 {
    let bits = mix(key.wrapping_add(salt.wrapping_mul(STEP)));
    ((bits as u128 * n as u128) >> 64) as u64
}

/// The value of `table` that the draw falls on, by the weights beside the values.
pub(crate) fn pick<T: Copy>(table: &[(T, u32)], key: u64, salt: u64) -> T {
    let sum: u64 = table.iter().map(|&(_, weight)| u64::from(weight)).sum();
    let mut left = draw(key, salt, sum);
    for &(value, weight) in table {
        if left < u64::from(weight) {
            return value;
        }
        left -= u64::from(weight);
    }
    table[0].0
}

/// The rank below `n` at position `u` in 0..1, where the share of rank r falls as r to the power of `-s`; `s` < 1.
pub(crate) fn power_law(u: f64, n: u64, s: f64) -> u64 {
    let rank = n as f64 * u.powf(1.0 / (1.0 - s));
    (rank as u64).min(n.saturating_sub(1))
}

/// A stream of random numbers.
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream number `stream` of the seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self {
            state: mix(seed ^ mix(stream.wrapping_add(STEP))),
        }
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number below `n`, or 0 for `n` = 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// A number in 0..1, never 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True in `p` of all cases.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Gamma distribution of shape 2.
    pub(crate) fn gamma2(&mut self, scale: f64) -> f64 {
        -scale * ((1.0 - self.unit()) * (1.0 - self.unit())).ln()
    }

    /// A rank from 1 of the unbounded Zipf distribution, `a` > 1 (Devroye's rejection method).
    pub(crate) fn zipf(&mut self, a: f64) -> u64 {
        let power = a - 1.0;
        let b = power.exp2();
        loop {
            let u = 1.0 - self.unit();
            let v = self.unit();
            let x = u.powf(-1.0 / power).floor();
            if !(1.0..9.2e18).contains(&x) {
                continue;
            }
            let t = (1.0 + 1.0 / x).powf(power);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b {
                return x as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, draw, pick, power_law};

    #[test]
    fn numbers_never_change() {
        let mut random = Random::new(1, 2);
        // From a version in another language.
        assert_eq!(random.bits(), 5_196_188_657_185_181_188);
        assert_eq!(random.bits(), 5_005_007_431_957_806_747);
    }

    #[test]
    fn draws_stay_in_range_and_follow_weights() {
        let table = [("rare", 1), ("often", 9)];
        let often = (0..10_000)
            .filter(|&key| pick(&table, key, 7) == "often")
            .count();
        assert!((8_800..9_200).contains(&often), "{often}");
        assert!((0..1000).all(|key| draw(key, 3, 10) < 10));
        assert_eq!(draw(5, 3, 0), 0);
    }

    #[test]
    fn distributions_have_their_means_and_shares() {
        let mut random = Random::new(0, 0);
        let mean: f64 = (0..100_000).map(|_| random.gamma2(8.0)).sum::<f64>() / 1e5;
        assert!((15.8..16.2).contains(&mean), "{mean}");
        // zeta(2) = 1.645: rank 1 has 0.608 of all.
        let first = (0..100_000).filter(|_| random.zipf(2.0) == 1).count();
        assert!((60_000..61_600).contains(&first), "{first}");
        assert_eq!(power_law(0.0, 100, 0.7), 0);
        assert_eq!(power_law(1.0, 100, 0.7), 99);
        // Half of all draws fall on the first n / 2^(1/0.3) ranks.
        let head = (0..100_000)
            .filter(|_| power_law(random.unit(), 1000, 0.7) < 99)
            .count();
        assert!((49_000..51_000).contains(&head), "{head}");
    }
}
