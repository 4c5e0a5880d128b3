//! Takes values out of JSON: the functions `JSONExtract…`.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::NestedMut;
use basalt_types::{ColumnBuilder, DataType, parse_data_type};

use super::insert::{Rules, insert};
use super::number::write_compact;
use super::path::{Documents, check_path};
use super::value::{Json, Kind};
use crate::{Call, Dictionaries, Resolved, ScalarFunction};

/// Appends to the column what a value gives; `false` leaves it to the caller to append a default.
type Append = fn(&mut ColumnBuilder, Json<'_>) -> Result<bool>;

macro_rules! extracts {
    ($($name:literal => $resolve:expr, $(check $check:expr,)? $description:literal;)*) => {
        /// The functions of this file.
        pub const FUNCTIONS: &[ScalarFunction] = &[$(
            ScalarFunction {
                name: $name,
                syntax: concat!($name, "(json[, key or position, ...])"),
                description: $description,
                dictionaries: Dictionaries::Dropped,
                $(check_null: $check,)?
                resolve: |call| $resolve(call, false),
                ..ScalarFunction::BASE
            },
            ScalarFunction {
                name: concat!($name, "CaseInsensitive"),
                syntax: concat!($name, "CaseInsensitive(json[, key or position, ...])"),
                description: concat!($description, " Keys are found in any case."),
                dictionaries: Dictionaries::Dropped,
                $(check_null: $check,)?
                resolve: |call| $resolve(call, true),
                ..ScalarFunction::BASE
            },
        )*];
    };
}

extracts! {
    "JSONExtract" => resolve_typed, check |call| named_type(call).map(drop),
        "The value at a path as the type that the last argument names.";
    "JSONExtractString" => |call, any_case| resolve_fixed(call, DataType::String, any_case),
        "The value at a path as a String.";
    "JSONExtractInt" => |call, any_case| resolve_fixed(call, DataType::Int64, any_case),
        "The value at a path as an Int64.";
    "JSONExtractUInt" => |call, any_case| resolve_fixed(call, DataType::UInt64, any_case),
        "The value at a path as a UInt64.";
    "JSONExtractFloat" => |call, any_case| resolve_fixed(call, DataType::Float64, any_case),
        "The value at a path as a Float64.";
    "JSONExtractBool" => |call, any_case| resolve_plain(call, DataType::UInt8, any_case, append_bool),
        "Whether the value at a path is true.";
    "JSONExtractRaw" => |call, any_case| resolve_plain(call, DataType::String, any_case, append_raw),
        "The value at a path as JSON.";
    "JSONExtractArrayRaw" => |call, any_case| resolve_plain(call, strings(), any_case, append_array_raw),
        "The values of the array at a path as JSON.";
    "JSONExtractKeys" => |call, any_case| resolve_plain(call, strings(), any_case, append_keys),
        "The keys of the object at a path.";
    "JSONExtractKeysAndValues" => resolve_pairs, check |call| named_type(call).map(drop),
        "Keys and values of the object at a path, these as the type that the last argument names.";
    "JSONExtractKeysAndValuesRaw" => |call, any_case| {
        resolve_plain(call, pairs_of(DataType::String), any_case, append_pairs_raw)
    }, "Keys and values of the object at a path, these as JSON.";
}

/// A function whose arguments are all part of the path.
fn resolve_plain(
    call: &Call<'_>,
    result: DataType,
    ignore_case: bool,
    append: Append,
) -> Result<Resolved> {
    resolve_with(call, (result, call.args.len()), ignore_case, append)
}

fn strings() -> DataType {
    DataType::array(DataType::String)
}

fn pairs_of(value: DataType) -> DataType {
    DataType::array(DataType::tuple(vec![DataType::String, value]))
}

/// A loop that appends what `append` makes of the value at each row's path.
fn resolve_with<F>(
    call: &Call<'_>,
    (result, path_end): (DataType, usize),
    ignore_case: bool,
    append: F,
) -> Result<Resolved>
where
    F: Fn(&mut ColumnBuilder, Json<'_>) -> Result<bool> + Send + Sync + 'static,
{
    check_path(call, path_end)?;
    ColumnBuilder::new(&result, 0)?;
    let options = basalt_types::builder::ReadOptions {
        time_zone: call.context.time_zone,
        ..Default::default()
    };
    Resolved::new(result.clone(), move |columns, num_rows| {
        let documents = Documents::of(columns, path_end, ignore_case)?;
        let mut builder = ColumnBuilder::with_options(&result, num_rows, &options)?;
        for row in 0..num_rows {
            let done = match documents.find(row) {
                Some(found) => append(&mut builder, found.value)?,
                None => false,
            };
            if !done && builder.len() == row {
                builder.append_default();
            }
        }
        builder.finish()
    })
}

/// The type that the last argument names.
fn named_type(call: &Call<'_>) -> Result<DataType> {
    call.expect_args(2..=usize::MAX)?;
    let last = call.args.len() - 1;
    if !call.data_type(last).is_string() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!(
                "The last argument of function {} is a constant string with the type's name",
                call.name
            ),
        ));
    }
    let data_type = parse_data_type(&call.constant_str(last)?)?;
    check_keys(call, &data_type)?;
    Ok(data_type)
}

