//! `naturalSortKey`: a key that sorts numbers inside texts by their value.

use super::shapes::only_string_to_string;
use crate::ScalarFunction;

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "naturalSortKey",
    aliases: &["NATURAL_SORT_KEY"],
    syntax: "naturalSortKey(s)",
    description: "A key whose order sorts the numbers in strings by value: `file9` before `file10`.",
    resolve: |call| only_string_to_string(call, push_key),
    ..ScalarFunction::BASE
}];

/// Numbers get their length in front, which decides before their digits do.
fn push_key(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(first) = rest.first() {
        if !first.is_ascii_digit() {
            out.push(*first);
            rest = &rest[1..];
            continue;
        }
        let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, tail) = rest.split_at(len);
        let zeros = digits.iter().take_while(|b| **b == b'0').count();
        // Of a number of zeros one stays.
        push_number(&digits[zeros.min(len - 1)..], out);
        rest = tail;
    }
}

/// Up to 8 digits the length is one character, up to 18 two; from there on it is a key itself.
fn push_number(digits: &[u8], out: &mut Vec<u8>) {
    match digits.len() {
        len @ 0..=8 => out.push(b'0' + len.saturating_sub(1) as u8),
        len @ 9..=18 => out.extend([b'8', b'0' + (len - 9) as u8]),
        len => {
            out.push(b'9');
            push_number(len.to_string().as_bytes(), out);
        }
    }
    out.extend_from_slice(digits);
}
