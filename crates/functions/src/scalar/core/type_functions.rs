//! Tells about types and passes values through: `toTypeName`, `isNull`, `materialize`, `byteSize`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewArray};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, parse_data_type};

use super::conditional::strip_nulls;
use super::defaults::{default_array, type_default_array, with_defaults};
use super::numeric::{Num, array_of, map1, with_native};
use crate::{Call, Column, Fails, Nulls, Purity, Resolved, ScalarFunction};

const RAW: ScalarFunction = ScalarFunction {
    nulls: Nulls::Raw,
    ..ScalarFunction::BASE
};

/// Functions of types and NULLs.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "toTypeName",
        fails: Fails::Never,
        syntax: "toTypeName(x)",
        description: "Returns the name of the argument's type.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            text(call.data_type(0).pretty_name())
        },
        ..RAW
    },
    ScalarFunction {
        name: "toColumnTypeName",
        syntax: "toColumnTypeName(x)",
        description: "Returns the name of the column that holds the argument.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            let name = call.data_type(0).to_string();
            let is_const = call.args[0].constant.is_some();
            text(if is_const {
                format!("Const({name})")
            } else {
                name
            })
        },
        ..RAW
    },
    ScalarFunction {
        name: "defaultValueOfArgumentType",
        syntax: "defaultValueOfArgumentType(x)",
        description: "Returns the default value of the argument's type.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            default(call.data_type(0).clone())
        },
        ..RAW
    },
    ScalarFunction {
        name: "defaultValueOfTypeName",
        syntax: "defaultValueOfTypeName('Type')",
        description: "Returns the default value of a type given by its name.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            default(parse_data_type(&call.constant_str(0)?)?)
        },
        ..RAW
    },
    ScalarFunction {
        name: "getSizeOfEnumType",
        syntax: "getSizeOfEnumType(x)",
        description: "Returns the number of names of an Enum.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            match call.data_type(0).base() {
                // An Enum8 has up to 256 names, which 8 bits count from 0 again, as in ClickHouse.
                DataType::Enum8(names) => {
                    let len = names.values().len() as u8;
                    Resolved::new(DataType::UInt8, move |_, rows| {
                        Ok(array_of(vec![len; rows]))
                    })
                }
                DataType::Enum16(names) => {
                    let len = names.values().len() as u16;
                    Resolved::new(DataType::UInt16, move |_, rows| {
                        Ok(array_of(vec![len; rows]))
                    })
                }
                _ => Err(call.illegal_type(0)),
            }
        },
        ..RAW
    },
    ScalarFunction {
        name: "materialize",
        fails: Fails::Never,
        purity: Purity::PerRow,
        syntax: "materialize(x)",
        description: "Returns its argument, never as a constant.",
        resolve: same,
        ..RAW
    },
    ScalarFunction {
        name: "identity",
        fails: Fails::Never,
        syntax: "identity(x)",
        description: "Returns its argument.",
        resolve: same,
        ..RAW
    },
    ScalarFunction {
        name: "ignore",
        purity: Purity::PerRow,
        syntax: "ignore(x, …)",
        description: "Returns 0 whatever the arguments are.",
        resolve: |_| constant(0_u8, DataType::UInt8),
        ..RAW
    },
    ScalarFunction {
        name: "indexHint",
        syntax: "indexHint(x, …)",
        description: "Returns 1 whatever the arguments are.",
        resolve: |_| constant(1_u8, DataType::UInt8),
        ..RAW
    },
    ScalarFunction {
        name: "isConstant",
        syntax: "isConstant(x)",
        description: "Returns 1 if the argument is the same for all rows.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            constant(u8::from(call.args[0].constant.is_some()), DataType::UInt8)
        },
        ..RAW
    },
    ScalarFunction {
        name: "toLowCardinality",
        fails: Fails::Never,
        syntax: "toLowCardinality(x)",
        description: "Converts the argument to a LowCardinality type.",
        resolve: to_low_cardinality,
        ..RAW
    },
    ScalarFunction {
        name: "toNullable",
        fails: Fails::Never,
        syntax: "toNullable(x)",
        description: "Converts the argument to a Nullable type.",
        resolve: to_nullable,
        ..RAW
    },
    ScalarFunction {
        name: "assumeNotNull",
        fails: Fails::Never,
        syntax: "assumeNotNull(x)",
        description: "Returns the argument as a type without NULL; NULLs become the default of the type.",
        resolve: assume_not_null,
        ..RAW
    },
    ScalarFunction {
        name: "isNull",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "isNull(x)",
        description: "Returns 1 for NULL.",
        resolve: |call| nullness(call, 1),
        ..RAW
    },
    ScalarFunction {
        name: "isNotNull",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "isNotNull(x)",
        description: "Returns 0 for NULL.",
        resolve: |call| nullness(call, 0),
        ..RAW
    },
    ScalarFunction {
        name: "isNullable",
        fails: Fails::Never,
        syntax: "isNullable(x)",
        description: "Returns 1 if the argument's type has NULL.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            constant(u8::from(call.data_type(0).is_nullable()), DataType::UInt8)
        },
        ..RAW
    },
    ScalarFunction {
        name: "isZeroOrNull",
        fails: Fails::Never,
        syntax: "isZeroOrNull(x)",
        description: "Returns 1 for 0 and NULL.",
        resolve: is_zero_or_null,
        ..RAW
    },
    ScalarFunction {
        name: "byteSize",
        syntax: "byteSize(x, …)",
        description: "Estimates the bytes that the arguments take in memory.",
        resolve: byte_size,
        ..RAW
    },
    ScalarFunction {
        name: "blockSize",
        purity: Purity::PerRow,
        syntax: "blockSize()",
        description: "Returns the number of rows that are processed together.",
        resolve: |call| {
            call.expect_args(0..=0)?;
            Resolved::new(DataType::UInt64, |_, num_rows| {
                Ok(array_of(vec![num_rows as u64; num_rows]))
            })
        },
        ..RAW
    },
];

