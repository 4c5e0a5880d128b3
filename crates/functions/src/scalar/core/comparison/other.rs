//! Compares decimals, intervals, arrays and maps.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type, i256};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, IntervalUnit, least_supertype};

use super::Op;
use super::digits::compare as by_digits;
use super::number::holds;
use crate::scalar::core::cast::{array_cast, unit_size};
use crate::scalar::core::decimals::{Ticks, Width, digits, ticks_of, to_float};
use crate::scalar::core::numeric::{Num, array_of, map2};
use crate::{Column, Context, Eval};

/// Decimals with decimals and integers exactly, with floats as floats.
pub(super) fn decimals(op: Op, a: &DataType, b: &DataType) -> Option<Eval> {
    if !a.is_number() || !b.is_number() {
        return None;
    }
    let types = (a.clone(), b.clone());
    if a.is_float() || b.is_float() {
        return Some(Arc::new(move |columns, num_rows| {
            if let Some(known) = by_digits(op, columns, (&types.0, &types.1), num_rows)? {
                return Ok(known);
            }
            let (a, b) = (to_float(&columns[0])?, to_float(&columns[1])?);
            super::number::compare(op, (&a, &b), (Num::F64, Num::F64), num_rows)
        }));
    }
    let of = |t: &DataType| digits(t).unwrap_or((20, 0));
    let ((precision_a, scale_a), (precision_b, scale_b)) = (of(a), of(b));
    let scale = scale_a.max(scale_b);
    let (up_a, up_b) = (scale - scale_a, scale - scale_b);
    let narrow = (precision_a + up_a).max(precision_b + up_b) <= 38;
    let width = width_of(a).max(width_of(b));
    Some(Arc::new(move |columns, num_rows| {
        if let Some(known) = by_digits(op, columns, (&types.0, &types.1), num_rows)? {
            return Ok(known);
        }
        let ups = (u32::from(up_a), u32::from(up_b));
        if narrow {
            ticks::<i128>(op, columns, num_rows, (ups, width))
        } else {
            ticks::<i256>(op, columns, num_rows, (ups, width))
        }
    }))
}

/// The signed integer in which ClickHouse compares: as wide as the wider side. It notices what does
/// not fit 32 or 64 bits, but not 128.
pub(super) fn width_of(t: &DataType) -> Width {
    match digits(t) {
        Some((precision, _)) => Width::of(precision),
        None if t.fixed_size_bytes().is_some_and(|n| n > 4) => Width::W64,
        None => Width::W32,
    }
}

fn ticks<T: Ticks>(
    op: Op,
    columns: &[Column],
    num_rows: usize,
    (ups, width): ((u32, u32), Width),
) -> Result<ArrayRef> {
    let scaled = |column: &Column, up: u32| -> Result<Vec<T>> {
        let factor = T::power_of_ten(up).ok_or_else(|| Error::bug("scale of a decimal"))?;
        let ticks = ticks_of::<T>(column, Width::W128)?;
        let product = |t: T| {
            let fits = |t: &T| width >= Width::W128 || t.fits(width);
            let product = t.mul_checked(factor).ok().filter(fits);
            product.ok_or_else(|| {
                Error::new(
                    ErrorCode::DECIMAL_OVERFLOW,
                    "Can't compare decimal number due to overflow",
                )
            })
        };
        ticks.into_iter().map(product).collect()
    };
    let (a, b) = (scaled(&columns[0], ups.0)?, scaled(&columns[1], ups.1)?);
    let order = |row: usize| a[columns[0].row(row)].compare(b[columns[1].row(row)]);
    Ok(array_of(
        (0..num_rows)
            .map(|row| holds(op, Some(order(row))))
            .collect::<Vec<u8>>(),
    ))
}

/// Ticks of a time beside a number of seconds.
pub(super) fn time_with_number(
    op: Op,
    precision: u8,
    number: &DataType,
    time_first: bool,
) -> Result<Option<Eval>> {
    if number.is_float() {
        let ticks = 10_f64.powi(i32::from(precision));
        let seconds = move |column: &Column| -> Result<Column> {
            let len = column.array.len();
            let plain = Column::new(Arc::clone(&column.array));
            let array = super::super::numeric::map1::<f64, f64>(&plain, len, |t| t / ticks)?;
            Ok(Column {
                array,
                is_const: column.is_const,
            })
        };
        return Ok(Some(Arc::new(move |columns, num_rows| {
            let (a, b) = if time_first {
                (seconds(&columns[0])?, columns[1].clone())
            } else {
                (columns[0].clone(), seconds(&columns[1])?)
            };
            super::number::compare(op, (&a, &b), (Num::F64, Num::F64), num_rows)
        })));
    }
    // The ticks are those of a decimal already.
    let time = DataType::Decimal {
        precision: 18,
        scale: precision,
    };
    Ok(if time_first {
        decimals(op, &time, number)
    } else {
        decimals(op, number, &time)
    })
}

