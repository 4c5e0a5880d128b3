//! Packs the keys of rows into words, and reads columns back from them.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, FixedSizeBinaryArray, PrimitiveArray, RecordBatch,
};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType, UInt32Type};
use basalt_kernels::widest::{Loop, widest};
use datafusion::common::internal_err;
use datafusion::error::Result;

use super::layout::{Field, Layout};
use super::ordinal::{
    Kind, NarrowVisitor, Ordinal, bytes_ordinal, decimal_value, for_each_bytes, for_each_wide,
    visit_narrow,
};
use super::word::Word;

/// Makes `words`, which are 0, those of the rows of batch `batch`.
pub(super) fn pack<W: Word>(layout: &Layout, keys: &[ArrayRef], batch: usize, words: &mut [W]) {
    for field in &layout.fields {
        push_field(field, keys[field.key].as_ref(), words);
    }
    let place_bits = layout.batch_bits + layout.row_bits;
    if place_bits > 0 {
        let first = (batch as u64) << layout.row_bits;
        for (row, word) in words.iter_mut().enumerate() {
            *word = word.push(place_bits, first | row as u64);
        }
    }
}

/// Adds what words carry of the columns of a batch.
pub(super) fn pack_carried<W: Word>(layout: &Layout, batch: &RecordBatch, words: &mut [W]) {
    for field in &layout.carried {
        push_field(field, batch.column(field.key).as_ref(), words);
    }
}

fn push_field<W: Word>(field: &Field, array: &dyn Array, words: &mut [W]) {
    if field.total_bits() == 0 {
        return;
    }
    if field.has_null_bit {
        let nulls_first = field.options.nulls_first;
        for (i, word) in words.iter_mut().enumerate() {
            *word = word.push(1, u64::from(array.is_null(i) != nulls_first));
        }
    }
    match field.kind {
        Kind::Narrow => {
            let push = PushNarrow {
                field,
                array,
                words: &mut *words,
            };
            // The kind says that the type has ordinals.
            let _: Option<()> = visit_narrow(array.data_type(), push);
        }
        Kind::Wide => {
            let (min, max) = field.ordinals;
            for_each_wide(array, |i, ordinal| {
                let value = if field.options.descending {
                    max.wrapping_sub(ordinal)
                } else {
                    ordinal.wrapping_sub(min)
                };
                push_wide(field, array, &mut words[i], (i, value));
            });
        }
        Kind::Bytes => for_each_bytes(array, |i, value| {
            let value = string_ordinal(field, value);
            push_wide(field, array, &mut words[i], (i, value));
        }),
    }
}

/// What is taken of a string.
fn string_ordinal(field: &Field, value: &[u8]) -> u128 {
    let skipped = field.skipped.as_ref();
    let (class, rest) = match value.strip_prefix(skipped) {
        Some(rest) => (1, rest),
        None if value < skipped => (0, value),
        None => (2, value),
    };
    let taken = bytes_ordinal(rest)
        .checked_shr(u128::BITS - 8 * field.num_bytes)
        .unwrap_or(0);
    let mut ordinal = taken;
    if field.class_bits > 0 {
        ordinal |= class << (8 * field.num_bytes);
    }
    if field.len_bits > 0 {
        let len = (rest.len() as u128).min(u128::from(field.num_bytes) + 1);
        ordinal = ordinal << field.len_bits | len;
    }
    if field.options.descending {
        ordinal ^ low_bits(field.bits)
    } else {
        ordinal
    }
}

fn low_bits(bits: u32) -> u128 {
    u128::MAX.checked_shr(u128::BITS - bits).unwrap_or(0)
}

/// Pushes the value of row `row`; nothing but 0 stands for NULL.
#[inline(always)]
fn push_wide<W: Word>(field: &Field, array: &dyn Array, word: &mut W, (row, value): (usize, u128)) {
    let is_null = array.nulls().is_some_and(|nulls| nulls.is_null(row));
    let value = value.checked_shr(field.dropped_bits).unwrap_or(0);
    *word = word.push_wide(field.bits, if is_null { 0 } else { value });
}

/// Pushes the values of an array that has ordinals.
struct PushNarrow<'a, W> {
    field: &'a Field,
    array: &'a dyn Array,
    words: &'a mut [W],
}

