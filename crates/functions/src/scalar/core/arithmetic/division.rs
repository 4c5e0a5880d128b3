//! Divides integers and floats to integers, and takes remainders.
//!
//! Remainders are those of the magnitudes with the dividend's sign. Quotients of mixed signs are
//! taken in ClickHouse's way: each operand is first read as the signed integer of its own size.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_kernels::divide::{self as kernels, Divisor};
use basalt_types::DataType;

use super::BinaryOp;
use crate::scalar::core::numeric::{
    CHUNK, Chunk, FromNum, Native, Num, Source, array_of, chunks, map1, map2, with_native,
    with_sized, with_wide,
};
use crate::{Column, Resolved};

/// What a division is computed from and to.
#[derive(Clone, Copy)]
struct Division {
    op: BinaryOp,
    a: Num,
    b: Num,
    result: Num,
}

pub(super) fn resolve(op: BinaryOp, a: &DataType, b: &DataType) -> Result<Option<Resolved>> {
    let quotient = matches!(op, BinaryOp::IntDiv | BinaryOp::IntDivOrZero);
    let dividend = if !quotient && a.is_date_or_time() && !matches!(a, DataType::DateTime64(..)) {
        Num::of(a)
    } else {
        Num::of_operand(a)
    };
    let (Some(a), Some(b)) = (dividend, Num::of_operand(b)) else {
        return Ok(None);
    };
    let result = if quotient {
        Num::integer(a.size_bytes(), a.is_signed() || b.is_signed())
    } else {
        remainder_type(op, a, b)
    };
    let division = Division { op, a, b, result };
    let has_float = a.is_float() || b.is_float();
    Resolved::new(result.data_type(), move |columns, num_rows| {
        let pair = (&columns[0], &columns[1]);
        match (quotient, has_float) {
            (true, true) => float_quotients(division, columns, num_rows),
            (true, false) => {
                check_integers(division, columns, num_rows)?;
                integer_quotients(division, pair, num_rows)
            }
            (false, true) => map2::<f64, f64, f64>(pair, num_rows, |a, b| {
                // ClickHouse's remainder, which loses what the quotient does.
                let rest = a - (a / b).trunc() * b;
                if op == BinaryOp::PositiveModulo && rest < 0.0 {
                    rest + b.abs()
                } else {
                    rest
                }
            }),
            (false, false) => {
                check_integers(division, columns, num_rows)?;
                remainders(division, pair, num_rows)
            }
        }
    })
    .map(Some)
}

/// The remainder's type follows the divisor; a signed dividend needs one size more.
pub(super) fn remainder_type(op: BinaryOp, a: Num, b: Num) -> Num {
    if a.is_float() || b.is_float() {
        Num::F64
    } else if op == BinaryOp::PositiveModulo || !a.is_signed() {
        Num::integer(b.size_bytes(), false)
    } else {
        Num::integer((2 * b.size_bytes()).min(8), true)
    }
}

fn by_zero() -> Error {
    Error::new(ErrorCode::ILLEGAL_DIVISION, "Division by zero")
}

/// Validity of the rows in which no argument is NULL.
fn valid_rows(columns: &[Column], num_rows: usize) -> Option<NullBuffer> {
    columns.iter().fold(None, |nulls, column| {
        NullBuffer::union(nulls.as_ref(), column.validity(num_rows).as_ref())
    })
}

/// The first row in which `divisor` is 0 and no column is NULL.
pub(super) fn first_zero(
    divisor: &Column,
    columns: &[Column],
    num_rows: usize,
) -> Result<Option<usize>> {
    let array = divisor.array.as_ref();
    let num = Num::of_arrow(array.data_type()).ok_or_else(|| Error::bug("divisor is no number"))?;
    let zeros = with_native!(num, T => {
        let values = array.as_primitive::<<T as Native>::Arrow>().values();
        let zero = <T as Default>::default();
        // Without a branch in the loop first: nearly all divisors have no zero.
        if !values.iter().fold(false, |any, v| any | (*v == zero)) {
            return Ok(None);
        }
        values.iter().map(|v| *v == zero).collect::<Vec<bool>>()
    });
    let valid = valid_rows(columns, num_rows);
    let is_bad = |row: &usize| {
        zeros[divisor.row(*row)] && valid.as_ref().is_none_or(|valid| valid.is_valid(*row))
    };
    Ok((0..num_rows).find(is_bad))
}

