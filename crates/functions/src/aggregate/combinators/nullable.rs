//! Remembers which groups had rows: NULL (or the type's default) for those that had none.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt8Array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType as ArrowType, UInt8Type};
use basalt_error::Result;
use basalt_types::DataType;

use super::condition;
use crate::aggregate::defaults::{bug, default_array, default_where};
use crate::aggregate::of_inner::of_inner;
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{column, primitive};
use crate::aggregate::{
    AggregateCall, AggregateNulls, Aggregator, BoundAggregate, Groups, binding,
};
use crate::function::with_nulls;

/// `-OrNull`.
pub(super) fn bind_or_null(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let mut bound = binding::bind(call)?;
    let behind_condition = binding::split(call.name).filter(|(_, c)| c.suffix == "If");
    if let (Some((inner, _)), None) = (behind_condition, binding::find(call.name)) {
        if !counts_all(inner, &bound) {
            return condition::bind(&AggregateCall {
                name: &format!("{inner}OrNull"),
                ..*call
            });
        }
        bound.skips_nulls = true;
    }
    Ok(or_empty(bound))
}

/// `sumIfOrNull` is `sumOrNullIf`: a row whose condition is false is no row. Functions that are never NULL
/// count such rows, too, but for those with a NULL: `countIfOrNull` is NULL only if there are no others.
fn counts_all(inner: &str, bound: &BoundAggregate) -> bool {
    let function = binding::innermost(inner);
    let is_never_null = function.is_some_and(|f| f.nulls == AggregateNulls::SkipNotNull);
    is_never_null && !matches!(bound.return_type, DataType::Tuple(_))
}

/// `-OrDefault`.
pub(super) fn bind_or_default(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let bound = binding::bind(call)?;
    if bound.return_type.is_nullable() {
        return Ok(bound);
    }
    let return_type = bound.return_type.clone();
    Ok(track(bound, return_type, Empty::Default))
}

/// The aggregate with NULL for groups without rows, or with an empty array or map.
fn or_empty(bound: BoundAggregate) -> BoundAggregate {
    if matches!(bound.return_type, DataType::Array(_) | DataType::Map(..)) {
        let return_type = bound.return_type.clone();
        return track(bound, return_type, Empty::Default);
    }
    or_null(bound)
}

/// The aggregate with NULL for groups without rows, where its type has a NULL.
pub(in crate::aggregate) fn or_null(bound: BoundAggregate) -> BoundAggregate {
    let return_type = bound.return_type.clone();
    if let DataType::Tuple(_) = return_type {
        return track(
            bound,
            DataType::Nullable(Arc::new(return_type)),
            Empty::Null,
        );
    }
    if !return_type.can_be_nullable() || *return_type.base() == DataType::Nothing {
        return bound;
    }
    track(bound, return_type.to_nullable(), Empty::Null)
}

fn track(bound: BoundAggregate, return_type: DataType, empty: Empty) -> BoundAggregate {
    let mut state_types = bound.state_types.clone();
    state_types.push(ArrowType::UInt8);
    let factory = Arc::clone(&bound.factory);
    let skips_nulls = bound.skips_nulls;
    let inner_type = bound.return_type;
    BoundAggregate {
        return_type,
        state_types,
        shortcut: None,
        factory: Arc::new(move || {
            Box::new(TrackRows {
                inner: factory(),
                inner_type: inner_type.clone(),
                seen: Vec::new(),
                empty,
                skips_nulls,
            })
        }),
        ..bound
    }
}

/// What groups without rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    Null,
    Default,
}

#[derive(Debug)]
struct TrackRows {
    inner: Box<dyn Aggregator>,
    inner_type: DataType,
    /// Whether each group had a row.
    seen: Vec<bool>,
    empty: Empty,
    skips_nulls: bool,
}

impl TrackRows {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.seen.len() {
            self.seen.resize(num_groups, false);
        }
    }

    /// The inner results, with defaults in place of those of groups without rows.
    fn finish_seen(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let mut parts = Vec::new();
        let mut start = range.start;
        for run in self.seen[range].chunk_by(|a, b| a == b) {
            let end = start + run.len();
            parts.push(match run[0] {
                true => self.inner.finish(start..end)?,
                false => default_array(&self.inner_type, run.len())?,
            });
            start = end;
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        arrow::compute::concat(&parts).map_err(bug)
    }

    fn mark(&mut self, rows: &Rows<'_>) {
        match rows.ids {
            None => {
                if let (Some(seen), true) = (self.seen.first_mut(), rows.num_valid() > 0) {
                    *seen = true;
                }
            }
            Some(_) => rows.for_each(|_, group| self.seen[group] = true),
        }
    }
}

impl Aggregator for TrackRows {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let rows = if self.skips_nulls {
            Rows::new(args, groups)?
        } else {
            Rows::all(args, groups)?
        };
        self.mark(&rows);
        self.inner.update(args, groups)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let inner_columns = states.len().saturating_sub(1);
        let seen = primitive::<UInt8Type>(column(states, inner_columns)?)?;
        Rows::all(&[], groups)?.for_each(|row, group| self.seen[group] |= seen.value(row) != 0);
        self.inner.merge(&states[..inner_columns], groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let seen = BooleanBuffer::from(&self.seen[range.clone()]);
        let array = self.inner.finish(range.clone());
        if seen.count_set_bits() == seen.len() {
            return array;
        }
        // Tests of hypotheses refuse samples without rows.
        let array = array.or_else(|_| self.finish_seen(range))?;
        match self.empty {
            Empty::Null => with_nulls(&array, Some(NullBuffer::new(seen))),
            Empty::Default => default_where(&array, &!&seen, &self.inner_type),
        }
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let mut states = self.inner.states(range.clone())?;
        let seen = self.seen[range].iter().map(|s| u8::from(*s));
        states.push(Arc::new(UInt8Array::from_iter_values(seen)));
        Ok(states)
    }

    of_inner!(ordering_bytes, exports_parts, finishes_again);

    fn size_bytes(&self) -> usize {
        self.inner.size_bytes() + self.seen.capacity()
    }
}
