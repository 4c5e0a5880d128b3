//! Tells rows apart whose words are the same but whose keys did not fit into them.
//!
//! Of strings, what all rows of a tie begin with is passed in one go, and the next bytes become the
//! word that sorts them; rows that are equal again are a smaller tie, with the bytes after that. When a
//! string has ended, the next key decides.
//!
//! ```text
//! rows      bytes after the common beginning      word
//! "https://example.com/a"     "a"             61 00 00 … | 1
//! "https://example.com/a\0"   "a\0"           61 00 00 … | 2
//! ```

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use arrow::compute::SortOptions;

use super::ordinal::{Kind, bytes_at, bytes_ordinal, ordinals};

/// Bytes that become a word; the rest of it says how many there are.
const CHUNK_BYTES: usize = 15;

/// Rows up to which comparing them whole, which needs no memory, is faster.
const COMPARED_ROWS: usize = 20;

/// The keys of tied rows.
pub(super) struct Ties {
    keys: Vec<Key>,
}

/// One key of all tied rows.
struct Key {
    values: ArrayRef,
    options: SortOptions,
    kind: Kind,
    /// Numbers in the order of the values, made when they are needed.
    ordinals: OnceCell<Vec<u128>>,
}

impl Key {
    /// Compares row `a` with row `b` of the same key of other rows.
    fn compare(&self, a: usize, other: &Self, b: usize) -> Ordering {
        let nulls_first = self.options.nulls_first;
        match (self.values.is_null(a), other.values.is_null(b)) {
            (true, true) => return Ordering::Equal,
            (false, false) => {}
            (a_is_null, _) if a_is_null == nulls_first => return Ordering::Less,
            _ => return Ordering::Greater,
        }
        let order = match self.kind {
            Kind::Bytes => {
                let (ours, others) = (self.values.as_ref(), other.values.as_ref());
                bytes_at(ours, a).cmp(bytes_at(others, b))
            }
            Kind::Narrow | Kind::Wide => self.ordinals()[a].cmp(&other.ordinals()[b]),
        };
        if self.options.descending {
            order.reverse()
        } else {
            order
        }
    }

    fn ordinals(&self) -> &[u128] {
        let ordinals = || ordinals(self.values.as_ref());
        self.ordinals.get_or_init(ordinals)
    }
}

/// A tied row with what sorts it.
#[derive(Clone, Copy, Debug)]
struct Tie {
    word: u128,
    row: u32,
}

/// What is to be looked at next of tied rows.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// Whether a key is NULL.
    Nulls { key: usize },
    /// A key, strings from some byte on.
    Values { key: usize, offset: usize },
}

impl Ties {
    /// Ties that the given keys decide.
    pub(super) fn new(keys: Vec<(ArrayRef, SortOptions)>) -> Self {
        let key = |(values, options): (ArrayRef, SortOptions)| Key {
            // The operator takes no keys of other types.
            kind: Kind::of(values.data_type()).unwrap_or(Kind::Bytes),
            values,
            options,
            ordinals: OnceCell::new(),
        };
        Self {
            keys: keys.into_iter().map(key).collect(),
        }
    }

    /// Makes `order` the rows of a tie in order.
    pub(super) fn order(&self, rows: Range<u32>, order: &mut Vec<u32>) {
        order.clear();
        if rows.len() <= COMPARED_ROWS {
            order.extend(rows);
            order.sort_by(|a, b| self.compare(*a as usize, self, *b as usize));
        } else {
            order.extend(self.order_of_many(rows));
        }
    }

    /// Compares row `a` with row `b` of other rows by all keys.
    pub(super) fn compare(&self, a: usize, other: &Self, b: usize) -> Ordering {
        let keys = self.keys.iter().zip(&other.keys);
        let mut orders = keys.map(|(key, other)| key.compare(a, other, b));
        let order = orders.find(|order| order.is_ne());
        order.unwrap_or(Ordering::Equal)
    }

    fn order_of_many(&self, rows: Range<u32>) -> impl Iterator<Item = u32> {
        let mut ties: Vec<Tie> = rows.map(|row| Tie { word: 0, row }).collect();
        let mut open = vec![(0..ties.len(), self.next_key(0))];
        while let Some((range, next)) = open.pop() {
            let Some(next) = next else {
                continue;
            };
            let first = range.start;
            let ties = &mut ties[range];
            let push = |range: Range<usize>, next| {
                if range.len() > 1 {
                    open.push((first + range.start..first + range.end, next));
                }
            };
            match next {
                Next::Nulls { key } => self.split_nulls(key, ties, push),
                Next::Values { key, offset } => match self.keys[key].kind {
                    Kind::Bytes => self.sort_bytes((key, offset), ties, push),
                    Kind::Narrow | Kind::Wide => self.sort_ordinals(key, ties, push),
                },
            }
        }
        ties.into_iter().map(|tie| tie.row)
    }

    /// What to look at for a key; none if there is none.
    fn next_key(&self, key: usize) -> Option<Next> {
        let has_nulls = self.keys.get(key)?.values.null_count() > 0;
        Some(if has_nulls {
            Next::Nulls { key }
        } else {
            Next::Values { key, offset: 0 }
        })
    }

