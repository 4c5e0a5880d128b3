//! The bound of a top-N: rows with words from it on are not wanted.

use std::sync::{Mutex, PoisonError};

use arrow::array::{Array, AsArray, BinaryViewArray, PrimitiveArray};
use basalt_kernels::widest::{Loop, widest};

use super::layout::{Field, Layout};
use super::ordinal::{Kind, NarrowVisitor, Ordinal, visit_narrow};

/// Rows that are passed together if none of them is below the bound.
const GROUP_ROWS: usize = 64;

/// The least bound that a task has found; rows of all tasks are measured by it.
#[derive(Debug, Default)]
pub(super) struct SharedBound(Mutex<Option<u128>>);

impl SharedBound {
    /// Lowers the bound; none does not.
    pub(super) fn lower(&self, to: Option<u128>) {
        let mut bound = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *bound = lower(*bound, to);
    }

    /// The bound; none if all words may be wanted.
    pub(super) fn get(&self) -> Option<u128> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lower of two bounds.
pub(super) fn lower(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Rows whose first key lets their words be below `bound`; none if that cannot be told by looking at the
/// first key alone.
pub(super) fn rows_below(layout: &Layout, bound: u128, first_key: &dyn Array) -> Option<Vec<u32>> {
    let field = layout.fields.first()?;
    let Some(most) = bound.checked_sub(1) else {
        return Some(Vec::new());
    };
    let lower_bits = layout.key_bits() - field.total_bits();
    let bound = most.checked_shr(lower_bits).unwrap_or(0);
    let value_bits = field.bits;
    let null_bit = |is_set: bool| {
        let bit = u128::from(field.has_null_bit && is_set);
        bit.checked_shl(value_bits).unwrap_or(0)
    };
    let nulls_first = field.options.nulls_first;
    let most_value = bound.checked_sub(null_bit(nulls_first));
    let mut rows = match (field.kind, most_value) {
        (Kind::Wide, _) => return None,
        (Kind::Narrow, Some(most_value)) => {
            // Values have at most 64 bits.
            let most_value = u64::try_from(most_value).unwrap_or(u64::MAX);
            let select = Select {
                field,
                array: first_key,
                most_value,
            };
            visit_narrow(first_key.data_type(), select)?
        }
        (Kind::Bytes, Some(most_value)) => {
            strings_up_to(field, first_key.as_binary_view_opt()?, most_value)?
        }
        (_, None) => Vec::new(),
    };
    if let Some(nulls) = first_key.nulls().filter(|nulls| nulls.null_count() > 0) {
        // What stands in place of NULL is no value.
        rows.retain(|row| nulls.is_valid(*row as usize));
        if field.has_null_bit && null_bit(!nulls_first) <= bound {
            let all = 0..first_key.len() as u32;
            rows.extend(all.filter(|row| nulls.is_null(*row as usize)));
            rows.sort_unstable();
        }
    }
    Some(rows)
}

/// Rows of strings whose first four bytes, which are in their views, let their values be at most this one;
/// none if values do not begin with these bytes.
fn strings_up_to(field: &Field, strings: &BinaryViewArray, most_value: u128) -> Option<Vec<u32>> {
    let begins_with_bytes =
        field.skipped.is_empty() && field.class_bits == 0 && field.dropped_bits == 0;
    let below = field.bits.checked_sub(u32::BITS)?;
    if !begins_with_bytes || field.num_bytes < 4 {
        return None;
    }
    let values = strings.views();
    let first_bytes = |view: u128| ((view >> 32) as u32).swap_bytes();
    // Values have as many bits as the field.
    let most = u32::try_from(most_value >> below).unwrap_or(u32::MAX);
    Some(if field.options.descending {
        let is_below = |view| first_bytes(view) >= !most;
        widest(Below { values, is_below })
    } else {
        let is_below = |view| first_bytes(view) <= most;
        widest(Below { values, is_below })
    })
}

/// Selects rows by an array that has ordinals.
struct Select<'a> {
    field: &'a Field,
    array: &'a dyn Array,
    /// The highest value that is taken.
    most_value: u64,
}

impl NarrowVisitor for Select<'_> {
    type Output = Vec<u32>;