/// Keys of JSON objects are strings, so those of maps must be.
fn check_keys(call: &Call<'_>, data_type: &DataType) -> Result<()> {
    match data_type {
        DataType::Map(key, value) => {
            if !key.is_string() {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                    format!(
                        "Function {} cannot make a {data_type}: keys are strings",
                        call.name
                    ),
                ));
            }
            check_keys(call, value)
        }
        DataType::Array(element) => check_keys(call, element),
        DataType::Tuple(tuple) => tuple.types.iter().try_for_each(|t| check_keys(call, t)),
        _ => Ok(()),
    }
}

fn resolve_typed(call: &Call<'_>, ignore_case: bool) -> Result<Resolved> {
    let result = named_type(call)?;
    let rules = Rules {
        bool_as_integer: true,
    };
    resolve_with(
        call,
        (result, call.args.len() - 1),
        ignore_case,
        move |builder, value| insert(builder, value, rules),
    )
}

fn resolve_fixed(call: &Call<'_>, result: DataType, ignore_case: bool) -> Result<Resolved> {
    let rules = Rules {
        bool_as_integer: false,
    };
    resolve_with(
        call,
        (result, call.args.len()),
        ignore_case,
        move |builder, value| insert(builder, value, rules),
    )
}

fn append_bool(builder: &mut ColumnBuilder, value: Json<'_>) -> Result<bool> {
    let flag = match value.kind() {
        Kind::Bool => value.text() == b"true",
        Kind::Number => match super::number::Number::parse(value.text()) {
            Some(super::number::Number::Int(number)) => number != 0,
            Some(super::number::Number::UInt(_)) => true,
            _ => false,
        },
        _ => false,
    };
    builder.append_raw(&[u8::from(flag)])?;
    Ok(true)
}

fn append_raw(builder: &mut ColumnBuilder, value: Json<'_>) -> Result<bool> {
    let mut out = Vec::with_capacity(value.text().len());
    write_compact(value, &mut out);
    builder.append_raw(&out)?;
    Ok(true)
}

fn items_of(builder: &mut ColumnBuilder) -> Result<&mut ColumnBuilder> {
    match builder.nested() {
        Some(NestedMut::Array(items)) => Ok(items),
        _ => Err(Error::bug("an array has elements")),
    }
}

fn append_array_raw(builder: &mut ColumnBuilder, value: Json<'_>) -> Result<bool> {
    let items = items_of(builder)?;
    for item in value.items() {
        append_raw(items, item)?;
    }
    builder.finish_nested()?;
    Ok(true)
}

fn append_keys(builder: &mut ColumnBuilder, value: Json<'_>) -> Result<bool> {
    let items = items_of(builder)?;
    for (key, _) in value.members() {
        items.append_raw(&key.string().unwrap_or_default())?;
    }
    builder.finish_nested()?;
    Ok(true)
}

/// Appends the entries whose values `append` takes.
fn append_entries(
    builder: &mut ColumnBuilder,
    value: Json<'_>,
    append: impl Fn(&mut ColumnBuilder, Json<'_>) -> Result<bool>,
) -> Result<bool> {
    let items = items_of(builder)?;
    for (key, member) in value.members() {
        let Some(NestedMut::Tuple([keys, values])) = items.nested() else {
            return Err(Error::bug("an entry has a key and a value"));
        };
        let len = values.len();
        if append(values, member)? {
            keys.append_raw(&key.string().unwrap_or_default())?;
            items.finish_nested()?;
        } else {
            values.truncate(len);
        }
    }
    builder.finish_nested()?;
    Ok(true)
}

fn append_pairs_raw(builder: &mut ColumnBuilder, value: Json<'_>) -> Result<bool> {
    append_entries(builder, value, append_raw as Append)
}

fn resolve_pairs(call: &Call<'_>, ignore_case: bool) -> Result<Resolved> {
    let result = pairs_of(named_type(call)?);
    let rules = Rules {
        bool_as_integer: true,
    };
    let path_end = call.args.len() - 1;
    resolve_with(
        call,
        (result, path_end),
        ignore_case,
        move |builder, value| {
            append_entries(builder, value, |values, member| {
                insert(values, member, rules)
            })
        },
    )
}
