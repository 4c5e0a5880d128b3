//! Runs statistics whose state is a fixed number of floats a group, one state column each.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Float64Array, StructArray, UInt64Array};
use arrow::datatypes::{DataType as ArrowType, Float64Type};
use basalt_error::Result;
use basalt_types::DataType;

use crate::aggregate::defaults::bug;
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{column, primitive, to_floats, wrong_array};
use crate::aggregate::{AggregateCall, Aggregator, BoundAggregate, Groups};

/// A state of `N` floats that starts as zeros.
pub(super) trait Moments<const N: usize>: std::fmt::Debug + Send + Sync + 'static {
    /// Adds a row; `y` is 0 for functions of one argument.
    fn add(state: &mut [f64; N], x: f64, y: f64);

    /// Adds another state; by default the sum of the floats.
    fn merge(state: &mut [f64; N], other: &[f64; N]) {
        state.iter_mut().zip(other).for_each(|(s, o)| *s += o);
    }
}

/// The result of a state: as many floats as the result's type has.
pub(super) type Finish<const N: usize> = fn(&[f64; N]) -> [f64; 2];

/// Checks `num_args` numeric arguments and binds; the result is Float64, or Float32 if all
/// arguments are.
pub(super) fn bind_number<M: Moments<N>, const N: usize>(
    call: &AggregateCall<'_>,
    num_args: usize,
    finish: Finish<N>,
) -> Result<BoundAggregate> {
    check(call, num_args)?;
    if num_args == 2 {
        refuse_decimals(call)?;
    }
    let single = call.types.iter().all(|t| *t == DataType::Float32);
    let return_type = if single {
        DataType::Float32
    } else {
        DataType::Float64
    };
    Ok(bind_as::<M, N>(return_type, num_args, finish))
}

/// Checks that there are `num_args` numbers.
pub(super) fn check(call: &AggregateCall<'_>, num_args: usize) -> Result<()> {
    call.expect_args(num_args..=num_args)?;
    (0..num_args).try_for_each(|idx| {
        call.expect_type(idx, |t| t.is_number() || (num_args == 1 && t.is_enum()))
    })
}

/// The sums of pairs are of floats and integers only, unlike their stable forms.
pub(super) fn refuse_decimals(call: &AggregateCall<'_>) -> Result<()> {
    (0..call.types.len()).try_for_each(|idx| call.expect_type(idx, |t| !t.is_decimal()))
}

/// Binds a function with a result of type `return_type`.
pub(super) fn bind_as<M: Moments<N>, const N: usize>(
    return_type: DataType,
    num_args: usize,
    finish: Finish<N>,
) -> BoundAggregate {
    let state_types = vec![ArrowType::Float64; N];
    let result = return_type.clone();
    BoundAggregate::new(return_type, state_types, move || MomentStates::<M, N> {
        states: Vec::new(),
        num_args,
        finish,
        return_type: result.clone(),
        moments: PhantomData,
    })
}

#[derive(Debug)]
struct MomentStates<M, const N: usize> {
    states: Vec<[f64; N]>,
    num_args: usize,
    finish: Finish<N>,
    return_type: DataType,
    moments: PhantomData<M>,
}

impl<M: Moments<N>, const N: usize> MomentStates<M, N> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.states.len() {
            self.states.resize(num_groups, [0.0; N]);
        }
    }
}

impl<M: Moments<N>, const N: usize> Aggregator for MomentStates<M, N> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let rows = Rows::new(args, groups)?;
        let x = to_floats(column(args, 0)?)?;
        if self.num_args == 1 {
            rows.for_each(|row, group| M::add(&mut self.states[group], x[row], 0.0));
        } else {
            let y = to_floats(column(args, 1)?)?;
            rows.for_each(|row, group| M::add(&mut self.states[group], x[row], y[row]));
        }
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let columns = (0..N)
            .map(|idx| Ok(primitive::<Float64Type>(column(states, idx)?)?.values()))
            .collect::<Result<Vec<_>>>()?;
        Rows::all(states, groups)?.for_each(|row, group| {
            let other = std::array::from_fn(|idx| columns[idx][row]);
            M::merge(&mut self.states[group], &other);
        });
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let results = self.states[range].iter().map(self.finish);
        Ok(match &self.return_type {
            DataType::Float32 => {
                Arc::new(Float32Array::from_iter_values(results.map(|r| r[0] as f32)))
            }
            DataType::Float64 => Arc::new(Float64Array::from_iter_values(results.map(|r| r[0]))),
            DataType::UInt64 => {
                Arc::new(UInt64Array::from_iter_values(results.map(|r| r[0] as u64)))
            }
            tuple => {
                let (a, b): (Vec<f64>, Vec<f64>) = results.map(|r| (r[0], r[1])).unzip();
                let columns: Vec<ArrayRef> = vec![
                    Arc::new(Float64Array::from(a)),
                    Arc::new(Float64Array::from(b)),
                ];
                let ArrowType::Struct(fields) = tuple.physical() else {
                    return Err(wrong_array(&columns[0]));
                };
                Arc::new(StructArray::try_new(fields, columns, None).map_err(bug)?)
            }
        })
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let states = &self.states[range];
        let columns = (0..N).map(|idx| {
            let values = states.iter().map(|s| s[idx]);
            Arc::new(Float64Array::from_iter_values(values)) as ArrayRef
        });
        Ok(columns.collect())
    }

    fn size_bytes(&self) -> usize {
        self.states.capacity() * size_of::<[f64; N]>()
    }
}
