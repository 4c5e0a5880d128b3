//! MetroHash with 64 bits (variant 1) by J. Andrew Rogers.

const K0: u64 = 0xc83a_91e1;
const K1: u64 = 0x8648_dbdb;
const K2: u64 = 0x7bde_c03b;
const K3: u64 = 0x2f58_70a5;

/// Up to eight bytes as a number, the first the lowest.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The hash with a seed.
pub fn metro_hash_64(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed
        .wrapping_add(K2)
        .wrapping_mul(K0)
        .wrapping_add(bytes.len() as u64);
    let (blocks, mut rest) = bytes.as_chunks::<32>();
    if !blocks.is_empty() {
        hash = hash.wrapping_add(hash_blocks(blocks, hash));
    }
    if let Some((block, tail)) = rest.split_first_chunk::<16>() {
        let v0 = hash.wrapping_add(word(&block[..8]).wrapping_mul(K0));
        let v0 = v0.rotate_right(33).wrapping_mul(K1);
        let v1 = hash.wrapping_add(word(&block[8..]).wrapping_mul(K1));
        let v1 = v1.rotate_right(33).wrapping_mul(K2);
        let v0 = v0 ^ v0.wrapping_mul(K0).rotate_right(35).wrapping_add(v1);
        let v1 = v1 ^ v1.wrapping_mul(K3).rotate_right(35).wrapping_add(v0);
        hash = hash.wrapping_add(v1);
        rest = tail;
    }
    for (size, rotation) in [(8, 33), (4, 15), (2, 13), (1, 25)] {
        let Some((part, tail)) = rest.split_at_checked(size) else {
            continue;
        };
        hash = hash.wrapping_add(word(part).wrapping_mul(K3));
        hash ^= hash.rotate_right(rotation).wrapping_mul(K1);
        rest = tail;
    }
    hash ^= hash.rotate_right(33);
    hash = hash.wrapping_mul(K0);
    hash ^ hash.rotate_right(33)
}

fn hash_blocks(blocks: &[[u8; 32]], hash: u64) -> u64 {
    let [mut v0, mut v1, mut v2, mut v3] = [hash; 4];
    for block in blocks {
        let mix = |v: u64, i: usize, k: u64| {
            let part = word(&block[8 * i..8 * i + 8]).wrapping_mul(k);
            v.wrapping_add(part).rotate_right(29)
        };
        v0 = mix(v0, 0, K0).wrapping_add(v2);
        v1 = mix(v1, 1, K1).wrapping_add(v3);
        v2 = mix(v2, 2, K2).wrapping_add(v0);
        v3 = mix(v3, 3, K3).wrapping_add(v1);
    }
    let mix = |a: u64, b: u64, k: u64, c: u64| {
        a.wrapping_add(b)
            .wrapping_mul(k)
            .wrapping_add(c)
            .rotate_right(33)
    };
    v2 ^= mix(v0, v3, K0, v1).wrapping_mul(K1);
    v3 ^= mix(v1, v2, K1, v0).wrapping_mul(K0);
    v0 ^= mix(v0, v2, K0, v3).wrapping_mul(K1);
    v1 ^= mix(v1, v3, K1, v2).wrapping_mul(K0);
    v0 ^ v1
}
