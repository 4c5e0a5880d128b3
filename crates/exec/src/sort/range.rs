//! Finds what the values of a key column have in common, so that little of them must be packed.

use arrow::array::{Array, AsArray, PrimitiveArray};

use super::ordinal::{Kind, NarrowVisitor, Ordinal, for_each_bytes, for_each_wide, visit_narrow};

/// Longest common beginning that is looked for.
const MAX_PREFIX_BYTES: usize = 256;

/// What is known of the values of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    /// Whether a row is NULL.
    pub(super) has_nulls: bool,
    /// The smallest and the largest ordinal, if there is a value.
    pub(super) ordinals: Option<(u128, u128)>,
    /// What all byte strings begin with, if there is one.
    pub(super) prefix: Option<Vec<u8>>,
    /// Bytes of the longest.
    pub(super) max_len: usize,
    /// Whether values are other ones than those of the column that the key stands for.
    pub(super) is_changed: bool,
}

impl Range {
    /// Widens the range to the values of `array`, which is of kind `kind`.
    pub(super) fn include(&mut self, kind: Kind, array: &dyn Array) {
        self.has_nulls |= array.null_count() > 0;
        let is_valid = |i: usize| array.nulls().is_none_or(|nulls| nulls.is_valid(i));
        match kind {
            Kind::Narrow => {
                let ordinals = visit_narrow(array.data_type(), MinMax(array)).flatten();
                self.include_ordinals(ordinals.map(|(min, max)| (min.into(), max.into())));
            }
            Kind::Wide => {
                let mut range: Option<(u128, u128)> = None;
                for_each_wide(array, |i, ordinal| {
                    if is_valid(i) {
                        let (min, max) = range.unwrap_or((ordinal, ordinal));
                        range = Some((min.min(ordinal), max.max(ordinal)));
                    }
                });
                self.include_ordinals(range);
            }
            Kind::Bytes => for_each_bytes(array, |i, value| {
                if is_valid(i) {
                    self.include_bytes(value);
                }
            }),
        }
    }

    /// Widens the range to another.
    pub(super) fn merge(&mut self, other: &Self) {
        self.has_nulls |= other.has_nulls;
        self.is_changed |= other.is_changed;
        self.include_ordinals(other.ordinals);
        if let Some(prefix) = &other.prefix {
            self.include_bytes(prefix);
            self.max_len = self.max_len.max(other.max_len);
        }
    }

    fn include_ordinals(&mut self, other: Option<(u128, u128)>) {
        self.ordinals = match (self.ordinals, other) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (range, None) | (None, range) => range,
        };
    }

    fn include_bytes(&mut self, value: &[u8]) {
        self.max_len = self.max_len.max(value.len());
        let Some(prefix) = &mut self.prefix else {
            self.prefix = Some(value[..value.len().min(MAX_PREFIX_BYTES)].to_vec());
            return;
        };
        if !value.starts_with(prefix) {
            let same = prefix.iter().zip(value).take_while(|(a, b)| a == b).count();
            prefix.truncate(same);
        }
    }
}

/// The smallest and the largest ordinal of an array.
struct MinMax<'a>(&'a dyn Array);

impl NarrowVisitor for MinMax<'_> {
    type Output = Option<(u64, u64)>;

    fn visit<T: Ordinal>(self) -> Self::Output {
        let array: &PrimitiveArray<T> = self.0.as_primitive();
        if array.null_count() == array.len() {
            return None;
        }
        let widen = |(min, max): (u64, u64), value: T::Native| {
            let ordinal = T::ordinal(value);
            (min.min(ordinal), max.max(ordinal))
        };
        let none = (u64::MAX, u64::MIN);
        Some(if array.null_count() == 0 {
            array
                .values()
                .iter()
                .fold(none, |range, v| widen(range, *v))
        } else {
            array.iter().flatten().fold(none, widen)
        })
    }
}