/// Intervals of units that divide into each other.
pub(super) fn intervals(op: Op, a: IntervalUnit, b: IntervalUnit) -> Result<Eval> {
    let ((months_a, size_a), (months_b, size_b)) = (unit_size(a), unit_size(b));
    if months_a != months_b {
        return Err(Error::new(
            ErrorCode::NO_COMMON_TYPE,
            format!(
                "Use units that divide into each other: there is no supertype for types Interval{a:?}, Interval{b:?}"
            ),
        ));
    }
    Ok(Arc::new(move |columns, num_rows| {
        map2::<i64, i64, u8>((&columns[0], &columns[1]), num_rows, |a, b| {
            let order =
                (i128::from(a) * i128::from(size_a)).cmp(&(i128::from(b) * i128::from(size_b)));
            holds(op, Some(order))
        })
    }))
}

/// Arrays and maps in lexicographic order, and tuples inside of them; there NULL is the greatest value, and NaN the greatest number,
/// which equals itself.
pub(super) fn nested(
    op: Op,
    a: &DataType,
    b: &DataType,
    context: &Context,
) -> Result<Option<Eval>> {
    let Ok(common) = least_supertype(&[a.clone(), b.clone()]) else {
        return Ok(None);
    };
    if differ_in_variants(a, b) {
        return Ok(None);
    }
    let (cast_a, cast_b) = (
        array_cast(a, &common, context)?,
        array_cast(b, &common, context)?,
    );
    Ok(Some(Arc::new(move |columns, num_rows| {
        let (a, b) = (cast_a(&columns[0].array)?, cast_b(&columns[1].array)?);
        let (a, b) = (with_plain_floats(&a)?, with_plain_floats(&b)?);
        let options = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let order = arrow::array::make_comparator(a.as_ref(), b.as_ref(), options)
            .map_err(|e| Error::bug(e.to_string()))?;
        let order = |row: usize| order(columns[0].row(row), columns[1].row(row));
        Ok(array_of(
            (0..num_rows)
                .map(|row| holds(op, Some(order(row))))
                .collect::<Vec<u8>>(),
        ))
    })))
}

/// The values with one zero and one NaN, so that Arrow's order of the bits is that of the numbers.
fn with_plain_floats(array: &ArrayRef) -> Result<ArrayRef> {
    let bug = |e: arrow::error::ArrowError| Error::bug(e.to_string());
    if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
        let plain = |f: f64| if f.is_nan() { f64::NAN } else { f + 0.0 };
        return Ok(Arc::new(floats.unary::<_, Float64Type>(plain)));
    }
    if let Some(floats) = array.as_primitive_opt::<Float32Type>() {
        let plain = |f: f32| if f.is_nan() { f32::NAN } else { f + 0.0 };
        return Ok(Arc::new(floats.unary::<_, Float32Type>(plain)));
    }
    if let Some(lists) = array.as_list_opt::<i32>() {
        let ArrowType::List(field) = lists.data_type() else {
            return Ok(Arc::clone(array));
        };
        let (values, offsets) = (with_plain_floats(lists.values())?, lists.offsets().clone());
        let nulls = lists.nulls().cloned();
        let lists = ListArray::try_new(Arc::clone(field), offsets, values, nulls);
        return Ok(Arc::new(lists.map_err(bug)?));
    }
    if let Some(tuples) = array
        .as_struct_opt()
        .filter(|tuples| tuples.num_columns() > 0)
    {
        let columns = tuples.columns().iter().map(with_plain_floats);
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let nulls = tuples.nulls().cloned();
        let tuples = StructArray::try_new(tuples.fields().clone(), columns, nulls);
        return Ok(Arc::new(tuples.map_err(bug)?));
    }
    Ok(Arc::clone(array))
}

/// Whether elements of one array or map are of a Variant, and those of the other are not.
fn differ_in_variants(a: &DataType, b: &DataType) -> bool {
    let is_variant = |t: &DataType| matches!(t, DataType::Variant(_));
    match (a, b) {
        (DataType::Array(x), DataType::Array(y)) => differ_in_variants(x, y),
        (DataType::Map(k1, v1), DataType::Map(k2, v2)) => {
            differ_in_variants(k1, k2) || differ_in_variants(v1, v2)
        }
        _ => is_variant(a) != is_variant(b),
    }
}
