//! Turns an aggregate function into outputs of a program, and what these give into states of the function.
//!
//! **Extremes of floats.** A NaN is the extreme only of values that are all NaN, in programs and in the aggregators
//! alike. Of 0.0 and -0.0 aggregators keep the one that their order of rows comes to first; in programs -0.0 is less. So
//! a least of 0.0 is right, as there was no -0.0, and so is a greatest of -0.0. Rows of the other two go the usual way.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, Float32Array, Float64Array, PrimitiveArray, UInt8Array,
    UInt64Array,
};
use arrow::datatypes::{
    DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type, Schema, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use basalt_functions::aggregate::Shortcut;
use basalt_jit::{Fold, Graph, NodeId, Output, Type};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;

use super::expression::translated;
use crate::group_by::{AggregateSpec, Exported};

/// How an aggregate's state comes from outputs of the program, which are given by their places.
#[derive(Debug)]
pub(super) struct Aggregate {
    kind: Kind,
    /// Type of the state's first column.
    state_type: ArrowType,
    pub(super) value: usize,
    /// Whether a column follows with what the first, a sum of floats, has rounded away.
    is_twofold: bool,
    /// Where the number of rows is, if the state needs it.
    count: Option<usize>,
    /// Whether the state ends with a column that says whether there was a row.
    tells_rows: bool,
    /// The bits of a zero that is no answer: there may be one with the other sign, too.
    pub(super) unclear_zero: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    RowCount,
    IntegerSum,
    Count,
    Sum,
    Average,
    Extreme,
}

/// The rows that are aggregated.
pub(super) struct Input<'a> {
    pub(super) schema: &'a Schema,
    pub(super) has_condition: bool,
    /// Whether rows are of groups, for which floats are left to the aggregators.
    pub(super) has_groups: bool,
}

/// The outputs so far; equal ones have one place.
#[derive(Default)]
pub(super) struct Outputs(pub(super) Vec<Output>);

impl Outputs {
    pub(super) fn place(&mut self, output: Output) -> usize {
        let place = self.0.iter().position(|other| *other == output);
        place.unwrap_or_else(|| {
            self.0.push(output);
            self.0.len() - 1
        })
    }
}

impl Aggregate {
    /// The outputs of an aggregate, which join `outputs`; none if not all of it is something that programs can say.
    pub(super) fn of(
        spec: &AggregateSpec,
        input: &Input<'_>,
        graph: &mut Graph,
        outputs: &mut Outputs,
    ) -> Option<Self> {
        let bound = &spec.bound;
        let without_if = bound.name.strip_suffix("If");
        let (kind, fold) = match (bound.shortcut, without_if.unwrap_or(&bound.name)) {
            (Some(Shortcut::CountAll), _) => {
                return Some(Self {
                    kind: Kind::RowCount,
                    state_type: ArrowType::UInt64,
                    value: outputs.place(Output::Rows),
                    is_twofold: false,
                    count: None,
                    tells_rows: false,
                    unclear_zero: None,
                });
            }
            (Some(Shortcut::SumInteger), _) => (Kind::IntegerSum, Fold::Sum),
            (None, "count") => (Kind::Count, Fold::Count),
            (None, "sum") => (Kind::Sum, Fold::Sum),
            (None, "avg") => (Kind::Average, Fold::Sum),
            (None, "min") => (Kind::Extreme, Fold::Min),
            (None, "max") => (Kind::Extreme, Fold::Max),
            _ => return None,
        };
        let arg = argument(&spec.args, without_if.is_some(), input.schema, graph)?;
        if input.has_groups && graph.type_of(arg).is_float() {
            return None;
        }
        // Without code, rows that a condition of the query drops are no rows of -If, and do not hold places in
        // the order in which floats are added.
        let adds_floats = fold == Fold::Sum && graph.type_of(arg).is_float();
        if adds_floats && without_if.is_some() && input.has_condition {
            return None;
        }
        let state_type = bound.state_types.first()?.clone();
        let is_twofold =
            matches!(kind, Kind::Sum | Kind::Average) && state_type == ArrowType::Float64;
        let num_columns = 1 + usize::from(is_twofold) + usize::from(kind == Kind::Average);
        let tells_rows = match bound.state_types.get(num_columns..)? {
            [] => false,
            [ArrowType::UInt8] => true,
            _ => return None,
        };
        if !has_state(kind, graph, arg, &state_type) {
            return None;
        }
        let counts = tells_rows || matches!(kind, Kind::Average | Kind::Extreme);
        Some(Self {
            kind,
            state_type,
            value: outputs.place(Output::Fold(fold, arg)),
            is_twofold,
            count: counts.then(|| outputs.place(counted(graph, arg))),
            tells_rows,
            unclear_zero: unclear_zero(fold, graph.type_of(arg)),
        })
    }

