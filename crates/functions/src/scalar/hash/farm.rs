//! FarmHash by Google's Geoff Pike: the crate, and what the crate gets wrong.

use super::city::hash_128_to_64;
use super::columns::HashFunction;
use super::ints::int_hash_64;

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

/// `farmHash64`.
#[derive(Clone, Copy, Debug)]
pub struct Farm;

/// `farmFingerprint64`.
#[derive(Clone, Copy, Debug)]
pub struct FarmFingerprint;

impl HashFunction for Farm {
    type Value = u64;

    fn bytes(self, bytes: &[u8]) -> u64 {
        match bytes.len() {
            128 | 192 | 256 => hash_blocks(bytes),
            320 | 384 | 448 => hash_unrolled(bytes),
            _ => farmhash::hash64(bytes),
        }
    }

    fn number(self, bits: u64, _: usize) -> u64 {
        int_hash_64(bits)
    }

    fn combine(self, first: u64, second: u64) -> u64 {
        hash_128_to_64(first, second)
    }
}

impl HashFunction for FarmFingerprint {
    type Value = u64;

    fn bytes(self, bytes: &[u8]) -> u64 {
        if bytes.len() > 64 && bytes.len().is_multiple_of(64) {
            hash_blocks(bytes)
        } else {
            farmhash::fingerprint64(bytes)
        }
    }

    fn number(self, bits: u64, _: usize) -> u64 {
        int_hash_64(bits)
    }

