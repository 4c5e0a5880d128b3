//! Makes keys of eight bits in the distributions that set the forms apart.

use basalt_adapt::Random;

/// How often which key occurs, and in what order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distribution {
    /// Passengers of taxi trips.
    Trips,
    /// Trailing zeros of the row's number.
    Zeros,
    /// Every key equally often.
    Uniform,
    /// Ten keys equally often.
    Ten,
    /// Two keys equally often.
    Two,
    /// Always the same.
    Constant,
    /// Each key once, in a long run.
    Sorted,
    /// One key in the first half, all in the second.
    Changing,
}

/// Thousandths of trips with 0, 1, 2, … passengers, added up.
const TRIPS: [u64; 10] = [20, 720, 860, 910, 940, 970, 990, 995, 998, 1000];

impl Distribution {
    /// Every distribution.
    pub(super) const ALL: [Self; 8] = [
        Self::Trips,
        Self::Zeros,
        Self::Uniform,
        Self::Ten,
        Self::Two,
        Self::Constant,
        Self::Sorted,
        Self::Changing,
    ];

    /// Its name in options.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Trips => "trips",
            Self::Zeros => "zeros",
            Self::Uniform => "uniform",
            Self::Ten => "ten",
            Self::Two => "two",
            Self::Constant => "constant",
            Self::Sorted => "sorted",
            Self::Changing => "changing",
        }
    }

    /// What it is.
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Trips => "passengers of taxi trips: 10 keys, one of them in 70 % of the rows",
            Self::Zeros => "trailing zeros of the row's number: each key half as often as the last",
            Self::Uniform => "256 keys at random, equally often",
            Self::Ten => "10 keys at random, equally often",
            Self::Two => "2 keys at random, equally often",
            Self::Constant => "always the same key",
            Self::Sorted => "256 keys in order, each in one run",
            Self::Changing => "one key in the first half, 256 at random in the second",
        }
    }

    /// One line for each distribution.
    pub(super) fn explained() -> String {
        let lines = Self::ALL.map(|d| format!("\n  {:<10}{}", d.name(), d.description()));
        format!("Distributions of keys:{}", lines.concat())
    }

    /// The key of a row.
    pub(super) fn key(self, row: usize, num_rows: usize, random: &mut Random) -> u8 {
        let drawn = random.below(match self {
            Self::Trips => 1000,
            Self::Ten => 10,
            Self::Two => 2,
            _ => 256,
        });
        let key = match self {
            Self::Trips => TRIPS.iter().filter(|limit| **limit <= drawn).count() as u64,
            Self::Zeros => u64::from((row + 1).trailing_zeros()),
            Self::Constant => 1,
            Self::Sorted => (row as u128 * 256 / num_rows.max(1) as u128) as u64,
            Self::Changing if row < num_rows / 2 => 1,
            Self::Uniform | Self::Ten | Self::Two | Self::Changing => drawn,
        };
        // Every key above is below 256.
        key as u8
    }
}

#[cfg(test)]
mod tests {
    use basalt_adapt::Random;

    use super::Distribution;

    fn num_keys(distribution: Distribution) -> usize {
        let mut random = Random::new(1);
        let keys = (0..100_000).map(|row| distribution.key(row, 100_000, &mut random));
        keys.collect::<std::collections::BTreeSet<_>>().len()
    }

    #[test]
    fn distributions_have_the_keys_that_they_say() {
        let num_keys = Distribution::ALL.map(num_keys);
        assert_eq!(num_keys, [10, 17, 256, 10, 2, 1, 256, 256]);
    }
}
