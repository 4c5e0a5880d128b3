//! Holds strings: short ones as the views that arrays have of them.

use ahash::RandomState;
use datafusion::arrow::array::BinaryViewArray;
use hashbrown::HashSet;

/// Longest string that a view holds itself.
const INLINE_LEN: u32 = 12;

/// A set of strings.
pub(super) struct TextSet {
    short: HashSet<u128, RandomState>,
    long: HashSet<Box<[u8]>, RandomState>,
}

impl TextSet {
    /// The values of an array, which has no NULLs.
    pub(super) fn new(texts: &BinaryViewArray) -> Self {
        let mut set = Self {
            short: HashSet::default(),
            long: HashSet::default(),
        };
        for (row, view) in texts.views().iter().enumerate() {
            match is_short(*view) {
                true => set.short.insert(*view),
                false => set.long.insert(texts.value(row).into()),
            };
        }
        set
    }

    /// 1 for each value that is in the set.
    pub(super) fn contains(&self, texts: &BinaryViewArray) -> Vec<u8> {
        let views = texts.views().iter().enumerate();
        let is_member = |(row, view): (usize, &u128)| {
            u8::from(match is_short(*view) {
                true => self.short.contains(view),
                false => !self.long.is_empty() && self.long.contains(texts.value(row)),
            })
        };
        views.map(is_member).collect()
    }
}

/// Whether a view holds its string itself; its length is in the low bits.
fn is_short(view: u128) -> bool {
    view as u32 <= INLINE_LEN
}
