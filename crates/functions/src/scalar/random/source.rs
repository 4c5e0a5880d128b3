//! A fast generator of random bits; not for secrets.

/// The sequence SplitMix64 by Sebastiano Vigna: a counter, mixed.
#[derive(Clone, Debug)]
pub struct Source {
    state: u64,
}

/// Distance of the counter's steps, the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Source {
    /// A source that nobody can foretell.
    pub fn new() -> Self {
        Self {
            state: rand::random(),
        }
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let x = self.state;
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number from 0 on and below 1.
    #[inline]
    pub fn canonical(&mut self) -> f64 {
        // The 53 bits of a double's mantissa.
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number below `limit`, which is not zero.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// Appends random bytes.
    pub fn fill(&mut self, out: &mut Vec<u8>, len: usize) {
        let start = out.len();
        out.resize(start + len, 0);
        for chunk in out[start..].chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::new()
    }
}
