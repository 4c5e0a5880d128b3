//! Works on the bits of integers: `bitAnd`, shifts, rotations, counts, `byteSwap`.

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::bit_strings;
use super::numeric::{Native, Num, array_of, map1, map1_widest, map2, with_sized};
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

/// Functions of two integers whose result is the wider of them.
#[derive(Clone, Copy)]
enum Op {
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    RotateLeft,
    RotateRight,
}

macro_rules! bit_operators {
    ($($name:literal $op:ident $description:literal)*) => {
        &[$(ScalarFunction {
            name: $name,
            syntax: concat!($name, "(a, b)"),
            description: $description,
            resolve: |call| binary(call, Op::$op),
            ..ScalarFunction::BASE
        },)*]
    };
}

/// Functions of two integers.
pub const OPERATORS: &[ScalarFunction] = bit_operators! {
    "bitAnd" And "Returns the bits that both integers have."
    "bitOr" Or "Returns the bits that at least one integer has."
    "bitXor" Xor "Returns the bits that exactly one integer has."
    "bitShiftLeft" ShiftLeft "Shifts the bits to the left by a number of places."
    "bitShiftRight" ShiftRight "Shifts the bits to the right by a number of places."
    "bitRotateLeft" RotateLeft "Shifts the bits to the left, those that leave come in on the right."
    "bitRotateRight" RotateRight "Shifts the bits to the right, those that leave come in on the left."
};

/// Functions of the bits of one value.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "bitNot",
        fails: Fails::Never,
        syntax: "bitNot(x)",
        description: "Returns the integer with every bit inverted.",
        resolve: bit_not,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitCount",
        fails: Fails::Never,
        syntax: "bitCount(x)",
        description: "Returns the number of bits that are set.",
        resolve: bit_count,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitHammingDistance",
        fails: Fails::Never,
        syntax: "bitHammingDistance(a, b)",
        description: "Returns the number of bits in which two integers differ.",
        resolve: hamming_distance,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitTest",
        fails: Fails::Never,
        syntax: "bitTest(x, place)",
        description: "Returns the bit at a place, counted from the least one, 0.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            test_bits(call, |bits, mask| bits & mask != 0)
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitTestAll",
        syntax: "bitTestAll(x, place, …)",
        description: "Returns 1 if the bits at all places are set.",
        resolve: |call| test_bits(call, |bits, mask| bits & mask == mask),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitTestAny",
        syntax: "bitTestAny(x, place, …)",
        description: "Returns 1 if the bit at one of the places is set.",
        resolve: |call| test_bits(call, |bits, mask| bits & mask != 0),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "byteSwap",
        case_insensitive: true,
        syntax: "byteSwap(x)",
        description: "Returns the integer with its bytes in reverse order.",
        resolve: byte_swap,
        ..ScalarFunction::BASE
    },
];

fn integer(call: &Call<'_>, idx: usize) -> Result<Num> {
    Num::of_operand(call.data_type(idx))
        .filter(|num| !num.is_float())
        .ok_or_else(|| call.illegal_type(idx))
}

/// Integers, whose operators are those of Rust.
trait Bits: Native {
    fn apply(self, op: Op, other: Self) -> Self;
    fn not(self) -> Self;
    fn swap(self) -> Self;
    fn count(self) -> u8;
    /// The greatest power of two that is not greater; 0 for what is not positive.
    fn floor_power(self) -> Self;
}

macro_rules! bits {
    ($($native:ty, $unsigned:ty;)*) => {
        $(impl Bits for $native {
            #[inline(always)]
            fn apply(self, op: Op, other: Self) -> Self {
                let places = other as u32;
                match op {
                    Op::And => self & other,
                    Op::Or => self | other,
                    Op::Xor => self ^ other,
                    Op::ShiftLeft => self.checked_shl(places).unwrap_or(0),
                    Op::ShiftRight => self.checked_shr(places).unwrap_or(0),
                    Op::RotateLeft => self.rotate_left(places % <$native>::BITS),
                    Op::RotateRight => self.rotate_right(places % <$native>::BITS),
                }
            }

            #[inline(always)]
            fn not(self) -> Self {
                !self
            }

            #[inline(always)]
            fn swap(self) -> Self {
                self.swap_bytes()
            }

            #[inline(always)]
            fn count(self) -> u8 {
                // At most 64.
                (self as $unsigned).count_ones() as u8
            }

            #[inline(always)]
            fn floor_power(self) -> Self {
                // Fills the bits below the highest one: vector units have no leading_zeros.
                let mut bits = self.max(0) as $unsigned;
                let mut places = 1;
                while places < <$unsigned>::BITS {
                    bits |= bits >> places;
                    places *= 2;
                }
                (bits - (bits >> 1)) as $native
            }
        })*
    };
}

