//! The bound of a top-N: rows with words from it on are not wanted.

use std::sync::{Mutex, PoisonError};

use arrow::array::{Array, AsArray, PrimitiveArray};
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
    let field = layout.fields.first().filter(|f| f.kind == Kind::Narrow)?;
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
    let select = Select {
        field,
        array: first_key,
        // Values have at most 64 bits.
        most_value: most_value.map(|most| u64::try_from(most).unwrap_or(u64::MAX)),
        takes_nulls: field.has_null_bit && null_bit(!nulls_first) <= bound,
    };
    visit_narrow(first_key.data_type(), select)
}

/// Selects rows by an array that has ordinals.
struct Select<'a> {
    field: &'a Field,
    array: &'a dyn Array,
    /// The highest value that is taken; none if no value is.
    most_value: Option<u64>,
    takes_nulls: bool,
}

impl NarrowVisitor for Select<'_> {
    type Output = Vec<u32>;

    fn visit<T: Ordinal>(self) -> Vec<u32> {
        let array: &PrimitiveArray<T> = self.array.as_primitive();
        let (min, max) = (self.field.ordinals.0 as u64, self.field.ordinals.1 as u64);
        let mut rows = match self.most_value {
            None => Vec::new(),
            Some(most) if self.field.options.descending => widest(Below {
                values: array.values(),
                is_below: |value| max.wrapping_sub(T::ordinal(value)) <= most,
            }),
            Some(most) => widest(Below {
                values: array.values(),
                is_below: |value| T::ordinal(value).wrapping_sub(min) <= most,
            }),
        };
        let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
            return rows;
        };
        // What stands in place of NULL is no value.
        rows.retain(|row| nulls.is_valid(*row as usize));
        if self.takes_nulls {
            let all = 0..array.len() as u32;
            rows.extend(all.filter(|row| nulls.is_null(*row as usize)));
            rows.sort_unstable();
        }
        rows
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
