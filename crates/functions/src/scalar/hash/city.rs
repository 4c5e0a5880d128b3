//! CityHash 1.0.2 by Google's Geoff Pike and Jyrki Alakuijala, the version that ClickHouse keeps.
//!
//! Later versions give other values for most lengths. Strings of more than 64 bytes (128 for the
//! long hash) go through [`State`], 64 bytes a round; shorter ones have a formula for each length.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;
const K3: u64 = 0xc949_d7c7_509e_6557;

/// The eight bytes at `at`, lowest first.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// The eight bytes that end `from_end` bytes before the end.
#[inline]
fn word_from_end(bytes: &[u8], from_end: usize) -> u64 {
    word(bytes, bytes.len() - from_end)
}

#[inline]
fn half_word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u64::from(u32::from_le_bytes(word))
}

#[inline]
fn shift_mix(value: u64) -> u64 {
    value ^ (value >> 47)
}

/// Mixes two hashes into one; ClickHouse combines the hashes of several arguments so.
#[inline]
pub fn hash_128_to_64(low: u64, high: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;
    let a = shift_mix((low ^ high).wrapping_mul(MULTIPLIER));
    let b = shift_mix((high ^ a).wrapping_mul(MULTIPLIER));
    b.wrapping_mul(MULTIPLIER)
}

/// The 64-bit hash.
pub fn city_hash_64(bytes: &[u8]) -> u64 {
    match bytes.len() {
        0..=16 => hash_to_16(bytes),
        17..=32 => hash_to_32(bytes),
        33..=64 => hash_to_64(bytes),
        _ => hash_long(bytes),
    }
}

fn hash_to_16(bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    match bytes.len() {
        0 => K2,
        1..=3 => {
            let (first, middle) = (u64::from(bytes[0]), u64::from(bytes[bytes.len() >> 1]));
            let last = u64::from(bytes[bytes.len() - 1]);
            let y = first + (middle << 8);
            let z = len + (last << 2);
            shift_mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K3)).wrapping_mul(K2)
        }
        4..=8 => {
            let a = half_word(bytes, 0);
            hash_128_to_64(len.wrapping_add(a << 3), half_word(bytes, bytes.len() - 4))
        }
        _ => {
            let (a, b) = (word(bytes, 0), word_from_end(bytes, 8));
            hash_128_to_64(a, b.wrapping_add(len).rotate_right(len as u32)) ^ b
        }
    }
}

fn hash_to_32(bytes: &[u8]) -> u64 {
    let a = word(bytes, 0).wrapping_mul(K1);
    let b = word(bytes, 8);
    let c = word_from_end(bytes, 8).wrapping_mul(K2);
    let d = word_from_end(bytes, 16).wrapping_mul(K0);
    let low = a.wrapping_sub(b).rotate_right(43);
    let low = low.wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let high = a.wrapping_add((b ^ K3).rotate_right(20));
    let high = high.wrapping_sub(c).wrapping_add(bytes.len() as u64);
    hash_128_to_64(low, high)
}

/// Mixes four words, the first already with its seed in it, into two.
fn mix_quarter(start: u64, [second, third, fourth]: [u64; 3]) -> (u64, u64) {
    let b = start.wrapping_add(fourth).rotate_right(52);
    let c = start.rotate_right(37);
    let a = start.wrapping_add(second);
    let c = c.wrapping_add(a.rotate_right(7));
    let a = a.wrapping_add(third);
    let sum = a.wrapping_add(fourth);
    (sum, b.wrapping_add(a.rotate_right(31)).wrapping_add(c))
}