fn text(text: String) -> Result<Resolved> {
    Resolved::new(DataType::String, move |_, num_rows| {
        let mut builder = arrow::array::BinaryViewBuilder::with_capacity(1);
        builder.append_value(&text);
        let one: BinaryViewArray = builder.finish();
        Column::constant(Arc::new(one)).expand(num_rows)
    })
}

fn constant(value: u8, data_type: DataType) -> Result<Resolved> {
    Resolved::new(data_type, move |_, num_rows| {
        Ok(array_of(vec![value; num_rows]))
    })
}

fn default(data_type: DataType) -> Result<Resolved> {
    Resolved::new(data_type.clone(), move |_, num_rows| {
        type_default_array(&data_type, num_rows)
    })
}

fn same(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    Resolved::new(call.data_type(0).clone(), |columns, num_rows| {
        columns[0].expand(num_rows)
    })
}

fn to_low_cardinality(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0).without_low_cardinality().clone();
    let fits = data_type.is_nullable() || data_type.can_be_nullable();
    if !fits || data_type.is_decimal() || data_type.is_enum() {
        return Err(call.illegal_type(0));
    }
    Resolved::new(
        DataType::LowCardinality(Arc::new(data_type)),
        |columns, num_rows| columns[0].expand(num_rows),
    )
}

fn to_nullable(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let base = call.data_type(0).base();
    if matches!(
        base,
        DataType::Array(_) | DataType::Map(..) | DataType::Tuple(_) | DataType::Variant(_)
    ) {
        return Err(call.illegal_type(0));
    }
    Resolved::new(
        call.data_type(0).clone().to_nullable(),
        |columns, num_rows| columns[0].expand(num_rows),
    )
}

