//! Makes keys in the distributions that set the strategies apart.

use std::io::Read;

use basalt_adapt::Random;

/// Which keys there are, and in what order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distribution {
    /// Every key once.
    Unique,
    /// Every key equally often.
    Uniform,
    /// A few keys very often, most of them rarely.
    Zipf,
    /// 0, 1, 2, …
    Sequence,
    /// Each key in one run.
    Clustered,
    /// 0 to 100 000 again and again: a first block looks unique.
    Misleading,
    /// A first block of ten keys, all others once.
    Mirrored,
}

/// Keys of `misleading` before they come again: more than any block has rows.
const MISLEADING_KEYS: u64 = 100_000;

/// Rows of `mirrored` with few keys: what an engine looks at before it decides.
const MIRRORED_ROWS: u64 = 65_536;

impl Distribution {
    /// Every distribution.
    pub(crate) const ALL: [Self; 7] = [
        Self::Unique,
        Self::Uniform,
        Self::Zipf,
        Self::Sequence,
        Self::Clustered,
        Self::Misleading,
        Self::Mirrored,
    ];

    /// Its name in options.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
            Self::Sequence => "sequence",
            Self::Clustered => "clustered",
            Self::Misleading => "misleading",
            Self::Mirrored => "mirrored",
        }
    }

    /// The distribution of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }

    /// What it is.
    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Unique => "every key once, in no order",
            Self::Uniform => "--unique-share of the rows are keys, drawn at random, equally often",
            Self::Zipf => "as uniform, but the n-th key is n^--skew times rarer than the first",
            Self::Sequence => "0, 1, 2, … as an identifier that counts up",
            Self::Clustered => "--unique-share of the rows are keys, each in one run",
            Self::Misleading => "0 to 100 000 again and again: the first block looks unique",
            Self::Mirrored => "a first block of ten keys, then every key once",
        }
    }

    /// One line for each distribution.
    pub(crate) fn explained() -> String {
        let lines = Self::ALL.map(|d| format!("\n  {:<12}{}", d.name(), d.description()));
        format!("Keys that can be generated:{}", lines.concat())
    }

    /// Whether keys lie anywhere among all values, so that they cannot index arrays.
    const fn is_spread(self) -> bool {
        !matches!(self, Self::Sequence | Self::Misleading)
    }
}

/// Type of generated keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyType {
    UInt32,
    UInt64,
    String,
}

impl KeyType {
    /// Names in options.
    pub(crate) const NAMES: [&'static str; 3] = ["uint32", "uint64", "string"];

    /// The type of that name.
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "uint32" => Self::UInt32,
            "string" => Self::String,
            _ => Self::UInt64,
        }
    }

    /// Its name in the dialect.
    pub(crate) const fn sql(self) -> &'static str {
        match self {
            Self::UInt32 => "UInt32",
            Self::UInt64 => "UInt64",
            Self::String => "String",
        }
    }
}

/// What keys to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) distribution: Distribution,
    pub(crate) key_type: KeyType,
    pub(crate) num_rows: u64,
    /// Keys for each row, from 0 to 1.
    pub(crate) unique_share: f64,
    pub(crate) skew: f64,
    /// Spreads also keys that would be small numbers.
    pub(crate) is_spread: bool,
    pub(crate) seed: u64,
}

impl Recipe {
    /// The keys as rows in the format RowBinary.
    pub(crate) fn rows(self) -> KeyRows {
        KeyRows {
            recipe: self,
            random: Random::new(self.seed),
            next_row: 0,
            bytes: Vec::new(),
            num_given: 0,
        }
    }

    fn num_keys(&self) -> u64 {
        let keys = (self.num_rows as f64 * self.unique_share).round();
        (keys as u64).clamp(1, self.num_rows.max(1))
    }

    /// The number of a row's key.
    fn ordinal(&self, row: u64, random: &mut Random) -> u64 {
        let num_keys = self.num_keys();
        match self.distribution {
            Distribution::Unique | Distribution::Sequence => row,
            Distribution::Uniform => random.below(num_keys),
            Distribution::Zipf => zipf(num_keys, self.skew, random.unit()),
            Distribution::Clustered => {
                (u128::from(row) * u128::from(num_keys) / u128::from(self.num_rows.max(1))) as u64
            }
            Distribution::Misleading => row % MISLEADING_KEYS,
            Distribution::Mirrored if row < MIRRORED_ROWS => random.below(10),
            Distribution::Mirrored => row,
        }
    }

