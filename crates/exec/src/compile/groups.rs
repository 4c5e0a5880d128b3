//! Turns an aggregation whose keys are few small integers into a program, and what that gives into groups.
//!
//! ```text
//! ordinal = (key 1 - least 1) + (key 2 - least 2) * size 1 + …      the place of a row's group in arrays
//! ```
//!
//! Bounds of keys come from their types and expressions. A batch with a key outside of them, or NULL, goes the usual
//! way.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, Schema};
use basalt_analyzer::into_plan_error;
use basalt_error::Error;
use basalt_jit::{
    BinaryOp, Compiled, Graph, Grouped, NodeId, Outcome, Output, Program, Type, interpret,
};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;

use super::aggregate::{Aggregate, Input, Outputs, array};
use super::columns::columns_of;
use super::expression::translated;
use crate::group_by::{AggregateSpec, Exported, few_values};

/// Most groups that may be: their accumulators stay in the nearest cache, and are few beside the rows of a batch.
const MAX_GROUPS: u64 = 1 << 12;

/// An aggregation with keys that can be compiled.
#[derive(Debug)]
pub(crate) struct CompiledGroups {
    program: Program,
    aggregates: Vec<Aggregate>,
    digits: Vec<Digit>,
    /// Where the number of a group's rows is among the outputs.
    num_rows: usize,
}

/// What a key adds to ordinals.
#[derive(Debug)]
struct Digit {
    arrow: ArrowType,
    least: i64,
    size: u64,
}

/// Groups of some rows.
pub(crate) struct FoundGroups {
    /// The keys of the groups that there are.
    pub(crate) keys: Vec<ArrayRef>,
    /// The states of all groups that there may be.
    pub(crate) states: Vec<Exported>,
    /// Which of these the groups are.
    pub(crate) places: Vec<u32>,
}

impl CompiledGroups {
    /// The program of `aggregates` by `keys` over rows of `schema` for which `condition` holds; none if not all of that is
    /// something that programs can say, or if there may be too many groups.
    pub(crate) fn of(
        keys: &[Arc<dyn PhysicalExpr>],
        aggregates: &[AggregateSpec],
        condition: Option<&Arc<dyn PhysicalExpr>>,
        schema: &Schema,
    ) -> Option<Self> {
        let args = aggregates.iter().flat_map(|spec| &spec.args);
        let computes = keys.iter().chain(args).any(|expr| !expr.is::<Column>());
        // Whole columns have loops of their own, which are faster.
        if !computes && condition.is_none() {
            return None;
        }
        let mut graph = Graph::default();
        let filter = match condition {
            Some(condition) => Some(translated(&mut graph, condition, schema)?),
            None => None,
        };
        let digit = |key: &Arc<dyn PhysicalExpr>| {
            let (least, greatest) = few_values(key, schema)?;
            Some(Digit {
                arrow: key.data_type(schema).ok()?,
                least,
                size: greatest.abs_diff(least).checked_add(1)?,
            })
        };
        let digits = keys.iter().map(digit).collect::<Option<Vec<_>>>()?;
        let sizes = digits.iter().map(|digit| digit.size);
        let num_groups = sizes.fold(1, |product: u64, size| product.saturating_mul(size));
        if num_groups > MAX_GROUPS {
            return None;
        }
        let ordinal = ordinal(&mut graph, keys.iter().zip(&digits), schema)?;
        let mut outputs = Outputs::default();
        let num_rows = outputs.place(Output::Rows);
        let input = Input {
            schema,
            has_condition: condition.is_some(),
            has_groups: true,
        };
        let aggregates = aggregates.iter();
        let aggregates =
            aggregates.map(|spec| Aggregate::of(spec, &input, &mut graph, &mut outputs));
        let aggregates = aggregates.collect::<Option<Vec<_>>>()?;
        let program = Program::try_new(graph, filter, outputs.0).ok()?;
        let grouped = Grouped {
            ordinal,
            num_groups: num_groups as usize,
        };
        let program = program.grouped_by(grouped).ok()?;
        let is_small = program.graph().nodes().len() <= super::MAX_NODES;
        is_small.then_some(Self {
            program,
            aggregates,
            digits,
            num_rows,
        })
    }

