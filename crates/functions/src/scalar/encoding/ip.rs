//! Converts IP addresses between numbers and texts.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeBinaryArray, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::scalar::strings::shapes::{Ints, text_to_number, validity_of, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "IPv4NumToString",
        aliases: &["INET_NTOA"],
        case_insensitive: true,
        syntax: "IPv4NumToString(n)",
        description: "The number of an IPv4 address as text.",
        resolve: |call| resolve_v4_text(call, |a, b, c, d| format!("{a}.{b}.{c}.{d}")),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv4NumToStringClassC",
        syntax: "IPv4NumToStringClassC(n)",
        description: "As `IPv4NumToString`, with `xxx` for the last part.",
        resolve: |call| resolve_v4_text(call, |a, b, c, _| format!("{a}.{b}.{c}.xxx")),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv4StringToNum",
        aliases: &["INET_ATON"],
        case_insensitive: true,
        syntax: "IPv4StringToNum(s)",
        description: "The number of the IPv4 address that a text is.",
        resolve: |call| resolve_v4_number(call, Failure::Error),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv4StringToNumOrDefault",
        syntax: "IPv4StringToNumOrDefault(s)",
        description: "As `IPv4StringToNum`, 0 for what is no address.",
        resolve: |call| resolve_v4_number(call, Failure::Default),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv4StringToNumOrNull",
        syntax: "IPv4StringToNumOrNull(s)",
        description: "As `IPv4StringToNum`, NULL for what is no address.",
        resolve: |call| resolve_v4_number(call, Failure::Null),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv6NumToString",
        aliases: &["INET6_NTOA"],
        case_insensitive: true,
        syntax: "IPv6NumToString(x)",
        description: "The 16 bytes of an IPv6 address as text.",
        resolve: resolve_v6_text,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv6StringToNum",
        aliases: &["INET6_ATON"],
        case_insensitive: true,
        syntax: "IPv6StringToNum(s)",
        description: "The 16 bytes of the IPv6 (or IPv4) address that a text is.",
        resolve: |call| resolve_v6_bytes(call, Failure::Error),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv6StringToNumOrDefault",
        syntax: "IPv6StringToNumOrDefault(s)",
        description: "As `IPv6StringToNum`, zeros for what is no address.",
        resolve: |call| resolve_v6_bytes(call, Failure::Default),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv6StringToNumOrNull",
        syntax: "IPv6StringToNumOrNull(s)",
        description: "As `IPv6StringToNum`, NULL for what is no address.",
        resolve: |call| resolve_v6_bytes(call, Failure::Null),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isIPv4String",
        syntax: "isIPv4String(s)",
        description: "Whether a text is an IPv4 address.",
        resolve: |call| {
            text_to_number::<UInt8Type>(call, DataType::UInt8, |s| u8::from(parse_v4(s).is_some()))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isIPv6String",
        syntax: "isIPv6String(s)",
        description: "Whether a text is an IPv6 address.",
        resolve: |call| {
            text_to_number::<UInt8Type>(call, DataType::UInt8, |s| u8::from(parse_v6(s).is_some()))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "cutIPv6",
        syntax: "cutIPv6(x, bytes_for_v6, bytes_for_v4)",
        description: "An IPv6 address as text with its last bytes as zeros.",
        resolve: resolve_cut,
        ..ScalarFunction::BASE
    },
];

/// What becomes of a text that is no address.
#[derive(Clone, Copy, PartialEq)]
enum Failure {
    Error,
    Default,
    Null,
}

/// The address that a text is.
pub fn parse_v4(text: &[u8]) -> Option<Ipv4Addr> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The address that a text is.
pub fn parse_v6(text: &[u8]) -> Option<Ipv6Addr> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Whether a type's values are the 16 bytes of an IPv6 address.
pub fn is_v6_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Ipv6 | DataType::FixedString(16))
}

fn resolve_v4_text(call: &Call<'_>, text: fn(u8, u8, u8, u8) -> String) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| {
        use DataType::{Ipv4, UInt8, UInt16, UInt32};
        matches!(t, Ipv4 | UInt8 | UInt16 | UInt32)
    })?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let numbers = Ints::new(&columns[0])?;
        write_rows(columns, num_rows, |row, out| {
            let [a, b, c, d] = (numbers.value(row) as u32).to_be_bytes();
            out.extend_from_slice(text(a, b, c, d).as_bytes());
            Ok(())
        })
    })
}

