//! Compares values of any two types that compare: `equals`, `less` and kin.
//!
//! | module | owns |
//! |---|---|
//! | [`number`] | integers and floats, exactly, whatever their signs and sizes |
//! | [`text`] | strings and other bytes |
//! | [`digits`] | decimals with constants |
//! | [`tuples`] | tuples, element by element |
//! | [`other`] | decimals, times with numbers, arrays, maps |

mod digits;
mod number;
mod other;
mod text;
mod tuples;

pub use digits::{DigitsTest, TestVisitor, digits_test};

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::ReadOptions;
use basalt_types::{ColumnBuilder, DataType, least_supertype};

use super::cast::{ArrayCast, array_cast};
use super::numeric::{Num, array_of};
use crate::{
    Arg, BoundFunction, Call, Column, Context, Eval, Fails, Nulls, Resolved, ScalarFunction,
    StringColumn,
};

/// A comparison; `>` and `>=` are these with the arguments exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
}

/// Texts of that many bytes are addresses in binary form.
const IPV6_BYTES: u32 = 16;

const COMPARISON: ScalarFunction = ScalarFunction {
    fails: Fails::Decimals,
    resolve,
    ..ScalarFunction::BASE
};

/// Comparison functions.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "equals",
        syntax: "equals(a, b)",
        description: "Returns 1 if the values are equal.",
        ..COMPARISON
    },
    ScalarFunction {
        name: "notEquals",
        syntax: "notEquals(a, b)",
        description: "Returns 1 if the values differ.",
        ..COMPARISON
    },
    ScalarFunction {
        name: "less",
        syntax: "less(a, b)",
        description: "Returns 1 if the first value is less.",
        ..COMPARISON
    },
    ScalarFunction {
        name: "greater",
        syntax: "greater(a, b)",
        description: "Returns 1 if the first value is greater.",
        ..COMPARISON
    },
    ScalarFunction {
        name: "lessOrEquals",
        syntax: "lessOrEquals(a, b)",
        description: "Returns 1 if the first value is less or they are equal.",
        ..COMPARISON
    },
    ScalarFunction {
        name: "greaterOrEquals",
        syntax: "greaterOrEquals(a, b)",
        description: "Returns 1 if the first value is greater or they are equal.",
        ..COMPARISON
    },
    ScalarFunction {
        name: "isNotDistinctFrom",
        nulls: Nulls::Own,
        syntax: "isNotDistinctFrom(a, b)",
        description: "Returns 1 if the values are equal or both NULL.",
        resolve: |call| distinct(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isDistinctFrom",
        nulls: Nulls::Own,
        syntax: "isDistinctFrom(a, b)",
        description: "Returns 1 if the values differ or only one of them is NULL.",
        resolve: |call| distinct(call, true),
        ..ScalarFunction::BASE
    },
];

/// The operation of a function, and whether its arguments are exchanged.
fn op_of(function: &str) -> Option<(Op, bool)> {
    Some(match function {
        "equals" => (Op::Equal, false),
        "notEquals" => (Op::NotEqual, false),
        "less" => (Op::Less, false),
        "lessOrEquals" => (Op::LessOrEqual, false),
        "greater" => (Op::Less, true),
        "greaterOrEquals" => (Op::LessOrEqual, true),
        _ => return None,
    })
}

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let unknown = || Error::bug(format!("no comparison: {}", call.name));
    let (op, swapped) = op_of(call.name).ok_or_else(unknown)?;
    let (a, b) = (&call.args[0], &call.args[1]);
    if !swapped {
        return resolve_pair(call, op, a, b);
    }
    let resolved = resolve_pair(call, op, b, a)?;
    let eval = resolved.eval;
    Resolved::new(resolved.return_type, move |columns, num_rows| {
        eval(&[columns[1].clone(), columns[0].clone()], num_rows)
    })
}

fn resolve_pair(call: &Call<'_>, op: Op, a: &Arg, b: &Arg) -> Result<Resolved> {
    if let Some(resolved) = with_constant_text(call, op, a, b)? {
        return Ok(resolved);
    }
    if let Some(resolved) = tuples::tuples(call, op, (a, b))? {
        return Ok(resolved);
    }
    let (a, b) = (&a.data_type, &b.data_type);
    let eval = compare(op, a, b, call.context)?.ok_or_else(|| illegal_types(call, a, b))?;
    Ok(Resolved {
        return_type: DataType::UInt8,
        eval,
    })
}

fn illegal_types(call: &Call<'_>, a: &DataType, b: &DataType) -> Error {
    if a.is_string() || b.is_string() {
        return Error::new(
            ErrorCode::NO_COMMON_TYPE,
            format!(
                "Cast one of them: there is no supertype for types {a}, {b} to compare them in"
            ),
        );
    }
    Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!(
            "Cast one of them: illegal types of arguments (`{a}`, `{b}`) of function `{}`",
            call.name
        ),
    )
}

