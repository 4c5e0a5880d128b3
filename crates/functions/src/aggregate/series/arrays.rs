//! `groupArrayMovingSum`, `groupArrayMovingAvg`, `groupArrayInsertAt`, `groupArrayIntersect`.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, Float64Array, UInt64Array};
use arrow::datatypes::{ArrowNativeType, ArrowNativeTypeOp, UInt64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::physical::item_field;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_keys::row_keys;
use crate::aggregate::row_log::{Sealed, list_of};
use crate::aggregate::sum::sum_type;
use crate::aggregate::values::{
    Primitive, PrimitiveVisitor, Value, primitive, primitive_array, visit_primitive, wrong_array,
};
use crate::aggregate::{AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate};
use crate::scalar::core::defaults::type_default_array;

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "groupArrayMovingSum",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 1,
        syntax: "groupArrayMovingSum[(window)](x)",
        description: "Array of the sums of each value and those before it in the window.",
        resolve: |call| resolve_moving(call, false),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupArrayMovingAvg",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 1,
        syntax: "groupArrayMovingAvg[(window)](x)",
        description: "As groupArrayMovingSum, divided by the size of the window.",
        resolve: |call| resolve_moving(call, true),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupArrayInsertAt",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 2,
        syntax: "groupArrayInsertAt[(default[, size])](x, position)",
        description: "Array with each value at its position; of several the first stays.",
        resolve: resolve_insert,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupArrayIntersect",
        nulls: AggregateNulls::SkipNotNull,
        syntax: "groupArrayIntersect(array)",
        description: "Array of the elements that all arrays have.",
        resolve: resolve_intersect,
        ..AggregateFunction::BASE
    },
];

fn resolve_moving(call: &AggregateCall<'_>, averages: bool) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let window = match call.params.len() {
        0 => None,
        _ => match call.param_u64(0)? {
            0 => return Err(call.bad_param(0, &"the window must be positive")),
            window => Some(usize::try_from(window).unwrap_or(usize::MAX)),
        },
    };
    let data_type = &call.types[0];
    let sum = sum_type(data_type).ok_or_else(|| call.illegal_type(0))?;
    let bind = BindMoving {
        types: call.types,
        sum,
        window,
        averages,
    };
    visit_primitive(&data_type.physical(), bind).ok_or_else(|| call.illegal_type(0))
}

struct BindMoving<'a> {
    types: &'a [DataType],
    sum: DataType,
    window: Option<usize>,
    averages: bool,
}

impl PrimitiveVisitor for BindMoving<'_> {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        let in_floats = self.averages && !self.sum.is_decimal();
        let element = match in_floats {
            true => DataType::Float64,
            false => self.sum,
        };
        let function = Moving::<T> {
            window: self.window,
            averages: self.averages,
            in_floats,
            element: element.clone(),
            values: PhantomData,
        };
        bind_collected(DataType::array(element), self.types, function)
    }
}

#[derive(Debug)]
struct Moving<T> {
    window: Option<usize>,
    averages: bool,
    /// Whether averages are floats: those of decimals are decimals.
    in_floats: bool,
    element: DataType,
    values: PhantomData<fn() -> T>,
}

type Sum<T> = <<T as ArrowPrimitiveType>::Native as Value>::Sum;

impl<T: Primitive> RowsFunction for Moving<T> {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = primitive::<T>(&rows.columns[0])?.values();
        let mut sums = Vec::new();
        let mut averages = Vec::new();
        for group in range.clone() {
            let group = &values[rows.rows(group)];
            let window = self.window.unwrap_or(group.len().max(1));
            let mut sum = <Sum<T> as ArrowPrimitiveType>::Native::ZERO;
            for (i, value) in group.iter().enumerate() {
                sum = sum.add_wrapping(value.widen());
                if let Some(left) = i.checked_sub(window) {
                    sum = sum.sub_wrapping(group[left].widen());
                }
                if self.in_floats {
                    averages.push(sum.to_f64() / window as f64);
                } else if self.averages {
                    let window = ArrowNativeType::from_usize(window);
                    sums.push(window.map_or(sum, |window| sum.div_wrapping(window)));
                } else {
                    sums.push(sum);
                }
            }
        }
        let values: ArrayRef = if self.in_floats {
            Arc::new(Float64Array::from(averages))
        } else {
            primitive_array::<Sum<T>>(sums, None, &self.element.physical())
        };
        let base = rows.offsets[range.start];
        let offsets: Vec<usize> = rows.offsets[range.start..=range.end]
            .iter()
            .map(|o| o - base)
            .collect();
        list_of(&values, &offsets, item_field(&self.element))
    }
}