/// Reads an address from a text.
type Parse<T> = fn(&[u8]) -> Option<T>;

/// Parses each row; gives the values and, for `Failure::Null`, where there are any.
fn parsed<T: Default>(
    columns: &[crate::Column],
    num_rows: usize,
    failure: Failure,
    (code, parse): (ErrorCode, Parse<T>),
) -> Result<(Vec<T>, Option<NullBuffer>)> {
    let strings = columns[0].strings()?;
    let validity = validity_of(columns, num_rows);
    let mut values = Vec::with_capacity(num_rows);
    let mut valid = Vec::with_capacity(num_rows);
    for row in 0..num_rows {
        let value = parse(strings.value(row));
        let is_null = validity.as_ref().is_some_and(|v| v.is_null(row));
        if value.is_none() && failure == Failure::Error && !is_null {
            let text = String::from_utf8_lossy(strings.value(row)).into_owned();
            return Err(Error::new(code, format!("Invalid address: '{text}'")));
        }
        valid.push(value.is_some());
        values.push(value.unwrap_or_default());
    }
    let nulls = (failure == Failure::Null).then(|| NullBuffer::from(valid));
    Ok((values, nulls))
}

fn failing_type(data_type: DataType, failure: Failure) -> DataType {
    match failure {
        Failure::Null => data_type.to_nullable(),
        _ => data_type,
    }
}

fn resolve_v4_number(call: &Call<'_>, failure: Failure) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let return_type = failing_type(DataType::UInt32, failure);
    Resolved::new(return_type, move |columns, num_rows| {
        let parse = |text: &[u8]| parse_v4(text).map(u32::from);
        let target = (ErrorCode::CANNOT_PARSE_IPV4, parse as Parse<u32>);
        let (values, nulls) = parsed(columns, num_rows, failure, target)?;
        Ok(Arc::new(UInt32Array::new(values.into(), nulls)))
    })
}

fn resolve_v6_text(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, is_v6_bytes)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let addresses = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| {
            push_v6(addresses.value(row), out);
            Ok(())
        })
    })
}

fn push_v6(bytes: &[u8], out: &mut Vec<u8>) {
    let mut address = [0; 16];
    address.copy_from_slice(bytes);
    let address = Ipv6Addr::from(address);
    let text = match address.segments() {
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => {
            let [.., a, b, c, d] = address.octets();
            format!("::{a}.{b}.{c}.{d}")
        }
        _ => address.to_string(),
    };
    out.extend_from_slice(text.as_bytes());
}

fn resolve_v6_bytes(call: &Call<'_>, failure: Failure) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let return_type = failing_type(DataType::FixedString(16), failure);
    Resolved::new(return_type, move |columns, num_rows| {
        let parse = |text: &[u8]| {
            let of_v4 = || parse_v4(text).map(|a| a.to_ipv6_mapped());
            parse_v6(text).or_else(of_v4).map(|a| a.octets())
        };
        let target = (ErrorCode::CANNOT_PARSE_IPV6, parse as Parse<[u8; 16]>);
        let (values, nulls) = parsed(columns, num_rows, failure, target)?;
        v6_array(&values, nulls)
    })
}

/// The array of IPv6 addresses.
///
/// # Errors
/// `LOGICAL_ERROR` if `nulls` has another length.
pub fn v6_array(values: &[[u8; 16]], nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let bytes = values.concat();
    let array = FixedSizeBinaryArray::try_new(16, bytes.into(), nulls);
    Ok(Arc::new(array.map_err(|e| Error::bug(e.to_string()))?))
}

fn resolve_cut(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    call.expect_type(0, is_v6_bytes)?;
    call.expect_type(1, |t| *t == DataType::UInt8)?;
    call.expect_type(2, |t| *t == DataType::UInt8)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let addresses = columns[0].strings()?;
        let (for_v6, for_v4) = (Ints::new(&columns[1])?, Ints::new(&columns[2])?);
        write_rows(columns, num_rows, |row, out| {
            let mut address = addresses.value(row).to_vec();
            let is_v4 = address.starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
            let cut = if is_v4 {
                for_v4.value(row)
            } else {
                for_v6.value(row)
            };
            let kept = address.len().saturating_sub(cut.max(0) as usize);
            address[kept..].fill(0);
            push_v6(&address, out);
            Ok(())
        })
    })
}