/// The loop for two types, if they compare.
fn compare(op: Op, a: &DataType, b: &DataType, context: &Context) -> Result<Option<Eval>> {
    use DataType as T;
    if a.is_string() && b.is_string() {
        let trims = *a != T::String || *b != T::String;
        return Ok(Some(Arc::new(move |columns, num_rows| {
            text::compare(op, (&columns[0], &columns[1]), num_rows, trims)
        })));
    }
    if a.is_decimal() && b.is_number() || a.is_number() && b.is_decimal() {
        return Ok(other::decimals(op, a, b));
    }
    if let (T::Ipv4, other) | (other, T::Ipv4) = (a, b)
        && (other.is_signed() || other.is_float())
    {
        return Err(Error::not_implemented(format!(
            "Comparing IPv4 with {other}"
        )));
    }
    if let Some(eval) = as_numbers(op, a, b) {
        return Ok(Some(eval));
    }
    match (a, b) {
        _ if a.is_enum() && b.is_string() || a.is_string() && b.is_enum() => {
            in_common_type(op, a, b, &T::String, context)
        }
        (T::Uuid, T::Uuid) => Ok(Some(Arc::new(move |columns, num_rows| {
            text::uuids(op, (&columns[0], &columns[1]), num_rows)
        }))),
        (T::Ipv6 | T::FixedString(IPV6_BYTES), T::Ipv6) | (T::Ipv6, T::FixedString(IPV6_BYTES)) => {
            Ok(Some(Arc::new(move |columns, num_rows| {
                text::compare(op, (&columns[0], &columns[1]), num_rows, false)
            })))
        }
        (T::DateTime64(p, _), n) if n.is_number() => other::time_with_number(op, *p, n, true),
        (n, T::DateTime64(p, _)) if n.is_number() => other::time_with_number(op, *p, n, false),
        (T::Ipv4, T::Ipv6) | (T::Ipv6, T::Ipv4) => in_common_type(op, a, b, &T::Ipv6, context),
        (T::Interval(x), T::Interval(y)) => other::intervals(op, *x, *y).map(Some),
        _ if a.is_date_or_time() && b.is_date_or_time() => {
            let common = match least_supertype(&[a.clone(), b.clone()])? {
                // Days go on for longer than seconds of 32 bits.
                T::DateTime(zone) => T::DateTime64(0, zone),
                common => common,
            };
            in_common_type(op, a, b, &common, context)
        }
        (T::Array(_), T::Array(_)) | (T::Map(..), T::Map(..)) => other::nested(op, a, b, context),
        (T::Tuple(x), T::Tuple(y)) if x.types.len() == y.types.len() => {
            other::nested(op, a, b, context)
        }
        (T::Nothing, T::Nothing) => Ok(Some(Arc::new(move |_, num_rows| {
            let equal = u8::from(matches!(op, Op::Equal | Op::LessOrEqual));
            Ok(array_of(vec![equal; num_rows]))
        }))),
        _ => Ok(None),
    }
}

/// Types whose values are compared as the numbers that hold them.
fn as_numbers(op: Op, a: &DataType, b: &DataType) -> Option<Eval> {
    let is_number = |t: &DataType| {
        t.is_integer() || t.is_float() || matches!(t, DataType::Ipv4 | DataType::Interval(_))
    };
    let fits = match (a, b) {
        (DataType::Interval(x), DataType::Interval(y)) => x == y,
        (DataType::DateTime(_), DataType::DateTime(_)) => true,
        (DataType::DateTime64(p, _), DataType::DateTime64(q, _)) => p == q,
        (DataType::DateTime(_), t) | (t, DataType::DateTime(_)) => is_number(t),
        _ if a == b => Num::of(a).is_some(),
        _ if a.is_enum() && b.is_enum() => true,
        _ if a.is_enum() => is_number(b),
        _ if b.is_enum() => is_number(a),
        _ => is_number(a) && is_number(b),
    };
    let (a, b) = (Num::of(a)?, Num::of(b)?);
    fits.then(|| -> Eval {
        Arc::new(move |columns, num_rows| {
            number::compare(op, (&columns[0], &columns[1]), (a, b), num_rows)
        })
    })
}

fn cast_column(cast: &ArrayCast, column: &Column) -> Result<Column> {
    Ok(Column {
        array: cast(&column.array)?,
        is_const: column.is_const,
    })
}

fn in_common_type(
    op: Op,
    a: &DataType,
    b: &DataType,
    common: &DataType,
    context: &Context,
) -> Result<Option<Eval>> {
    // The columns may have NULLs, although their types are given without.
    let nullable = common.clone().to_nullable();
    let (cast_a, cast_b) = (
        array_cast(a, &nullable, context)?,
        array_cast(b, &nullable, context)?,
    );
    let Some(eval) = compare(op, common, common, context)? else {
        return Ok(None);
    };
    Ok(Some(Arc::new(move |columns, num_rows| {
        let columns = [
            cast_column(&cast_a, &columns[0])?,
            cast_column(&cast_b, &columns[1])?,
        ];
        eval(&columns, num_rows)
    })))
}

