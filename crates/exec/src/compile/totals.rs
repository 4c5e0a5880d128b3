//! Turns an aggregation without keys into a program, and what that gives into states of the aggregates.
//!
//! **Extremes of floats.** A NaN is the extreme only of values that are all NaN, in programs and in the aggregators
//! alike. Of 0.0 and -0.0 aggregators keep the one that their order of rows comes to first; in programs -0.0 is less. So
//! a least of 0.0 is right, as there was no -0.0, and so is a greatest of -0.0. Rows of the other two go the usual way.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, Float32Array, Float64Array, PrimitiveArray, RecordBatch,
    UInt8Array, UInt64Array,
};
use arrow::datatypes::{
    DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type, Schema, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use basalt_functions::aggregate::Shortcut;
use basalt_jit::{Compiled, Fold, Graph, NodeId, Outcome, Output, Program, Type};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;

use super::columns::columns_of;
use super::expression::translated;
use crate::group_by::{AggregateSpec, Exported};

/// An aggregation without keys that can be compiled.
#[derive(Debug)]
pub(crate) struct CompiledTotals {
    program: Program,
    aggregates: Vec<Aggregate>,
    has_order: bool,
}

/// How an aggregate's state comes from outputs of the program, which are given by their places.
#[derive(Debug)]
struct Aggregate {
    kind: Kind,
    /// Type of the state's first column.
    state_type: ArrowType,
    value: usize,
    /// Whether a column follows with what the first, a sum of floats, has rounded away.
    is_twofold: bool,
    /// Where the number of rows is, if the state needs it.
    count: Option<usize>,
    /// Whether the state ends with a column that says whether there was a row.
    tells_rows: bool,
    /// The bits of a zero that is no answer: there may be one with the other sign, too.
    unclear_zero: Option<u64>,
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
struct Input<'a> {
    schema: &'a Schema,
    has_condition: bool,
}

/// The outputs so far; equal ones have one place.
#[derive(Default)]
struct Outputs(Vec<Output>);

impl Outputs {
    fn place(&mut self, output: Output) -> usize {
        let place = self.0.iter().position(|other| *other == output);
        place.unwrap_or_else(|| {
            self.0.push(output);
            self.0.len() - 1
        })
    }
}

impl CompiledTotals {
    /// The program of `aggregates` over rows of `schema` for which `condition` holds; none if not all of
    /// that is something that programs can say.
    pub(crate) fn of(
        aggregates: &[AggregateSpec],
        condition: Option<&Arc<dyn PhysicalExpr>>,
        schema: &Schema,
    ) -> Option<Self> {
        let mut graph = Graph::default();
        let filter = match condition {
            Some(condition) => Some(translated(&mut graph, condition, schema)?),
            None => None,
        };
        let mut outputs = Outputs::default();
        let input = Input {
            schema,
            has_condition: condition.is_some(),
        };
        let aggregates = aggregates
            .iter()
            .map(|spec| Aggregate::of(spec, &input, &mut graph, &mut outputs))
            .collect::<Option<Vec<_>>>()?;
        let has_order = |output: &Output| matches!(output, Output::Fold(Fold::Sum | Fold::Min | Fold::Max, id) if graph.type_of(*id).is_float());
        let has_order = outputs.0.iter().any(has_order);
        let program = Program::try_new(graph, filter, outputs.0).ok()?;
        // Numbers of all rows need no loop.
        let reads = program.columns().iter().any(Option::is_some);
        let is_small = program.graph().nodes().len() <= super::MAX_NODES;
        (reads && is_small).then_some(Self {
            program,
            aggregates,
            has_order,
        })
    }

    /// The program.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Whether floats are added up or compared, so that it matters which rows are taken together.
    pub(crate) fn has_order(&self) -> bool {
        self.has_order
    }

    /// The states of all aggregates for the rows of `batch`; none if its arrays are not what was planned, or if an
    /// extreme is a zero whose sign depends on the order of the rows.
    pub(crate) fn states(
        &self,
        code: &Compiled,
        batch: &RecordBatch,
    ) -> Result<Option<Vec<Exported>>> {
        let Some(columns) = columns_of(&self.program, batch) else {
            return Ok(None);
        };
        let outcomes = code.run(&columns, batch.num_rows());
        let outcomes = outcomes.map_err(|e| internal_datafusion_err!("compiled code: {e}"))?;
        let number = |place: usize| match outcomes.get(place) {
            Some(Outcome::One(word)) => Ok((*word, 0.0)),
            Some(Outcome::Sum(sum)) => {
                let rounded = sum.rounded();
                Ok((rounded.sum.to_bits(), rounded.rest))
            }
            _ => Err(internal_datafusion_err!("compiled code gave no number")),
        };
        for aggregate in &self.aggregates {
            let zero = aggregate.unclear_zero;
            if zero.is_some() && zero == Some(number(aggregate.value)?.0) {
                return Ok(None);
            }
        }
        let states = self
            .aggregates
            .iter()
            .map(|aggregate| aggregate.state(&number));
        states.collect::<Result<_>>().map(Some)
    }
}

impl Aggregate {
    fn of(
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
            count: counts.then(|| outputs.place(Output::Fold(Fold::Count, arg))),
            tells_rows,
            unclear_zero: unclear_zero(fold, graph.type_of(arg)),
        })
    }

    /// The state of an aggregate whose outputs are these.
    ///
    /// `number` gives the bits of an output and, of a sum of floats, what it has rounded away.
    fn state(&self, number: &impl Fn(usize) -> Result<(u64, f64)>) -> Result<Exported> {
        let (value, rest) = number(self.value)?;
        let (count, _) = self.count.map(number).transpose()?.unwrap_or((0, 0.0));
        let first = match self.kind {
            Kind::RowCount => return Ok(Exported::count(value)),
            Kind::IntegerSum => return Ok(Exported::sum(value)),
            Kind::Extreme if count == 0 => one(&self.state_type, None),
            _ => one(&self.state_type, Some(value)),
        };
        let mut columns = vec![
            first
                .ok_or_else(|| internal_datafusion_err!("no state of type {}", self.state_type))?,
        ];
        if self.is_twofold {
            columns.push(Arc::new(Float64Array::from(vec![rest])));
        }
        if self.kind == Kind::Average {
            columns.push(Arc::new(UInt64Array::from(vec![count])));
        }
        if self.tells_rows {
            columns.push(Arc::new(UInt8Array::from(vec![u8::from(count > 0)])));
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

/// An array of one value with these bits, or of a NULL.
fn one(arrow: &ArrowType, bits: Option<u64>) -> Option<ArrayRef> {
    fn of<T: ArrowPrimitiveType>(value: Option<T::Native>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter([value]))
    }
    Some(match arrow {
        ArrowType::Int8 => of::<Int8Type>(bits.map(|b| b as i8)),
        ArrowType::Int16 => of::<Int16Type>(bits.map(|b| b as i16)),
        ArrowType::Int32 => of::<Int32Type>(bits.map(|b| b as i32)),
        ArrowType::Int64 => of::<Int64Type>(bits.map(u64::cast_signed)),
        ArrowType::UInt8 => of::<UInt8Type>(bits.map(|b| b as u8)),
        ArrowType::UInt16 => of::<UInt16Type>(bits.map(|b| b as u16)),
        ArrowType::UInt32 => of::<UInt32Type>(bits.map(|b| b as u32)),
        ArrowType::UInt64 => of::<UInt64Type>(bits),
        ArrowType::Float32 => Arc::new(Float32Array::from_iter([
            bits.map(|b| f32::from_bits(b as u32))
        ])),
        ArrowType::Float64 => Arc::new(Float64Array::from_iter([bits.map(f64::from_bits)])),
        _ => return None,
    })
}
