//! SipHash-2-4 with the ways that ClickHouse ends it.

/// A hash in the making.
#[derive(Clone, Copy, Debug)]
pub struct SipHash([u64; 4]);

impl SipHash {
    /// Begins with a key.
    pub fn new(key0: u64, key1: u64) -> Self {
        Self([
            0x736f_6d65_7073_6575 ^ key0,
            0x646f_7261_6e64_6f6d ^ key1,
            0x6c79_6765_6e65_7261 ^ key0,
            0x7465_6462_7974_6573 ^ key1,
        ])
    }

    /// Begins the reference implementation's 128-bit hash.
    fn new_reference_128(key0: u64, key1: u64) -> Self {
        let mut hash = Self::new(key0, key1);
        hash.0[1] ^= 0xee;
        hash
    }

    #[inline]
    fn round(&mut self) {
        let [a, b, c, d] = &mut self.0;
        *a = a.wrapping_add(*b);
        *b = b.rotate_left(13) ^ *a;
        *a = a.rotate_left(32);
        *c = c.wrapping_add(*d);
        *d = d.rotate_left(16) ^ *c;
        *a = a.wrapping_add(*d);
        *d = d.rotate_left(21) ^ *a;
        *c = c.wrapping_add(*b);
        *b = b.rotate_left(17) ^ *c;
        *c = c.rotate_left(32);
    }

    #[inline]
    fn word(&mut self, word: u64) {
        self.0[3] ^= word;
        self.round();
        self.round();
        self.0[0] ^= word;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words
            .iter()
            .for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // Of the length only the lowest byte counts.
        last[7] = bytes.len() as u8;
        self.word(u64::from_le_bytes(last));
    }

    fn finish(&mut self, mark: u64) {
        self.0[2] ^= mark;
        (0..4).for_each(|_| self.round());
    }

    fn all(&self) -> u64 {
        self.0.iter().fold(0, |all, part| all ^ part)
    }
}

/// The 64-bit hash.
#[inline]
pub fn sip_hash_64(bytes: &[u8], (key0, key1): (u64, u64)) -> u64 {
    let mut hash = SipHash::new(key0, key1);
    hash.bytes(bytes);
    hash.finish(0xff);
    hash.all()
}

/// ClickHouse's own 128-bit hash: the state of the 64-bit one, folded once less.
pub fn sip_hash_128(bytes: &[u8], (key0, key1): (u64, u64)) -> u128 {
    let mut hash = SipHash::new(key0, key1);
    hash.bytes(bytes);
    hash.finish(0xff);
    let [a, b, c, d] = hash.0;
    u128::from(a ^ b) | u128::from(c ^ d) << 64
}

/// The reference implementation's 128-bit hash.
pub fn sip_hash_128_reference(bytes: &[u8], (key0, key1): (u64, u64)) -> u128 {
    let mut hash = SipHash::new_reference_128(key0, key1);
    hash.bytes(bytes);
    hash.finish(0xee);
    let low = hash.all();
    hash.0[1] ^= 0xdd;
    (0..4).for_each(|_| hash.round());
    u128::from(low) | u128::from(hash.all()) << 64
}
