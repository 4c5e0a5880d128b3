//! Adds and subtracts maps by key, and fills the gaps of maps with integer keys.
//!
//! Maps may also be given as tuples of two arrays, keys and values; results are of the same form.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::OffsetBuffer;
use basalt_error::Result;
use basalt_types::DataType;

use crate::scalar::arrays::construct::MAX_LEN;
use crate::scalar::arrays::integers::Integers;
use crate::scalar::arrays::lists::{
    Lists, OffsetsBuilder, Picks, as_list, bug, different_lengths, entries, flat_list, list_of,
    map_of, struct_of, take, too_large, with_default,
};
use crate::scalar::arrays::matching::Ids;
use crate::scalar::arrays::order::Order;
use crate::scalar::arrays::unify::{Unify, element_type};
use crate::scalar::core::numeric::{self, FromNum, Native, Num, array_of, with_native};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "mapAdd",
        syntax: "mapAdd(map, map, ...)",
        description: "A map of all keys to the sums of their values.",
        resolve: |call| resolve_sum(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapSubtract",
        syntax: "mapSubtract(map, map, ...)",
        description: "A map of all keys to the first map's values minus those of the others.",
        resolve: |call| resolve_sum(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mapPopulateSeries",
        syntax: "mapPopulateSeries(map[, max])",
        description: "The map with the missing keys between its least and greatest (or max) added.",
        resolve: resolve_populate,
        ..ScalarFunction::BASE
    },
];

/// How a map is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Form {
    key: DataType,
    value: DataType,
    is_tuple: bool,
}

impl Form {
    fn of(call: &Call<'_>, idx: usize) -> Result<Self> {
        match call.data_type(idx) {
            DataType::Map(key, value) => Ok(Self {
                key: key.as_ref().clone(),
                value: value.as_ref().clone(),
                is_tuple: false,
            }),
            DataType::Tuple(tuple) => match tuple.types.as_slice() {
                [DataType::Array(key), DataType::Array(value)] => Ok(Self {
                    key: key.as_ref().clone(),
                    value: value.as_ref().clone(),
                    is_tuple: true,
                }),
                _ => Err(call.illegal_type(idx)),
            },
            _ => Err(call.illegal_type(idx)),
        }
    }

    fn data_type(&self) -> DataType {
        if self.is_tuple {
            let parts = [&self.key, &self.value].map(|t| DataType::array(t.clone()));
            DataType::tuple(parts.to_vec())
        } else {
            DataType::map(self.key.clone(), self.value.clone())
        }
    }

    fn build(
        &self,
        offsets: OffsetBuffer<i32>,
        keys: ArrayRef,
        values: ArrayRef,
    ) -> Result<ArrayRef> {
        if !self.is_tuple {
            return map_of(&self.data_type(), offsets, keys, values);
        }
        let num_rows = offsets.len() - 1;
        let keys = list_of(&DataType::array(self.key.clone()), offsets.clone(), keys)?;
        let values = list_of(&DataType::array(self.value.clone()), offsets, values)?;
        struct_of(&self.data_type().physical(), vec![keys, values], num_rows)
    }
}

/// Keys and values of a column of maps in either form, with one common list of ends.
fn parts_of(
    column: &Column,
    num_rows: usize,
    name: &str,
) -> Result<(Vec<i32>, ArrayRef, ArrayRef)> {
    let array = column.expand(num_rows)?;
    let Some(tuples) = array.as_struct_opt() else {
        let lists = Lists::of_array(&array)?;
        let (keys, values) = entries(&lists)?;
        let ends = as_list(&array)?.value_offsets().to_vec();
        return Ok((ends, Arc::clone(keys), Arc::clone(values)));
    };
    let (key_ends, keys) = flat_list(tuples.column(0))?;
    let (value_ends, values) = flat_list(tuples.column(1))?;
    if key_ends[..] != value_ends[..] {
        return Err(different_lengths(name));
    }
    Ok((key_ends.to_vec(), keys, values))
}

/// The type that values are added up in.
fn promoted(call: &Call<'_>, idx: usize, value: &DataType) -> Result<DataType> {
    Ok(match value {
        t if t.is_nullable() => return Err(call.illegal_type(idx)),
        t if t.is_unsigned() => DataType::UInt64,
        t if t.is_signed() => DataType::Int64,
        t if t.is_float() => DataType::Float64,
        _ => return Err(call.illegal_type(idx)),
    })
}

