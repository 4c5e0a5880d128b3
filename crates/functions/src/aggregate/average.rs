//! `avg`, `sumCount`, `avgWeighted`.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, Float64Array, StructArray, UInt64Array};
use arrow::datatypes::{
    ArrowNativeTypeOp, DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int32Type,
    Int64Type, UInt16Type, UInt32Type, UInt64Type,
};
use basalt_error::Result;
use basalt_kernels::fold::fold_lanes;
use basalt_kernels::grouped::fold_groups;
use basalt_types::DataType;

use super::defaults::bug;
use super::float_sum::{self, Output};
use super::rows::Rows;
use super::sum::sum_type;
use super::values::{
    Primitive, PrimitiveVisitor, Value, column, primitive, primitive_array, to_floats,
    visit_primitive, wrong_array,
};
use super::{AggregateCall, AggregateFunction, AggregateNulls, Aggregator, BoundAggregate, Groups};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "avg",
        case_insensitive: true,
        syntax: "avg(x)",
        description: "Arithmetic mean of the values, as Float64.",
        resolve: resolve_average,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sumCount",
        nulls: AggregateNulls::SkipNotNull,
        syntax: "sumCount(x)",
        description: "Tuple of the sum of the values and their number.",
        resolve: resolve_sum_count,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "avgWeighted",
        syntax: "avgWeighted(x, weight)",
        description: "Mean of the values with weights.",
        resolve: resolve_weighted,
        ..AggregateFunction::BASE
    },
];

fn resolve_average(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let data_type = &call.types[0];
    let (return_type, sum) = if data_type.is_date_or_time() {
        let sum = if matches!(data_type, DataType::Date | DataType::DateTime(_)) {
            DataType::UInt64
        } else {
            DataType::Int64
        };
        (data_type.clone(), sum)
    } else {
        call.expect_type(0, DataType::is_number)?;
        let sum = sum_type(data_type).ok_or_else(|| call.illegal_type(0))?;
        (DataType::Float64, sum)
    };
    bind(call, return_type, sum, Output::Average)
}

fn resolve_sum_count(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_number)?;
    let sum = sum_type(&call.types[0]).ok_or_else(|| call.illegal_type(0))?;
    let return_type = DataType::tuple(vec![sum.clone(), DataType::UInt64]);
    bind(call, return_type, sum, Output::SumAndCount)
}

fn bind(
    call: &AggregateCall<'_>,
    return_type: DataType,
    sum: DataType,
    output: Output,
) -> Result<BoundAggregate> {
    let arrow = call.types[0].physical();
    match arrow {
        ArrowType::Float32 => return Ok(float_sum::bind::<Float32Type>(return_type, output)),
        ArrowType::Float64 => return Ok(float_sum::bind::<Float64Type>(return_type, output)),
        _ => {}
    }
    visit_primitive(
        &arrow,
        BindAverage {
            return_type,
            sum,
            output,
        },
    )
    .ok_or_else(|| call.illegal_type(0))
}

struct BindAverage {
    return_type: DataType,
    sum: DataType,
    output: Output,
}

impl PrimitiveVisitor for BindAverage {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        let sum_arrow = self.sum.physical();
        let state_types = vec![sum_arrow.clone(), ArrowType::UInt64];
        let return_type = self.return_type.clone();
        BoundAggregate::new(self.return_type, state_types, move || Average::<T> {
            states: Vec::new(),
            sum_arrow: sum_arrow.clone(),
            return_type: return_type.clone(),
            output: self.output,
            values: PhantomData,
        })
    }
}

type SumNative<T> =
    <<<T as ArrowPrimitiveType>::Native as Value>::Sum as ArrowPrimitiveType>::Native;

/// Sum and number of the values of a group.
#[derive(Clone, Copy, Debug)]
struct SumAndCount<S> {
    sum: S,
    count: u64,
}

#[derive(Debug)]
struct Average<T: Primitive> {
    states: Vec<SumAndCount<SumNative<T>>>,
    sum_arrow: ArrowType,
    return_type: DataType,
    output: Output,
    values: PhantomData<fn() -> T>,
}

impl<T: Primitive> Average<T> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.states.len() {
            let empty = SumAndCount {
                sum: SumNative::<T>::ZERO,
                count: 0,
            };
            self.states.resize(num_groups, empty);
        }
    }

    fn averages(&self, range: Range<usize>) -> Result<ArrayRef> {
        let scale = match &self.sum_arrow {
            ArrowType::Decimal128(_, scale) | ArrowType::Decimal256(_, scale) => {
                10f64.powi(i32::from(*scale))
            }
            _ => 1.0,
        };
        let states = self.states[range].iter();
        let averages = states.map(|s| s.sum.to_f64() / scale / s.count as f64);
        let mut averages: Vec<f64> = averages.collect();
        if self.return_type != DataType::Float64 {
            averages.iter_mut().for_each(|v| *v = v.round_ties_even());
        }
        from_floats(averages, &self.return_type)
    }
}