    /// The program.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The groups of the rows of `batch`; none if its arrays are not what was planned, or keys not what is bounded.
    ///
    /// # Errors
    /// With `verifies`, if the program's interpreter gives something else.
    pub(crate) fn groups(
        &self,
        code: &Compiled,
        batch: &RecordBatch,
        verifies: bool,
    ) -> Result<Option<FoundGroups>> {
        let Some(columns) = columns_of(&self.program, batch) else {
            return Ok(None);
        };
        let wrong = |e| internal_datafusion_err!("compiled code: {e}");
        let outcomes = code.run(&columns, batch.num_rows()).map_err(wrong)?;
        if verifies {
            let expected = interpret(&self.program, &columns, batch.num_rows()).map_err(wrong)?;
            if outcomes != expected {
                let program = &self.program;
                return Err(into_plan_error(Error::bug(format!(
                    "Compiled code gives {outcomes:?} for {expected:?}:\n{program}"
                ))));
            }
        }
        let words = |place: usize| match outcomes.get(place) {
            Some(Outcome::Groups(words)) => Ok(words.as_slice()),
            _ => Err(internal_datafusion_err!("compiled code gave no groups")),
        };
        let Some((others, num_rows)) = words(self.num_rows)?.split_last() else {
            return Ok(None);
        };
        if *others > 0 {
            return Ok(None);
        }
        let places = (0..).zip(num_rows).filter(|(_, rows)| **rows > 0);
        let places: Vec<u32> = places.map(|(place, _)| place).collect();
        let numbers = |place: usize| Ok(words(place)?.iter().map(|word| (*word, 0.0)).collect());
        let states = self
            .aggregates
            .iter()
            .map(|aggregate| aggregate.states(&numbers));
        Ok(Some(FoundGroups {
            keys: self.keys(&places)?,
            states: states.collect::<Result<_>>()?,
            places,
        }))
    }

    /// The keys of groups.
    fn keys(&self, places: &[u32]) -> Result<Vec<ArrayRef>> {
        let mut stride = 1;
        let column = |digit: &Digit| {
            let values = places.iter().map(|place| {
                let offset = u64::from(*place) / stride % digit.size;
                Some(digit.least.wrapping_add_unsigned(offset).cast_unsigned())
            });
            let column = array(&digit.arrow, values);
            stride *= digit.size;
            column.ok_or_else(|| internal_datafusion_err!("no key of type {}", digit.arrow))
        };
        self.digits.iter().map(column).collect()
    }
}

/// The place of a row's group.
fn ordinal<'a>(
    graph: &mut Graph,
    keys: impl Iterator<Item = (&'a Arc<dyn PhysicalExpr>, &'a Digit)>,
    schema: &Schema,
) -> Option<NodeId> {
    let number = |graph: &mut Graph, value: u64| graph.constant(Type::I64, Some(value));
    let (mut sum, mut stride) = (None, 1);
    for (key, digit) in keys {
        let key = translated(graph, key, schema)?;
        if !graph.type_of(key).is_integer() {
            return None;
        }
        let wide = graph.cast(Type::I64, key);
        let least = number(graph, digit.least.cast_unsigned());
        let offset = graph.binary(BinaryOp::Subtract, wide, least).ok()?;
        let factor = number(graph, stride);
        let part = graph.binary(BinaryOp::Multiply, offset, factor).ok()?;
        sum = Some(match sum {
            Some(sum) => graph.binary(BinaryOp::Add, sum, part).ok()?,
            None => part,
        });
        stride *= digit.size;
    }
    Some(graph.cast(Type::U64, sum?))
}