fn hash_to_64(bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    let start = len.wrapping_add(word_from_end(bytes, 16)).wrapping_mul(K0);
    let start = start.wrapping_add(word(bytes, 0));
    let v = mix_quarter(start, [word(bytes, 8), word(bytes, 16), word(bytes, 24)]);
    let start = word(bytes, 16).wrapping_add(word_from_end(bytes, 32));
    let rest = [24, 16, 8].map(|from_end| word_from_end(bytes, from_end));
    let w = mix_quarter(start, rest);
    let r = v.0.wrapping_add(w.1).wrapping_mul(K2);
    let r = shift_mix(r.wrapping_add(w.0.wrapping_add(v.1).wrapping_mul(K0)));
    shift_mix(r.wrapping_mul(K0).wrapping_add(v.1)).wrapping_mul(K2)
}

/// A cheap hash of 32 bytes with two seeds.
#[inline]
fn weak_hash(bytes: &[u8], a: u64, b: u64) -> (u64, u64) {
    let a = a.wrapping_add(word(bytes, 0));
    let z = word(bytes, 24);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let sum = a.wrapping_add(word(bytes, 8)).wrapping_add(word(bytes, 16));
    let b = b.wrapping_add(sum.rotate_right(44));
    (sum.wrapping_add(z), b.wrapping_add(a))
}

/// 56 bytes that each round over 64 bytes mixes anew.
struct State {
    x: u64,
    y: u64,
    z: u64,
    v: (u64, u64),
    w: (u64, u64),
}

impl State {
    #[inline]
    fn round(&mut self, bytes: &[u8]) {
        let x = self.x.wrapping_add(self.y).wrapping_add(self.v.0);
        let x = x
            .wrapping_add(word(bytes, 16))
            .rotate_right(37)
            .wrapping_mul(K1)
            ^ self.w.1;
        let y = self.y.wrapping_add(self.v.1).wrapping_add(word(bytes, 48));
        let y = y.rotate_right(42).wrapping_mul(K1) ^ self.v.0;
        let z = (self.z ^ self.w.0).rotate_right(33);
        self.v = weak_hash(bytes, self.v.1.wrapping_mul(K1), x.wrapping_add(self.w.0));
        self.w = weak_hash(&bytes[32..], z.wrapping_add(self.w.1), y);
        (self.x, self.y, self.z) = (z, y, x);
    }
}

fn hash_long(bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    let y = word_from_end(bytes, 16) ^ K1;
    let z = word_from_end(bytes, 56) ^ K0;
    let v = weak_hash(&bytes[bytes.len() - 64..], len, y);
    let w = weak_hash(&bytes[bytes.len() - 32..], len.wrapping_mul(K1), K0);
    let z = z.wrapping_add(shift_mix(v.1).wrapping_mul(K1));
    let x = z
        .wrapping_add(word(bytes, 0))
        .rotate_right(39)
        .wrapping_mul(K1);
    let y = y.rotate_right(33).wrapping_mul(K1);
    let mut state = State { x, y, z, v, w };
    // The last bytes, up to 64, are in the state from the beginning.
    let rounds = (bytes.len() - 1) / 64;
    bytes
        .chunks_exact(64)
        .take(rounds)
        .for_each(|chunk| state.round(chunk));
    let State { x, y, z, v, w } = state;
    let low = hash_128_to_64(v.0, w.0).wrapping_add(shift_mix(y).wrapping_mul(K1));
    hash_128_to_64(
        low.wrapping_add(z),
        hash_128_to_64(v.1, w.1).wrapping_add(x),
    )
}

/// The 128-bit hash as its low and its high half.
pub fn city_hash_128(bytes: &[u8]) -> (u64, u64) {
    match bytes.len() {
        0..=7 => hash_128_with_seed(bytes, K0, K1),
        8..=15 => {
            let low = word(bytes, 0) ^ (bytes.len() as u64).wrapping_mul(K0);
            hash_128_with_seed(&[], low, word_from_end(bytes, 8) ^ K1)
        }
        _ => hash_128_with_seed(&bytes[16..], word(bytes, 0) ^ K3, word(bytes, 8)),
    }
}

