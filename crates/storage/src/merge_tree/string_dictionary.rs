//! Finds the different strings of a group, so that each is stored and decoded once.

use arrow::array::{Array, BinaryViewArray, ByteView};
use basalt_kernels::prefetch::prefetch;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64;

/// Rows after which strings that nearly all differ are given up.
const SAMPLE_ROWS: usize = 8192;

/// Rows that are looked up together, so that the bytes of those that are not known come meanwhile.
const BATCH: usize = 64;

/// Strings of more bytes do not lie in their views.
const MAX_INLINE: u32 = 12;

/// Share of different strings from which on a dictionary gains nothing: what compression finds again costs
/// it about as much as a code.
const MAX_DISTINCT: f64 = 0.75;

/// Share of different strings of the sample from which on those behind it are not looked at.
const MAX_DISTINCT_OF_SAMPLE: f64 = 0.95;

/// The different strings of a group, in the order of their first rows, and for each row which it has.
#[derive(Debug, Default)]
pub(super) struct StringDictionary {
    pub(super) codes: Vec<u16>,
    pub(super) lengths: Vec<u32>,
    pub(super) bytes: Vec<u8>,
}

impl StringDictionary {
    /// The dictionary of some strings, NULL counting as the empty one; `None` if so many differ that it gains nothing.
    pub(super) fn of(strings: &BinaryViewArray) -> Option<Self> {
        Self::among(strings, MAX_DISTINCT)
    }

    /// The same however many differ; `None` if there are more than codes.
    pub(super) fn of_any(strings: &BinaryViewArray) -> Option<Self> {
        Self::among(strings, 1.0)
    }

    /// The same if no greater share than `max_distinct` differs.
    fn among(strings: &BinaryViewArray, max_distinct: f64) -> Option<Self> {
        let num_rows = strings.len();
        let mut numbers = Numbers::new((num_rows as f64 * max_distinct) as usize);
        let mut views = KnownViews::new(num_rows);
        let mut codes = vec![0; num_rows];
        let mut news = [0; BATCH];
        for (batch, codes) in codes.chunks_mut(BATCH).enumerate() {
            let begin = batch * BATCH;
            let is_asked = begin == SAMPLE_ROWS && max_distinct < 1.0;
            if is_asked && numbers.are_too_many(begin) {
                return None;
            }
            let mut num_news = 0;
            for (i, code) in codes.iter_mut().enumerate() {
                let row = begin + i;
                match views.code(strings.views()[row]) {
                    Some(known) if !strings.is_null(row) => *code = known,
                    _ => {
                        news[num_news] = i;
                        num_news += 1;
                        ask_for(strings, row);
                    }
                }
            }
            for i in &news[..num_news] {
                let row = begin + *i;
                if strings.is_null(row) {
                    codes[*i] = numbers.code_of(&[])?;
                    continue;
                }
                codes[*i] = numbers.code_of(strings.value(row))?;
                views.keep(strings.views()[row], codes[*i]);
            }
        }
        let Numbers { lengths, bytes, .. } = numbers;
        (num_rows > 0).then_some(Self {
            codes,
            lengths,
            bytes,
        })
    }

    /// The different strings.
    pub(super) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.bytes[..];
        self.lengths.iter().map(move |length| {
            let (text, behind) = rest.split_at(*length as usize);
            rest = behind;
            text
        })
    }
}

/// Has the processor fetch the bytes of a string that does not lie in its view.
fn ask_for(strings: &BinaryViewArray, row: usize) {
    let view = ByteView::from(strings.views()[row]);
    if view.length > MAX_INLINE {
        // What stands in place of a NULL may lie nowhere.
        let buffer = strings.data_buffers().get(view.buffer_index as usize);
        prefetch(buffer.map_or(&[][..], |b| b), view.offset as usize);
    }
}

/// Numbers strings by their bytes.
struct Numbers {
    table: HashTable<u16>,
    /// Of each different string.
    hashes: Vec<u64>,
    /// Where the string of a number begins.
    starts: Vec<usize>,
    lengths: Vec<u32>,
    bytes: Vec<u8>,
    /// So many different ones are too many.
    most: usize,
}

