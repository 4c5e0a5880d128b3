//! Counts the decimal digits of integers and decimals.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, Decimal256Type, i256};
use basalt_error::Result;
use basalt_types::DataType;

use super::entry;
use crate::scalar::core::numeric::{array_of, map1};
use crate::scalar::strings::shapes::Ints;
use crate::{Column, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["countDigits"],
        Purity::Pure,
        (
            "countDigits(x)",
            "Number of decimal digits of an integer, or of a decimal without its point.",
        ),
        |call| {
            call.expect_args(1..=1)?;
            call.expect_type(0, |t| t.is_integer() || t.is_decimal())?;
            let is_unsigned = call.data_type(0).is_unsigned();
            Resolved::new(DataType::UInt8, move |columns, num_rows| {
                let counts = Column {
                    array: count(&columns[0].array, is_unsigned)?,
                    is_const: columns[0].is_const,
                };
                counts.expand(num_rows)
            })
        },
    ),
    entry(
        &["isDecimalOverflow"],
        Purity::Pure,
        (
            "isDecimalOverflow(d[, precision])",
            "Whether a decimal has more digits than the precision.",
        ),
        |call| {
            call.expect_args(1..=2)?;
            call.expect_type(0, DataType::is_decimal)?;
            let own = match call.data_type(0) {
                DataType::Decimal { precision, .. } => i64::from(*precision),
                _ => 0,
            };
            if call.args.len() > 1 {
                call.expect_type(1, DataType::is_integer)?;
            }
            Resolved::new(DataType::UInt8, move |columns, num_rows| {
                let counts = Column {
                    array: count(&columns[0].array, false)?,
                    is_const: columns[0].is_const,
                };
                let counts = Ints::new(&counts)?;
                let precisions = columns.get(1).map(Ints::new).transpose()?;
                let overflows = (0..num_rows).map(|row| {
                    let precision = precisions.as_ref().map_or(own, |p| p.value(row));
                    u8::from(counts.value(row) > precision)
                });
                Ok(array_of(overflows.collect::<Vec<u8>>()))
            })
        },
    ),
];

fn of_u128(value: u128) -> u8 {
    // At most 39 digits.
    value.checked_ilog10().unwrap_or(0) as u8 + 1
}

fn count(array: &ArrayRef, is_unsigned: bool) -> Result<ArrayRef> {
    let column = Column::new(ArrayRef::clone(array));
    match array.data_type() {
        ArrowType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            Ok(array_of(
                values
                    .iter()
                    .map(|v| of_u128(v.unsigned_abs()))
                    .collect::<Vec<u8>>(),
            ))
        }
        ArrowType::Decimal256(..) => {
            let values = array.as_primitive::<Decimal256Type>().values();
            let digits = |v: &i256| v.to_string().trim_start_matches('-').len() as u8;
            Ok(array_of(values.iter().map(digits).collect::<Vec<u8>>()))
        }
        _ if is_unsigned => map1::<u64, u8>(&column, array.len(), |v| of_u128(v.into())),
        _ => map1::<i64, u8>(&column, array.len(), |v| of_u128(v.unsigned_abs().into())),
    }
}
