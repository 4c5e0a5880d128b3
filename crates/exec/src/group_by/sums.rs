//! Wrapping sums of integers, one a group.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt64Array};
use basalt_functions::aggregate::Groups;
use basalt_kernels::Bitmap;
use basalt_kernels::average::NUM_KEYS;
use basalt_kernels::fold::fold_lanes;
use basalt_kernels::grouped::fold_groups;
use basalt_kernels::widest::{Loop, widest};
use basalt_profile::room_bytes;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use super::ascending::{AscendingFinder, Piece};
use super::pack::{Native, NativeVisitor, visit_native};

/// Sums, one a group; groups beyond those ever added to have 0.
#[derive(Debug)]
pub(super) struct Sums {
    words: Vec<u64>,
    /// Whether results are signed.
    is_signed: bool,
    ascending: AscendingFinder,
}

impl Sums {
    /// No groups yet.
    pub(super) fn new(is_signed: bool) -> Self {
        Self {
            words: Vec::new(),
            is_signed,
            ascending: AscendingFinder::default(),
        }
    }

    /// Adds the rows of a batch to their groups.
    pub(super) fn add_rows(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let [values] = args else {
            return Err(internal_datafusion_err!(
                "a sum has one argument, not {}",
                args.len()
            ));
        };
        grow(&mut self.words, groups.num_groups);
        let visitor = AddTo {
            sums: &mut self.words,
            ascending: &mut self.ascending,
            values,
            ids: groups.ids,
        };
        visit_native(values.data_type(), visitor)
            .ok_or_else(|| internal_datafusion_err!("no integer sum over {}", values.data_type()))
    }

    /// Adds the rows of a batch, of which row `i` belongs to group `keys[i]`; false, and nothing is added, if
    /// there are NULLs.
    pub(super) fn add_bytes(&mut self, args: &[ArrayRef], keys: &[u8]) -> bool {
        let [values] = args else {
            return false;
        };
        if values.null_count() > 0 {
            return false;
        }
        grow(&mut self.words, NUM_KEYS);
        let sums = self.words.first_chunk_mut::<NUM_KEYS>();
        let added = sums.map(|sums| AddToBytes { sums, values, keys });
        added.is_some_and(|add| visit_native(values.data_type(), add).is_some())
    }

    /// Adds the sums that stand at `rows` of `from` to `groups`.
    pub(super) fn merge(&mut self, from: &[u64], rows: &[u32], groups: Groups<'_>) {
        grow(&mut self.words, groups.num_groups);
        for (row, id) in rows.iter().zip(groups.ids.unwrap_or(&[0])) {
            let sum = &mut self.words[*id as usize];
            *sum = sum.wrapping_add(from[*row as usize]);
        }
    }

    /// Takes the sums of `num_groups` groups, or more, out.
    pub(super) fn take(&mut self, num_groups: usize) -> Vec<u64> {
        grow(&mut self.words, num_groups);
        std::mem::take(&mut self.words)
    }

    /// Has these sums from now on.
    pub(super) fn set(&mut self, words: Vec<u64>) {
        self.words = words;
    }

    /// Results of the groups in `range`.
    pub(super) fn finish(&mut self, range: Range<usize>) -> ArrayRef {
        let is_signed = self.is_signed;
        let words = self.range(range).iter().copied();
        if is_signed {
            return Arc::new(Int64Array::from_iter_values(words.map(u64::cast_signed)));
        }
        Arc::new(UInt64Array::from_iter_values(words))
    }

    /// Numbers in the order of the sums of the groups in `range`.
    pub(super) fn ranks(&mut self, range: Range<usize>) -> Vec<u64> {
        let flipped = if self.is_signed { 1 << 63 } else { 0 };
        let words = self.range(range).iter();
        words.map(|sum| sum ^ flipped).collect()
    }

    /// The sums of the groups in `range`.
    pub(super) fn range(&mut self, range: Range<usize>) -> &[u64] {
        grow(&mut self.words, range.end);
        &self.words[range]
    }
}