    /// Writes the key of a number.
    fn write(&self, ordinal: u64, bytes: &mut Vec<u8>) {
        let is_spread = self.is_spread || self.distribution.is_spread();
        let key = if !is_spread {
            ordinal
        } else if self.key_type == KeyType::UInt32 {
            u64::from(mixed_u32(ordinal as u32))
        } else {
            mixed_u64(ordinal)
        };
        match self.key_type {
            KeyType::UInt32 => bytes.extend((key as u32).to_le_bytes()),
            KeyType::UInt64 => bytes.extend(key.to_le_bytes()),
            KeyType::String => {
                let text = key.to_string();
                // At most 20 digits: the length is one byte.
                bytes.push(text.len() as u8);
                bytes.extend(text.as_bytes());
            }
        }
    }
}

/// The place of a key of which the n-th is `n^skew` times rarer than the first, for a `share` of
/// all rows: the inverse of the continuous distribution that runs through the discrete one.
fn zipf(num_keys: u64, skew: f64, share: f64) -> u64 {
    let most = num_keys as f64 + 1.0;
    let exponent = 1.0 - skew;
    let place = if exponent.abs() < 1e-9 {
        most.powf(share)
    } else {
        (1.0 + share * (most.powf(exponent) - 1.0)).powf(1.0 / exponent)
    };
    (place as u64).clamp(1, num_keys) - 1
}

/// Different numbers for different numbers, all over the range.
fn mixed_u64(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// As [`mixed_u64`].
fn mixed_u32(mut number: u32) -> u32 {
    number = (number ^ (number >> 16)).wrapping_mul(0x85EB_CA6B);
    number = (number ^ (number >> 13)).wrapping_mul(0xC2B2_AE35);
    number ^ (number >> 16)
}

/// Rows that are made while they are read.
pub(crate) struct KeyRows {
    recipe: Recipe,
    random: Random,
    next_row: u64,
    bytes: Vec<u8>,
    num_given: usize,
}

impl Read for KeyRows {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.num_given == self.bytes.len() {
            self.bytes.clear();
            self.num_given = 0;
            let end = self.recipe.num_rows.min(self.next_row + 4096);
            for row in self.next_row..end {
                let ordinal = self.recipe.ordinal(row, &mut self.random);
                self.recipe.write(ordinal, &mut self.bytes);
            }
            self.next_row = end;
        }
        let len = (&self.bytes[self.num_given..]).read(out)?;
        self.num_given += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use super::{Distribution, KeyType, Recipe};

    fn counts(distribution: Distribution, key_type: KeyType) -> BTreeMap<Vec<u8>, usize> {
        let recipe = Recipe {
            distribution,
            key_type,
            num_rows: 200_000,
            unique_share: 0.01,
            skew: 1.0,
            is_spread: false,
            seed: 1,
        };
        let mut bytes = Vec::new();
        recipe.rows().read_to_end(&mut bytes).unwrap();
        let mut counts = BTreeMap::new();
        let mut rest = bytes.as_slice();
        while let Some(first) = rest.first() {
            let len = match key_type {
                KeyType::UInt32 => 4,
                KeyType::UInt64 => 8,
                KeyType::String => 1 + usize::from(*first),
            };
            let (key, others) = rest.split_at(len);
            *counts.entry(key.to_vec()).or_default() += 1;
            rest = others;
        }
        counts
    }

    #[test]
    fn distributions_have_the_keys_that_they_say() {
        for key_type in [KeyType::UInt32, KeyType::UInt64, KeyType::String] {
            let num_keys = Distribution::ALL.map(|d| counts(d, key_type).len());
            assert_eq!(num_keys[0], 200_000);
            assert_eq!(num_keys[1], 2000);
            assert!((1500..=2000).contains(&num_keys[2]), "{num_keys:?}");
            assert_eq!(num_keys[3..6], [200_000, 2000, 100_000]);
            assert!((134_464..=134_474).contains(&num_keys[6]), "{num_keys:?}");
        }
    }

    #[test]
    fn the_first_keys_of_zipf_are_frequent() {
        let counts = counts(Distribution::Zipf, KeyType::UInt64);
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let ratio = counts[0] as f64 / counts[9] as f64;
        assert!((5.0..9.0).contains(&ratio), "{ratio}");
    }
}
