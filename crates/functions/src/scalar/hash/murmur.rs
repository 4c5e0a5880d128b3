//! The MurmurHash family by Austin Appleby.

fn word_32(bytes: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*bytes)
}

/// Up to eight bytes as a number, the first the lowest.
fn tail(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// MurmurHash2 with 32 bits.
pub fn murmur_2_32(bytes: &[u8], seed: u32) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(seed ^ bytes.len() as u32, |hash, word| {
        let k = word_32(word).wrapping_mul(M);
        let k = (k ^ (k >> 24)).wrapping_mul(M);
        hash.wrapping_mul(M) ^ k
    });
    if !rest.is_empty() {
        hash = (hash ^ tail(rest) as u32).wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    hash ^ (hash >> 15)
}

/// MurmurHash2 with 64 bits, the variant for 64-bit processors.
pub fn murmur_2_64(bytes: &[u8], seed: u64) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let (words, rest) = bytes.as_chunks::<8>();
    let start = seed ^ (bytes.len() as u64).wrapping_mul(M);
    let mut hash = words.iter().fold(start, |hash, word| {
        let k = u64::from_le_bytes(*word).wrapping_mul(M);
        let k = (k ^ (k >> 47)).wrapping_mul(M);
        (hash ^ k).wrapping_mul(M)
    });
    if !rest.is_empty() {
        hash = (hash ^ tail(rest)).wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(M);
    hash ^ (hash >> 47)
}

/// MurmurHash3 with 32 bits.
pub fn murmur_3_32(bytes: &[u8], seed: u32) -> u32 {
    let mix = |k: u32| {
        let k = k.wrapping_mul(0xcc9e_2d51).rotate_left(15);
        k.wrapping_mul(0x1b87_3593)
    };
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(seed, |hash, word| {
        let hash = (hash ^ mix(word_32(word))).rotate_left(13);
        hash.wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    hash ^= mix(tail(rest) as u32);
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

fn finish_64(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// MurmurHash3 with 128 bits for 64-bit processors, as its two halves.
pub fn murmur_3_128(bytes: &[u8], seed: u64) -> (u64, u64) {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix_1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix_2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (seed, seed);
    let (blocks, rest) = bytes.as_chunks::<16>();
    for block in blocks {
        h1 ^= mix_1(tail(&block[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix_2(tail(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = rest.split_at(rest.len().min(8));
    h2 ^= mix_2(tail(high));
    h1 ^= mix_1(tail(low));
    let len = bytes.len() as u64;
    (h1, h2) = (h1 ^ len, h2 ^ len);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2) = (finish_64(h1), finish_64(h2));
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}
