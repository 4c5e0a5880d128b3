//! Holds tuples, and single values, that are no more than 128 bits together.

use ahash::RandomState;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::buffer::NullBuffer;
use hashbrown::HashSet;

use super::word_set::{Filter, WordSet};
use super::words::{self, Part};

/// A set of tuples, none of them with a NULL inside.
pub(super) enum TupleSet {
    /// Tuples of no more than 64 bits.
    Narrow(WordSet),
    /// Others, behind a filter of their folded bits.
    Wide {
        filter: Filter,
        tuples: HashSet<u128, RandomState>,
    },
}

impl TupleSet {
    /// The tuples of some columns.
    pub(super) fn new(columns: &[ArrayRef]) -> Option<Self> {
        let num_rows = columns.first()?.len();
        let parts = parts(columns)?;
        let num_bits = parts.iter().map(|part| part.num_bits).sum::<usize>();
        if num_bits > 128 {
            return None;
        }
        let nulls = nulls(columns);
        let is_valid = |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
        let mut tuples = Vec::with_capacity(num_rows);
        let mut packed = Vec::new();
        for (begin, num_rows) in words::chunks(num_rows) {
            pack(&parts, (begin, num_rows), &mut packed, join_wide);
            let valid = (0..num_rows).filter(|row| is_valid(&(begin + row)));
            tuples.extend(valid.map(|row| packed[row]));
        }
        if num_bits <= 64 {
            let words: Vec<u64> = tuples.iter().map(|tuple| *tuple as u64).collect();
            return Some(Self::Narrow(WordSet::new(&words, 0)));
        }
        Some(Self::Wide {
            filter: Filter::new(tuples.iter().map(|tuple| folded(*tuple)), tuples.len()),
            tuples: tuples.into_iter().collect(),
        })
    }

    /// 1 for each tuple that is in the set.
    pub(super) fn contains(&self, columns: &[ArrayRef]) -> Option<Vec<u8>> {
        let (num_rows, parts) = (columns.first()?.len(), parts(columns)?);
        let mut found = Vec::with_capacity(num_rows);
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        for chunk in words::chunks(num_rows) {
            match self {
                Self::Narrow(set) => {
                    pack(&parts, chunk, &mut narrow, join_narrow);
                    set.contains(&narrow, &mut found);
                }
                Self::Wide { filter, tuples } => {
                    pack(&parts, chunk, &mut wide, join_wide);
                    found.extend(wide.iter().map(|tuple| {
                        let passes = filter.passes(folded(*tuple)) == 1;
                        u8::from(passes && tuples.contains(tuple))
                    }));
                }
            }
        }
        if let Some(nulls) = nulls(columns) {
            let valid = found.iter_mut().zip(nulls.iter());
            valid.for_each(|(found, is_valid)| *found &= u8::from(is_valid));
        }
        Some(found)
    }
}

/// What is read of the elements, if all of them are words.
fn parts(columns: &[ArrayRef]) -> Option<Vec<Part<'_>>> {
    let parts = columns.iter().map(words::parts);
    Some(
        parts
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect(),
    )
}

/// Which tuples have no NULL inside.
fn nulls(columns: &[ArrayRef]) -> Option<NullBuffer> {
    let each = columns.iter().map(|column| column.logical_nulls());
    each.fold(None, |all, nulls| {
        NullBuffer::union(all.as_ref(), nulls.as_ref())
    })
}

fn folded(tuple: u128) -> u64 {
    (tuple >> 64) as u64 ^ (tuple as u64).rotate_left(32)
}

/// Puts the parts of some tuples together: `join` appends one of so many bits.
fn pack<T: Copy + Default>(
    parts: &[Part<'_>],
    (begin, num_rows): (usize, usize),
    tuples: &mut Vec<T>,
    join: impl Fn(T, usize, u64) -> T,
) {
    tuples.clear();
    tuples.resize(num_rows, T::default());
    let mut words = [0; words::CHUNK];
    let words = &mut words[..num_rows];
    for part in parts {
        part.read(begin, words);
        for (tuple, word) in tuples.iter_mut().zip(&*words) {
            *tuple = join(*tuple, part.num_bits, *word);
        }
    }
}

fn join_wide(tuple: u128, num_bits: usize, element: u64) -> u128 {
    tuple << num_bits | u128::from(element)
}

/// Half of the bits at a time: an element may have all of them.
fn join_narrow(tuple: u64, num_bits: usize, element: u64) -> u64 {
    tuple << (num_bits / 2) << (num_bits / 2) | element
}
