//! Rounds numbers down to members of a list: durations, ages, a list of the caller's.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::i256;
use basalt_error::Result;
use basalt_types::{DataType, least_supertype};

use crate::scalar::core::cast::array_cast;
use crate::scalar::core::decimals::{Ticks, Width, decimal_array, digits};
use crate::scalar::core::numeric::{Native, Num, Numbers, map1, map1_widest, with_native};
use crate::{Call, Column, Resolved};

const DURATIONS: [u16; 15] = [
    1, 10, 30, 60, 120, 180, 240, 300, 600, 1200, 1800, 3600, 7200, 18_000, 36_000,
];

pub(super) fn round_duration(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let num = Num::of_number(call.data_type(0)).ok_or_else(|| call.illegal_type(0))?;
    Resolved::new(DataType::UInt16, move |columns, num_rows| {
        let narrow = saturated(&columns[0], num_rows, num)?;
        // Compares with every class: short for a vector unit, which has no search.
        map1_widest::<u16, u16>(&Column::new(narrow), num_rows, |seconds| {
            let classes = DURATIONS.iter();
            classes.fold(
                0,
                |class, next| if seconds >= *next { *next } else { class },
            )
        })
    })
}

const AGES: [(u16, u16); 6] = [(1, 17), (18, 18), (25, 25), (35, 35), (45, 45), (55, 55)];

pub(super) fn round_age(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let num = Num::of_number(call.data_type(0)).ok_or_else(|| call.illegal_type(0))?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let narrow = saturated(&columns[0], num_rows, num)?;
        map1_widest::<u16, u8>(&Column::new(narrow), num_rows, |age| {
            let class = AGES.iter().fold(
                0,
                |class, (from, to)| if age >= *from { *to } else { class },
            );
            class as u8
        })
    })
}

/// Whole numbers within 16 bits; all classes end far below.
fn saturated(column: &Column, num_rows: usize, num: Num) -> Result<ArrayRef> {
    match num {
        Num::U8 => map1::<u8, u16>(column, num_rows, u16::from),
        Num::U16 => column.expand(num_rows),
        Num::U32 => map1_widest::<u32, u16>(column, num_rows, |x| x.min(0xFFFF) as u16),
        Num::U64 => map1_widest::<u64, u16>(column, num_rows, |x| x.min(0xFFFF) as u16),
        Num::F32 | Num::F64 => map1::<f64, u16>(column, num_rows, |x| x as u16),
        _ => map1::<i64, u16>(column, num_rows, |x| x.clamp(0, 0xFFFF) as u16),
    }
}

pub(super) fn round_down(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let DataType::Array(element) = call.data_type(1) else {
        return Err(call.illegal_type(1));
    };
    if !element.base().is_number() {
        return Err(call.illegal_type(1));
    }
    let result = least_supertype(&[call.data_type(0).clone(), element.as_ref().clone()])?;
    let list = call.constant(1)?.as_list::<i32>().value(0);
    if list.is_empty() {
        return Err(call.illegal_type(1));
    }
    if let Some((precision, _)) = digits(&result) {
        let list = array_cast(element, &result, call.context)?(&list)?;
        return match Width::of(precision) {
            Width::W256 => decimal_below::<i256>(call, result, list),
            _ => decimal_below::<i128>(call, result, list),
        };
    }
    let num = Num::of_number(&result).ok_or_else(|| call.illegal_type(0))?;
    Resolved::new(
        result,
        move |columns, num_rows| with_native!(num, T => below::<T>(&columns[0], &list, num_rows)),
    )
}

/// `roundDown` of decimals, and of a list of them.
fn decimal_below<T: Ticks>(call: &Call<'_>, result: DataType, list: ArrayRef) -> Result<Resolved> {
    let cast = array_cast(call.data_type(0), &result, call.context)?;
    let mut elements = T::of_array(list.as_ref())?;
    elements.sort_unstable_by(|a, b| a.compare(*b));
    Resolved::new(result.clone(), move |columns, num_rows| {
        let values = cast(&columns[0].expand(num_rows)?)?;
        let mut ticks = T::of_array(values.as_ref())?;
        for x in &mut ticks {
            let after = elements.partition_point(|e| e <= x);
            *x = elements[after.saturating_sub(1)];
        }
        decimal_array(ticks, &result, None)
    })
}

fn below<T: Native>(column: &Column, list: &ArrayRef, num_rows: usize) -> Result<ArrayRef> {
    let mut elements: Vec<T> = Numbers::converted(list.as_ref())?;
    elements.sort_unstable_by(|a, b| a.compare(*b));
    map1::<T, T>(column, num_rows, |x| {
        let after = elements.partition_point(|e| *e <= x);
        elements[after.saturating_sub(1)]
    })
}
