//! `-Array`: feeds the elements of arrays as rows.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::aggregate::defaults::filter_rows;
use crate::aggregate::of_inner::of_inner;
use crate::aggregate::rows::Rows;
use crate::aggregate::values::wrong_array;
use crate::aggregate::{AggregateCall, Aggregator, BoundAggregate, Groups, binding};

/// Binds `-Array`.
pub(super) fn bind(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let inner_types = element_types(call, "Array")?;
    let bound = binding::bind(&AggregateCall {
        types: &inner_types,
        ..*call
    })?;
    let factory = Arc::clone(&bound.factory);
    Ok(BoundAggregate {
        shortcut: None,
        skips_nulls: true,
        factory: Arc::new(move || Box::new(OverElements { inner: factory() })),
        ..bound
    })
}

/// The types of the elements of arguments that must all be arrays.
pub(super) fn element_types(call: &AggregateCall<'_>, suffix: &str) -> Result<Vec<DataType>> {
    if call.types.is_empty() {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!("Aggregate functions with {suffix} suffix need at least one argument"),
        ));
    }
    let element = |t: &DataType| match t {
        DataType::Array(element) => Ok(element.as_ref().clone()),
        other => Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Illegal type {other} of argument of aggregate function {}{suffix}, must be Array",
                call.name
            ),
        )),
    };
    call.types.iter().map(element).collect()
}

/// The elements of arrays that have equal lengths in each row.
pub(super) struct Elements {
    /// The elements of each argument.
    pub(super) values: Vec<ArrayRef>,
    /// Number of elements of each row that is taken.
    pub(super) lengths: Vec<usize>,
    /// Group of each row that is taken.
    pub(super) ids: Option<Vec<u32>>,
}

/// Takes the rows without NULL arguments apart.
///
/// # Errors
/// `SIZES_OF_ARRAYS_DONT_MATCH`.
pub(super) fn elements(args: &[ArrayRef], groups: Groups<'_>) -> Result<Elements> {
    let rows = Rows::new(args, groups)?;
    let mut args = args.to_vec();
    let mut ids = groups.ids.map(<[u32]>::to_vec);
    if let Some(valid) = &rows.valid {
        for arg in &mut args {
            *arg = filter_rows(arg, valid.inner())?;
        }
        ids = ids.map(|ids| valid.valid_indices().map(|row| ids[row]).collect());
    }
    let mut lengths: Option<Vec<usize>> = None;
    let mut values = Vec::with_capacity(args.len());
    for arg in &args {
        let list = arg.as_list_opt::<i32>().ok_or_else(|| wrong_array(arg))?;
        let these: Vec<usize> = list.offsets().lengths().collect();
        if lengths.as_ref().is_some_and(|l| *l != these) {
            return Err(Error::new(
                ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                "All arrays must have the same size in each row",
            ));
        }
        lengths = Some(these);
        values.push(used_values(list));
    }
    Ok(Elements {
        values,
        lengths: lengths.unwrap_or_default(),
        ids,
    })
}

/// The part of the list's values that its rows cover.
pub(in crate::aggregate) fn used_values(list: &ListArray) -> ArrayRef {
    let offsets = list.offsets();
    let (first, last) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
    list.values().slice(first, last - first)
}

#[derive(Debug)]
struct OverElements {
    inner: Box<dyn Aggregator>,
}

impl Aggregator for OverElements {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let elements = elements(args, groups)?;
        let num_rows = elements.lengths.iter().sum();
        let ids: Option<Vec<u32>> = elements.ids.map(|ids| {
            let repeated = ids.iter().zip(&elements.lengths);
            repeated
                .flat_map(|(id, len)| std::iter::repeat_n(*id, *len))
                .collect()
        });
        let groups = Groups {
            ids: ids.as_deref(),
            num_groups: groups.num_groups,
            num_rows,
        };
        self.inner.update(&elements.values, groups)
    }

    of_inner!(states_and_results);
}
