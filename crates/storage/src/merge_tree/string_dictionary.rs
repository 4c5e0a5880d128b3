//! Finds the different strings of a group, so that each is stored and decoded once.

use arrow::array::{Array, BinaryViewArray};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64;

/// Rows after which strings that nearly all differ are given up.
const SAMPLE_ROWS: usize = 8192;

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
    /// The dictionary of some strings, NULL counting as the empty one; `None` if too many differ.
    pub(super) fn of(strings: &BinaryViewArray) -> Option<Self> {
        let num_rows = strings.len();
        let most = (num_rows as f64 * MAX_DISTINCT) as usize;
        let mut found = Self::default();
        found.codes.reserve(num_rows);
        // Where the string of a code begins, and its hash.
        let mut starts: Vec<usize> = Vec::new();
        let mut hashes: Vec<u64> = Vec::new();
        let mut table: HashTable<u16> = HashTable::new();
        let mut last: (&[u8], u16) = (&[], 0);
        for row in 0..num_rows {
            let is_sample = row == SAMPLE_ROWS;
            if is_sample && starts.len() as f64 > row as f64 * MAX_DISTINCT_OF_SAMPLE {
                return None;
            }
            let value: &[u8] = match strings.is_null(row) {
                true => &[],
                false => strings.value(row),
            };
            if row > 0 && value == last.0 {
                found.codes.push(last.1);
                continue;
            }
            let is_value = |code: &u16| {
                let code = usize::from(*code);
                let text = &found.bytes[starts[code]..][..found.lengths[code] as usize];
                text == value
            };
            let hash = xxh3_64(value);
            let code = match table.entry(hash, is_value, |code| hashes[usize::from(*code)]) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(_) if starts.len() == most => return None,
                Entry::Vacant(entry) => {
                    let code = u16::try_from(starts.len()).ok()?;
                    entry.insert(code);
                    hashes.push(hash);
                    starts.push(found.bytes.len());
                    found.lengths.push(u32::try_from(value.len()).ok()?);
                    found.bytes.extend_from_slice(value);
                    code
                }
            };
            found.codes.push(code);
            last = (value, code);
        }
        (num_rows > 0).then_some(found)
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
    }
}