bits! { u8, u8; u16, u16; u32, u32; u64, u64; i8, u8; i16, u16; i32, u32; i64, u64; }

/// Runs `$body` with `$t` as the Rust type of a [`Num`] that is an integer.
macro_rules! with_integer {
    ($num:expr, $t:ident => $body:expr) => {
        match $num.is_signed() {
            true => with_sized!($num, [i8, i16, i32, i64], $t => $body),
            false => with_sized!($num, [u8, u16, u32, u64], $t => $body),
        }
    };
}

fn binary(call: &Call<'_>, op: Op) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let of_strings = match op {
        Op::And => bit_strings::combine(call, |a, b| a & b)?,
        Op::Or => bit_strings::combine(call, |a, b| a | b)?,
        Op::Xor => bit_strings::combine(call, |a, b| a ^ b)?,
        Op::ShiftLeft => bit_strings::shift(call, true)?,
        Op::ShiftRight => bit_strings::shift(call, false)?,
        Op::RotateLeft | Op::RotateRight => None,
    };
    if let Some(resolved) = of_strings {
        return Ok(resolved);
    }
    let (a, b) = (integer(call, 0)?, integer(call, 1)?);
    let size_bytes = a.size_bytes().max(b.size_bytes());
    let result = Num::integer(size_bytes, a.is_signed() || b.is_signed());
    let shifts = matches!(op, Op::ShiftLeft | Op::ShiftRight);
    let checks = shifts && b.is_signed();
    Resolved::new(result.data_type(), move |columns, num_rows| {
        if checks {
            check_places(columns, num_rows)?;
        }
        with_integer!(result, T => run::<T>(op, columns, num_rows))
    })
}

fn run<T: Bits>(op: Op, columns: &[Column], num_rows: usize) -> Result<ArrayRef> {
    let pair = (&columns[0], &columns[1]);
    match op {
        Op::And => map2::<T, T, T>(pair, num_rows, |a, b| a.apply(Op::And, b)),
        Op::Or => map2::<T, T, T>(pair, num_rows, |a, b| a.apply(Op::Or, b)),
        Op::Xor => map2::<T, T, T>(pair, num_rows, |a, b| a.apply(Op::Xor, b)),
        _ => map2::<T, T, T>(pair, num_rows, |a, b| a.apply(op, b)),
    }
}

fn check_places(columns: &[Column], num_rows: usize) -> Result<()> {
    let places = &columns[1];
    let negative = map1::<i64, u8>(places, places.array.len(), |n| u8::from(n < 0))?;
    let negative = super::numeric::values::<u8>(negative.as_ref())?;
    if !negative.contains(&1) {
        return Ok(());
    }
    let is_valid = |row: usize| columns.iter().all(|c| c.array.is_valid(c.row(row)));
    if (0..num_rows).any(|row| negative[places.row(row)] == 1 && is_valid(row)) {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            "The number of shift positions needs to be a non-negative value",
        ));
    }
    Ok(())
}

fn bit_not(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    if let Some(resolved) = bit_strings::invert(call)? {
        return Ok(resolved);
    }
    let num = Num::of_number(call.data_type(0)).ok_or_else(|| call.illegal_type(0))?;
    let result = if num.is_float() {
        Num::integer(num.size_bytes(), true)
    } else {
        num
    };
    Resolved::new(
        result.data_type(),
        move |columns, num_rows| with_integer!(result, T => map1_widest::<T, T>(&columns[0], num_rows, |x| x.not())),
    )
}