impl<W: Word> NarrowVisitor for PushNarrow<'_, W> {
    type Output = ();

    fn visit<T: Ordinal>(self) {
        let array: &PrimitiveArray<T> = self.array.as_primitive();
        let (min, max) = self.field.ordinals;
        let (min, max) = (min as u64, max as u64);
        let step = self.field.step;
        let rises = !self.field.options.descending;
        let Field { gap, has_apart, .. } = *self.field;
        // Closures have copies of what they need: looked up in each round, it would keep the loop from becoming vector code.
        if has_apart || !gap.is_empty() {
            let rising = move |ordinal: u64| step.divide(gap.close(ordinal).wrapping_sub(min));
            let last = gap.close(max);
            let falling = move |ordinal: u64| step.divide(last.wrapping_sub(gap.close(ordinal)));
            // Behind all others in rising order, before them in the other one.
            let after = self.field.num_steps() as u64 + 1;
            return match (T::APART.filter(|_| has_apart), rises) {
                (None, true) => self.push(array, move |value| rising(T::ordinal(value))),
                (None, false) => self.push(array, move |value| falling(T::ordinal(value))),
                (Some(apart), true) => self.push(array, move |value| {
                    let ordinal = T::ordinal(value);
                    let place = rising(ordinal);
                    if ordinal == apart { after } else { place }
                }),
                (Some(apart), false) => self.push(array, move |value| {
                    let ordinal = T::ordinal(value);
                    let place = falling(ordinal).wrapping_add(1);
                    if ordinal == apart { 0 } else { place }
                }),
            };
        }
        match (rises, step.get()) {
            (true, 1) => self.push(array, move |value| T::ordinal(value).wrapping_sub(min)),
            (false, 1) => self.push(array, move |value| max.wrapping_sub(T::ordinal(value))),
            (true, _) => self.push(array, move |value| {
                step.divide(T::ordinal(value).wrapping_sub(min))
            }),
            (false, _) => self.push(array, move |value| {
                step.divide(max.wrapping_sub(T::ordinal(value)))
            }),
        }
    }
}

impl<W: Word> PushNarrow<'_, W> {
    fn push<T: Ordinal>(self, array: &PrimitiveArray<T>, ordinal: impl Fn(T::Native) -> u64) {
        let (bits, dropped) = (self.field.bits, self.field.dropped_bits);
        match array.nulls().filter(|n| n.null_count() > 0) {
            None => widest(PushOrdinals {
                words: self.words,
                values: array.values(),
                ordinal,
                bits,
                dropped,
            }),
            Some(nulls) => {
                let shifted = |value| u64::checked_shr(ordinal(value), dropped).unwrap_or(0);
                let rows = self.words.iter_mut().zip(array.values());
                rows.zip(nulls).for_each(|((word, value), is_valid)| {
                    *word = word.push(bits, if is_valid { shifted(*value) } else { 0 });
                });
            }
        }
    }
}

/// Pushes the ordinals of values, none of which is NULL.
struct PushOrdinals<'a, W, V, F> {
    words: &'a mut [W],
    values: &'a [V],
    ordinal: F,
    bits: u32,
    dropped: u32,
}

impl<W: Word, V: Copy, F: Fn(V) -> u64> Loop for PushOrdinals<'_, W, V, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (word, value) in self.words.iter_mut().zip(self.values) {
            let ordinal = (self.ordinal)(*value).checked_shr(self.dropped);
            *word = word.push(self.bits, ordinal.unwrap_or(0));
        }
    }
}