/// A constant text beside another type is read as a value of that type, once.
fn with_constant_text(call: &Call<'_>, op: Op, a: &Arg, b: &Arg) -> Result<Option<Resolved>> {
    let text_of = |arg: &Arg| arg.constant.clone().filter(|_| arg.data_type.is_string());
    let (text, other, is_first) = match (text_of(a), text_of(b)) {
        _ if is_binary_address(a, b) || is_binary_address(b, a) => return Ok(None),
        (Some(text), None) if !b.data_type.is_string() => (text, &b.data_type, true),
        (None, Some(text)) if !a.data_type.is_string() => (text, &a.data_type, false),
        _ => return Ok(None),
    };
    let constant = match read_constant(&text, other, call.context)? {
        Some(constant) => Column::constant(constant),
        // No element of the enum: equal to none of them.
        None => {
            let value = u8::from(op == Op::NotEqual);
            return Resolved::new(DataType::UInt8, move |_, num_rows| {
                Ok(array_of(vec![value; num_rows]))
            })
            .map(Some);
        }
    };
    let value = Arg {
        data_type: other.clone(),
        constant: Some(Arc::clone(&constant.array)),
    };
    let (a, b) = if is_first { (&value, b) } else { (a, &value) };
    let resolved = resolve_pair(call, op, a, b)?;
    Resolved::new(resolved.return_type, move |columns, num_rows| {
        let columns = if is_first {
            [constant.clone(), columns[1].clone()]
        } else {
            [columns[0].clone(), constant.clone()]
        };
        (resolved.eval)(&columns, num_rows)
    })
    .map(Some)
}

fn is_binary_address(text: &Arg, other: &Arg) -> bool {
    text.data_type == DataType::FixedString(IPV6_BYTES) && *other.data_type.base() == DataType::Ipv6
}

/// The value of another type that a constant text stands for; `None` if it names no element of an
/// enum.
///
/// # Errors
/// `TYPE_MISMATCH`, or what the type reports for texts that are none of its values.
pub fn read_constant(
    text: &ArrayRef,
    data_type: &DataType,
    context: &Context,
) -> Result<Option<ArrayRef>> {
    let bytes = StringColumn::of_array(text, true)?.value(0);
    let options = ReadOptions {
        time_zone: context.time_zone,
        ..ReadOptions::default()
    };
    let mut builder = ColumnBuilder::with_options(data_type, 1, &options)?;
    let Err(e) = builder.append_text(bytes) else {
        return builder.finish().map(Some);
    };
    if data_type.is_enum() && e.code() == ErrorCode::UNKNOWN_ELEMENT_OF_ENUM {
        return Ok(None);
    }
    let message = format!(
        "Cannot convert string '{}' to type {data_type}",
        String::from_utf8_lossy(bytes)
    );
    let is_nested = matches!(
        data_type,
        DataType::Array(_) | DataType::Tuple(_) | DataType::Map(..)
    );
    let keeps_code = is_nested
        || matches!(
            e.code(),
            ErrorCode::CANNOT_PARSE_DATE
                | ErrorCode::CANNOT_PARSE_DATETIME
                | ErrorCode::CANNOT_PARSE_UUID
                | ErrorCode::CANNOT_PARSE_IPV4
                | ErrorCode::CANNOT_PARSE_IPV6
        );
    Err(if keeps_code {
        e.within(message)
    } else {
        Error::new(ErrorCode::TYPE_MISMATCH, message)
    })
}

/// Equality in which NULL is a value like others.
fn distinct(call: &Call<'_>, negated: bool) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if let Some(resolved) = tuples::distinct(call, negated)? {
        return Ok(resolved);
    }
    let equals = FUNCTIONS
        .iter()
        .find(|f| f.name == "equals")
        .ok_or_else(|| Error::bug("equals is a function"))?;
    let is_nothing = |arg: &Arg| *arg.data_type.base() == DataType::Nothing;
    let only_null = call.args.iter().any(is_nothing);
    let bound = BoundFunction::bind(equals, call.args, call.context)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let validity = |column: &Column| column.validity(num_rows);
        let (valid_a, valid_b) = (validity(&columns[0]), validity(&columns[1]));
        let equal = if only_null {
            array_of(vec![0_u8; num_rows])
        } else {
            bound.call(columns, num_rows)?
        };
        let equal = equal.as_primitive::<UInt8Type>().values();
        let is_null = |nulls: &Option<arrow::buffer::NullBuffer>, row: usize| {
            nulls.as_ref().is_some_and(|n| n.is_null(row))
        };
        if valid_a.is_none() && valid_b.is_none() {
            return Ok(array_of(
                equal
                    .iter()
                    .map(|e| e ^ u8::from(negated))
                    .collect::<Vec<u8>>(),
            ));
        }
        let value = |row: usize| {
            let same = match (is_null(&valid_a, row), is_null(&valid_b, row)) {
                (true, true) => true,
                (false, false) => equal[row] == 1,
                _ => false,
            };
            u8::from(same != negated)
        };
        Ok(array_of((0..num_rows).map(value).collect::<Vec<u8>>()))
    })
}
