//! Converts numbers between bases.

use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::core::cast::array_cast;
use crate::scalar::strings::shapes::{Ints, bad_arguments, write_rows};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "conv",
    case_insensitive: true,
    syntax: "conv(number, from_base, to_base)",
    description: "A number as text of another base, from 2 to 36; negative ones wrap to 64 bits.",
    resolve,
    ..ScalarFunction::BASE
}];

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    call.expect_type(0, |t| t.is_string() || t.is_integer() || t.is_float())?;
    call.expect_type(1, DataType::is_integer)?;
    call.expect_type(2, DataType::is_integer)?;
    let cast = array_cast(call.data_type(0), &DataType::String, call.context)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let texts = Column {
            array: cast(&columns[0].array)?,
            is_const: columns[0].is_const,
        };
        let texts = texts.strings()?;
        let (from, to) = (Ints::new(&columns[1])?, Ints::new(&columns[2])?);
        write_rows(columns, num_rows, |row, out| {
            let text = texts.value(row);
            if text.is_empty() {
                return Err(bad_arguments("The number of function conv is empty"));
            }
            let number = read(text, base(from.value(row))?);
            write(number, base(to.value(row))?, out);
            Ok(())
        })
    })
}

fn base(base: i64) -> Result<u32> {
    u32::try_from(base)
        .ok()
        .filter(|base| (2..=36).contains(base))
        .ok_or_else(|| bad_arguments("A base of function conv must be from 2 to 36"))
}

/// The number at the front of a text; too great ones are the greatest.
fn read(text: &[u8], base: u32) -> u64 {
    let text = text.trim_ascii();
    let (digits, is_negative) = match text.split_first() {
        Some((b'-', digits)) => (digits, true),
        Some((b'+', digits)) => (digits, false),
        _ => (text, false),
    };
    let digits = digits.iter().map_while(|d| char::from(*d).to_digit(base));
    let number = digits.fold(0_u64, |number, digit| {
        let next = number.checked_mul(u64::from(base));
        let next = next.and_then(|n| n.checked_add(u64::from(digit)));
        next.unwrap_or(u64::MAX)
    });
    if is_negative {
        number.wrapping_neg()
    } else {
        number
    }
}

fn write(mut number: u64, base: u32, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let start = out.len();
    loop {
        out.push(DIGITS[(number % u64::from(base)) as usize]);
        number /= u64::from(base);
        if number == 0 {
            break;
        }
    }
    out[start..].reverse();
}