fn bit_count(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0);
    if data_type.is_string() {
        // A FixedString of more than 8191 bytes counts in 16 bits all the same, as in ClickHouse.
        let is_fixed = *data_type != DataType::String;
        let result = if is_fixed {
            DataType::UInt16
        } else {
            DataType::UInt64
        };
        return Resolved::new(result, move |columns, num_rows| {
            let strings = columns[0].strings()?;
            let ones = |row| -> u64 {
                let bytes = strings.value(row).iter();
                bytes.map(|b| u64::from(b.count_ones())).sum()
            };
            let counts = (0..num_rows).map(ones);
            Ok(if is_fixed {
                array_of(counts.map(|n| n as u16).collect::<Vec<u16>>())
            } else {
                array_of(counts.collect::<Vec<u64>>())
            })
        });
    }
    let num = Num::of_number(data_type).ok_or_else(|| call.illegal_type(0))?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let column = &columns[0];
        match num {
            Num::F32 => map1::<f32, u8>(column, num_rows, |x| x.to_bits().count()),
            Num::F64 => map1::<f64, u8>(column, num_rows, |x| x.to_bits().count()),
            _ => with_integer!(num, T => map1_widest::<T, u8>(column, num_rows, |x| x.count())),
        }
    })
}

fn hamming_distance(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if call.data_type(0).is_string() && call.data_type(1).is_string() {
        return Resolved::new(DataType::UInt64, |columns, num_rows| {
            let (a, b) = (columns[0].strings()?, columns[1].strings()?);
            let distance = |row| {
                let (a, b) = (a.value(row), b.value(row));
                if a.len() != b.len() {
                    return Err(Error::new(
                        ErrorCode::BAD_ARGUMENTS,
                        "bitHammingDistance needs strings of the same length",
                    ));
                }
                Ok(a.iter()
                    .zip(b)
                    .map(|(a, b)| u64::from((a ^ b).count_ones()))
                    .sum())
            };
            Ok(array_of(
                (0..num_rows).map(distance).collect::<Result<Vec<u64>>>()?,
            ))
        });
    }
    integer(call, 0)?;
    integer(call, 1)?;
    Resolved::new(DataType::UInt8, |columns, num_rows| {
        map2::<u64, u64, u8>((&columns[0], &columns[1]), num_rows, |a, b| (a ^ b).count())
    })
}

fn test_bits(call: &Call<'_>, holds: fn(u64, u64) -> bool) -> Result<Resolved> {
    call.expect_args(2..=usize::MAX)?;
    let num = integer(call, 0)?;
    for idx in 1..call.args.len() {
        integer(call, idx)?;
    }
    let bits = 8 * num.size_bytes() as u64;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let mut masks = array_of(vec![0_u64; num_rows]);
        for places in &columns[1..] {
            check_range(places, bits)?;
            let pair = (&Column::new(masks), places);
            masks =
                map2::<u64, u64, u64>(pair, num_rows, |mask, place| mask | (1 << (place & 63)))?;
        }
        let pair = (&columns[0], &Column::new(masks));
        map2::<u64, u64, u8>(pair, num_rows, |bits, mask| u8::from(holds(bits, mask)))
    })
}

fn check_range(places: &Column, bits: u64) -> Result<()> {
    let outside = map1::<u64, u8>(places, places.array.len(), |p| u8::from(p >= bits))?;
    let outside = super::numeric::values::<u8>(outside.as_ref())?;
    let row = (0..outside.len()).find(|row| outside[*row] == 1 && places.array.is_valid(*row));
    if row.is_some() {
        return Err(Error::new(
            ErrorCode::PARAMETER_OUT_OF_BOUND,
            format!("The bit position must be at least 0 and less than {bits}"),
        ));
    }
    Ok(())
}

fn byte_swap(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    if call.data_type(0).is_float() {
        return Err(Error::not_implemented("byteSwap of floats"));
    }
    call.expect_type(0, |t| *t != DataType::Ipv4)?;
    let num = integer(call, 0)?;
    Resolved::new(
        num.data_type(),
        move |columns, num_rows| with_integer!(num, T => map1::<T, T>(&columns[0], num_rows, |x| x.swap())),
    )
}

/// `roundToExp2`: the greatest power of two that is not greater.
pub(super) fn round_to_exp2(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let num = Num::of_number(call.data_type(0)).ok_or_else(|| call.illegal_type(0))?;
    Resolved::new(num.data_type(), move |columns, num_rows| {
        let column = &columns[0];
        match num {
            // Without the mantissa a float is a power of two.
            Num::F32 => map1::<f32, f32>(column, num_rows, |x| {
                f32::from_bits(x.to_bits() & 0xFF80_0000)
            }),
            Num::F64 => map1::<f64, f64>(column, num_rows, |x| {
                f64::from_bits(x.to_bits() & 0xFFF0_0000_0000_0000)
            }),
            _ => {
                with_integer!(num, T => map1_widest::<T, T>(column, num_rows, |x| x.floor_power()))
            }
        }
    })
}
