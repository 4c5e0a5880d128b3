//! Reads and writes UUIDs and IP addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use basalt_error::{Error, ErrorCode, Result};

use super::Cursor;
use super::cursor::excerpt;
use super::escape::hex_digit;
use super::number::write_integer;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Bytes of a UUID in front of which a dash stands.
const DASHES: [usize; 4] = [4, 6, 8, 10];

/// Writes 16 bytes, in the order of the text, as a UUID.
pub fn write_uuid(bytes: &[u8], out: &mut Vec<u8>) {
    for (i, byte) in bytes.iter().enumerate() {
        if DASHES.contains(&i) {
            out.push(b'-');
        }
        out.push(HEX[usize::from(byte >> 4)]);
        out.push(HEX[usize::from(byte & 15)]);
    }
}

/// Reads a UUID of 32 digits, with or without dashes.
///
/// # Errors
/// `CANNOT_PARSE_UUID`.
pub fn read_uuid(cursor: &mut Cursor<'_>) -> Result<[u8; 16]> {
    let mut uuid = [0; 16];
    let text = cursor.rest();
    let has_dashes = text.get(8) == Some(&b'-');
    let mut copy = *cursor;
    for (i, byte) in uuid.iter_mut().enumerate() {
        let dash = has_dashes && DASHES.contains(&i);
        let digits = if dash && !copy.eat(b'-') {
            &[]
        } else {
            copy.take(2)
        };
        match digits {
            [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                *byte = hex_digit(*high) << 4 | hex_digit(*low);
            }
            _ => {
                return Err(Error::new(
                    ErrorCode::CANNOT_PARSE_UUID,
                    format!(
                        "Cannot parse UUID, expected 32 hexadecimal digits with or without dashes: {}",
                        excerpt(text)
                    ),
                ));
            }
        }
    }
    *cursor = copy;
    Ok(uuid)
}

/// Writes an IPv4 address, whose first part is in the highest byte.
pub fn write_ipv4(address: u32, out: &mut Vec<u8>) {
    for (i, part) in address.to_be_bytes().into_iter().enumerate() {
        if i > 0 {
            out.push(b'.');
        }
        write_integer(part, out);
    }
}

/// Reads an IPv4 address.
///
/// # Errors
/// `CANNOT_PARSE_IPV4`.
pub fn read_ipv4(cursor: &mut Cursor<'_>) -> Result<u32> {
    let mut copy = *cursor;
    let mut address = 0_u32;
    for i in 0..4 {
        let separated = i == 0 || copy.eat(b'.');
        let digits = copy.take_while(|b| b.is_ascii_digit());
        let part = digits.iter().fold(0_u32, |part, d| {
            part.saturating_mul(10).saturating_add(u32::from(d - b'0'))
        });
        if !separated || digits.is_empty() || digits.len() > 3 || part > 255 {
            return Err(Error::new(
                ErrorCode::CANNOT_PARSE_IPV4,
                format!("Cannot parse IPv4 {}", cursor.excerpt()),
            ));
        }
        address = address << 8 | part;
    }
    *cursor = copy;
    Ok(address)
}

/// Writes an IPv6 address as RFC 5952 does, with an IPv4 tail where ClickHouse has one.
pub fn write_ipv6(bytes: &[u8], out: &mut Vec<u8>) {
    let Ok(bytes) = <[u8; 16]>::try_from(bytes) else {
        return;
    };
    let address = Ipv6Addr::from(bytes);
    let segments = address.segments();
    let is_mapped = segments[..5] == [0; 5] && segments[5] == 0xffff;
    let is_compatible = segments[..6] == [0; 6] && segments[6] != 0;
    if is_mapped || is_compatible {
        out.extend_from_slice(if is_mapped { b"::ffff:" } else { b"::" });
        return write_ipv4(u32::from(segments[6]) << 16 | u32::from(segments[7]), out);
    }
    let (start, len) = longest_zero_run(segments);
    for (i, segment) in segments.into_iter().enumerate() {
        if len > 1 && (start..start + len).contains(&i) {
            if i == start {
                out.extend_from_slice(b"::");
            }
            continue;
        }
        if i > 0 && !(len > 1 && i == start + len) {
            out.push(b':');
        }
        write_hex(segment, out);
    }
}