fn resolve_sum(call: &Call<'_>, subtract: bool) -> Result<Resolved> {
    call.expect_args(2..=usize::MAX)?;
    let first = Form::of(call, 0)?;
    let result = Form {
        value: promoted(call, 0, &first.value)?,
        ..first.clone()
    };
    let mut casts = Vec::new();
    for idx in 0..call.args.len() {
        let form = Form::of(call, idx)?;
        let fits = form.is_tuple == first.is_tuple
            && form.key == first.key
            && promoted(call, idx, &form.value)? == result.value;
        if !fits {
            return Err(call.illegal_type(idx));
        }
        casts.push(Unify::new(&form.value, &result.value, call.context)?);
    }
    let num = Num::of(&result.value).ok_or_else(|| call.illegal_type(0))?;
    let name = call.name.to_owned();
    Resolved::new(result.data_type(), move |columns, num_rows| {
        let parts = columns.iter().zip(&casts).map(|(column, cast)| {
            let (ends, keys, values) = parts_of(column, num_rows, &name)?;
            Ok((ends, keys, cast.array(&values)?))
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        with_native!(num, T => {
            let (offsets, keys, sums) = sum_rows::<T>(&parts, num_rows, subtract)?;
            result.build(offsets, keys, array_of(sums))
        })
    })
}

type Parts = (Vec<i32>, ArrayRef, ArrayRef);

fn sum_rows<T: Native>(
    parts: &[Parts],
    num_rows: usize,
    subtract: bool,
) -> Result<(OffsetBuffer<i32>, ArrayRef, Vec<T>)> {
    let key_parts: Vec<&dyn Array> = parts.iter().map(|(_, keys, _)| keys.as_ref()).collect();
    let keys = arrow::compute::concat(&key_parts).map_err(bug)?;
    let ids = Ids::new(&[&keys])?;
    let order = Order::new(&keys, false)?;
    let mut slots: Vec<Option<usize>> = vec![None; ids.num_ids()];
    let mut picks = Picks::with_capacity(num_rows, keys.len());
    let mut sums = Vec::new();
    // The different keys of a row, and the sum of each.
    let (mut row_keys, mut row_sums) = (Vec::new(), Vec::<T>::new());
    for row in 0..num_rows {
        let mut base = 0;
        for (idx, (ends, keys, values)) in parts.iter().enumerate() {
            let values = numeric::values::<T>(values.as_ref())?;
            for i in ends[row] as usize..ends[row + 1] as usize {
                let slot = *slots[ids.of(0)[base + i] as usize].get_or_insert_with(|| {
                    row_keys.push((base + i, row_sums.len()));
                    row_sums.push(T::default());
                    row_sums.len() - 1
                });
                let sum = &mut row_sums[slot];
                let negative = subtract && idx > 0;
                *sum = if negative {
                    sum.sub_wrapping(values[i])
                } else {
                    sum.add_wrapping(values[i])
                };
            }
            base += keys.len();
        }
        for (key, _) in &row_keys {
            slots[ids.of(0)[*key] as usize] = None;
        }
        sort_keys(&mut row_keys, &order);
        for (key, slot) in row_keys.drain(..) {
            picks.push(key);
            sums.push(row_sums[slot]);
        }
        row_sums.clear();
        picks.end_row()?;
    }
    let (offsets, keys) = picks.gather(&keys)?;
    Ok((offsets, keys, sums))
}

fn sort_keys(keys: &mut [(usize, usize)], order: &Order) {
    keys.sort_by(|a, b| order.compare(a.0, b.0));
}

fn resolve_populate(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    // Two arrays are taken as keys and values, with the result as a tuple of arrays.
    let of_arrays = matches!(call.data_type(0), DataType::Array(_));
    let num_parts = if of_arrays { 2 } else { 1 };
    call.expect_args(num_parts..=num_parts + 1)?;
    let form = if of_arrays {
        Form {
            key: element_type(call, 0)?.clone(),
            value: element_type(call, 1)?.clone(),
            is_tuple: true,
        }
    } else {
        Form::of(call, 0)?
    };
    let fits = |t: &DataType| t.is_integer() && !t.is_nullable();
    if !fits(&form.key) || !fits(&form.value) {
        return Err(call.illegal_type(0));
    }
    if call.args.len() > num_parts {
        call.expect_type(num_parts, DataType::is_integer)?;
    }
    let num = Num::of(&form.key).ok_or_else(|| call.illegal_type(0))?;
    Resolved::new(form.data_type(), move |columns, num_rows| {
        let (ends, keys, values) = if of_arrays {
            let pair = flat_list(&columns[0].expand(num_rows)?)?;
            let (ends, values) = flat_list(&columns[1].expand(num_rows)?)?;
            if pair.0[..] != ends[..] {
                return Err(different_lengths("mapPopulateSeries"));
            }
            (ends.to_vec(), pair.1, values)
        } else {
            parts_of(&columns[0], num_rows, "mapPopulateSeries")?
        };
        let limits = columns.get(num_parts).map(Integers::of).transpose()?;
        let key_numbers = Integers::of(&Column::new(keys))?;
        let series = populate(&ends, &key_numbers, limits.as_ref(), values.len())?;
        let keys = with_native!(num, T => {
            array_of(series.keys.iter().map(|k| T::from_num(*k)).collect::<Vec<T>>())
        });
        let values = take(&with_default(&values, &form.value)?, series.indices)?;
        form.build(series.offsets, keys, values)
    })
}

struct Series {
    offsets: OffsetBuffer<i32>,
    keys: Vec<i64>,
    indices: Vec<u32>,
}

/// The keys of each row without gaps, and the entry of each, `missing` for new ones.
fn populate(
    ends: &[i32],
    keys: &Integers,
    limits: Option<&Integers>,
    missing: usize,
) -> Result<Series> {
    let mut offsets = OffsetsBuilder::with_capacity(ends.len());
    let mut series = (Vec::new(), Vec::new());
    for (row, window) in ends.windows(2).enumerate() {
        let mut known: BTreeMap<i64, usize> = BTreeMap::new();
        for i in window[0] as usize..window[1] as usize {
            known.entry(keys.value(i)).or_insert(i);
        }
        let (Some((first, _)), Some((last, _))) = (known.first_key_value(), known.last_key_value())
        else {
            offsets.push(0)?;
            continue;
        };
        let last = limits.map_or(*last, |l| l.value(row));
        let len = i128::from(last) - i128::from(*first) + 1;
        if len > i128::from(MAX_LEN) {
            return Err(too_large(len));
        }
        offsets.push(usize::try_from(len).unwrap_or(0))?;
        for key in *first..=last {
            series.0.push(key);
            series
                .1
                .push(known.get(&key).copied().unwrap_or(missing) as u32);
        }
    }
    Ok(Series {
        offsets: offsets.finish(),
        keys: series.0,
        indices: series.1,
    })
}
