//! Draws random numbers cheaply enough to be drawn for every arm of every decision.

/// A generator that is the same for the same seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator that no other one in this process equals.
    pub fn distinct() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Self::new(RandomState::new().hash_one(0))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`; 0 for a bound of 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number that is nearly normal, with mean 0 and deviation 1, and between -5 and 5.
    ///
    /// It is the sum of eight random bytes. Box and Muller's way needs a logarithm and a cosine, which
    /// for a dozen arms would cost as much as the shortest work that is measured.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        const EVEN_BYTES: u64 = 0x00FF_00FF_00FF_00FF;
        /// Adds four numbers of 16 bits, in the upper one.
        const ADD: u64 = 0x0001_0001_0001_0001;
        const MEAN: f64 = 1020.0;
        /// The root of 8 * (256 * 256 - 1) / 12.
        const DEVIATION: f64 = 209.021_529;
        let bits = self.bits();
        let pairs = (bits & EVEN_BYTES) + ((bits >> 8) & EVEN_BYTES);
        let sum = pairs.wrapping_mul(ADD) >> 48;
        (sum as f64 - MEAN) / DEVIATION
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut random = Random::new(1);
        let numbers: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
        assert!(numbers.iter().all(|x| x.abs() < 5.0));
        let beyond_two = numbers.iter().filter(|x| x.abs() > 2.0).count();
        assert!((3500..5500).contains(&beyond_two), "{beyond_two}");
    }

    #[test]
    fn shuffling_keeps_every_item_and_reaches_every_order() {
        let mut random = Random::new(2);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut items = [1, 2, 3];
            random.shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 6);
    }
}
