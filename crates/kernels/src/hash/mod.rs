//! Hashes 64-bit words, a slice at a time.
//!
//! Three functions, each with a definition in `scalar.rs` and forms that give the same hashes:
//!
//! | function | how | known for |
//! |---|---|---|
//! | [`FOLD`] | 128-bit product, halves folded together | few instructions; what the tables use |
//! | [`CRC`] | two CRC32-C of the word, its halves swapped for the second, times an odd number | one instruction each on x86 |
//! | [`MIX`] | shift-multiply rounds of murmur 3 | invertible, so no two words collide; vectors |
//!
//! Which *function* a table uses is part of the table: it cannot change from batch to batch, so no
//! `Choice` stands here, only forms. None of them resists somebody who looks for collisions.
//!
//! Tests: `tests.rs`; bench: `hash`.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse42;

use basalt_adapt::SimdLevel;

pub use scalar::{crc, fold, mix};

/// One way to hash a slice.
#[derive(Debug)]
pub struct Form {
    /// Its name, as settings and tables have it.
    pub name: &'static str,
    /// What the processor must have.
    pub level: SimdLevel,
    run: fn(&[u64], &mut [u64]),
}

impl Form {
    /// Writes the hash of every word.
    ///
    /// # Panics
    /// If there are more or fewer places than words.
    pub fn hash(&self, words: &[u64], hashes: &mut [u64]) {
        assert_eq!(words.len(), hashes.len());
        (self.run)(words, hashes);
    }
}

const fn form(name: &'static str, level: SimdLevel, run: fn(&[u64], &mut [u64])) -> Form {
    Form { name, level, run }
}

/// Forms of the folded product.
pub static FOLD: &[Form] = &[
    form("fold", SimdLevel::Scalar, scalar::fold_all),
    #[cfg(target_arch = "x86_64")]
    form("fold_avx512", SimdLevel::Avx512, avx512::fold_all),
];

/// Forms of the two checksums.
pub static CRC: &[Form] = &[
    form("crc", SimdLevel::Scalar, scalar::crc_all),
    #[cfg(target_arch = "x86_64")]
    form("crc_sse42", SimdLevel::Sse42, sse42::crc_all),
];

/// Forms of the invertible rounds.
pub static MIX: &[Form] = &[
    form("mix", SimdLevel::Scalar, scalar::mix_all),
    #[cfg(target_arch = "x86_64")]
    form("mix_avx512", SimdLevel::Avx512, avx512::mix_all),
];

/// Those of `all` that may run here and now, the specification first, the widest last.
pub fn available(all: &'static [Form]) -> impl Iterator<Item = &'static Form> {
    let current = SimdLevel::current();
    all.iter().filter(move |form| form.level <= current)
}

#[cfg(test)]
mod tests;