    /// FarmHash's fingerprint of two words.
    fn combine(self, first: u64, second: u64) -> u64 {
        const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;
        let a = (first ^ second).wrapping_mul(MULTIPLIER);
        let b = (second ^ a ^ (a >> 47)).wrapping_mul(MULTIPLIER);
        let b = (b ^ (b >> 44)).wrapping_mul(MULTIPLIER);
        (b ^ (b >> 41)).wrapping_mul(MULTIPLIER)
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn shift_mix(value: u64) -> u64 {
    value ^ (value >> 47)
}

fn mix(u: u64, v: u64, multiplier: u64) -> u64 {
    let a = shift_mix((u ^ v).wrapping_mul(multiplier));
    let b = shift_mix((v ^ a).wrapping_mul(multiplier));
    b.wrapping_mul(multiplier)
}

fn weak_hash(bytes: &[u8], a: u64, b: u64) -> (u64, u64) {
    let a = a.wrapping_add(word(bytes, 0));
    let b = b
        .wrapping_add(a)
        .wrapping_add(word(bytes, 24))
        .rotate_right(21);
    let sum = a.wrapping_add(word(bytes, 8)).wrapping_add(word(bytes, 16));
    let b = b.wrapping_add(sum.rotate_right(44));
    (sum.wrapping_add(word(bytes, 24)), b.wrapping_add(a))
}

/// The loop of FarmHash's `na` variant. The crate runs it once too often for lengths that 64
/// divides, so these come here.
fn hash_blocks(bytes: &[u8]) -> u64 {
    const SEED: u64 = 81;
    let mut x = SEED.wrapping_mul(K2).wrapping_add(word(bytes, 0));
    let mut y = SEED.wrapping_mul(K1).wrapping_add(113);
    let mut z = shift_mix(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let (mut v, mut w) = ((0u64, 0u64), (0u64, 0u64));
    let rounds = bytes.len() / 64 - 1;
    let last = &bytes[rounds * 64..];
    for block in bytes.chunks_exact(64).take(rounds) {
        x = x
            .wrapping_add(y)
            .wrapping_add(v.0)
            .wrapping_add(word(block, 8));
        x = x.rotate_right(37).wrapping_mul(K1) ^ w.1;
        y = y
            .wrapping_add(v.1)
            .wrapping_add(word(block, 48))
            .rotate_right(42)
            .wrapping_mul(K1);
        y = y.wrapping_add(v.0).wrapping_add(word(block, 40));
        z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(K1);
        v = weak_hash(block, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = weak_hash(
            &block[32..],
            z.wrapping_add(w.1),
            y.wrapping_add(word(block, 16)),
        );
        std::mem::swap(&mut z, &mut x);
    }
    let k = K1.wrapping_add((z & 0xff) << 1);
    w.0 = w.0.wrapping_add(63);
    v.0 = v.0.wrapping_add(w.0);
    w.0 = w.0.wrapping_add(v.0);
    x = x
        .wrapping_add(y)
        .wrapping_add(v.0)
        .wrapping_add(word(last, 8));
    x = x.rotate_right(37).wrapping_mul(k) ^ w.1.wrapping_mul(9);
    y = y
        .wrapping_add(v.1)
        .wrapping_add(word(last, 48))
        .rotate_right(42)
        .wrapping_mul(k);
    y = y
        .wrapping_add(v.0.wrapping_mul(9))
        .wrapping_add(word(last, 40));
    z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(k);
    v = weak_hash(last, v.1.wrapping_mul(k), x.wrapping_add(w.0));
    w = weak_hash(
        &last[32..],
        z.wrapping_add(w.1),
        y.wrapping_add(word(last, 16)),
    );
    let low = mix(v.0, w.0, k)
        .wrapping_add(shift_mix(y).wrapping_mul(K0))
        .wrapping_add(x);
    mix(low, mix(v.1, w.1, k).wrapping_add(z), k)
}

/// The word of a block of eight.
fn words(block: &[u8]) -> [u64; 8] {
    std::array::from_fn(|i| word(block, 8 * i))
}

/// State of FarmHash's `uo` variant: x, y, z, u, and two pairs.
struct Unrolled {
    x: u64,
    y: u64,
    z: u64,
    u: u64,
    v: (u64, u64),
    w: (u64, u64),
    multiplier: u64,
}

impl Unrolled {
    fn add(&mut self, block: &[u8]) {
        let a = words(block);
        let sum = |first: u64, rest: &[u64]| rest.iter().fold(first, |s, x| s.wrapping_add(*x));
        self.x = sum(self.x, &[a[0], a[1]]).rotate_right(26).wrapping_mul(9);
        self.y = sum(self.y, &[a[2]]).rotate_right(29);
        self.z = sum(self.z, &[a[3]]).wrapping_mul(self.multiplier);
        self.v.0 = sum(self.v.0, &[a[4]]).rotate_right(33);
        self.v.1 = sum(self.v.1, &[a[5], a[1]]).rotate_right(30);
        self.w.0 = (sum(self.w.0, &[a[6]]) ^ self.x).wrapping_mul(9);
        self.w.1 = sum(self.w.1, &[a[7]]);
        self.z = sum(self.z.rotate_right(32), &[self.w.1]);
        self.w.1 = sum(self.w.1, &[self.z]);
        self.z = self.z.wrapping_mul(9);
        std::mem::swap(&mut self.u, &mut self.y);
        self.z = sum(self.z, &[a[0], a[6]]);
        self.v.0 = sum(self.v.0, &[a[2]]);
        self.v.1 = sum(self.v.1, &[a[3]]);
        self.w.0 = sum(self.w.0, &[a[4]]);
        self.w.1 = sum(self.w.1, &[a[5], a[6]]);
        self.x = sum(self.x, &[a[1]]);
        self.y = sum(self.y, &[a[7], self.v.0]);
        let difference = self.x.wrapping_sub(self.y);
        self.v.0 = sum(self.v.0, &[difference]);
        self.v.1 = sum(self.v.1, &[self.w.0]);
        self.w.0 = sum(self.w.0, &[self.v.1]);
        self.w.1 = sum(self.w.1, &[difference]);
        self.x = sum(self.x, &[self.w.1]);
        self.w.1 = self.w.1.rotate_right(34);
        std::mem::swap(&mut self.u, &mut self.z);
    }

    fn finish(mut self, last: &[u8]) -> u64 {
        let multiplier = self.multiplier;
        self.u = self.u.wrapping_mul(9);
        let v = (self.v.0.rotate_right(20), self.v.1.rotate_right(28));
        // The length that is left over is that of a whole block.
        let w = (self.w.0.wrapping_add(63), self.w.1);
        self.u = self.u.wrapping_add(self.y);
        self.y = self.y.wrapping_add(self.u);
        let x = self.y.wrapping_sub(self.x).wrapping_add(v.0);
        let x = x.wrapping_add(word(last, 8)).rotate_right(37);
        let x = x.wrapping_mul(multiplier) ^ w.1.wrapping_mul(9);
        let y = (self.y ^ v.1 ^ word(last, 48)).rotate_right(42);
        let y = y.wrapping_mul(multiplier);
        let y = y.wrapping_add(v.0).wrapping_add(word(last, 40));
        let z = self.z.wrapping_add(w.0).rotate_right(33);
        let z = z.wrapping_mul(multiplier);
        let v = weak_hash(last, v.1.wrapping_mul(multiplier), x.wrapping_add(w.0));
        let sum = y.wrapping_add(word(last, 16));
        let w = weak_hash(&last[32..], z.wrapping_add(w.1), sum);
        let first = mix(v.0.wrapping_add(x), w.0 ^ y, multiplier);
        let first = first.wrapping_add(z).wrapping_sub(self.u);
        let second = turn(v.1.wrapping_add(y), w.1.wrapping_add(z), 30) ^ x;
        turn(first, second, 31)
    }
}

fn turn(x: u64, y: u64, places: u32) -> u64 {
    let a = shift_mix((x ^ y).wrapping_mul(K2));
    (y ^ a)
        .wrapping_mul(K2)
        .rotate_right(places)
        .wrapping_mul(K2)
}

/// FarmHash's `uo` variant, of whole blocks: the crate takes one block too many of these.
fn hash_unrolled(bytes: &[u8]) -> u64 {
    const SEED: u64 = 81;
    let z = shift_mix(113_u64.wrapping_mul(K2)).wrapping_mul(K2);
    let u = SEED.wrapping_sub(z);
    let mut state = Unrolled {
        x: SEED.wrapping_mul(K2),
        y: 113,
        z,
        u,
        v: (SEED, 0),
        w: (0, 0),
        multiplier: K2.wrapping_add(u & 0x82),
    };
    let rounds = bytes.len() / 64 - 1;
    for block in bytes.chunks_exact(64).take(rounds) {
        state.add(block);
    }
    state.finish(&bytes[rounds * 64..])
}
