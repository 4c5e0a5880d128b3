//! Bytes that must come next.

/// Bytes that are compared in one piece where they are few.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    bytes: Vec<u8>,
    /// The first eight bytes, little-endian; zeros follow fewer.
    word: u64,
    /// All bits of the bytes that `word` holds.
    mask: u64,
}

impl Literal {
    /// `bytes`, of which there is at least one.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut word = [0; 8];
        let len = bytes.len().min(8);
        word[..len].copy_from_slice(&bytes[..len]);
        Self {
            bytes: bytes.to_vec(),
            word: u64::from_le_bytes(word),
            mask: u64::MAX >> (64 - 8 * len),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where the literal ends in `value` if it begins at `at`.
    #[inline]
    pub(super) fn end(&self, value: &[u8], at: usize) -> Option<usize> {
        self.begins(&value[at..]).then(|| at + self.bytes.len())
    }

    /// Where the literal ends in `value` if it begins at `at`, which is where it ends if it does not.
    #[inline]
    pub(super) fn end_if_there(&self, value: &[u8], at: usize) -> usize {
        // No branch: where half of the values have it, nobody guesses it right.
        at + self.bytes.len() * usize::from(self.begins(&value[at..]))
    }

    /// Whether `rest` begins with the literal.
    #[inline]
    pub(super) fn begins(&self, rest: &[u8]) -> bool {
        match rest.first_chunk() {
            Some(chunk) if self.bytes.len() <= 8 => {
                u64::from_le_bytes(*chunk) & self.mask == self.word
            }
            _ => rest.starts_with(&self.bytes),
        }
    }
}
