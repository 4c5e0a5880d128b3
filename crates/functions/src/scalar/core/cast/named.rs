//! Casts to a type given by its name: `CAST`, `accurateCast`, `accurateCastOrNull | OrDefault`.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, parse_data_type};

use super::functions::{bound, keep_zone};
use super::{CastMode, cast_function};
use crate::{Call, Column, Context, Fails, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub(super) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "CAST",
        fails: Fails::Texts,
        aliases: &["_CAST"],
        case_insensitive: true,
        nulls: Nulls::Raw,
        syntax: "CAST(x, 'Type')",
        description: "Converts a value to a type given by its name.",
        resolve: |call| cast(call, CastMode::Normal),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "accurateCast",
        nulls: Nulls::Raw,
        syntax: "accurateCast(x, 'Type')",
        description: "Converts a value to a type; a value that would change is an error.",
        resolve: |call| cast(call, CastMode::Accurate),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "accurateCastOrNull",
        nulls: Nulls::Raw,
        syntax: "accurateCastOrNull(x, 'Type')",
        description: "Converts a value to a type; a value that would change becomes NULL.",
        resolve: |call| cast(call, CastMode::OrNull),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "accurateCastOrDefault",
        nulls: Nulls::Raw,
        syntax: "accurateCastOrDefault(x, 'Type'[, default])",
        description: "Converts a value to a type; a value that would change becomes the default.",
        resolve: |call| cast(call, CastMode::OrDefault),
        ..ScalarFunction::BASE
    },
];

fn cast(call: &Call<'_>, mode: CastMode) -> Result<Resolved> {
    call.expect_args(2..=2 + usize::from(mode == CastMode::OrDefault))?;
    let from = call.data_type(0);
    let to = keep_zone(from, parse_data_type(&call.constant_str(1)?)?);
    match mode {
        CastMode::OrDefault => or_default(call, from, (&to, 2), call.context),
        CastMode::OrNull if !to.is_nullable() && !to.can_be_nullable() => Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Type {to} is not supported for accurateCastOrNull because it cannot be inside Nullable"
            ),
        )),
        _ => bound(cast_function(from, &to, call.context, mode)?),
    }
}

/// Whether the type of a default value is that of the result; time zones may differ.
fn is_default_of(default: &DataType, result: &DataType) -> bool {
    match (default, result) {
        (DataType::DateTime(_), DataType::DateTime(_)) => true,
        (DataType::DateTime64(a, _), DataType::DateTime64(b, _)) => a == b,
        (DataType::Bool, DataType::UInt8) => true,
        _ => default == result,
    }
}

/// The cast to `to`, with the default value of argument `at` for what does not convert.
pub(super) fn or_default(
    call: &Call<'_>,
    from: &DataType,
    (to, at): (&DataType, usize),
    context: &Context,
) -> Result<Resolved> {
    if let Some(arg) = call.args.get(at)
        && !is_default_of(&arg.data_type, to)
    {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Default value of function {} must have the type {}, not {}",
                call.name, to, arg.data_type
            ),
        ));
    }
    let function = cast_function(from, to, context, CastMode::OrDefault)?;
    let default = match call.args.get(at) {
        Some(arg) => Some(cast_function(
            &arg.data_type,
            to,
            context,
            CastMode::Normal,
        )?),
        None => None,
    };
    Resolved::new(to.clone(), move |columns, num_rows| {
        let mut args = vec![columns[0].clone()];
        if let Some(default) = &default {
            args.push(Column::new(default.call(&columns[at..=at], num_rows)?));
        }
        function.call(&args, num_rows)
    })
}
