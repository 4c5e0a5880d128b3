//! Turns an aggregation without keys into a program, and what that gives into states of the aggregates.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use basalt_jit::{Compiled, Fold, Graph, Outcome, Output, Program};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;

use super::aggregate::{Aggregate, Input, Outputs};
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
            has_groups: false,
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
        let numbers = |place: usize| Ok(vec![number(place)?]);
        let states = self.aggregates.iter();
        let states = states.map(|aggregate| aggregate.states(&numbers));
        states.collect::<Result<_>>().map(Some)
    }
}
