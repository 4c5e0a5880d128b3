//! Reads integer arguments of any width: positions, lengths, shifts.

use arrow::array::Array;
use arrow::buffer::NullBuffer;
use basalt_error::{Error, Result};

use crate::Column;
use crate::scalar::core::numeric::{self, FromNum, Num, with_native};

/// The numbers of a column as 64-bit ones; what they cannot hold becomes their greatest.
#[derive(Debug)]
pub struct Integers {
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
    mask: usize,
}

impl Integers {
    /// The numbers of a column; floats lose their fraction.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if it holds none.
    pub fn of(column: &Column) -> Result<Self> {
        let array = &column.array;
        let values = if array.data_type() == &arrow::datatypes::DataType::Null {
            vec![0; array.len()]
        } else {
            let num = Num::of_arrow(array.data_type());
            let num =
                num.ok_or_else(|| Error::bug(format!("no integer: {}", array.data_type())))?;
            match num {
                Num::U64 => {
                    let values = numeric::values::<u64>(array.as_ref())?.iter();
                    values
                        .map(|v| i64::try_from(*v).unwrap_or(i64::MAX))
                        .collect()
                }
                _ => with_native!(num, T => {
                    let values = numeric::values::<T>(array.as_ref())?.iter();
                    values.map(|v| i64::from_num(*v)).collect()
                }),
            }
        };
        Ok(Self {
            values,
            nulls: array.logical_nulls().filter(|n| n.null_count() > 0),
            mask: if column.is_const { 0 } else { usize::MAX },
        })
    }

    /// The number of a row; anything if it is NULL.
    #[inline]
    pub fn value(&self, row: usize) -> i64 {
        self.values[row & self.mask]
    }

    /// The number of a row, unless it is NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        let row = row & self.mask;
        match &self.nulls {
            Some(nulls) if nulls.is_null(row) => None,
            _ => Some(self.values[row]),
        }
    }
}
