//! Takes a number's opposite, magnitude or sign.

use arrow::array::{ArrayRef, ArrowNativeTypeOp};
use arrow::datatypes::i256;
use basalt_error::{Error, Result};
use basalt_types::DataType;

use crate::scalar::core::decimals::{Ticks, Width, decimal_array, digits, math_overflow, ticks_of};
use crate::scalar::core::numeric::{Native, Num, array_of, map1, map1_widest};
use crate::{Call, Column, Resolved};

pub(super) fn negate(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0);
    match data_type {
        DataType::Tuple(_) => return super::nested::negate_tuple(call),
        DataType::Interval(_) => {
            return Resolved::new(data_type.clone(), |columns, num_rows| {
                map1::<i64, i64>(&columns[0], num_rows, i64::wrapping_neg)
            });
        }
        _ => {}
    }
    if data_type.is_decimal() {
        return decimal(call, |t| t.neg_checked().ok(), |t| t.neg_checked().ok());
    }
    let num = Num::of_number(data_type).ok_or_else(|| call.illegal_type(0))?;
    let result = match num {
        Num::U8 => Num::I16,
        Num::U16 => Num::I32,
        Num::U32 | Num::U64 => Num::I64,
        signed => signed,
    };
    Resolved::new(result.data_type(), move |columns, num_rows| {
        let column = &columns[0];
        match result {
            Num::I8 => opposite::<i8>(column, num_rows),
            Num::I16 => opposite::<i16>(column, num_rows),
            Num::I32 => opposite::<i32>(column, num_rows),
            Num::F32 => opposite::<f32>(column, num_rows),
            Num::F64 => opposite::<f64>(column, num_rows),
            _ => opposite::<i64>(column, num_rows),
        }
    })
}

fn opposite<T: Native>(column: &Column, num_rows: usize) -> Result<ArrayRef> {
    map1_widest::<T, T>(column, num_rows, |x| x.neg_wrapping())
}

pub(super) fn abs(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0);
    if data_type.is_decimal() {
        fn magnitude<T: Ticks>(t: T) -> Option<T> {
            if t < T::from_i128(0) {
                t.neg_checked().ok()
            } else {
                Some(t)
            }
        }
        return decimal(call, magnitude, magnitude);
    }
    let num = Num::of_number(data_type).ok_or_else(|| call.illegal_type(0))?;
    let result = if num.is_float() {
        num
    } else {
        Num::integer(num.size_bytes(), false)
    };
    Resolved::new(result.data_type(), move |columns, num_rows| {
        let column = &columns[0];
        match num {
            Num::I8 => map1_widest::<i8, u8>(column, num_rows, i8::unsigned_abs),
            Num::I16 => map1_widest::<i16, u16>(column, num_rows, i16::unsigned_abs),
            Num::I32 => map1_widest::<i32, u32>(column, num_rows, i32::unsigned_abs),
            Num::I64 => map1_widest::<i64, u64>(column, num_rows, i64::unsigned_abs),
            Num::F32 => map1_widest::<f32, f32>(column, num_rows, f32::abs),
            Num::F64 => map1_widest::<f64, f64>(column, num_rows, f64::abs),
            _ => column.expand(num_rows),
        }
    })
}

pub(super) fn sign(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0);
    let is_decimal = data_type.is_decimal();
    let num = Num::of_number(data_type);
    if num.is_none() && !is_decimal {
        return Err(call.illegal_type(0));
    }
    Resolved::new(DataType::Int8, move |columns, num_rows| {
        let column = &columns[0];
        if is_decimal {
            return decimal_signs(column, num_rows);
        }
        // ClickHouse gives a NaN the sign 1.
        match num {
            Some(Num::U64) => map1::<u64, i8>(column, num_rows, |x| i8::from(x > 0)),
            Some(num) if num.is_float() => map1::<f64, i8>(column, num_rows, |x| {
                if x < 0.0 { -1 } else { i8::from(x != 0.0) }
            }),
            _ => map1::<i64, i8>(column, num_rows, |x| i8::from(x > 0) - i8::from(x < 0)),
        }
    })
}

fn decimal_signs(column: &Column, num_rows: usize) -> Result<ArrayRef> {
    let zero = i256::from_i128(0);
    let signs: Vec<i8> = ticks_of::<i256>(column, Width::W256)?
        .into_iter()
        .map(|t| i8::from(t > zero) - i8::from(t < zero))
        .collect();
    let signs = array_of(signs);
    Column {
        array: signs,
        is_const: column.is_const,
    }
    .expand(num_rows)
}

/// Applies an operator to ticks of either width; `None` is an overflow.
fn decimal(
    call: &Call<'_>,
    narrow: fn(i128) -> Option<i128>,
    wide: fn(i256) -> Option<i256>,
) -> Result<Resolved> {
    let data_type = call.data_type(0).clone();
    let (precision, _) = digits(&data_type).ok_or_else(|| Error::bug("no decimal"))?;
    let width = Width::of(precision);
    Resolved::new(data_type.clone(), move |columns, num_rows| {
        let column = &columns[0];
        let array = if width == Width::W256 {
            each::<i256>(column, &data_type, width, wide)?
        } else {
            each::<i128>(column, &data_type, width, narrow)?
        };
        Column {
            array,
            is_const: column.is_const,
        }
        .expand(num_rows)
    })
}

fn each<T: Ticks>(
    column: &Column,
    data_type: &DataType,
    width: Width,
    op: fn(T) -> Option<T>,
) -> Result<ArrayRef> {
    let ticks = ticks_of::<T>(column, width)?;
    let apply = |t: T| op(t).filter(|t| t.fits(width)).ok_or_else(math_overflow);
    let ticks = ticks.into_iter().map(apply).collect::<Result<Vec<T>>>()?;
    decimal_array(ticks, data_type, None)
}