    fn split_nulls(
        &self,
        key: usize,
        ties: &mut [Tie],
        mut push: impl FnMut(Range<usize>, Option<Next>),
    ) {
        let Key {
            values, options, ..
        } = &self.keys[key];
        // Stable: rows that nothing tells apart keep their order.
        ties.sort_by_key(|tie| values.is_null(tie.row as usize) != options.nulls_first);
        let is_first = |tie: &Tie| values.is_null(tie.row as usize) == options.nulls_first;
        let middle = ties.partition_point(is_first);
        let (nulls, others) = if options.nulls_first {
            (0..middle, middle..ties.len())
        } else {
            (middle..ties.len(), 0..middle)
        };
        push(nulls, self.next_key(key + 1));
        push(others, Some(Next::Values { key, offset: 0 }));
    }

    fn sort_ordinals(
        &self,
        key: usize,
        ties: &mut [Tie],
        mut push: impl FnMut(Range<usize>, Option<Next>),
    ) {
        let numbers = self.keys[key].ordinals();
        let is_descending = self.keys[key].options.descending;
        for tie in ties.iter_mut() {
            tie.word = directed(numbers[tie.row as usize], is_descending);
        }
        sort(ties, |range, _| push(range, self.next_key(key + 1)));
    }

    fn sort_bytes(
        &self,
        (key, offset): (usize, usize),
        ties: &mut [Tie],
        mut push: impl FnMut(Range<usize>, Option<Next>),
    ) {
        let Key {
            values, options, ..
        } = &self.keys[key];
        let bytes = |tie: &Tie| {
            let all = bytes_at(values.as_ref(), tie.row as usize);
            all.get(offset..).unwrap_or_default()
        };
        let Some(first) = ties.first().map(bytes) else {
            return;
        };
        let common = |len: usize, tie: &Tie| common_len(&first[..len], bytes(tie));
        let num_common = ties[1..].iter().fold(first.len(), common);
        for tie in ties.iter_mut() {
            let chunk = chunk(&bytes(tie)[num_common..]);
            tie.word = directed(chunk, options.descending);
        }
        sort(ties, |range, word| {
            let num_bytes = directed(word, options.descending) as u8;
            let next = if usize::from(num_bytes) <= CHUNK_BYTES {
                self.next_key(key + 1)
            } else {
                let offset = offset + num_common + CHUNK_BYTES;
                Some(Next::Values { key, offset })
            };
            push(range, next);
        });
    }
}

fn directed(word: u128, is_descending: bool) -> u128 {
    if is_descending { !word } else { word }
}

/// The first bytes as a number in their order, with how many there are: one more than fit if there are
/// more.
fn chunk(bytes: &[u8]) -> u128 {
    let num_bytes = bytes.len().min(CHUNK_BYTES + 1);
    let taken = bytes_ordinal(&bytes[..num_bytes.min(CHUNK_BYTES)]);
    taken | num_bytes as u128
}

/// How many bytes two strings have in common at their beginning.
fn common_len(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let (words_a, _) = a.as_chunks::<8>();
    let (words_b, _) = b.as_chunks::<8>();
    let same = words_a.iter().zip(words_b).take_while(|(a, b)| a == b);
    let first = 8 * same.count();
    let rest = a[first..].iter().zip(&b[first..]);
    first + rest.take_while(|(a, b)| a == b).count()
}

/// Sorts rows by their words, equal ones by their places; calls `f` with the rows of each word.
fn sort(ties: &mut [Tie], mut f: impl FnMut(Range<usize>, u128)) {
    ties.sort_unstable_by_key(|tie| (tie.word, tie.row));
    let mut start = 0;
    for same in ties.chunk_by(|a, b| a.word == b.word) {
        f(start..start + same.len(), same[0].word);
        start += same.len();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Int8Array};
    use arrow::compute::SortOptions;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    use super::Ties;

    proptest! {
        #[test]
        fn as_a_stable_sort(
            rows in prop::collection::vec((0usize..40, 0usize..4, prop::option::of(-2i8..2)), 1..60),
            descending in any::<bool>(),
            nulls_first in any::<bool>(),
        ) {
            // Equal for long, and different by a zero byte.
            let text = |(len, end, _): &(usize, usize, Option<i8>)| {
                let end = [b"".as_slice(), b"\0", b"b", b"\xff"][*end];
                [b"a".repeat(*len).as_slice(), end].concat()
            };
            let texts = BinaryViewArray::from_iter_values(rows.iter().map(text));
            let numbers: Int8Array = rows.iter().map(|row| row.2).collect();
            let options = SortOptions { descending, nulls_first };
            let keys: Vec<ArrayRef> = vec![Arc::new(texts), Arc::new(numbers)];
            let ties = Ties::new(keys.into_iter().map(|key| (key, options)).collect());
            let (mut order, mut many) = (Vec::new(), Vec::new());
            ties.order(0..rows.len() as u32, &mut order);
            many.extend(ties.order_of_many(0..rows.len() as u32));
            prop_assert_eq!(&order, &many);
            let mut expected: Vec<u32> = (0..rows.len() as u32).collect();
            expected.sort_by(|a, b| {
                let (a, b) = (&rows[*a as usize], &rows[*b as usize]);
                let (texts, numbers) = (text(a).cmp(&text(b)), a.2.cmp(&b.2));
                let nulls = (a.2.is_none() != nulls_first).cmp(&(b.2.is_none() != nulls_first));
                if descending {
                    texts.reverse().then(nulls).then(numbers.reverse())
                } else {
                    texts.then(nulls).then(numbers)
                }
            });
            prop_assert_eq!(order, expected);
        }
    }
}
