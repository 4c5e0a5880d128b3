//! Gives each row of some columns a number of up to 128 bits: its own bits, or a hash of them.
//!
//! Two different rows have the same hash with a probability below 10^-20 at a billion rows.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, SortField};
use basalt_error::Result;
use xxhash_rust::xxh3::xxh3_128;

use super::defaults::bug;
use super::values::{Primitive, PrimitiveVisitor, Value, primitive, visit_primitive};
use crate::StringColumn;

struct Keys<'a>(&'a ArrayRef);

impl PrimitiveVisitor for Keys<'_> {
    type Output = Result<Vec<u128>>;

    fn visit<T: Primitive>(self) -> Result<Vec<u128>> {
        let values = primitive::<T>(self.0)?.values();
        Ok(values.iter().map(|v| v.key()).collect())
    }
}

/// The number of each row of `columns`; in rows of NULL of a single column it is any.
///
/// # Errors
/// `LOGICAL_ERROR` if Arrow cannot encode the columns.
pub(crate) fn row_keys(columns: &[ArrayRef]) -> Result<Vec<u128>> {
    if let [column] = columns {
        if let Some(keys) = visit_primitive(column.data_type(), Keys(column)) {
            return keys;
        }
        if let Ok(strings) = StringColumn::of_array(column, false) {
            let rows = 0..column.len();
            return Ok(rows.map(|row| bytes_key(strings.value(row))).collect());
        }
    }
    let fields = columns
        .iter()
        .map(|c| SortField::new(c.data_type().clone()))
        .collect();
    let converter = RowConverter::new(fields).map_err(bug)?;
    let rows = converter.convert_columns(columns).map_err(bug)?;
    Ok(rows.iter().map(|row| xxh3_128(row.data())).collect())
}

/// The number of a string.
#[inline]
pub(crate) fn bytes_key(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// Size in bytes of the keys that tell values of a single column of this type apart.
pub(crate) fn key_bytes(columns: &[ArrowType]) -> usize {
    match columns {
        [column] => match column.primitive_width() {
            Some(width @ 1..=4) => width.max(4),
            Some(8) => 8,
            _ => 16,
        },
        _ => 16,
    }
}

/// A key as a set keeps it.
pub(crate) trait SetKey: Copy + Eq + Send + std::fmt::Debug + 'static {
    /// The Arrow type that carries keys between threads.
    type Arrow: ArrowPrimitiveType;

    /// The key from the low bits of a row's number.
    fn from_bits(bits: u128) -> Self;

    /// The key as an Arrow value.
    fn to_native(self) -> <Self::Arrow as ArrowPrimitiveType>::Native;

    /// The key of an Arrow value.
    fn from_native(native: <Self::Arrow as ArrowPrimitiveType>::Native) -> Self;

    /// Where the key goes in a hash table.
    fn hash(self) -> u64;
}

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Multiplies to 128 bits and folds the halves: every bit of the key reaches every bit.
#[inline]
pub(crate) fn mix(key: u64) -> u64 {
    let product = u128::from(key ^ 0x2545_F491_4F6C_DD1D) * u128::from(MULTIPLIER);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Implements [`SetKey`] for an unsigned integer: its Arrow type and its hash.
macro_rules! set_keys {
    ($($key:ty => $arrow:ty, |$x:ident| $hash:expr;)*) => {$(
        impl SetKey for $key {
            type Arrow = $arrow;

            fn from_bits(bits: u128) -> Self {
                bits as $key
            }

            fn to_native(self) -> <$arrow as ArrowPrimitiveType>::Native {
                self as <$arrow as ArrowPrimitiveType>::Native
            }

            fn from_native(native: <$arrow as ArrowPrimitiveType>::Native) -> Self {
                native as $key
            }

            #[inline]
            fn hash(self) -> u64 {
                let $x = self;
                $hash
            }
        }
    )*};
}

set_keys! {
    u32 => arrow::datatypes::UInt32Type, |x| mix(u64::from(x));
    u64 => arrow::datatypes::UInt64Type, |x| mix(x);
    u128 => arrow::datatypes::Decimal128Type, |x| mix((x as u64) ^ ((x >> 64) as u64).rotate_left(32));
}
