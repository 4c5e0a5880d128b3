//! Works with ranges of IP addresses, and turns IPv4 addresses into IPv6 ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray, UInt32Array};
use arrow::datatypes::{DataType as ArrowType, UInt8Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::ip::{is_v6_bytes, parse_v4, parse_v6, v6_array};
use crate::scalar::strings::shapes::{Ints, number_rows};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "IPv4ToIPv6",
        syntax: "IPv4ToIPv6(x)",
        description: "The IPv6 address that stands for an IPv4 address.",
        resolve: resolve_v4_to_v6,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv4CIDRToRange",
        syntax: "IPv4CIDRToRange(x, prefix)",
        description: "The first and the last address that share a prefix with an address.",
        resolve: resolve_v4_range,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "IPv6CIDRToRange",
        syntax: "IPv6CIDRToRange(x, prefix)",
        description: "The first and the last address that share a prefix with an address.",
        resolve: resolve_v6_range,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isIPAddressInRange",
        syntax: "isIPAddressInRange(address, 'address/prefix')",
        description: "Whether an address lies in a range.",
        resolve: resolve_in_range,
        ..ScalarFunction::BASE
    },
];

fn resolve_v4_to_v6(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| matches!(t, DataType::Ipv4 | DataType::UInt32))?;
    let return_type = match call.data_type(0) {
        DataType::Ipv4 => DataType::Ipv6,
        _ => DataType::FixedString(16),
    };
    Resolved::new(return_type, move |columns, num_rows| {
        let numbers = Ints::new(&columns[0])?;
        let addresses = (0..num_rows).map(|row| Ipv4Addr::from_bits(numbers.value(row) as u32));
        let addresses: Vec<_> = addresses.map(|a| a.to_ipv6_mapped().octets()).collect();
        v6_array(&addresses, None)
    })
}

/// The addresses with all zeros and with all ones behind a prefix.
fn v4_range(address: u32, prefix: u32) -> (u32, u32) {
    let hosts = u32::MAX.checked_shr(prefix).unwrap_or(0);
    (address & !hosts, address | hosts)
}

fn v6_range(address: u128, prefix: u32) -> (u128, u128) {
    let hosts = u128::MAX.checked_shr(prefix).unwrap_or(0);
    (address & !hosts, address | hosts)
}

fn pair_of(return_type: &DataType, (first, second): (ArrayRef, ArrayRef)) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = return_type.physical() else {
        return Err(Error::bug("a tuple is a struct"));
    };
    let pair = StructArray::try_new(fields, vec![first, second], None);
    Ok(Arc::new(pair.map_err(|e| Error::bug(e.to_string()))?))
}

fn resolve_v4_range(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| matches!(t, DataType::Ipv4 | DataType::UInt32))?;
    call.expect_type(1, |t| *t == DataType::UInt8)?;
    let return_type = DataType::tuple(vec![DataType::Ipv4, DataType::Ipv4]);
    Resolved::new(return_type.clone(), move |columns, num_rows| {
        let (addresses, prefixes) = (Ints::new(&columns[0])?, Ints::new(&columns[1])?);
        let ranges = (0..num_rows)
            .map(|row| v4_range(addresses.value(row) as u32, prefixes.value(row) as u32));
        let (first, last): (Vec<u32>, Vec<u32>) = ranges.unzip();
        let pair: (ArrayRef, ArrayRef) = (
            Arc::new(UInt32Array::from(first)),
            Arc::new(UInt32Array::from(last)),
        );
        pair_of(&return_type, pair)
    })
}

fn v6_bits(column: &Column, row: usize) -> Result<u128> {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(column.strings()?.value(row));
    Ok(u128::from_be_bytes(bytes))
}

fn resolve_v6_range(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, is_v6_bytes)?;
    call.expect_type(1, |t| *t == DataType::UInt8)?;
    let return_type = DataType::tuple(vec![DataType::Ipv6, DataType::Ipv6]);
    Resolved::new(return_type.clone(), move |columns, num_rows| {
        let prefixes = Ints::new(&columns[1])?;
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for row in 0..num_rows {
            let range = v6_range(v6_bits(&columns[0], row)?, prefixes.value(row) as u32);
            first.push(range.0.to_be_bytes());
            last.push(range.1.to_be_bytes());
        }
        pair_of(
            &return_type,
            (v6_array(&first, None)?, v6_array(&last, None)?),
        )
    })
}

fn cannot_parse(message: String) -> Error {
    Error::new(ErrorCode::CANNOT_PARSE_TEXT, message)
}

fn parse_address(text: &[u8]) -> Result<IpAddr> {
    let v4 = parse_v4(text).map(IpAddr::V4);
    v4.or_else(|| parse_v6(text).map(IpAddr::V6))
        .ok_or_else(|| {
            let text = String::from_utf8_lossy(text);
            cannot_parse(format!("Neither IPv4 nor IPv6 address: '{text}'"))
        })
}

/// The address and the length of the prefix in `address/prefix`.
fn parse_range(text: &[u8]) -> Result<(IpAddr, u32)> {
    let shown = || String::from_utf8_lossy(text).into_owned();
    let Some(slash) = memchr::memchr(b'/', text) else {
        return Err(cannot_parse(format!(
            "The text does not contain '/': {}",
            shown()
        )));
    };
    let address = parse_address(&text[..slash])?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix = std::str::from_utf8(&text[slash + 1..]).ok();
    let prefix = prefix
        .and_then(|p| p.parse().ok())
        .filter(|p: &u8| *p <= longest);
    prefix
        .map(|p| (address, u32::from(p)))
        .ok_or_else(|| cannot_parse(format!("The CIDR has a malformed prefix bits: {}", shown())))
}

fn resolve_in_range(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| {
        t.is_string() || matches!(t, DataType::Ipv4 | DataType::Ipv6)
    })?;
    call.expect_type(1, DataType::is_string)?;
    let data_type = call.data_type(0).clone();
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let ranges = columns[1].strings()?;
        let numbers = match data_type {
            DataType::Ipv4 => Some(Ints::new(&columns[0])?),
            _ => None,
        };
        number_rows::<UInt8Type>(columns, num_rows, |row| {
            let address = match (&numbers, &data_type) {
                (Some(numbers), _) => IpAddr::V4(Ipv4Addr::from_bits(numbers.value(row) as u32)),
                (None, DataType::Ipv6) => {
                    IpAddr::V6(Ipv6Addr::from_bits(v6_bits(&columns[0], row)?))
                }
                _ => parse_address(columns[0].strings()?.value(row))?,
            };
            let (start, prefix) = parse_range(ranges.value(row))?;
            Ok(u8::from(match (address, start) {
                (IpAddr::V4(a), IpAddr::V4(s)) => {
                    v4_range(a.to_bits(), prefix) == v4_range(s.to_bits(), prefix)
                }
                (IpAddr::V6(a), IpAddr::V6(s)) => {
                    v6_range(a.to_bits(), prefix) == v6_range(s.to_bits(), prefix)
                }
                _ => false,
            }))
        })
    })
}
