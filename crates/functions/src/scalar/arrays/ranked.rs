//! Numbers the elements of nested arrays: `arrayEnumerateUniqRanked`, `arrayEnumerateDenseRanked`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::buffer::OffsetBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use hashbrown::HashMap;

use super::lists::{bad_arguments, different_lengths, flat_list, list_of};
use super::matching::Ids;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayEnumerateUniqRanked",
        syntax: "arrayEnumerateUniqRanked([clear_depth,] arr[, depth], ...)",
        description: "As `arrayEnumerateUniq`, for elements of nested arrays at some depth.",
        resolve: |call| resolve(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayEnumerateDenseRanked",
        syntax: "arrayEnumerateDenseRanked([clear_depth,] arr[, depth], ...)",
        description: "As `arrayEnumerateDense`, for elements of nested arrays at some depth.",
        resolve: |call| resolve(call, true),
        ..ScalarFunction::BASE
    },
];

/// Which arguments are numbered, and how deep.
#[derive(Clone)]
struct Plan {
    /// Depth at which numbering begins anew.
    clear_depth: usize,
    /// Arguments that are arrays, and the depth of their elements.
    arrays: Vec<(usize, usize)>,
    dense: bool,
}

fn depth_of(data_type: &DataType) -> usize {
    match data_type {
        DataType::Array(element) => 1 + depth_of(element),
        _ => 0,
    }
}

fn plan(call: &Call<'_>, dense: bool) -> Result<Plan> {
    if call.args.is_empty() {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            format!("Function {} takes at least 1 argument", call.name),
        ));
    }
    let depth = |idx: usize| {
        let depth = call.constant_u64(idx)?;
        match usize::try_from(depth) {
            Ok(depth @ 1..) => Ok(depth),
            _ => Err(bad_arguments(format!(
                "A depth of function {} must be positive",
                call.name
            ))),
        }
    };
    let mut plan = Plan {
        clear_depth: 1,
        arrays: Vec::new(),
        dense,
    };
    let mut idx = 0;
    if depth_of(call.data_type(0)) == 0 {
        plan.clear_depth = depth(0)?;
        idx = 1;
    }
    while idx < call.args.len() {
        let own = depth_of(call.data_type(idx));
        if own == 0 {
            return Err(call.illegal_type(idx));
        }
        let has_depth = idx + 1 < call.args.len() && depth_of(call.data_type(idx + 1)) == 0;
        let wanted = if has_depth { depth(idx + 1)? } else { own };
        if wanted > own || wanted < plan.clear_depth {
            return Err(bad_arguments(format!(
                "Depth {wanted} of argument {} of function {} does not fit",
                idx + 1,
                call.name
            )));
        }
        plan.arrays.push((idx, wanted));
        idx += 1 + usize::from(has_depth);
    }
    if plan.arrays.is_empty() {
        return Err(bad_arguments(format!(
            "Function {} takes an array",
            call.name
        )));
    }
    Ok(plan)
}

fn resolve(call: &Call<'_>, dense: bool) -> Result<Resolved> {
    let plan = plan(call, dense)?;
    let name = call.name.to_owned();
    let depth = plan.arrays.iter().map(|(_, depth)| *depth).max();
    let depth = depth.unwrap_or(1);
    let result = (0..depth).fold(DataType::UInt32, |inner, _| DataType::array(inner));
    Resolved::new(result.clone(), move |columns, num_rows| {
        let mut levels: Vec<OffsetBuffer<i32>> = Vec::new();
        let mut keys = Vec::new();
        for (idx, depth) in &plan.arrays {
            let mut values = columns[*idx].expand(num_rows)?;
            for level in 0..*depth {
                let (offsets, inner) = flat_list(&values)?;
                match levels.get(level) {
                    Some(known) if known[..] != offsets[..] => {
                        return Err(different_lengths(&name));
                    }
                    Some(_) => {}
                    None => levels.push(offsets),
                }
                values = inner;
            }
            keys.push((*depth, Ids::new(&[&values])?.of(0).to_vec()));
        }
        let keys = keys
            .into_iter()
            .map(|(depth, ids)| spread(ids, &levels[depth..]));
        let keys: Vec<Vec<u32>> = keys.collect();
        let numbers = number(&plan, &levels, &keys);
        nest(&result, levels, Arc::new(UInt32Array::from(numbers)))
    })
}

/// Repeats what belongs to outer elements for each inner one.
fn spread(ids: Vec<u32>, deeper: &[OffsetBuffer<i32>]) -> Vec<u32> {
    deeper.iter().fold(ids, |ids, offsets| {
        let pairs = ids.iter().zip(offsets.lengths());
        pairs
            .flat_map(|(id, len)| std::iter::repeat_n(*id, len))
            .collect()
    })
}

fn number(plan: &Plan, levels: &[OffsetBuffer<i32>], keys: &[Vec<u32>]) -> Vec<u32> {
    // Ends of the groups of innermost elements that are numbered together.
    let top: Vec<usize> = levels.get(plan.clear_depth - 1).map_or_else(Vec::new, |o| {
        o.iter().skip(1).map(|end| *end as usize).collect()
    });
    let inner = levels.get(plan.clear_depth..).unwrap_or_default();
    let ends = inner.iter().fold(top, |ends, offsets| {
        ends.into_iter().map(|end| offsets[end] as usize).collect()
    });
    let mut numbers = Vec::new();
    let mut start = 0;
    for end in ends {
        let mut seen: HashMap<Vec<u32>, u32, ahash::RandomState> = HashMap::default();
        for element in start..end {
            let key = keys.iter().map(|ids| ids[element]).collect();
            let next = seen.len() as u32 + 1;
            let slot = seen.entry(key);
            numbers.push(if plan.dense {
                *slot.or_insert(next)
            } else {
                let count = slot.or_insert(0);
                *count += 1;
                *count
            });
        }
        start = end;
    }
    numbers
}

/// Wraps numbers into lists, the innermost first.
fn nest(result: &DataType, levels: Vec<OffsetBuffer<i32>>, numbers: ArrayRef) -> Result<ArrayRef> {
    let mut types = Vec::new();
    let mut current = result;
    while let DataType::Array(element) = current {
        types.push(current);
        current = element;
    }
    let mut array = numbers;
    for (list, offsets) in types.into_iter().zip(levels).rev() {
        if offsets
            .last()
            .is_none_or(|end| *end as usize != array.len())
        {
            return Err(Error::bug("offsets end with their elements"));
        }
        array = list_of(list, offsets, array)?;
    }
    Ok(array)
}