fn longest_zero_run(segments: [u16; 8]) -> (usize, usize) {
    let (mut best, mut run) = ((0, 0), (0, 0));
    for (i, segment) in segments.into_iter().enumerate() {
        run = if segment != 0 {
            (i + 1, 0)
        } else {
            (run.0, run.1 + 1)
        };
        if run.1 > best.1 {
            best = run;
        }
    }
    best
}

fn write_hex(segment: u16, out: &mut Vec<u8>) {
    for shift in [12, 8, 4, 0] {
        let digit = usize::from(segment >> shift & 15);
        if shift == 0 || segment >> shift != 0 {
            out.push(HEX[digit]);
        }
    }
}

/// Reads an IPv6 address, or an IPv4 one as its mapped form.
///
/// # Errors
/// `CANNOT_PARSE_IPV6`.
pub fn read_ipv6(cursor: &mut Cursor<'_>) -> Result<[u8; 16]> {
    let mut copy = *cursor;
    let text = copy.take_while(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'));
    let text = std::str::from_utf8(text).unwrap_or_default();
    let address = match text.parse::<Ipv6Addr>() {
        Ok(address) => address,
        Err(_) => match text.parse::<Ipv4Addr>() {
            Ok(address) => address.to_ipv6_mapped(),
            Err(_) => {
                return Err(Error::new(
                    ErrorCode::CANNOT_PARSE_IPV6,
                    format!("Cannot parse IPv6 {}", cursor.excerpt()),
                ));
            }
        },
    };
    *cursor = copy;
    Ok(address.octets())
}

#[cfg(test)]
mod tests {
    use super::{read_ipv4, read_ipv6, read_uuid, write_ipv4, write_ipv6, write_uuid};
    use crate::text::Cursor;

    fn ipv6(text: &str) -> String {
        let bytes = read_ipv6(&mut Cursor::new(text.as_bytes())).expect("an address");
        let mut out = Vec::new();
        write_ipv6(&bytes, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn ipv6_text_is_short() {
        for (text, expected) in [
            ("::ffff:1.2.3.4", "::ffff:1.2.3.4"),
            ("1.2.3.4", "::ffff:1.2.3.4"),
            ("::1.2.3.4", "::1.2.3.4"),
            ("1:0:0:2::3:0", "1::2:0:0:3:0"),
            ("1:0:0:0:0:0:0:0", "1::"),
            ("::1", "::1"),
            ("::", "::"),
            ("::ffff", "::ffff"),
            ("0:1::", "0:1::"),
            ("64:ff9b::1.2.3.4", "64:ff9b::102:304"),
            ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
            ("::1:0:0", "::1:0:0"),
            ("2001:db8::1", "2001:db8::1"),
        ] {
            assert_eq!(ipv6(text), expected);
        }
        for bad in ["", "zz", "1::2::3", "1.2.3"] {
            assert!(
                read_ipv6(&mut Cursor::new(bad.as_bytes())).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn ipv4_and_uuid_come_back() {
        let address = read_ipv4(&mut Cursor::new(b"01.2.3.255")).expect("an address");
        let mut out = Vec::new();
        write_ipv4(address, &mut out);
        assert_eq!(out, b"1.2.3.255");
        for bad in ["1.2.3", "1.2.3.256", "", "a"] {
            assert!(
                read_ipv4(&mut Cursor::new(bad.as_bytes())).is_err(),
                "{bad}"
            );
        }
        for text in [
            "61f0c404-5cb3-11e7-907b-a6006ad3dba0",
            "61F0C4045cb311e7907ba6006ad3dba0",
        ] {
            let uuid = read_uuid(&mut Cursor::new(text.as_bytes())).expect("a UUID");
            out.clear();
            write_uuid(&uuid, &mut out);
            assert_eq!(out, b"61f0c404-5cb3-11e7-907b-a6006ad3dba0");
        }
        for bad in [
            "",
            "x",
            "61f0c404-5cb3-11e7-907b-a6006ad3dbag",
            "61f0c404-5cb311e7-907b-a6006ad3dba0",
        ] {
            assert!(
                read_uuid(&mut Cursor::new(bad.as_bytes())).is_err(),
                "{bad}"
            );
        }
    }
}