/// Refuses rows that divide by zero or the least number by -1, unless the operator is `…OrZero`.
fn check_integers(division: Division, columns: &[Column], num_rows: usize) -> Result<()> {
    if matches!(division.op, BinaryOp::IntDivOrZero | BinaryOp::ModuloOrZero) {
        return Ok(());
    }
    let (a, b) = (&columns[0], &columns[1]);
    if first_zero(b, columns, num_rows)?.is_some() {
        return Err(by_zero());
    }
    let (is_signed_a, is_signed_b) = (division.a.is_signed(), division.b.is_signed());
    let is_signed = if division.op == BinaryOp::IntDiv {
        is_signed_a || is_signed_b
    } else {
        is_signed_a && is_signed_b
    };
    if !is_signed {
        return Ok(());
    }
    // Each as the signed integer of its own size.
    let (shift_a, shift_b) = (
        64 - 8 * division.a.size_bytes(),
        64 - 8 * division.b.size_bytes(),
    );
    let b_array = map1::<i64, u8>(b, b.array.len(), |v| {
        u8::from((v << shift_b) >> shift_b == -1)
    })?;
    let minus_ones = b_array
        .as_primitive::<arrow::datatypes::UInt8Type>()
        .values();
    if !minus_ones.contains(&1) {
        return Ok(());
    }
    let least = i64::MIN >> shift_a;
    let dividends = map1::<i64, i64>(a, num_rows, |v| (v << shift_a) >> shift_a)?;
    let dividends = dividends
        .as_primitive::<arrow::datatypes::Int64Type>()
        .values();
    let valid = valid_rows(columns, num_rows);
    let is_bad = |row: usize| {
        minus_ones[b.row(row)] == 1
            && dividends[row] == least
            && valid.as_ref().is_none_or(|valid| valid.is_valid(row))
    };
    if (0..num_rows).any(is_bad) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_DIVISION,
            "Division of minimal signed number by minus one",
        ));
    }
    Ok(())
}

fn integer_quotients(
    division: Division,
    pair: (&Column, &Column),
    num_rows: usize,
) -> Result<ArrayRef> {
    let Division { a, b, result, .. } = division;
    if a.is_signed() || b.is_signed() {
        let shift_a = 64 - 8 * a.size_bytes();
        let shift_b = if a.size_bytes() <= b.size_bytes() {
            64 - 8 * b.size_bytes()
        } else {
            0
        };
        // The least number by -1 is refused before, unless the result is to be 0.
        let least = i64::MIN >> shift_a;
        return with_sized!(result, [i8, i16, i32, i64], T => map2::<i64, i64, T>(pair, num_rows, |a, b| {
            let (a, b) = ((a << shift_a) >> shift_a, (b << shift_b) >> shift_b);
            let undefined = b == 0 || (b == -1 && a == least);
            T::from_num(if undefined { 0 } else { a.wrapping_div(b) })
        }));
    }
    if a.size_bytes() <= 4 && b.size_bytes() <= 4 {
        let quotients = by_constant::<u32, u32>(pair, num_rows, kernels::quotients)?;
        if let Some(quotients) = quotients {
            return Ok(narrowed(quotients, result));
        }
        return with_sized!(result, [u8, u16, u32, u64], T => {
            map2::<u32, u32, T>(pair, num_rows, |a, b| T::from_num(a.checked_div(b).unwrap_or(0)))
        });
    }
    let quotients = by_constant::<u64, u64>(pair, num_rows, kernels::quotients)?;
    if let Some(quotients) = quotients {
        return Ok(narrowed(quotients, result));
    }
    with_sized!(result, [u8, u16, u32, u64], T => {
        map2::<u64, u64, T>(pair, num_rows, |a, b| T::from_num(a.checked_div(b).unwrap_or(0)))
    })
}

