//! `sum`, `sumWithOverflow`, `sumKahan`.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, Float64Array};
use arrow::datatypes::{ArrowNativeTypeOp, DataType as ArrowType, Float32Type, Float64Type};
use basalt_error::Result;
use basalt_kernels::fold::fold_lanes;
use basalt_kernels::grouped::fold_groups;
use basalt_types::DataType;

use super::float_sum::{self, Output};
use super::rows::Rows;
use super::values::{
    Primitive, PrimitiveVisitor, Value, column, primitive, primitive_array, to_floats,
    visit_primitive,
};
use super::{AggregateCall, AggregateFunction, Aggregator, BoundAggregate, Groups, Shortcut};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "sum",
        case_insensitive: true,
        syntax: "sum(x)",
        description: "Sum of the values; integers in 64 bits that wrap around.",
        resolve: resolve_sum,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sumWithOverflow",
        syntax: "sumWithOverflow(x)",
        description: "Sum in the type of the values, which wraps around.",
        resolve: resolve_with_overflow,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sumKahan",
        syntax: "sumKahan(x)",
        description: "Sum of the values as Float64 with Kahan's compensation of rounding errors.",
        resolve: resolve_kahan,
        ..AggregateFunction::BASE
    },
];

/// The type that sums of `data_type` have; `None` if it has no sum.
pub(super) fn sum_type(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Decimal { precision, scale } => DataType::Decimal {
            precision: if *precision <= 38 { 38 } else { 76 },
            scale: *scale,
        },
        t if t.is_unsigned() => DataType::UInt64,
        t if t.is_signed() || t.is_enum() => DataType::Int64,
        t if t.is_float() => DataType::Float64,
        _ => return None,
    })
}

fn resolve_sum(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let data_type = &call.types[0];
    let return_type = sum_type(data_type).ok_or_else(|| call.illegal_type(0))?;
    match data_type.physical() {
        ArrowType::Float32 => return Ok(float_sum::bind::<Float32Type>(return_type, Output::Sum)),
        ArrowType::Float64 => return Ok(float_sum::bind::<Float64Type>(return_type, Output::Sum)),
        _ => {}
    }
    let bound = visit_primitive(&data_type.physical(), BindSum(return_type))
        .ok_or_else(|| call.illegal_type(0))?;
    Ok(if data_type.is_integer() {
        bound.with_shortcut(Shortcut::SumInteger)
    } else {
        bound
    })
}

struct BindSum(DataType);

impl PrimitiveVisitor for BindSum {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        bind_into::<T, <T::Native as Value>::Sum, Wide>(self.0)
    }
}

fn resolve_with_overflow(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_number() || t.is_enum())?;
    let data_type = match &call.types[0] {
        DataType::Bool => DataType::UInt8,
        DataType::Enum8(_) => DataType::Int8,
        DataType::Enum16(_) => DataType::Int16,
        DataType::Decimal { precision, scale } => DataType::Decimal {
            precision: match precision {
                0..=9 => 9,
                10..=18 => 18,
                19..=38 => 38,
                _ => 76,
            },
            scale: *scale,
        },
        t => t.clone(),
    };
    visit_primitive(&data_type.physical(), BindSame(data_type.clone()))
        .ok_or_else(|| call.illegal_type(0))
}

struct BindSame(DataType);

impl PrimitiveVisitor for BindSame {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        bind_into::<T, T, Same>(self.0)
    }
}

/// How a value becomes one of the accumulator; a type, so that loops are compiled for it.
trait Widen<V, S>: Send + 'static {
    fn widen(value: V) -> S;
}

/// To the type of the value's sums.
struct Wide;

impl<V: Value> Widen<V, <V::Sum as ArrowPrimitiveType>::Native> for Wide {
    #[inline]
    fn widen(value: V) -> <V::Sum as ArrowPrimitiveType>::Native {
        value.widen()
    }
}

/// To the same type.
struct Same;

impl<V> Widen<V, V> for Same {
    #[inline]
    fn widen(value: V) -> V {
        value
    }
}

fn bind_into<T, S, W>(return_type: DataType) -> BoundAggregate
where
    T: Primitive,
    S: Primitive,
    W: Widen<T::Native, S::Native>,
{
    let physical = return_type.physical();
    BoundAggregate::new(
        return_type,
        vec![physical.clone()],
        move || Sum::<T, S, W> {
            sums: Vec::new(),
            physical: physical.clone(),
            values: PhantomData,
        },
    )
}

