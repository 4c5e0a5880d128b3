//! Splits a grouping in two: one that ends with states, and one that goes on from these.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StructArray};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, Schema};
use basalt_error::{Error, Result};
use basalt_functions::aggregate::{Aggregator, BoundAggregate, Groups, Shortcut};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;

use super::grouping::{AggregateSpec, Grouping};

impl Grouping {
    /// The same keys, of type and name as in `keys`, with states instead of results.
    pub(crate) fn first_stage(&self, keys: &Schema) -> Self {
        let mut fields: Vec<_> = keys.fields().iter().cloned().collect();
        let mut aggregates = Vec::with_capacity(self.aggregates.len());
        for (i, spec) in self.aggregates.iter().enumerate() {
            let (bound, arrow) = first_stage(&spec.bound);
            fields.push(Arc::new(Field::new(format!("state{i}"), arrow, false)));
            let args = spec.args.clone();
            aggregates.push(AggregateSpec { bound, args });
        }
        Self {
            aggregates,
            schema: Arc::new(Schema::new(fields)),
            ..self.clone()
        }
    }

    /// The same over the rows of [`Grouping::first_stage`], whose first columns are the keys.
    pub(crate) fn second_stage(&self) -> Self {
        let column = |name: &str, i| -> Arc<dyn PhysicalExpr> { Arc::new(Column::new(name, i)) };
        let num_keys = self.keys.len();
        let aggregate = |(i, spec): (usize, &AggregateSpec)| AggregateSpec {
            bound: second_stage(&spec.bound),
            args: vec![column(&format!("state{i}"), num_keys + i)],
        };
        Self {
            keys: (0..num_keys).map(|i| column("key", i)).collect(),
            aggregates: self.aggregates.iter().enumerate().map(aggregate).collect(),
            ..self.clone()
        }
    }
}

/// The function that gives states, and the type of these. Numbers of rows and sums are their own states.
fn first_stage(bound: &BoundAggregate) -> (BoundAggregate, ArrowType) {
    if let Some(Shortcut::CountAll | Shortcut::SumInteger) = bound.shortcut {
        return (bound.clone(), bound.return_type.physical());
    }
    let fields = bound.state_types.iter().enumerate();
    let fields = fields.map(|(i, arrow)| Field::new(format!("part{i}"), arrow.clone(), true));
    let fields: Fields = fields.collect();
    let arrow = ArrowType::Struct(fields.clone());
    let make = Arc::clone(&bound.factory);
    let states = BoundAggregate {
        shortcut: None,
        factory: Arc::new(move || {
            let (states, fields) = (make(), fields.clone());
            Box::new(Unfinished { states, fields })
        }),
        ..bound.clone()
    };
    (states, arrow)
}

/// The function that reads what [`first_stage`] gives.
fn second_stage(bound: &BoundAggregate) -> BoundAggregate {
    let make = Arc::clone(&bound.factory);
    BoundAggregate {
        shortcut: match bound.shortcut {
            Some(Shortcut::CountAll | Shortcut::SumInteger) => Some(Shortcut::SumInteger),
            _ => None,
        },
        factory: Arc::new(move || Box::new(Resumed(make()))),
        ..bound.clone()
    }
}

/// States that are given out as they are, as a struct.
#[derive(Debug)]
struct Unfinished {
    states: Box<dyn Aggregator>,
    fields: Fields,
}

impl Aggregator for Unfinished {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.states.update(args, groups)
    }

    fn update_bytes(&mut self, args: &[ArrayRef], keys: &[u8]) -> Result<bool> {
        self.states.update_bytes(args, keys)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.states.merge(states, groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let len = range.len();
        let parts = self.states.states(range)?;
        let fields = self.fields.clone();
        let states = StructArray::try_new_with_length(fields, parts, None, len);
        let states = states.map_err(|e| Error::bug(e.to_string()))?;
        Ok(Arc::new(states))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.states.states(range)
    }

    fn size_bytes(&self) -> usize {
        self.states.size_bytes()
    }

    fn ordering_bytes(&self) -> usize {
        self.states.ordering_bytes()
    }
}

/// States that begin with those of [`Unfinished`].
#[derive(Debug)]
struct Resumed(Box<dyn Aggregator>);

impl Aggregator for Resumed {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        let states = args.first().and_then(|states| states.as_struct_opt());
        let states = states.ok_or_else(|| Error::bug("no states".to_owned()))?;
        self.0.merge(states.columns(), groups)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.0.merge(states, groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.0.finish(range)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.0.states(range)
    }

    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }

    fn ordering_bytes(&self) -> usize {
        self.0.ordering_bytes()
    }
}
