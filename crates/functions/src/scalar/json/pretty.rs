//! `prettyPrintJSON`: a document over several lines.

use super::value::{Json, Kind};
use super::write::write_plain;
use crate::ScalarFunction;
use crate::scalar::strings::shapes::{bad_arguments, try_string_to_string};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "prettyPrintJSON",
    syntax: "prettyPrintJSON(json)",
    description: "A JSON document with each value on its own line, indented by four spaces.",
    resolve: |call| {
        try_string_to_string(call, |value, out| {
            let json = Json::parse(value).ok_or_else(|| {
                bad_arguments("The argument of function prettyPrintJSON is no JSON document")
            })?;
            write(json, 0, out);
            Ok(())
        })
    },
    ..ScalarFunction::BASE
}];

fn new_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.resize(out.len() + 4 * depth, b' ');
}

fn write(json: Json<'_>, depth: usize, out: &mut Vec<u8>) {
    let mut is_empty = true;
    match json.kind() {
        Kind::Array => {
            out.push(b'[');
            for item in json.items() {
                separate(&mut is_empty, depth + 1, out);
                write(item, depth + 1, out);
            }
            close(b']', (is_empty, depth), out);
        }
        Kind::Object => {
            out.push(b'{');
            for (key, member) in json.members() {
                separate(&mut is_empty, depth + 1, out);
                write_plain(key, out);
                out.extend_from_slice(b": ");
                write(member, depth + 1, out);
            }
            close(b'}', (is_empty, depth), out);
        }
        _ => write_plain(json, out),
    }
}

fn separate(is_first: &mut bool, depth: usize, out: &mut Vec<u8>) {
    if !std::mem::take(is_first) {
        out.push(b',');
    }
    new_line(depth, out);
}

fn close(bracket: u8, (is_empty, depth): (bool, usize), out: &mut Vec<u8>) {
    if !is_empty {
        new_line(depth, out);
    }
    out.push(bracket);
}
