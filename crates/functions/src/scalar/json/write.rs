//! Makes JSON: `toJSONString` of any value, and merged documents.

use basalt_error::{Error, Result};
use basalt_types::DataType;
use basalt_types::text::{ColumnText, Style, TextOptions, write_f64};

use super::number::Number;
use super::value::{Json, Kind};
use crate::scalar::arrays::lists::bad_arguments;
use crate::scalar::strings::shapes::{validity_of, write_rows};
use crate::{Call, Dictionaries, Resolved, ScalarFunction};
use basalt_types::text::escape::write_json_string;

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "toJSONString",
        syntax: "toJSONString(x)",
        description: "A value of any type as JSON.",
        resolve: resolve_to_json,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "JSONMergePatch",
        dictionaries: Dictionaries::Dropped,
        aliases: &["jsonMergePatch"],
        case_insensitive: true,
        syntax: "JSONMergePatch(json, ...)",
        description: "JSON objects merged into one, the fields of later ones over those of earlier ones.",
        resolve: resolve_merge,
        ..ScalarFunction::BASE
    },
];

fn resolve_to_json(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0).clone();
    let options = TextOptions {
        time_zone: call.context.time_zone,
        ..TextOptions::default()
    };
    Resolved::new(DataType::String, move |columns, num_rows| {
        let text = ColumnText::new(&data_type, &columns[0].array, options.clone())?;
        write_rows(columns, num_rows, |row, out| {
            text.write(columns[0].row(row), Style::Json, out);
            Ok(())
        })
    })
}

fn resolve_merge(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    for idx in 0..call.args.len() {
        call.expect_type(idx, |t| *t == DataType::String)?;
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let texts = columns
            .iter()
            .map(|c| c.strings())
            .collect::<Result<Vec<_>>>()?;
        let nulls = validity_of(columns, num_rows);
        let mut merged = Vec::new();
        let mut next = Vec::new();
        write_rows(columns, num_rows, |row, out| {
            if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
                return Ok(());
            }
            for (idx, texts) in texts.iter().enumerate() {
                let patch = object(texts.value(row))?;
                next.clear();
                if idx == 0 {
                    write_plain(patch, &mut next);
                } else {
                    merge(object(&merged)?, patch, &mut next);
                }
                std::mem::swap(&mut merged, &mut next);
            }
            out.extend_from_slice(&merged);
            Ok(())
        })
    })
}

fn object(text: &[u8]) -> Result<Json<'_>> {
    let json = Json::parse(text).filter(|json| json.kind() == Kind::Object);
    json.ok_or_else(|| not_an_object(text))
}

fn not_an_object(text: &[u8]) -> Error {
    let excerpt: Vec<u8> = text.iter().take(60).copied().collect();
    bad_arguments(format!(
        "JSONMergePatch takes JSON objects, not '{}'",
        String::from_utf8_lossy(&excerpt)
    ))
}

fn merge(old: Json<'_>, patch: Json<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut is_first = true;
    let mut field = |key: Json<'_>, out: &mut Vec<u8>| {
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        write_plain(key, out);
        out.push(b':');
    };
    let name = |key: Json<'_>| key.string().unwrap_or_default().into_owned();
    for (key, value) in old.members() {
        field(key, out);
        match patch.member(&name(key), false) {
            Some(new) if new.kind() == Kind::Object && value.kind() == Kind::Object => {
                merge(value, new, out);
            }
            new => write_plain(new.unwrap_or(value), out),
        }
    }
    for (key, value) in patch.members() {
        if old.member(&name(key), false).is_none() {
            field(key, out);
            write_plain(value, out);
        }
    }
    out.push(b'}');
}

/// Writes a value without space; floats keep a point, as merged documents have them.
pub(super) fn write_plain(value: Json<'_>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.extend_from_slice(value.text()),
        Kind::String => {
            if let Some(text) = value.string() {
                write_json_string(&text, false, out);
            }
        }
        Kind::Number => match Number::parse(value.text()) {
            Some(Number::Float(float) | Number::Big(float)) => {
                let start = out.len();
                write_f64(float, out);
                if out[start..]
                    .iter()
                    .all(|b| b.is_ascii_digit() || *b == b'-')
                {
                    out.extend_from_slice(b".0");
                }
            }
            _ => out.extend_from_slice(value.text()),
        },
        Kind::Array => {
            out.push(b'[');
            for (i, item) in value.items().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_plain(item, out);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for (i, (key, member)) in value.members().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_plain(key, out);
                out.push(b':');
                write_plain(member, out);
            }
            out.push(b'}');
        }
    }
}