/// Divides by a divisor that is the same for all rows with `kernel`; `None` if it is not, or 0.
fn by_constant<W: Native + kernels::Word, O: Native>(
    (a, b): (&Column, &Column),
    num_rows: usize,
    kernel: fn(&Divisor<W>, &[W], &mut [O]),
) -> Result<Option<Vec<O>>> {
    let Source::Scalar(divisor) = Source::<W>::new(b)? else {
        return Ok(None);
    };
    let (Some(divisor), false) = (Divisor::try_new(divisor), a.is_const) else {
        return Ok(None);
    };
    let dividends = Source::<W>::new(a)?;
    let mut buffer = dividends.buffer();
    let mut out = vec![O::default(); num_rows];
    for range in chunks(num_rows) {
        if let Chunk::Slice(values) = dividends.chunk(range.clone(), &mut buffer) {
            kernel(&divisor, values, &mut out[range]);
        }
    }
    Ok(Some(out))
}

/// The numbers as an array of a type that has room for them.
fn narrowed<W>(numbers: Vec<W>, result: Num) -> ArrayRef
where
    W: Native,
    u8: FromNum<W>,
    u16: FromNum<W>,
    u32: FromNum<W>,
    u64: FromNum<W>,
{
    if result.size_bytes() == size_of::<W>() {
        return array_of(numbers);
    }
    with_sized!(result, [u8, u16, u32, u64], T => {
        array_of(numbers.into_iter().map(T::from_num).collect::<Vec<T>>())
    })
}

fn remainders(division: Division, pair: (&Column, &Column), num_rows: usize) -> Result<ArrayRef> {
    let Division { op, a, b, result } = division;
    let narrow = a.size_bytes() <= 4 && b.size_bytes() <= 4;
    if !a.is_signed() && !b.is_signed() {
        if let Some(rests) = remainders_by_constant(result, narrow, pair, num_rows)? {
            return Ok(rests);
        }
        return with_sized!(result, [u8, u16, u32, u64], T => if narrow {
            map2::<u32, u32, T>(pair, num_rows, |a, b| T::from_num(a.checked_rem(b).unwrap_or(0)))
        } else {
            map2::<u64, u64, T>(pair, num_rows, |a, b| T::from_num(a.checked_rem(b).unwrap_or(0)))
        });
    }
    let positive = op == BinaryOp::PositiveModulo;
    if !result.is_signed() {
        return with_sized!(result, [u8, u16, u32, u64], T => {
            signed_remainders::<T>(division, pair, num_rows, positive)
        });
    }
    with_wide!(result, T => signed_remainders::<T>(division, pair, num_rows, false))
}

/// Unsigned remainders by a divisor that is the same for all rows; `None` if it is not, or 0.
fn remainders_by_constant(
    result: Num,
    narrow: bool,
    pair: (&Column, &Column),
    num_rows: usize,
) -> Result<Option<ArrayRef>> {
    macro_rules! rests {
        ($word:ty, $rest:ty) => {
            by_constant::<$word, $rest>(pair, num_rows, kernels::remainders)?.map(array_of)
        };
    }
    Ok(match (narrow, result.size_bytes()) {
        (true, 1) => rests!(u32, u8),
        (true, 2) => rests!(u32, u16),
        (true, _) => rests!(u32, u32),
        (false, 1) => rests!(u64, u8),
        (false, 2) => rests!(u64, u16),
        (false, 4) => rests!(u64, u32),
        (false, _) => rests!(u64, u64),
    })
}