    fn visit<T: Ordinal>(self) -> Vec<u32> {
        let array: &PrimitiveArray<T> = self.array.as_primitive();
        let (min, max) = (self.field.ordinals.0 as u64, self.field.ordinals.1 as u64);
        let most = self.most_value;
        if self.field.options.descending {
            widest(Below {
                values: array.values(),
                is_below: |value| max.wrapping_sub(T::ordinal(value)) <= most,
            })
        } else {
            widest(Below {
                values: array.values(),
                is_below: |value| T::ordinal(value).wrapping_sub(min) <= most,
            })
        }
    }
}

/// Rows whose values are below something.
struct Below<'a, V, F> {
    values: &'a [V],
    is_below: F,
}

impl<V: Copy, F: Fn(V) -> bool> Loop for Below<'_, V, F> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run(self) -> Vec<u32> {
        let mut rows = Vec::new();
        let (groups, rest) = self.values.as_chunks::<GROUP_ROWS>();
        let mut first = 0;
        for group in groups {
            // Without a branch, so that it becomes vector code: most groups have no such row.
            let below = group.iter().map(|value| u32::from((self.is_below)(*value)));
            if below.sum::<u32>() > 0 {
                self.push(group, first, &mut rows);
            }
            first += GROUP_ROWS as u32;
        }
        self.push(rest, first, &mut rows);
        rows
    }
}

impl<V: Copy, F: Fn(V) -> bool> Below<'_, V, F> {
    #[inline(always)]
    fn push(&self, values: &[V], first: u32, rows: &mut Vec<u32>) {
        for (row, value) in (first..).zip(values) {
            if (self.is_below)(*value) {
                rows.push(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Int32Array};
    use arrow::compute::SortOptions;
    use proptest::prelude::*;

    use super::rows_below;
    use crate::sort::layout::{KeyColumn, Layout};
    use crate::sort::pack::pack;
    use crate::sort::range::Range;

    /// Checks that no row whose word is below the bound is left out, whichever word is the bound.
    fn check(key: &ArrayRef, options: SortOptions, is_nullable: bool) {
        let kind = KeyColumn::new(key.data_type(), options);
        let range = Range::of_type(key.data_type(), is_nullable);
        let layout = Layout::new(&[(kind, &range)], None);
        let mut words = vec![0u128; key.len()];
        pack(&layout, std::slice::from_ref(key), 0, &mut words);
        for bound in words.iter().flat_map(|word| [*word, word + 1]).chain([0]) {
            let rows = rows_below(&layout, bound, key.as_ref()).expect("a key that can be told");
            let left_out = (0..)
                .zip(&words)
                .find(|(row, word)| **word < bound && !rows.contains(row));
            assert_eq!(
                left_out, None,
                "bound {bound:x} of {words:x?} gives {rows:?}"
            );
        }
        let rows = rows_below(&layout, 0, key.as_ref()).expect("a key that can be told");
        assert_eq!(rows, Vec::<u32>::new());
    }

    proptest! {
        #[test]
        fn no_row_below_the_bound_is_left_out(
            values in prop::collection::vec(prop::option::of("[\\x00a-cä]{0,14}"), 1..100),
            descending: bool,
            nulls_first: bool,
        ) {
            let options = SortOptions { descending, nulls_first };
            let strings: BinaryViewArray = values.iter().map(|v| v.as_ref().map(String::as_bytes)).collect();
            check(&(Arc::new(strings) as ArrayRef), options, true);
            let strings = BinaryViewArray::from_iter_values(values.iter().flatten());
            check(&(Arc::new(strings) as ArrayRef), options, false);
            let numbers: Int32Array = values.iter().map(|v| v.as_ref().map(|v| v.len() as i32 - 7)).collect();
            check(&(Arc::new(numbers) as ArrayRef), options, true);
        }
    }
}