/// Floats as values of `data_type`: a float, or the number in a date or time, cut off.
pub(super) fn from_floats(values: Vec<f64>, data_type: &DataType) -> Result<ArrayRef> {
    fn cut<T: ArrowPrimitiveType>(
        values: &[f64],
        cut: impl Fn(f64) -> T::Native,
        physical: &ArrowType,
    ) -> ArrayRef {
        let values = values.iter().map(|v| cut(*v)).collect();
        primitive_array::<T>(values, None, physical)
    }
    let physical = data_type.physical();
    Ok(match &physical {
        ArrowType::Float64 => primitive_array::<Float64Type>(values, None, &physical),
        ArrowType::Float32 => cut::<Float32Type>(&values, |v| v as f32, &physical),
        ArrowType::UInt16 => cut::<UInt16Type>(&values, |v| v as u16, &physical),
        ArrowType::UInt32 => cut::<UInt32Type>(&values, |v| v as u32, &physical),
        ArrowType::Int32 => cut::<Int32Type>(&values, |v| v as i32, &physical),
        ArrowType::Int64 => cut::<Int64Type>(&values, |v| v as i64, &physical),
        ArrowType::Decimal128(_, scale) => {
            let factor = 10f64.powi(i32::from(*scale));
            cut::<Decimal128Type>(&values, |v| (v * factor) as i128, &physical)
        }
        _ => return Err(wrong_array(&Float64Array::from(values))),
    })
}

impl<T: Primitive> Aggregator for Average<T> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let values = primitive::<T>(column(args, 0)?)?.values();
        let rows = Rows::new(args, groups)?;
        if let (None, Some(state)) = (rows.ids, self.states.first_mut()) {
            let step = |sum: SumNative<T>, v: T::Native| sum.add_wrapping(v.widen());
            let zero = SumNative::<T>::ZERO;
            let join = SumNative::<T>::add_wrapping;
            let total = fold_lanes(values, rows.validity(), zero, step, join);
            state.sum = state.sum.add_wrapping(total);
            state.count += rows.num_valid() as u64;
            return Ok(());
        }
        let add = |state: SumAndCount<_>, value: T::Native| SumAndCount {
            sum: SumNative::<T>::add_wrapping(state.sum, value.widen()),
            count: state.count + 1,
        };
        match (rows.ids, &rows.valid) {
            (Some(ids), None) => fold_groups(&mut self.states, values, ids, add),
            _ => rows.for_each(|row, group| {
                self.states[group] = add(self.states[group], values[row]);
            }),
        }
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let sums = primitive::<<T::Native as Value>::Sum>(column(states, 0)?)?.values();
        let counts = primitive::<UInt64Type>(column(states, 1)?)?.values();
        Rows::all(states, groups)?.for_each(|row, group| {
            let state = &mut self.states[group];
            state.sum = state.sum.add_wrapping(sums[row]);
            state.count = state.count.wrapping_add(counts[row]);
        });
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        match self.output {
            Output::Average => self.averages(range),
            Output::Sum | Output::SumAndCount => {
                let columns = self.states(range)?;
                let ArrowType::Struct(fields) = self.return_type.physical() else {
                    return Err(wrong_array(&columns[0]));
                };
                let tuple = StructArray::try_new(fields, columns, None).map_err(bug)?;
                Ok(Arc::new(tuple))
            }
        }
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let states = &self.states[range];
        let sums = states.iter().map(|s| s.sum).collect();
        let counts = states.iter().map(|s| s.count);
        Ok(vec![
            primitive_array::<<T::Native as Value>::Sum>(sums, None, &self.sum_arrow),
            Arc::new(UInt64Array::from_iter_values(counts)),
        ])
    }

    fn finishes_again(&self) -> bool {
        true
    }

    fn size_bytes(&self) -> usize {
        self.states.capacity() * size_of::<SumAndCount<SumNative<T>>>()
    }
}

fn resolve_weighted(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    for idx in 0..2 {
        call.expect_type(idx, |t| t.is_integer() || t.is_float())?;
    }
    let state_types = vec![ArrowType::Float64, ArrowType::Float64];
    Ok(BoundAggregate::new(
        DataType::Float64,
        state_types,
        Weighted::default,
    ))
}

#[derive(Debug, Default)]
struct Weighted {
    /// Sum of products and sum of weights of each group.
    states: Vec<(f64, f64)>,
}

impl Weighted {
    fn add(&mut self, columns: (&[f64], &[f64]), groups: Groups<'_>, rows: &Rows<'_>) {
        if groups.num_groups > self.states.len() {
            self.states.resize(groups.num_groups, (0.0, 0.0));
        }
        rows.for_each(|row, group| {
            let state = &mut self.states[group];
            state.0 += columns.0[row];
            state.1 += columns.1[row];
        });
    }

    fn parts(&mut self, range: Range<usize>) -> impl Iterator<Item = (f64, f64)> {
        if range.end > self.states.len() {
            self.states.resize(range.end, (0.0, 0.0));
        }
        self.states[range].iter().copied()
    }
}

impl Aggregator for Weighted {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let mut values = to_floats(column(args, 0)?)?;
        let weights = to_floats(column(args, 1)?)?;
        values.iter_mut().zip(&weights).for_each(|(v, w)| *v *= w);
        self.add((&values, &weights), groups, &Rows::new(args, groups)?);
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let products = primitive::<Float64Type>(column(states, 0)?)?.values();
        let weights = primitive::<Float64Type>(column(states, 1)?)?.values();
        self.add((products, weights), groups, &Rows::new(states, groups)?);
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let averages = self
            .parts(range)
            .map(|(products, weights)| products / weights);
        Ok(Arc::new(Float64Array::from_iter_values(averages)))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let (products, weights): (Vec<f64>, Vec<f64>) = self.parts(range).unzip();
        Ok(vec![
            Arc::new(Float64Array::from(products)),
            Arc::new(Float64Array::from(weights)),
        ])
    }

    fn finishes_again(&self) -> bool {
        true
    }

    fn size_bytes(&self) -> usize {
        self.states.capacity() * size_of::<(f64, f64)>()
    }
}