/// The column of type `data_type` that `field` holds in words from bit `shift` on.
///
/// # Errors
/// If the type is none that words hold.
pub(super) fn unpack<W: Word>(
    words: &[W],
    (field, shift): (&Field, u32),
    data_type: &DataType,
) -> Result<ArrayRef> {
    let nulls = field.has_null_bit.then(|| {
        let nulls_first = field.options.nulls_first;
        let valid = |word: &W| (word.digit(shift + field.bits, 1) == 1) == nulls_first;
        words.iter().map(valid).collect::<NullBuffer>()
    });
    let read = ReadNarrow {
        words,
        field,
        shift,
        nulls: nulls.clone(),
    };
    if let Some(values) = &field.values {
        return Ok(take(values, &read.visit::<UInt32Type>(), None)?);
    }
    if let Some(array) = visit_narrow(data_type, read) {
        return Ok(array);
    }
    let (min, max) = field.ordinals;
    let mask = low_bits(field.bits);
    let ordinals = words.iter().map(|word| {
        let value = word.to_u128().checked_shr(shift).unwrap_or(0) & mask;
        if field.options.descending {
            max.wrapping_sub(value)
        } else {
            min.wrapping_add(value)
        }
    });
    match data_type {
        DataType::Decimal128(_, _) => {
            let values: ScalarBuffer<i128> = ordinals.map(decimal_value).collect();
            let array = Decimal128Array::try_new(values, nulls)?;
            Ok(Arc::new(array.with_data_type(data_type.clone())))
        }
        DataType::FixedSizeBinary(size) => {
            let size_bytes = usize::try_from(*size).unwrap_or(0).min(16);
            let mut values = Vec::with_capacity(words.len() * size_bytes);
            for ordinal in ordinals {
                values.extend_from_slice(&ordinal.to_be_bytes()[16 - size_bytes..]);
            }
            let values = Buffer::from_vec(values);
            Ok(Arc::new(FixedSizeBinaryArray::try_new(
                *size, values, nulls,
            )?))
        }
        other => internal_err!("a sort's word holds no {other}"),
    }
}

/// Reads a column whose type has ordinals.
struct ReadNarrow<'a, W> {
    words: &'a [W],
    field: &'a Field,
    shift: u32,
    nulls: Option<NullBuffer>,
}

impl<W: Word> NarrowVisitor for ReadNarrow<'_, W> {
    type Output = ArrayRef;

    fn visit<T: Ordinal>(self) -> ArrayRef {
        let (min, max) = self.field.ordinals;
        let (min, max) = (min as u64, max as u64);
        let step = self.field.step.get();
        let is_descending = self.field.options.descending;
        let Field { gap, has_apart, .. } = *self.field;
        let values: Vec<T::Native> = if has_apart || !gap.is_empty() {
            let apart = T::APART.filter(|_| has_apart);
            let place_apart = match is_descending {
                true => 0,
                false => self.field.num_steps() as u64 + 1,
            };
            let (before, last) = (u64::from(has_apart), gap.close(max));
            let rising = move |field: u64| gap.open(min.wrapping_add(field.wrapping_mul(step)));
            let falling = move |field: u64| {
                let steps = field.wrapping_sub(before);
                gap.open(last.wrapping_sub(steps.wrapping_mul(step)))
            };
            // What is apart has its ordinal whatever stands at its place.
            let (apart, place_apart) = match apart {
                Some(apart) => (apart, place_apart),
                None => (0, u64::MAX),
            };
            let or_apart = move |field: u64, ordinal: u64| {
                T::value(if field == place_apart { apart } else { ordinal })
            };
            match is_descending {
                true => self.values(move |field| or_apart(field, falling(field))),
                false => self.values(move |field| or_apart(field, rising(field))),
            }
        } else if is_descending {
            self.values(move |field| T::value(max.wrapping_sub(field.wrapping_mul(step))))
        } else {
            self.values(move |field| T::value(min.wrapping_add(field.wrapping_mul(step))))
        };
        Arc::new(PrimitiveArray::<T>::new(values.into(), self.nulls))
    }
}

impl<W: Word> ReadNarrow<'_, W> {
    /// What `value` makes of the fields of all words.
    fn values<V: Copy + Default>(&self, value: impl Fn(u64) -> V) -> Vec<V> {
        widest(ReadFields {
            words: self.words,
            shift: self.shift,
            mask: low_bits(self.field.bits) as u64,
            value,
        })
    }
}

struct ReadFields<'a, W, F> {
    words: &'a [W],
    shift: u32,
    mask: u64,
    value: F,
}

impl<W: Word, V: Copy + Default, F: Fn(u64) -> V> Loop for ReadFields<'_, W, F> {
    type Output = Vec<V>;

    #[inline(always)]
    fn run(self) -> Vec<V> {
        let mut values = vec![V::default(); self.words.len()];
        for (value, word) in values.iter_mut().zip(self.words) {
            *value = (self.value)(word.low_u64(self.shift) & self.mask);
        }
        values
    }
}
