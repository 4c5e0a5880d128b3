//! Gives each row of the arguments the 64 bits that the approximate counters start from.

use arrow::array::{Array, ArrayRef, AsArray};
use basalt_error::Result;
use basalt_types::DataType;

use super::row_bytes::{RowBytes, has_bytes, is_one_run};
use crate::StringColumn;
use crate::aggregate::row_keys::row_keys;
use crate::aggregate::values::{
    Primitive, PrimitiveVisitor, Value, primitive, visit_primitive, wrong_array,
};
use crate::scalar::hash::city::{city_hash_64, hash_128_to_64};
use crate::scalar::hash::sip::sip_hash_128;

/// The finaliser of MurmurHash3: a bijection of 64 bits.
#[inline]
pub(in crate::aggregate) fn mix64(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x = x.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}

/// Thomas Wang's hash of 64 bits to 32.
#[inline]
pub(in crate::aggregate) fn mix32(mut x: u64) -> u32 {
    x = (!x).wrapping_add(x << 18);
    x ^= x.rotate_right(31);
    x = x.wrapping_mul(21);
    x ^= x.rotate_right(11);
    x = x.wrapping_add(x << 6);
    (x ^ x.rotate_right(22)) as u32
}

/// What the bits of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// A number.
    Integer,
    /// The bits of a Float32.
    Float32,
    /// The bits of a Float64.
    Float64,
    /// A hash of a string.
    Text,
    /// A hash of a UUID.
    Uuid,
    /// A hash of several values, or of a value of another type.
    Parts,
}

impl RowKind {
    /// The kind of rows of these types, none of them Nullable or LowCardinality.
    pub(super) fn of(types: &[DataType]) -> Self {
        let [data_type] = types else {
            return Self::Parts;
        };
        match data_type {
            DataType::Float32 => Self::Float32,
            DataType::Float64 => Self::Float64,
            DataType::String | DataType::FixedString(_) | DataType::Ipv6 => Self::Text,
            DataType::Uuid => Self::Uuid,
            // Those that ClickHouse has no numbers for.
            DataType::Decimal { .. } | DataType::DateTime64(..) | DataType::Interval(_) => {
                Self::Parts
            }
            other if other.fixed_size_bytes().is_some() => Self::Integer,
            _ => Self::Parts,
        }
    }
}

struct Bits<'a>(&'a ArrayRef);

impl PrimitiveVisitor for Bits<'_> {
    type Output = Result<Vec<u64>>;

    fn visit<T: Primitive>(self) -> Result<Vec<u64>> {
        let values = primitive::<T>(self.0)?.values().iter();
        Ok(values.map(|v| v.key() as u64).collect())
    }
}

/// The bits of each row, of the kind that [`RowKind::of`] tells.
pub(super) fn row_hashes(args: &[ArrayRef], types: &[DataType]) -> Result<Vec<u64>> {
    match (RowKind::of(types), args) {
        (RowKind::Text, [array]) => text_hashes(array),
        (RowKind::Uuid, [array]) => {
            let halves = array
                .as_fixed_size_binary_opt()
                .ok_or_else(|| wrong_array(array))?;
            let hash = |row| {
                let value = halves.value(row).iter().rev();
                let folded = value.enumerate().fold(0, |folded: u64, (at, byte)| {
                    folded ^ u64::from(*byte) << (8 * (at % 8))
                });
                mix64(folded)
            };
            Ok((0..array.len()).map(hash).collect())
        }
        (RowKind::Parts, _) => part_hashes(args, types),
        (_, [array]) => visit_primitive(array.data_type(), Bits(array))
            .unwrap_or_else(|| Err(wrong_array(array))),
        _ => part_hashes(args, types),
    }
}

/// The hashes of rows of bytes.
pub(super) fn text_hashes(array: &ArrayRef) -> Result<Vec<u64>> {
    let strings = StringColumn::of_array(array, false)?;
    let rows = 0..array.len();
    Ok(rows.map(|row| city_hash_64(strings.value(row))).collect())
}

/// The hashes of rows of several values, or of a tuple's values.
fn part_hashes(args: &[ArrayRef], types: &[DataType]) -> Result<Vec<u64>> {
    if let ([array], [DataType::Tuple(tuple)]) = (args, types) {
        let parts = array.as_struct_opt().ok_or_else(|| wrong_array(array))?;
        if parts.columns().is_empty() {
            return Ok(vec![0; array.len()]);
        }
        if tuple.types.iter().all(has_bytes) {
            return hashes_of_bytes(parts.columns(), &tuple.types, array.len());
        }
    }
    if types.iter().all(has_bytes) {
        let len = args.first().map_or(0, |array| array.len());
        return hashes_of_bytes(args, types, len);
    }
    let keys = row_keys(args)?;
    Ok(keys.into_iter().map(|k| k as u64).collect())
}

fn hashes_of_bytes(args: &[ArrayRef], types: &[DataType], num_rows: usize) -> Result<Vec<u64>> {
    let columns = args.iter().zip(types).map(|(a, t)| RowBytes::new(a, t));
    let columns: Vec<RowBytes> = columns.collect::<Result<_>>()?;
    let mut hashes = Vec::with_capacity(num_rows);
    let mut bytes = Vec::new();
    if !types.iter().all(is_one_run) {
        for row in 0..num_rows {
            bytes.clear();
            columns
                .iter()
                .for_each(|c| c.append_marked(row, &mut bytes));
            hashes.push(sip_hash_128(&bytes, (0, 0)) as u64);
        }
        return Ok(hashes);
    }
    for (at, column) in columns.iter().enumerate() {
        for row in 0..num_rows {
            bytes.clear();
            column.append_run(row, &mut bytes);
            let hash = city_hash_64(&bytes);
            match hashes.get_mut(row) {
                Some(before) if at > 0 => *before = hash_128_to_64(hash, *before),
                _ => hashes.push(hash),
            }
        }
    }
    Ok(hashes)
}
