//! Asks about JSON: whether a path leads somewhere, what is there, how much of it.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int8Array, UInt8Array, UInt64Array};
use basalt_error::Result;
use basalt_types::{DataType, EnumType};

use super::number::Number;
use super::path::{Documents, Found, check_path};
use super::value::{Json, Kind};
use crate::scalar::strings::output::StringWriter;
use crate::{Call, Dictionaries, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "JSONHas",
        dictionaries: Dictionaries::Dropped,
        syntax: "JSONHas(json[, key or position, ...])",
        description: "Whether there is a value at a path.",
        resolve: |call| {
            resolve(call, DataType::UInt8, |found| {
                let flags = found.map(|f| u8::from(f.is_some()));
                Ok(Arc::new(UInt8Array::from_iter_values(flags)))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "JSONLength",
        dictionaries: Dictionaries::Dropped,
        syntax: "JSONLength(json[, key or position, ...])",
        description: "Number of values of the array or object at a path.",
        resolve: |call| {
            resolve(call, DataType::UInt64, |found| {
                let lengths = found.map(|f| f.map_or(0, |f| f.value.num_values() as u64));
                Ok(Arc::new(UInt64Array::from_iter_values(lengths)))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "JSONType",
        dictionaries: Dictionaries::Dropped,
        syntax: "JSONType(json[, key or position, ...])",
        description: "The kind of the value at a path.",
        resolve: |call| {
            resolve(call, json_types(), |found| {
                let types = found.map(|f| f.map_or(0, |f| type_of(f.value)));
                Ok(Arc::new(Int8Array::from_iter_values(types)))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "JSONKey",
        dictionaries: Dictionaries::Dropped,
        syntax: "JSONKey(json[, key or position, ...], position)",
        description: "The key at a position of the object at a path.",
        resolve: |call| {
            resolve(call, DataType::String, |found| {
                let mut writer = StringWriter::with_capacity(0, 0);
                for found in found {
                    let key = found.and_then(|f| f.key?.string());
                    writer.bytes().extend_from_slice(&key.unwrap_or_default());
                    writer.finish_row()?;
                }
                writer.finish()
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isValidJSON",
        dictionaries: Dictionaries::Dropped,
        syntax: "isValidJSON(text)",
        description: "Whether a text is JSON.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            resolve(call, DataType::UInt8, |found| {
                let flags = found.map(|f| u8::from(f.is_some()));
                Ok(Arc::new(UInt8Array::from_iter_values(flags)))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "JSONArrayLength",
        dictionaries: Dictionaries::Dropped,
        aliases: &["JSON_ARRAY_LENGTH"],
        case_insensitive: true,
        syntax: "JSONArrayLength(json)",
        description: "Number of values of an array, NULL for anything else.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            let length = |found: Found<'_>| {
                (found.value.kind() == Kind::Array).then(|| found.value.num_values() as u64)
            };
            resolve(call, DataType::UInt64.to_nullable(), move |found| {
                Ok(Arc::new(
                    found.map(|f| f.and_then(length)).collect::<UInt64Array>(),
                ))
            })
        },
        ..ScalarFunction::BASE
    },
];

type FoundRows<'a> = &'a mut dyn Iterator<Item = Option<Found<'a>>>;

/// A loop over what each row's path leads to.
fn resolve<F>(call: &Call<'_>, result: DataType, answer: F) -> Result<Resolved>
where
    F: for<'a> Fn(FoundRows<'a>) -> Result<ArrayRef> + Send + Sync + 'static,
{
    let path_end = call.args.len();
    check_path(call, path_end)?;
    Resolved::new(result, move |columns, num_rows| {
        let documents = Documents::of(columns, path_end, false)?;
        answer(&mut (0..num_rows).map(|row| documents.find(row)))
    })
}

/// The type of `JSONType`'s results: each kind by the letter that stands for it.
fn json_types() -> DataType {
    let kinds = [
        ("Null", 0),
        ("String", 34),
        ("Array", 91),
        ("Bool", 98),
        ("Double", 100),
        ("Int64", 105),
        ("UInt64", 117),
        ("Object", 123),
    ];
    let values = kinds
        .iter()
        .map(|(name, number)| ((*name).to_owned(), *number));
    DataType::Enum8(Arc::new(EnumType::new(values.collect())))
}

fn type_of(value: Json<'_>) -> i8 {
    match value.kind() {
        Kind::Null => 0,
        Kind::String => 34,
        Kind::Array => 91,
        Kind::Bool => 98,
        Kind::Object => 123,
        Kind::Number => match Number::parse(value.text()) {
            Some(Number::Int(_)) => 105,
            Some(Number::UInt(_)) => 117,
            _ => 100,
        },
    }
}