    /// The states of an aggregate whose outputs are these, one for each group.
    ///
    /// `numbers` gives the bits of an output for each group and, of a sum of floats, what it has rounded away.
    pub(super) fn states(
        &self,
        numbers: &impl Fn(usize) -> Result<Vec<(u64, f64)>>,
    ) -> Result<Exported> {
        let values = numbers(self.value)?;
        let counts = self.count.map(numbers).transpose()?.unwrap_or_default();
        let counts: Vec<u64> = counts.iter().map(|(count, _)| *count).collect();
        let words = values.iter().map(|(word, _)| *word);
        let first = match self.kind {
            Kind::RowCount => return Ok(Exported::counts(words.collect())),
            Kind::IntegerSum => return Ok(Exported::sums(words.collect())),
            Kind::Extreme => {
                let values = words.zip(&counts);
                let values = values.map(|(word, count)| (*count > 0).then_some(word));
                array(&self.state_type, values)
            }
            _ => array(&self.state_type, words.map(Some)),
        };
        let mut columns = vec![
            first
                .ok_or_else(|| internal_datafusion_err!("no state of type {}", self.state_type))?,
        ];
        if self.is_twofold {
            let rests = values.iter().map(|(_, rest)| *rest);
            columns.push(Arc::new(Float64Array::from_iter_values(rests)));
        }
        if self.tells_rows {
            let tells = counts.iter().map(|count| u8::from(*count > 0));
            let tells: ArrayRef = Arc::new(UInt8Array::from_iter_values(tells));
            if self.kind == Kind::Average {
                columns.push(Arc::new(UInt64Array::from(counts)));
            }
            columns.push(tells);
        } else if self.kind == Kind::Average {
            columns.push(Arc::new(UInt64Array::from(counts)));
        }
        Ok(Exported::Columns(columns))
    }
}

/// The argument of an aggregate, NULL in the rows that -If takes out.
fn argument(
    args: &[Arc<dyn PhysicalExpr>],
    is_if: bool,
    schema: &Schema,
    graph: &mut Graph,
) -> Option<NodeId> {
    let (condition, args) = if is_if {
        let (condition, args) = args.split_last()?;
        (Some(condition), args)
    } else {
        (None, args)
    };
    let arg = match args {
        [arg] => translated(graph, arg, schema)?,
        // `countIf` has nothing but its condition.
        [] => graph.constant(Type::U8, Some(1)),
        _ => return None,
    };
    let Some(condition) = condition else {
        return Some(arg);
    };
    let flag = translated(graph, condition, schema)?;
    let flag = graph.cast(Type::Bool, flag);
    let null = graph.constant(graph.type_of(arg), None);
    graph.choose(flag, arg, null).ok()
}

/// The number of values of `arg`.
fn counted(graph: &Graph, arg: NodeId) -> Output {
    if graph.is_nullable(arg) {
        Output::Fold(Fold::Count, arg)
    } else {
        Output::Rows
    }
}

/// Whether the fold of `arg` is what stands in a state's first column.
fn has_state(kind: Kind, graph: &Graph, arg: NodeId, state_type: &ArrowType) -> bool {
    let data_type = graph.type_of(arg);
    match (kind, state_type) {
        (Kind::Extreme, state) => {
            data_type != Type::Bool && super::expression::type_of(state) == Some(data_type)
        }
        (Kind::RowCount | Kind::Count, state) => *state == ArrowType::UInt64,
        (Kind::IntegerSum, _) => data_type.is_integer(),
        (_, ArrowType::Float64) => data_type.is_float(),
        (_, ArrowType::Int64) => data_type.is_signed(),
        (_, ArrowType::UInt64) => data_type.is_integer() && !data_type.is_signed(),
        _ => false,
    }
}

/// The bits of the zero that a fold prefers to that with the other sign, which may have been there as well.
fn unclear_zero(fold: Fold, data_type: Type) -> Option<u64> {
    if !data_type.is_float() {
        return None;
    }
    match fold {
        Fold::Min => Some(1 << (data_type.bits() - 1)),
        Fold::Max => Some(0),
        Fold::Count | Fold::Sum => None,
    }
}

/// An array of values with these bits in the lowest of words, and of NULLs; none of other types than numbers.
pub(super) fn array(
    arrow: &ArrowType,
    bits: impl Iterator<Item = Option<u64>>,
) -> Option<ArrayRef> {
    fn of<T: ArrowPrimitiveType>(values: impl Iterator<Item = Option<T::Native>>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter(values))
    }
    Some(match arrow {
        ArrowType::Int8 => of::<Int8Type>(bits.map(|bits| bits.map(|b| b as i8))),
        ArrowType::Int16 => of::<Int16Type>(bits.map(|bits| bits.map(|b| b as i16))),
        ArrowType::Int32 => of::<Int32Type>(bits.map(|bits| bits.map(|b| b as i32))),
        ArrowType::Int64 => of::<Int64Type>(bits.map(|bits| bits.map(u64::cast_signed))),
        ArrowType::UInt8 => of::<UInt8Type>(bits.map(|bits| bits.map(|b| b as u8))),
        ArrowType::UInt16 => of::<UInt16Type>(bits.map(|bits| bits.map(|b| b as u16))),
        ArrowType::UInt32 => of::<UInt32Type>(bits.map(|bits| bits.map(|b| b as u32))),
        ArrowType::UInt64 => of::<UInt64Type>(bits),
        ArrowType::Float32 => {
            let floats = bits.map(|bits| bits.map(|b| f32::from_bits(b as u32)));
            Arc::new(Float32Array::from_iter(floats))
        }
        ArrowType::Float64 => {
            let floats = bits.map(|bits| bits.map(f64::from_bits));
            Arc::new(Float64Array::from_iter(floats))
        }
        _ => return None,
    })
}
