//! Adds states of aggregate functions, and multiplies them by numbers.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{AggregateType, DataType};

use super::BinaryOp;
use crate::aggregate::{self, BoundAggregate, Groups, group_ids};
use crate::scalar::core::numeric::{map1, values};
use crate::{Arg, Context, Resolved};

pub(super) fn resolve(op: BinaryOp, args: &[Arg], context: &Context) -> Result<Option<Resolved>> {
    use DataType::AggregateFunction as State;
    match (op, &args[0].data_type, &args[1].data_type) {
        (BinaryOp::Plus, State(a), State(b)) if a == b => sum(a, context).map(Some),
        (BinaryOp::Plus, State(a), State(b)) => Err(Error::new(
            ErrorCode::CANNOT_ADD_DIFFERENT_AGGREGATE_STATES,
            format!(
                "Cannot add states of the aggregate functions {} and {}",
                a.name, b.name
            ),
        )),
        (BinaryOp::Multiply, State(state), n) if n.is_unsigned() => {
            product(state, (0, 1), context).map(Some)
        }
        (BinaryOp::Multiply, n, State(state)) if n.is_unsigned() => {
            product(state, (1, 0), context).map(Some)
        }
        _ => Ok(None),
    }
}

/// The function from states to a state.
fn merging(state: &Arc<AggregateType>, context: &Context) -> Result<BoundAggregate> {
    let types = [DataType::AggregateFunction(Arc::clone(state))];
    aggregate::bind(&format!("{}MergeState", state.name), &[], &types, context)
}

/// The states of each row together.
fn merged(bound: &BoundAggregate, parts: &[&ArrayRef], num_rows: usize) -> Result<ArrayRef> {
    let ids = group_ids(0..num_rows, num_rows)?;
    let groups = Groups {
        ids: Some(&ids),
        num_groups: num_rows,
        num_rows,
    };
    let mut states = (bound.factory)();
    for part in parts {
        states.update(&[Arc::clone(part)], groups)?;
    }
    states.finish(0..num_rows)
}

fn sum(state: &Arc<AggregateType>, context: &Context) -> Result<Resolved> {
    let bound = merging(state, context)?;
    let result = DataType::AggregateFunction(Arc::clone(state));
    Resolved::new(result, move |columns, num_rows| {
        let (a, b) = (columns[0].expand(num_rows)?, columns[1].expand(num_rows)?);
        merged(&bound, &[&a, &b], num_rows)
    })
}

/// The state merged with itself so many times: states of 1, 2, 4, … times, where a bit is set.
fn product(
    state: &Arc<AggregateType>,
    (state_at, factor_at): (usize, usize),
    context: &Context,
) -> Result<Resolved> {
    let bound = merging(state, context)?;
    let result = DataType::AggregateFunction(Arc::clone(state));
    Resolved::new(result, move |columns, num_rows| {
        let factors = map1::<u64, u64>(&columns[factor_at], num_rows, |n| n)?;
        let factors = values::<u64>(factors.as_ref())?;
        let mut power = columns[state_at].expand(num_rows)?;
        let mut states = (bound.factory)();
        let bits = factors.iter().fold(0, |all, n| all | n);
        for bit in 0..u64::BITS - bits.leading_zeros() {
            let rows = (0..num_rows).filter(|row| factors[*row] >> bit & 1 == 1);
            let ids = group_ids(rows, num_rows)?;
            let taken = arrow::array::UInt32Array::from(ids.clone());
            let part = arrow::compute::take(&power, &taken, None);
            let groups = Groups {
                ids: Some(&ids),
                num_groups: num_rows,
                num_rows: ids.len(),
            };
            states.update(&[part.map_err(|e| Error::bug(e.to_string()))?], groups)?;
            power = merged(&bound, &[&power, &power], num_rows)?;
        }
        if bits == 0 {
            let none = Groups {
                ids: Some(&[]),
                num_groups: num_rows,
                num_rows: 0,
            };
            states.update(&[power.slice(0, 0)], none)?;
        }
        states.finish(0..num_rows)
    })
}
