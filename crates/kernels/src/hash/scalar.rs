//! Defines the hash functions.

/// Digits of pi.
pub(super) const SEED: u64 = 0x243F_6A88_85A3_08D3;

/// The golden ratio as a fraction of 2^64; odd.
pub(super) const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Starting values of the two checksums.
pub(super) const CRC_SEEDS: [u32; 2] = [0x8648_DBDB, 0x5BD1_E995];

/// Multipliers of the rounds of [`mix`], from murmur 3.
pub(super) const MIX_MULTIPLIERS: [u64; 2] = [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53];

/// The product with an odd number, its upper half folded onto the lower.
#[inline(always)]
pub fn fold(word: u64) -> u64 {
    let product = u128::from(word ^ SEED) * u128::from(MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

/// Two checksums side by side, times an odd number.
///
/// A checksum with another seed alone would tell nothing new, because checksums are linear; so the
/// second sees the word with its halves swapped.
#[inline]
pub fn crc(word: u64) -> u64 {
    let low = crc32c(CRC_SEEDS[0], word);
    let high = crc32c(CRC_SEEDS[1], word.rotate_right(32));
    (u64::from(high) << 32 | u64::from(low)).wrapping_mul(MULTIPLIER)
}

/// Rounds that each can be undone, so different words have different hashes.
#[inline(always)]
pub fn mix(word: u64) -> u64 {
    let mut hash = word;
    for multiplier in MIX_MULTIPLIERS {
        hash = (hash ^ (hash >> 33)).wrapping_mul(multiplier);
    }
    hash ^ (hash >> 33)
}

/// Table of the checksum's polynomial (Castagnoli, reflected), one entry for each byte.
static CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let polynomial = if rest & 1 == 1 { 0x82F6_3B78 } else { 0 };
            rest = (rest >> 1) ^ polynomial;
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

/// Checksum of eight bytes, the lowest first.
pub(super) fn crc32c(seed: u32, word: u64) -> u32 {
    let bytes = word.to_le_bytes().into_iter();
    bytes.fold(seed, |rest, byte| {
        (rest >> 8) ^ CRC_TABLE[usize::from(rest as u8 ^ byte)]
    })
}

#[inline(always)]
pub(super) fn hash_all(words: &[u64], hashes: &mut [u64], hash: impl Fn(u64) -> u64) {
    for (word, place) in words.iter().zip(hashes) {
        *place = hash(*word);
    }
}

pub(super) fn fold_all(words: &[u64], hashes: &mut [u64]) {
    hash_all(words, hashes, fold);
}

pub(super) fn crc_all(words: &[u64], hashes: &mut [u64]) {
    hash_all(words, hashes, crc);
}

pub(super) fn mix_all(words: &[u64], hashes: &mut [u64]) {
    hash_all(words, hashes, mix);
}