/// Longest array that `groupArrayInsertAt` makes.
const MAX_ARRAY_LEN: u64 = 0x00FF_FFFF;

fn resolve_insert(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    call.expect_type(1, DataType::is_unsigned)?;
    let element = call.types[0].clone();
    let default = match call.params.first().and_then(|p| p.constant.as_ref()) {
        None => type_default_array(&element, 1)?,
        Some(value) if value.data_type() == &element.physical() => Arc::clone(value),
        Some(value) => {
            arrow::compute::cast(value, &element.physical()).map_err(|e| call.bad_param(0, &e))?
        }
    };
    let len = match call.params.len() {
        0 | 1 => None,
        _ => Some(call.param_u64(1)?),
    };
    if len.is_some_and(|len| len == 0 || len > MAX_ARRAY_LEN) {
        return Err(call.bad_param(1, &"the size is out of range"));
    }
    let function = InsertAt {
        default,
        len: len.map(|len| len as usize),
        element: element.clone(),
    };
    Ok(bind_collected(
        DataType::array(element),
        call.types,
        function,
    ))
}

#[derive(Debug)]
struct InsertAt {
    default: ArrayRef,
    len: Option<usize>,
    element: DataType,
}

impl RowsFunction for InsertAt {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let positions = arrow::compute::cast(&rows.columns[1], &arrow::datatypes::DataType::UInt64);
        let positions = positions.map_err(bug)?;
        let positions = primitive::<UInt64Type>(&positions)?.values();
        let mut indices: Vec<(usize, usize)> = Vec::new();
        let mut offsets = vec![0];
        for group in range {
            let start = indices.len();
            if let Some(len) = self.len {
                indices.resize(start + len, (1, 0));
            }
            for row in rows.rows(group) {
                let position = positions[row];
                if self.len.is_some_and(|len| position >= len as u64) {
                    continue;
                }
                if position >= MAX_ARRAY_LEN {
                    return Err(Error::new(
                        ErrorCode::TOO_LARGE_ARRAY_SIZE,
                        format!("Too large array size: position {position} in groupArrayInsertAt"),
                    ));
                }
                let place = start + position as usize;
                if place >= indices.len() {
                    indices.resize(place + 1, (1, 0));
                }
                if indices[place].0 == 1 {
                    indices[place] = (0, row);
                }
            }
            offsets.push(indices.len());
        }
        let sources = [rows.columns[0].as_ref(), self.default.as_ref()];
        let values = arrow::compute::interleave(&sources, &indices).map_err(bug)?;
        list_of(&values, &offsets, item_field(&self.element))
    }
}

fn resolve_intersect(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let DataType::Array(element) = &call.types[0] else {
        return Err(call.illegal_type(0));
    };
    let function = Intersect {
        element: element.as_ref().clone(),
    };
    Ok(bind_collected(call.types[0].clone(), call.types, function))
}

#[derive(Debug)]
struct Intersect {
    element: DataType,
}

impl RowsFunction for Intersect {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let lists = &rows.columns[0];
        let lists = lists
            .as_list_opt::<i32>()
            .ok_or_else(|| wrong_array(lists))?;
        let keys = row_keys(std::slice::from_ref(lists.values()))?;
        let elements = |row: usize| {
            let offsets = lists.offsets();
            offsets[row] as usize..offsets[row + 1] as usize
        };
        let mut order: Vec<u64> = Vec::new();
        let mut offsets = vec![0];
        for group in range {
            let mut group = rows.rows(group);
            if let Some(first) = group.next() {
                let mut kept: HashSet<u128> = keys[elements(first)].iter().copied().collect();
                for row in group {
                    let these: HashSet<u128> = keys[elements(row)].iter().copied().collect();
                    kept.retain(|key| these.contains(key));
                }
                order.extend(
                    elements(first)
                        .filter(|i| kept.remove(&keys[*i]))
                        .map(|i| i as u64),
                );
            }
            offsets.push(order.len());
        }
        let order = UInt64Array::from(order);
        let values = arrow::compute::take(lists.values(), &order, None).map_err(bug)?;
        list_of(&values, &offsets, item_field(&self.element))
    }
}