fn hash_128_with_seed(bytes: &[u8], low: u64, high: u64) -> (u64, u64) {
    if bytes.len() < 128 {
        return murmur_128(bytes, low, high);
    }
    let (x, y) = (low, high);
    let z = (bytes.len() as u64).wrapping_mul(K1);
    let v = (y ^ K1)
        .rotate_right(49)
        .wrapping_mul(K1)
        .wrapping_add(word(bytes, 0));
    let v = (
        v,
        v.rotate_right(42)
            .wrapping_mul(K1)
            .wrapping_add(word(bytes, 8)),
    );
    let w = (
        y.wrapping_add(z)
            .rotate_right(35)
            .wrapping_mul(K1)
            .wrapping_add(x),
        x.wrapping_add(word(bytes, 88))
            .rotate_right(53)
            .wrapping_mul(K1),
    );
    let mut state = State { x, y, z, v, w };
    let rounds = bytes.len() / 128 * 2;
    bytes
        .chunks_exact(64)
        .take(rounds)
        .for_each(|chunk| state.round(chunk));
    let State {
        x,
        y,
        z,
        mut v,
        mut w,
    } = state;
    let mut y = y
        .wrapping_add(w.0.rotate_right(37).wrapping_mul(K0))
        .wrapping_add(z);
    let mut x = x.wrapping_add(v.0.wrapping_add(z).rotate_right(49).wrapping_mul(K0));
    // The rest from its end on, 32 bytes a time; the last step may reach back into the rounds.
    let rest = bytes.len() - rounds * 64;
    for end in (0..rest.div_ceil(32)).map(|step| bytes.len() - 32 * step) {
        y = y
            .wrapping_sub(x)
            .rotate_right(42)
            .wrapping_mul(K0)
            .wrapping_add(v.1);
        w.0 = w.0.wrapping_add(word(bytes, end - 16));
        x = x.rotate_right(49).wrapping_mul(K0).wrapping_add(w.0);
        w.0 = w.0.wrapping_add(v.0);
        v = weak_hash(&bytes[end - 32..], v.0, v.1);
    }
    let (x, y) = (hash_128_to_64(x, v.0), hash_128_to_64(y, w.0));
    (
        hash_128_to_64(x.wrapping_add(v.1), w.1).wrapping_add(y),
        hash_128_to_64(x.wrapping_add(w.1), y.wrapping_add(v.1)),
    )
}

/// The 128-bit hash of less than 128 bytes, made after MurmurHash.
fn murmur_128(bytes: &[u8], low: u64, high: u64) -> (u64, u64) {
    let (mut a, mut b, mut c, mut d) = (low, high, 0, 0);
    if bytes.len() <= 16 {
        a = shift_mix(a.wrapping_mul(K1)).wrapping_mul(K1);
        c = b.wrapping_mul(K1).wrapping_add(hash_to_16(bytes));
        let first = if bytes.len() >= 8 { word(bytes, 0) } else { c };
        d = shift_mix(a.wrapping_add(first));
    } else {
        c = c.wrapping_add(hash_128_to_64(word_from_end(bytes, 8).wrapping_add(K1), a));
        d = d.wrapping_add(hash_128_to_64(
            b.wrapping_add(bytes.len() as u64),
            c.wrapping_add(word_from_end(bytes, 16)),
        ));
        a = a.wrapping_add(d);
        let rounds = (bytes.len() - 1) / 16;
        for chunk in bytes.chunks_exact(16).take(rounds) {
            let mix = |at| shift_mix(word(chunk, at).wrapping_mul(K1)).wrapping_mul(K1);
            a = (a ^ mix(0)).wrapping_mul(K1);
            b ^= a;
            c = (c ^ mix(8)).wrapping_mul(K1);
            d ^= c;
        }
    }
    let (a, b) = (hash_128_to_64(a, c), hash_128_to_64(d, b));
    (a ^ b, hash_128_to_64(b, a))
}
