//! Gives each row of the arguments the 64 bits that the approximate counters start from.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;

use crate::StringColumn;
use crate::aggregate::row_keys::row_keys;
use crate::aggregate::values::{Primitive, PrimitiveVisitor, Value, primitive, visit_primitive};
use crate::scalar::hash::city::city_hash_64;

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

struct Bits<'a>(&'a ArrayRef);

impl PrimitiveVisitor for Bits<'_> {
    type Output = Result<Vec<u64>>;

    fn visit<T: Primitive>(self) -> Result<Vec<u64>> {
        let values = primitive::<T>(self.0)?.values().iter();
        Ok(match T::DATA_TYPE {
            ArrowType::Decimal128(..) | ArrowType::Decimal256(..) => {
                values.map(|v| fold(v.key())).collect()
            }
            _ => values.map(|v| v.key() as u64).collect(),
        })
    }
}

/// Decimals that fit into 64 bits are their own key.
fn fold(key: u128) -> u64 {
    let low = key as u64;
    if i128::from(low as i64) as u128 == key {
        low
    } else {
        mix64(low) ^ (key >> 64) as u64
    }
}

/// The bits of each row: the value itself, or a hash of it.
pub(super) fn row_hashes(args: &[ArrayRef]) -> Result<Vec<u64>> {
    if let [array] = args {
        return column_hashes(array);
    }
    let keys = row_keys(args)?;
    Ok(keys.into_iter().map(|k| k as u64).collect())
}

fn column_hashes(array: &ArrayRef) -> Result<Vec<u64>> {
    if let Some(bits) = visit_primitive(array.data_type(), Bits(array)) {
        return bits;
    }
    if let Ok(strings) = StringColumn::of_array(array, false) {
        let rows = 0..array.len();
        return Ok(rows.map(|row| city_hash_64(strings.value(row))).collect());
    }
    // A tuple of one element counts like the element.
    if let Some([only]) = array.as_struct_opt().map(|s| s.columns()) {
        return column_hashes(only);
    }
    let keys = row_keys(std::slice::from_ref(array))?;
    Ok(keys.into_iter().map(|k| k as u64).collect())
}