/// Remainders of magnitudes with the dividend's sign.
fn signed_remainders<T: Native>(
    division: Division,
    (a, b): (&Column, &Column),
    num_rows: usize,
    positive: bool,
) -> Result<ArrayRef> {
    let (a_signed, b_signed) = (division.a.is_signed(), division.b.is_signed());
    let finish = |a: u64, b: u64, rest: u64| {
        let negative = a_signed && (a as i64) < 0;
        T::from_num(match (negative, positive) {
            (true, true) if rest != 0 => b - rest,
            (true, false) => rest.wrapping_neg(),
            _ => rest,
        } as i64)
    };
    let magnitude = |x: u64, signed: bool| {
        if signed { (x as i64).unsigned_abs() } else { x }
    };
    if let Source::Scalar(divisor) = Source::<u64>::new(b)?
        && let Some(divisor) = Divisor::try_new(magnitude(divisor, b_signed))
        && !a.is_const
    {
        let dividends = Source::<u64>::new(a)?;
        let mut buffer = dividends.buffer();
        let (mut magnitudes, mut rests) = ([0; CHUNK], [0; CHUNK]);
        let mut out = Vec::with_capacity(num_rows);
        for range in chunks(num_rows) {
            let (magnitudes, rests) = (&mut magnitudes[..range.len()], &mut rests[..range.len()]);
            if let Chunk::Slice(values) = dividends.chunk(range, &mut buffer) {
                for (to, from) in magnitudes.iter_mut().zip(values) {
                    *to = magnitude(*from, a_signed);
                }
                kernels::remainders(&divisor, magnitudes, rests);
                let rows = values.iter().zip(rests);
                out.extend(rows.map(|(a, rest)| finish(*a, divisor.get(), *rest)));
            }
        }
        return Ok(array_of(out));
    }
    map2::<u64, u64, T>((a, b), num_rows, |a, b| {
        let divisor = magnitude(b, b_signed);
        let rest = magnitude(a, a_signed).checked_rem(divisor).unwrap_or(0);
        finish(a, divisor, rest)
    })
}

fn float_quotients(division: Division, columns: &[Column], num_rows: usize) -> Result<ArrayRef> {
    let quotients = {
        let (a, b) = (
            Source::<f64>::new(&columns[0])?,
            Source::<f64>::new(&columns[1])?,
        );
        let valid = valid_rows(columns, num_rows);
        let mut buffers = (a.buffer(), b.buffer());
        let mut out = Vec::with_capacity(num_rows);
        for range in chunks(num_rows) {
            let start = range.start;
            let a = a.chunk(range.clone(), &mut buffers.0);
            let b = b.chunk(range.clone(), &mut buffers.1);
            for row in range {
                let at = |chunk: &Chunk<'_, f64>| match chunk {
                    Chunk::Scalar(x) => *x,
                    Chunk::Slice(x) => x[row - start],
                };
                let is_valid = valid.as_ref().is_none_or(|valid| valid.is_valid(row));
                out.push(if is_valid {
                    float_quotient(at(&a), at(&b), division.op)?
                } else {
                    0
                });
            }
        }
        out
    };
    with_native!(division.result, T => {
        Ok(array_of(quotients.into_iter().map(T::from_num).collect::<Vec<T>>()))
    })
}

fn float_quotient(a: f64, b: f64, op: BinaryOp) -> Result<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b == 0.0 {
        return if op == BinaryOp::IntDivOrZero {
            Ok(0)
        } else {
            Err(by_zero())
        };
    }
    if !a.is_finite() || !b.is_finite() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_DIVISION,
            "Cannot perform integer division on infinite or too large floating point numbers",
        ));
    }
    let quotient = (a / b).trunc();
    if (-LIMIT..LIMIT).contains(&quotient) {
        Ok(quotient as i64)
    } else {
        Err(Error::new(
            ErrorCode::ILLEGAL_DIVISION,
            "Cannot perform integer division, because it will produce infinite or too large number",
        ))
    }
}
