//! `-If`: feeds the rows whose last argument is true.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::aggregate::defaults::{bug, filter_rows};
use crate::aggregate::of_inner::of_inner;
use crate::aggregate::values::{column, primitive};
use crate::aggregate::{AggregateCall, Aggregator, BoundAggregate, Groups, binding};

/// Binds `-If`.
pub(super) fn bind(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let Some((condition, inner_types)) = call.types.split_last() else {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            "Incorrect number of arguments for aggregate function with If suffix",
        ));
    };
    if !matches!(
        condition.base(),
        DataType::UInt8 | DataType::Bool | DataType::Nothing
    ) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Compare the condition to get a UInt8: illegal type {condition} of the last argument \
                 of aggregate function {}If",
                call.name
            ),
        ));
    }
    let bound = binding::bind(&AggregateCall {
        types: inner_types,
        ..*call
    })?;
    let factory = Arc::clone(&bound.factory);
    let masks = bound.skips_nulls && !inner_types.is_empty();
    Ok(BoundAggregate {
        shortcut: None,
        skips_nulls: false,
        factory: Arc::new(move || {
            Box::new(If {
                inner: factory(),
                masks,
            })
        }),
        ..bound
    })
}

#[derive(Debug)]
struct If {
    inner: Box<dyn Aggregator>,
    /// Whether rows can be taken out by making the first argument NULL, without a copy.
    masks: bool,
}

/// The rows in which the condition is neither 0 nor NULL.
fn true_rows(condition: &ArrayRef) -> Result<BooleanBuffer> {
    if condition.data_type() == &arrow::datatypes::DataType::Null {
        return Ok(BooleanBuffer::new_unset(condition.len()));
    }
    let flags = primitive::<UInt8Type>(condition)?;
    let values = flags.values();
    let mask = BooleanBuffer::collect_bool(values.len(), |row| values[row] != 0);
    Ok(match flags.nulls() {
        Some(nulls) => &mask & nulls.inner(),
        None => mask,
    })
}

impl Aggregator for If {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let last = args.len().saturating_sub(1);
        let mask = true_rows(column(args, last)?)?;
        let args = &args[..last];
        let num_rows = mask.count_set_bits();
        if num_rows == mask.len() {
            return self.inner.update(args, groups);
        }
        if self.masks {
            let mut masked = args.to_vec();
            let dropped = BooleanArray::new(!&mask, None);
            masked[0] = arrow::compute::nullif(&args[0], &dropped).map_err(bug)?;
            return self.inner.update(&masked, groups);
        }
        let args = args
            .iter()
            .map(|a| filter_rows(a, &mask))
            .collect::<Result<Vec<_>>>()?;
        let ids: Option<Vec<u32>> = groups
            .ids
            .map(|ids| mask.set_indices().map(|row| ids[row]).collect());
        let groups = Groups {
            ids: ids.as_deref(),
            num_groups: groups.num_groups,
            num_rows,
        };
        self.inner.update(&args, groups)
    }

    of_inner!(states_and_results, finishes_again);
}
