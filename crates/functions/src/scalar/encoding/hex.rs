//! Writes values as hexadecimal or binary digits, and reads them back.

use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::hash::fixed::FixedBytes;
use crate::scalar::strings::shapes::{bytes_to_string, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "hex",
        case_insensitive: true,
        syntax: "hex(x)",
        description: "The bytes of a string or number as hexadecimal digits.",
        resolve: |call| resolve_digits(call, 2, hex_digits),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "unhex",
        case_insensitive: true,
        syntax: "unhex(s)",
        description: "The bytes that hexadecimal digits stand for.",
        resolve: |call| bytes_to_string(call, |s, out| read_digits(s, out, 2)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bin",
        case_insensitive: true,
        syntax: "bin(x)",
        description: "The bytes of a string or number as binary digits.",
        resolve: |call| resolve_digits(call, 8, bin_digits),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "unbin",
        case_insensitive: true,
        syntax: "unbin(s)",
        description: "The bytes that binary digits stand for.",
        resolve: |call| bytes_to_string(call, |s, out| read_digits(s, out, 8)),
        ..ScalarFunction::BASE
    },
];

/// Upper case digits of a half byte.
pub const HEX_DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Writes a byte's digits to a slice of just their number.
trait Digits: Fn(&mut [u8], u8) + Copy + Send + Sync + 'static {}

impl<F: Fn(&mut [u8], u8) + Copy + Send + Sync + 'static> Digits for F {}

fn hex_digits(out: &mut [u8], byte: u8) {
    out[0] = HEX_DIGITS[usize::from(byte >> 4)];
    out[1] = HEX_DIGITS[usize::from(byte & 15)];
}

fn bin_digits(out: &mut [u8], byte: u8) {
    for (bit, digit) in out.iter_mut().rev().enumerate() {
        *digit = b'0' + (byte >> bit & 1);
    }
}

/// Appends the digits of bytes, `per_byte` for each.
fn push_digits<'a>(
    out: &mut Vec<u8>,
    bytes: impl ExactSizeIterator<Item = &'a u8>,
    per_byte: usize,
    digits: impl Digits,
) {
    let start = out.len();
    out.resize(start + bytes.len() * per_byte, 0);
    for (place, byte) in out[start..].chunks_exact_mut(per_byte).zip(bytes) {
        digits(place, *byte);
    }
}

/// In what order the bytes of a type's values are written.
#[derive(Clone, Copy)]
enum Order {
    /// As they lie in memory.
    Memory,
    /// The highest first, without leading zeros.
    Number,
    /// The highest first.
    Address,
}

fn resolve_digits(call: &Call<'_>, per_byte: usize, digits: impl Digits) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0).clone();
    let order = match &data_type {
        t if t.is_string() || t.is_float() || t.is_decimal() => Order::Memory,
        DataType::Uuid | DataType::Ipv6 | DataType::AggregateFunction(_) => Order::Memory,
        DataType::Date | DataType::Date32 | DataType::DateTime(_) => Order::Number,
        DataType::Ipv4 => Order::Address,
        t if t.is_integer() => Order::Number,
        _ => return Err(call.illegal_type(0)),
    };
    Resolved::new(DataType::String, move |columns, num_rows| {
        if let Ok(strings) = columns[0].strings() {
            return write_rows(columns, num_rows, |row, out| {
                push_digits(out, strings.value(row).iter(), per_byte, digits);
                Ok(())
            });
        }
        let bytes = FixedBytes::new(&columns[0], &data_type)?;
        write_rows(columns, num_rows, |row, out| {
            let value = bytes.value(row);
            match order {
                Order::Memory => push_digits(out, value.iter(), per_byte, digits),
                Order::Address => push_digits(out, value.iter().rev(), per_byte, digits),
                Order::Number => {
                    let len = value.iter().rposition(|b| *b != 0).unwrap_or(0) + 1;
                    push_digits(out, value[..len].iter().rev(), per_byte, digits);
                }
            }
            Ok(())
        })
    })
}

/// Reads groups of `digits` digits from the end; the first byte may have fewer.
///
/// A character that is no digit counts as all ones, as in ClickHouse.
fn read_digits(value: &[u8], out: &mut Vec<u8>, digits: usize) {
    let radix = if digits == 2 { 16u32 } else { 2 };
    let digit_of = |c: u8| match digits {
        2 => char::from(c).to_digit(16).unwrap_or(0xff),
        _ => u32::from(c != b'0'),
    };
    let first = value.len() % digits;
    let (head, rest) = value.split_at(first);
    let groups = std::iter::once(head)
        .filter(|h| !h.is_empty())
        .chain(rest.chunks(digits));
    out.extend(groups.map(|group| {
        group.iter().fold(0u32, |byte, c| {
            byte.wrapping_mul(radix).wrapping_add(digit_of(*c)) & 0xff
        }) as u8
    }));
}