/// Sums of `T` in `S`.
struct Sum<T, S: Primitive, W> {
    sums: Vec<S::Native>,
    physical: ArrowType,
    values: PhantomData<fn() -> (T, W)>,
}

impl<T, S: Primitive, W> std::fmt::Debug for Sum<T, S, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sum").field(&self.sums.len()).finish()
    }
}

/// Adds the rows' values to their groups; `sums` has room for all groups.
#[inline]
pub(super) fn add_rows<T: Copy, S: ArrowNativeTypeOp>(
    sums: &mut [S],
    values: &[T],
    rows: &Rows<'_>,
    widen: impl Fn(T) -> S + Copy,
) {
    match (rows.ids, &rows.valid) {
        (None, _) => {
            let step = |sum: S, value| sum.add_wrapping(widen(value));
            let total = fold_lanes(values, rows.validity(), S::ZERO, step, S::add_wrapping);
            if let Some(sum) = sums.first_mut() {
                *sum = sum.add_wrapping(total);
            }
        }
        (Some(ids), None) => {
            let add = |sum: S, value| sum.add_wrapping(widen(value));
            fold_groups(sums, values, ids, add);
        }
        (Some(_), Some(_)) => rows.for_each(|row, group| {
            sums[group] = sums[group].add_wrapping(widen(values[row]));
        }),
    }
}

impl<T, S: Primitive, W> Sum<T, S, W> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.sums.len() {
            self.sums.resize(num_groups, S::Native::ZERO);
        }
    }
}

impl<T, S, W> Aggregator for Sum<T, S, W>
where
    T: Primitive,
    S: Primitive,
    W: Widen<T::Native, S::Native>,
{
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let values = primitive::<T>(column(args, 0)?)?.values();
        add_rows(&mut self.sums, values, &Rows::new(args, groups)?, W::widen);
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let values = primitive::<S>(column(states, 0)?)?.values();
        add_rows(&mut self.sums, values, &Rows::new(states, groups)?, |v| v);
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let sums = self.sums[range].to_vec();
        Ok(primitive_array::<S>(sums, None, &self.physical))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.finish(range)?])
    }

    fn finishes_again(&self) -> bool {
        true
    }

    fn size_bytes(&self) -> usize {
        self.sums.capacity() * size_of::<<S as ArrowPrimitiveType>::Native>()
    }
}

fn resolve_kahan(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    if call.types[0].is_decimal() {
        return resolve_sum(call);
    }
    call.expect_type(0, |t| t.is_integer() || t.is_float() || t.is_enum())?;
    let state_types = vec![ArrowType::Float64, ArrowType::Float64];
    Ok(BoundAggregate::new(
        DataType::Float64,
        state_types,
        KahanSum::default,
    ))
}

/// A sum and the rounding error that it has so far.
#[derive(Clone, Copy, Debug, Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    #[inline]
    fn add(&mut self, value: f64) {
        let compensated = value - self.error;
        let sum = self.sum + compensated;
        self.error = (sum - self.sum) - compensated;
        self.sum = sum;
    }

    fn merge(&mut self, other: Self) {
        let sum = self.sum + other.sum;
        let virtual_other = sum - self.sum;
        let lost = (self.sum - (sum - virtual_other)) + (other.sum - virtual_other);
        let error = self.error + other.error - lost;
        self.sum = sum - error;
        self.error = error - (sum - self.sum);
    }
}

#[derive(Debug, Default)]
struct KahanSum {
    sums: Vec<Compensated>,
}

impl KahanSum {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.sums.len() {
            self.sums.resize(num_groups, Compensated::default());
        }
    }
}

impl Aggregator for KahanSum {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let values = to_floats(column(args, 0)?)?;
        Rows::new(args, groups)?.for_each(|row, group| self.sums[group].add(values[row]));
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let sums = primitive::<Float64Type>(column(states, 0)?)?.values();
        let errors = primitive::<Float64Type>(column(states, 1)?)?.values();
        Rows::all(states, groups)?.for_each(|row, group| {
            self.sums[group].merge(Compensated {
                sum: sums[row],
                error: errors[row],
            });
        });
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let sums = self.sums[range].iter().map(|s| s.sum);
        Ok(Arc::new(Float64Array::from_iter_values(sums)))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let sums = self.finish(range.clone())?;
        let errors = self.sums[range].iter().map(|s| s.error);
        Ok(vec![sums, Arc::new(Float64Array::from_iter_values(errors))])
    }

    fn finishes_again(&self) -> bool {
        true
    }

    fn size_bytes(&self) -> usize {
        self.sums.capacity() * size_of::<Compensated>()
    }
}