fn assume_not_null(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0);
    if *data_type.base() == DataType::Nothing {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            "Cannot create non-empty column with type Nothing",
        ));
    }
    let plain = match data_type {
        DataType::Nullable(inner) => inner.as_ref().clone(),
        DataType::LowCardinality(inner) => match inner.as_ref() {
            DataType::Nullable(inner) => DataType::LowCardinality(Arc::clone(inner)),
            _ => data_type.clone(),
        },
        DataType::Variant(_) => {
            return Resolved::new(data_type.clone(), |columns, num_rows| {
                columns[0].expand(num_rows)
            });
        }
        t => t.clone(),
    };
    // What lies below a NULL is whatever has been read or calculated there: it would change with merges and plans.
    let default = default_array(&plain, 1)?;
    Resolved::new(plain, move |columns, num_rows| {
        let array = columns[0].expand(num_rows)?;
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => with_defaults(&array, nulls, Arc::clone(&default)),
            None => strip_nulls(&array),
        }
    })
}

/// `of_null` for NULL, else the opposite.
fn nullness(call: &Call<'_>, of_null: u8) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let out = match columns[0].validity(num_rows) {
            None => vec![1 - of_null; num_rows],
            Some(valid) => valid.iter().map(|v| u8::from(v) ^ of_null).collect(),
        };
        Ok(array_of(out))
    })
}

fn is_zero_or_null(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0);
    if *data_type.base() == DataType::Nothing {
        return constant(1, DataType::UInt8);
    }
    if !data_type.is_integer() && !data_type.is_float() {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "The argument of function isZeroOrNull must have simple numeric type, got {data_type}"
            ),
        ));
    }
    let num = Num::of(data_type).ok_or_else(|| call.illegal_type(0))?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let zeros = with_native!(num, T => {
            let zero = <T as Default>::default();
            map1::<T, u8>(&columns[0], num_rows, |x| u8::from(x == zero))
        })?;
        match columns[0].validity(num_rows) {
            None => Ok(zeros),
            Some(valid) => {
                let zeros = super::numeric::values::<u8>(zeros.as_ref())?.iter();
                let out = zeros.zip(valid.iter()).map(|(z, v)| z | u8::from(!v));
                Ok(array_of(out.collect::<Vec<u8>>()))
            }
        }
    })
}

fn byte_size(call: &Call<'_>) -> Result<Resolved> {
    let types = call.data_types();
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let mut sizes = vec![0_u64; num_rows];
        for (column, data_type) in columns.iter().zip(&types) {
            for (row, size) in sizes.iter_mut().enumerate() {
                *size += value_size(&column.array, column.row(row), data_type);
            }
        }
        Ok(array_of(sizes))
    })
}

/// Bytes of one value in ClickHouse's memory; texts and arrays have an offset of 8.
fn value_size(array: &ArrayRef, row: usize, data_type: &DataType) -> u64 {
    let null_map = u64::from(data_type.is_nullable());
    let base = data_type.base();
    if let Some(size) = base.fixed_size_bytes() {
        return size as u64 + null_map;
    }
    let own = match base {
        DataType::Array(element) => {
            list_size(array, row, |values, idx| value_size(values, idx, element))
        }
        DataType::Map(key, value) => list_size(array, row, |values, idx| {
            let pair = values.as_struct();
            value_size(pair.column(0), idx, key) + value_size(pair.column(1), idx, value)
        }),
        DataType::Tuple(tuple) => {
            let columns = array.as_struct().columns().iter().zip(&tuple.types);
            columns.map(|(c, t)| value_size(c, row, t)).sum()
        }
        _ => match array.as_binary_view_opt() {
            Some(strings) => strings.value(row).len() as u64 + 8,
            None => 0,
        },
    };
    own + null_map
}

fn list_size(array: &ArrayRef, row: usize, element: impl Fn(&ArrayRef, usize) -> u64) -> u64 {
    let list = array.as_list::<i32>();
    let (first, last) = (
        list.value_offsets()[row] as usize,
        list.value_offsets()[row + 1] as usize,
    );
    8 + (first..last)
        .map(|idx| element(list.values(), idx))
        .sum::<u64>()
}
