//! Runs aggregate functions over the elements of each array.

use arrow::array::{Array, ArrayRef, AsArray};
use basalt_error::{Error, ErrorCode, Result, counted};
use basalt_types::DataType;

use super::integers::Integers;
use super::lists::{
    Lists, OffsetsBuilder, different_lengths, flat_list, list_of, rows_of_elements, take,
};
use super::unify::element_type;
use crate::aggregate::{self, BoundAggregate, Groups};
use crate::{Arg, Call, Column, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayReduce",
        nulls: Nulls::Own,
        syntax: "arrayReduce('aggregate', arr, ...)",
        description: "The aggregate function's value over each array's elements.",
        resolve: resolve_reduce,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayReduceInRanges",
        nulls: Nulls::Own,
        syntax: "arrayReduceInRanges('aggregate', ranges, arr, ...)",
        description: "The aggregate function's values over parts (position, length) of each array.",
        resolve: resolve_in_ranges,
        ..ScalarFunction::BASE
    },
];

fn too_few(call: &Call<'_>, least: usize) -> Result<()> {
    if call.args.len() >= least {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
        format!(
            "Function {} takes at least {}",
            call.name,
            counted(least, "argument")
        ),
    ))
}

/// The aggregate function that a constant argument names, for elements of the arrays from `first`.
fn bind(call: &Call<'_>, first: usize) -> Result<BoundAggregate> {
    let types = (first..call.args.len()).map(|idx| element_type(call, idx).cloned());
    named_aggregate(call, &types.collect::<Result<Vec<_>>>()?)
}

/// The aggregate function that the first argument names, for arguments of these types.
pub(crate) fn named_aggregate(call: &Call<'_>, types: &[DataType]) -> Result<BoundAggregate> {
    if call.args[0].constant.is_none() || !call.data_type(0).is_string() {
        return Err(call.illegal_type(0));
    }
    let text = call.constant_str(0)?;
    let (name, params) = split_params(&text)?;
    if !aggregate::is_aggregate(name) {
        return Err(Error::new(
            ErrorCode::UNKNOWN_AGGREGATE_FUNCTION,
            format!("Unknown aggregate function {name}"),
        ));
    }
    aggregate::bind(name, &params, types, call.context)
}

/// `quantile(0.5)` as name and parameters, which are numbers and quoted strings.
fn split_params(text: &str) -> Result<(&str, Vec<Arg>)> {
    let Some((name, rest)) = text.split_once('(') else {
        return Ok((text.trim(), Vec::new()));
    };
    let list = rest.trim_end().strip_suffix(')');
    let list = list.ok_or_else(|| {
        Error::new(
            ErrorCode::UNKNOWN_AGGREGATE_FUNCTION,
            format!("Close the bracket: unknown aggregate function {text}"),
        )
    })?;
    let params = list
        .split(',')
        .filter(|p| !p.trim().is_empty())
        .map(|p| param(p.trim()));
    Ok((name.trim(), params.collect::<Result<Vec<_>>>()?))
}

fn param(text: &str) -> Result<Arg> {
    let (data_type, text) = match text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        Some(quoted) => (DataType::String, quoted),
        None if text.bytes().all(|b| b.is_ascii_digit()) => (DataType::UInt64, text),
        None if text.parse::<i64>().is_ok() => (DataType::Int64, text),
        None => (DataType::Float64, text),
    };
    let mut builder = basalt_types::ColumnBuilder::new(&data_type, 1)?;
    builder.append_text(text.as_bytes())?;
    Ok(Arg {
        data_type,
        constant: Some(builder.finish()?),
    })
}

fn run(
    bound: &BoundAggregate,
    elements: &[ArrayRef],
    groups: &[u32],
    num_groups: usize,
) -> Result<ArrayRef> {
    let mut aggregator = (bound.factory)();
    let groups = Groups {
        ids: Some(groups),
        num_groups,
        num_rows: groups.len(),
    };
    aggregator.update(elements, groups)?;
    aggregator.finish(0..num_groups)
}

/// The elements of arrays of equal lengths and the row of each.
fn elements_of(
    columns: &[Column],
    num_rows: usize,
    name: &str,
) -> Result<(Vec<i32>, Vec<ArrayRef>)> {
    let mut ends: Option<Vec<i32>> = None;
    let mut elements = Vec::with_capacity(columns.len());
    for column in columns {
        let (offsets, values) = flat_list(&column.expand(num_rows)?)?;
        if ends.as_ref().is_some_and(|ends| ends[..] != offsets[..]) {
            return Err(different_lengths(name));
        }
        ends = Some(offsets.to_vec());
        elements.push(values);
    }
    Ok((ends.unwrap_or_else(|| vec![0; num_rows + 1]), elements))
}

fn resolve_reduce(call: &Call<'_>) -> Result<Resolved> {
    too_few(call, 2)?;
    let bound = bind(call, 1)?;
    Resolved::new(bound.return_type.clone(), move |columns, num_rows| {
        let (offsets, elements) = elements_of(&columns[1..], num_rows, "arrayReduce")?;
        let rows = rows_of_elements(&offsets);
        run(&bound, &elements, &rows, num_rows)
    })
}

fn resolve_in_ranges(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=usize::MAX)?;
    match element_type(call, 1)? {
        DataType::Tuple(tuple)
            if tuple.types.len() == 2
                && tuple.types[0].is_integer()
                && tuple.types[1].is_unsigned() => {}
        _ => return Err(call.illegal_type(1)),
    }
    let bound = bind(call, 2)?;
    let list = DataType::array(bound.return_type.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let name = "arrayReduceInRanges";
        let (offsets, elements) = elements_of(&columns[2..], num_rows, name)?;
        let ranges = Lists::of(&columns[1])?;
        let pairs = ranges.values().as_struct_opt();
        let pairs = pairs.ok_or_else(|| Error::bug("ranges are tuples"))?;
        let starts = Integers::of(&Column::new(std::sync::Arc::clone(pairs.column(0))))?;
        let lengths = Integers::of(&Column::new(std::sync::Arc::clone(pairs.column(1))))?;
        let mut ends = OffsetsBuilder::with_capacity(num_rows);
        let (mut indices, mut groups, mut group) = (Vec::new(), Vec::new(), 0_u32);
        for row in 0..num_rows {
            let all = offsets[row] as usize..offsets[row + 1] as usize;
            ends.push(ranges.len(row))?;
            for i in ranges.range(row) {
                let start = super::element::position_in(starts.value(i), all.clone());
                if let Some(start) = start {
                    let len = usize::try_from(lengths.value(i)).unwrap_or(usize::MAX);
                    let end = start.saturating_add(len).min(all.end);
                    indices.extend((start..end).map(|e| e as u32));
                    groups.extend(std::iter::repeat_n(group, end - start));
                }
                group += 1;
            }
        }
        let parts = elements.iter().map(|e| take(e, indices.clone()));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        debug_assert!(parts.iter().all(|p| p.len() == groups.len()));
        list_of(
            &list,
            ends.finish(),
            run(&bound, &parts, &groups, group as usize)?,
        )
    })
}