impl Numbers {
    /// Of strings of which `most` may be different.
    fn new(most: usize) -> Self {
        Self {
            table: HashTable::new(),
            hashes: Vec::new(),
            starts: Vec::new(),
            lengths: Vec::new(),
            bytes: Vec::new(),
            most,
        }
    }

    /// Whether of the first rows, which are `num_rows`, too many differ.
    fn are_too_many(&self, num_rows: usize) -> bool {
        self.starts.len() as f64 > num_rows as f64 * MAX_DISTINCT_OF_SAMPLE
    }

    /// The number of a string; `None` if there are too many.
    fn code_of(&mut self, value: &[u8]) -> Option<u16> {
        let hash = xxh3_64(value);
        let is_value = |code: &u16| {
            let code = usize::from(*code);
            self.hashes[code] == hash
                && self.lengths[code] as usize == value.len()
                && &self.bytes[self.starts[code]..][..value.len()] == value
        };
        let hash_of = |code: &u16| self.hashes[usize::from(*code)];
        match self.table.entry(hash, is_value, hash_of) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(_) if self.starts.len() == self.most => None,
            Entry::Vacant(entry) => {
                let code = u16::try_from(self.starts.len()).ok()?;
                entry.insert(code);
                self.hashes.push(hash);
                self.starts.push(self.bytes.len());
                self.lengths.push(u32::try_from(value.len()).ok()?);
                self.bytes.extend_from_slice(value);
                Some(code)
            }
        }
    }
}

/// The numbers of strings that were met lately, by their views: a short string is its view, and a long one from a
/// dictionary lies where it lay before, so that its bytes need not be looked at.
struct KnownViews {
    /// A view and its number, one above it; 0 is none.
    slots: Vec<(u128, u32)>,
}

impl KnownViews {
    const MAX_SLOTS: usize = 1 << 12;

    /// For so many rows: few of them need no memory of many.
    fn new(num_rows: usize) -> Self {
        let num_slots = num_rows.next_power_of_two().min(Self::MAX_SLOTS);
        Self {
            slots: vec![(0, 0); num_slots],
        }
    }

    fn code(&self, view: u128) -> Option<u16> {
        let (known, above) = self.slots[self.slot(view)];
        let code = above.checked_sub(1).filter(|_| known == view)?;
        u16::try_from(code).ok()
    }

    fn keep(&mut self, view: u128, code: u16) {
        let slot = self.slot(view);
        self.slots[slot] = (view, u32::from(code) + 1);
    }

    /// By a product of both halves, of which the upper bits depend on all of them.
    fn slot(&self, view: u128) -> usize {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let halves = (view >> 64) as u64 ^ (view as u64).rotate_left(31);
        (halves.wrapping_mul(ODD) >> u32::BITS) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::BinaryViewArray;

    use super::StringDictionary;

    #[test]
    fn each_string_is_kept_once() {
        let strings: BinaryViewArray = [
            Some("b"),
            None,
            Some("a long string, not within its view"),
            Some("b"),
            Some(""),
            Some("b"),
            Some("b"),
        ]
        .map(|s| s.map(str::as_bytes))
        .into_iter()
        .collect();
        let found = StringDictionary::of(&strings).unwrap();
        assert_eq!(found.codes, [0, 1, 2, 0, 1, 0, 0]);
        let texts: Vec<&[u8]> = found.texts().collect();
        assert_eq!(
            texts,
            [&b"b"[..], b"", b"a long string, not within its view"]
        );
        assert_eq!(found.lengths, [1, 0, 34]);
        assert_eq!(found.bytes, b"ba long string, not within its view");
    }

    #[test]
    fn strings_that_differ_have_no_dictionary() {
        let strings = (0..100_000).map(|i| Some(format!("{i}").into_bytes()));
        let strings: BinaryViewArray = strings.collect();
        assert!(StringDictionary::of(&strings).is_none());
        assert!(StringDictionary::of(&strings.slice(0, 4)).is_none());
        assert!(StringDictionary::of_any(&strings).is_none());
        let all = StringDictionary::of_any(&strings.slice(0, 1 << 16)).unwrap();
        assert_eq!(all.lengths.len(), 1 << 16);
    }
}
