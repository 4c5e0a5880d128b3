//! `groupBitAnd`, `groupBitOr`, `groupBitXor`.

use std::marker::PhantomData;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow::compute::CastOptions;
use arrow::datatypes::{DataType as ArrowType, UInt64Type};
use basalt_error::Result;
use basalt_kernels::fold::fold_lanes;
use basalt_types::DataType;

use super::defaults::bug;
use super::rows::Rows;
use super::values::{Primitive, PrimitiveVisitor, Value, column, primitive, visit_primitive};
use super::{AggregateCall, AggregateFunction, Aggregator, BoundAggregate, Groups};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "groupBitAnd",
        aliases: &["BIT_AND"],
        syntax: "groupBitAnd(x)",
        description: "Bitwise AND of the integers.",
        resolve: |call| resolve(call, u64::MAX, |a, b| a & b),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupBitOr",
        aliases: &["BIT_OR"],
        syntax: "groupBitOr(x)",
        description: "Bitwise OR of the integers.",
        resolve: |call| resolve(call, 0, |a, b| a | b),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupBitXor",
        aliases: &["BIT_XOR"],
        syntax: "groupBitXor(x)",
        description: "Bitwise XOR of the integers.",
        resolve: |call| resolve(call, 0, |a, b| a ^ b),
        ..AggregateFunction::BASE
    },
];

fn resolve(
    call: &AggregateCall<'_>,
    start: u64,
    combine: fn(u64, u64) -> u64,
) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_integer)?;
    let return_type = match &call.types[0] {
        DataType::Bool => DataType::UInt8,
        t => t.clone(),
    };
    let bind = Bind {
        return_type,
        start,
        combine,
    };
    visit_primitive(&call.types[0].physical(), bind).ok_or_else(|| call.illegal_type(0))
}

struct Bind {
    return_type: DataType,
    start: u64,
    combine: fn(u64, u64) -> u64,
}

impl PrimitiveVisitor for Bind {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        let arrow = self.return_type.physical();
        let state_types = vec![ArrowType::UInt64];
        BoundAggregate::new(self.return_type, state_types, move || Bits::<T> {
            states: Vec::new(),
            start: self.start,
            combine: self.combine,
            arrow: arrow.clone(),
            values: PhantomData,
        })
    }
}

/// Integers of any width as their sign-extended 64 bits.
#[derive(Debug)]
struct Bits<T> {
    states: Vec<u64>,
    start: u64,
    combine: fn(u64, u64) -> u64,
    arrow: ArrowType,
    values: PhantomData<fn() -> T>,
}

impl<T: Primitive> Bits<T> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.states.len() {
            self.states.resize(num_groups, self.start);
        }
    }

    fn add<V: Primitive>(&mut self, array: &dyn Array, rows: &Rows<'_>) -> Result<()> {
        let values = primitive::<V>(array)?.values();
        let combine = self.combine;
        let bits = |value: <V as ArrowPrimitiveType>::Native| value.key() as u64;
        match (rows.ids, self.states.first_mut()) {
            (None, Some(state)) => {
                let step = |sum, value| combine(sum, bits(value));
                let all = fold_lanes(values, rows.validity(), self.start, step, combine);
                *state = combine(*state, all);
            }
            _ => rows.for_each(|row, group| {
                let state = &mut self.states[group];
                *state = combine(*state, bits(values[row]));
            }),
        }
        Ok(())
    }
}

impl<T: Primitive> Aggregator for Bits<T> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        self.add::<T>(column(args, 0)?, &Rows::new(args, groups)?)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        self.add::<UInt64Type>(column(states, 0)?, &Rows::new(states, groups)?)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let signed = self.arrow.is_signed_integer();
        let width = self.arrow.primitive_width().unwrap_or(8) * 8;
        let shift = 64 - width;
        // Cut to the width first: the neutral element of AND has all 64 bits set.
        let states = self.states[range].iter();
        let array: ArrayRef = if signed {
            let values = states.map(|s| ((*s << shift) as i64) >> shift);
            std::sync::Arc::new(arrow::array::Int64Array::from_iter_values(values))
        } else {
            let values = states.map(|s| (*s << shift) >> shift);
            std::sync::Arc::new(arrow::array::UInt64Array::from_iter_values(values))
        };
        arrow::compute::cast_with_options(&array, &self.arrow, &CastOptions::default()).map_err(bug)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let states = self.states[range].iter().copied();
        let array = arrow::array::UInt64Array::from_iter_values(states);
        Ok(vec![std::sync::Arc::new(array)])
    }

    fn size_bytes(&self) -> usize {
        self.states.capacity() * size_of::<u64>()
    }
}