/// Numbers from which on room is taken as whole pages that the system fills with zeros when they
/// are first used.
const WHOLE_PAGES: usize = 1 << 14;

/// Makes room for `num_groups`; there may be more words than groups, all zero.
pub(super) fn grow<T: Copy + Default>(words: &mut Vec<T>, num_groups: usize) {
    if num_groups <= words.len() {
        return;
    }
    if num_groups < WHOLE_PAGES {
        words.resize(num_groups, T::default());
        return;
    }
    let (least, most) = (num_groups.next_power_of_two(), words.len() * 4);
    // The system may count what is not used yet.
    let has_room = most * size_of::<T>() < room_bytes() / 4;
    let len = if has_room { least.max(most) } else { least };
    let mut grown = vec![T::default(); len];
    grown[..words.len()].copy_from_slice(words);
    *words = grown;
}

/// Adds a value to each sum.
struct AddEach<'a, T: Native> {
    sums: &'a mut [u64],
    values: &'a [T::Native],
}

impl<T: Native> Loop for AddEach<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, value) in self.sums.iter_mut().zip(self.values) {
            *sum = sum.wrapping_add(T::widen(*value));
        }
    }
}

struct AddToBytes<'a> {
    sums: &'a mut [u64; NUM_KEYS],
    values: &'a ArrayRef,
    keys: &'a [u8],
}

impl NativeVisitor for AddToBytes<'_> {
    type Output = ();

    /// In two tables in turn, so that a key that repeats does not wait for its last sum.
    fn visit<T: Native>(self) {
        let mut others = [0_u64; NUM_KEYS];
        let values = self.values.as_primitive::<T>().values();
        let add = |sums: &mut [u64; NUM_KEYS], key: u8, value| {
            let sum = &mut sums[usize::from(key)];
            *sum = sum.wrapping_add(T::widen(value));
        };
        let (pairs, rest) = self.keys.as_chunks::<2>();
        let (value_pairs, rest_values) = values.as_chunks::<2>();
        for (keys, values) in pairs.iter().zip(value_pairs) {
            add(self.sums, keys[0], values[0]);
            add(&mut others, keys[1], values[1]);
        }
        for (key, value) in rest.iter().zip(rest_values) {
            add(self.sums, *key, *value);
        }
        for (sum, other) in self.sums.iter_mut().zip(others) {
            *sum = sum.wrapping_add(other);
        }
    }
}

struct AddTo<'a> {
    sums: &'a mut [u64],
    ascending: &'a mut AscendingFinder,
    values: &'a ArrayRef,
    ids: Option<&'a [u32]>,
}

impl NativeVisitor for AddTo<'_> {
    type Output = ();

    fn visit<T: Native>(self) {
        let array = self.values.as_primitive::<T>();
        let values = array.values();
        let valid = array.nulls().filter(|n| n.null_count() > 0);
        let sums = self.sums;
        match (self.ids, valid) {
            (None, valid) => {
                let valid = valid.and_then(|v| Bitmap::try_new(v.validity(), v.offset(), v.len()));
                let step = |sum: u64, value| sum.wrapping_add(T::widen(value));
                let total = fold_lanes(values, valid, 0, step, u64::wrapping_add);
                sums.iter_mut()
                    .take(1)
                    .for_each(|s| *s = s.wrapping_add(total));
            }
            (Some(ids), None) => self.ascending.for_each_piece(ids, |piece| match piece {
                Piece::Ascending(rows, groups) => widest(AddEach::<T> {
                    sums: &mut sums[groups],
                    values: &values[rows],
                }),
                Piece::Any(rows) => {
                    let add = |sum: u64, value| sum.wrapping_add(T::widen(value));
                    fold_groups(sums, &values[rows.clone()], &ids[rows], add);
                }
            }),
            (Some(ids), Some(valid)) => {
                for row in valid.valid_indices() {
                    let sum = &mut sums[ids[row] as usize];
                    *sum = sum.wrapping_add(T::widen(values[row]));
                }
            }
        }
    }
}
