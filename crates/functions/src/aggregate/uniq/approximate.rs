//! `uniq`, `uniqHLL12`, `uniqCombined`, `uniqCombined64`, `uniqUpTo`.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::hashes::{RowKind, mix32, mix64, row_hashes, text_hashes};
use super::hyper_log_log::{Counter, Shape};
use super::sampled::SampledSet;
use crate::aggregate::grouped::{ByteReader, StateFunction, bind_grouped};
use crate::aggregate::rows::Rows;
use crate::aggregate::{
    AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate, OnlyNulls,
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "uniq",
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::Zero,
        syntax: "uniq(x[, ...])",
        description: "Approximate number of distinct values, exact up to 65536.",
        resolve: |call| {
            call.expect_args(1..=usize::MAX)?;
            Ok(bind_grouped(DataType::UInt64, Uniq(Fed::of(call, mix64))))
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "uniqHLL12",
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::Zero,
        syntax: "uniqHLL12(x[, ...])",
        description: "Approximate number of distinct values by HyperLogLog with 4096 cells.",
        resolve: resolve_hll12,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "uniqCombined",
        max_params: 1,
        syntax: "uniqCombined[(precision)](x[, ...])",
        description: "Approximate number of distinct values: exact set, then HyperLogLog.",
        resolve: resolve_combined,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "uniqCombined64",
        max_params: 1,
        syntax: "uniqCombined64[(precision)](x[, ...])",
        description: "As uniqCombined, with 64-bit hashes, for more than 2^32 values.",
        resolve: resolve_combined,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "uniqUpTo",
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::Zero,
        max_params: 1,
        syntax: "uniqUpTo(N)(x[, ...])",
        description: "Number of distinct values if at most N, else N + 1.",
        resolve: resolve_up_to,
        ..AggregateFunction::BASE
    },
];

fn combined(call: &AggregateCall<'_>, hash_bits: u8) -> Result<Shape> {
    let precision = match call.params.len() {
        0 => 17,
        _ => call.param_u64(0)?,
    };
    let precision = u8::try_from(precision).unwrap_or(0);
    if !(12..=20).contains(&precision) {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!(
                "Parameter for aggregate function {} is out of range: [12, 20]",
                call.name
            ),
        ));
    }
    Ok(Shape {
        precision,
        // An exact set of more hashes would need more memory than the cells.
        exact_len: 1 << (precision - if hash_bits == 32 { 4 } else { 5 }),
        hash_bits,
    })
}

/// How rows become the hashes that a function is fed.
#[derive(Clone, Debug)]
struct Fed {
    types: Vec<DataType>,
    kind: RowKind,
    mix: fn(u64) -> u64,
    /// Whether all bits of a UUID count; where ClickHouse estimates by the halves' difference, they may not.
    whole_uuids: bool,
}

impl Fed {
    /// Numbers are mixed by `mix`.
    fn of(call: &AggregateCall<'_>, mix: fn(u64) -> u64) -> Self {
        Self {
            types: call.types.to_vec(),
            kind: RowKind::of(call.types),
            mix,
            whole_uuids: false,
        }
    }

    /// Each row's hash.
    fn hashes(&self, args: &[ArrayRef]) -> Result<Vec<u64>> {
        if let (RowKind::Uuid, true, [array]) = (self.kind, self.whole_uuids, args) {
            return text_hashes(array);
        }
        let mut hashes = row_hashes(args, &self.types)?;
        // A row of several values is hashed well enough already.
        if self.kind != RowKind::Parts {
            hashes.iter_mut().for_each(|bits| *bits = (self.mix)(*bits));
        }
        Ok(hashes)
    }

    /// Feeds each row's hash to its state; gives the growth on the heap.
    fn feed<S>(
        &self,
        states: &mut [S],
        args: &[ArrayRef],
        rows: &Rows<'_>,
        add: impl Fn(&mut S, u64) -> usize,
    ) -> Result<usize> {
        let hashes = self.hashes(args)?;
        let mut grown = 0;
        rows.for_each(|row, group| grown += add(&mut states[group], hashes[row]));
        Ok(grown)
    }
}

fn resolve_hll12(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let shape = Shape {
        precision: 12,
        exact_len: 16,
        hash_bits: 32,
    };
    // The set in ClickHouse has the type of the values, into which the bits of floats are
    // converted as if they were integers.
    let mix: fn(u64) -> u64 = match RowKind::of(call.types) {
        RowKind::Float32 => |bits| u64::from(mix32(u64::from((bits as f32).to_bits()))),
        RowKind::Float64 => |bits| u64::from(mix32((bits as f64).to_bits())),
        _ => |bits| u64::from(mix32(bits)),
    };
    resolve_counter(call, shape, mix)
}

fn resolve_combined(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let is_wide = call.name == "uniqCombined64";
    // Hashes of strings keep all their bits, and neither they nor those of UUIDs are mixed again.
    match RowKind::of(call.types) {
        RowKind::Text => resolve_counter(call, combined(call, 64)?, |hash| hash),
        kind => {
            let shape = combined(call, if is_wide { 64 } else { 32 })?;
            let mix = if kind == RowKind::Uuid {
                |hash| hash
            } else {
                mix64
            };
            resolve_counter(call, shape, mix)
        }
    }
}

fn resolve_counter(
    call: &AggregateCall<'_>,
    shape: Shape,
    mix: fn(u64) -> u64,
) -> Result<BoundAggregate> {
    call.expect_args(1..=usize::MAX)?;
    let fed = Fed::of(call, mix);
    Ok(bind_grouped(DataType::UInt64, Counted { shape, fed }))
}

fn counts<S>(states: &[S], count: impl Fn(&S) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(states.iter().map(count)))
}

#[derive(Debug)]
struct Uniq(Fed);

impl StateFunction for Uniq {
    type State = SampledSet;

    fn new_state(&self) -> SampledSet {
        SampledSet::default()
    }

    fn update(
        &self,
        states: &mut [SampledSet],
        args: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<usize> {
        self.0.feed(states, args, rows, |state, hash| {
            let before = state.heap_bytes();
            state.insert_hash(hash as u32);
            state.heap_bytes().saturating_sub(before)
        })
    }

    fn merge(&self, state: &mut SampledSet, other: SampledSet) -> Result<usize> {
        let before = state.heap_bytes();
        state.merge(&other);
        Ok(state.heap_bytes().saturating_sub(before))
    }

    fn write(&self, state: &SampledSet, out: &mut Vec<u8>) {
        state.write(out);
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<SampledSet> {
        SampledSet::read(bytes)
    }

    fn finish(&self, states: &mut [SampledSet]) -> Result<ArrayRef> {
        Ok(counts(states, SampledSet::estimate))
    }
}

#[derive(Debug)]
struct Counted {
    shape: Shape,
    fed: Fed,
}

impl StateFunction for Counted {
    type State = Counter;

    fn new_state(&self) -> Counter {
        Counter::default()
    }

    fn update(&self, states: &mut [Counter], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        self.fed.feed(states, args, rows, |state, hash| {
            let before = state.heap_bytes();
            state.insert(self.shape, self.shape.used(hash));
            state.heap_bytes().saturating_sub(before)
        })
    }

    fn merge(&self, state: &mut Counter, other: Counter) -> Result<usize> {
        let before = state.heap_bytes();
        state.merge(self.shape, other);
        Ok(state.heap_bytes().saturating_sub(before))
    }

    fn write(&self, state: &Counter, out: &mut Vec<u8>) {
        state.write(out);
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Counter> {
        Counter::read(self.shape, bytes)
    }

    fn finish(&self, states: &mut [Counter]) -> Result<ArrayRef> {
        Ok(counts(states, Counter::estimate))
    }
}

/// Most values that `uniqUpTo` tells apart.
const MAX_UP_TO: u64 = 100;

fn resolve_up_to(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=usize::MAX)?;
    let limit = match call.params.len() {
        0 => 10,
        _ => call.param_len(0)?,
    };
    if limit > MAX_UP_TO {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!(
                "Too large parameter for aggregate function {}, it is at most {MAX_UP_TO}",
                call.name
            ),
        ));
    }
    Ok(bind_grouped(
        DataType::UInt64,
        UpTo {
            limit,
            fed: Fed {
                whole_uuids: true,
                ..Fed::of(call, mix64)
            },
        },
    ))
}

#[derive(Debug)]
struct UpTo {
    limit: u64,
    fed: Fed,
}

impl UpTo {
    /// Keeps up to one hash more than the limit.
    fn insert(&self, state: &mut Vec<u64>, hash: u64) {
        if state.len() as u64 <= self.limit && !state.contains(&hash) {
            state.push(hash);
        }
    }
}

impl StateFunction for UpTo {
    type State = Vec<u64>;

    fn new_state(&self) -> Vec<u64> {
        Vec::new()
    }

    fn update(&self, states: &mut [Vec<u64>], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        self.fed.feed(states, args, rows, |state, hash| {
            let before = state.capacity();
            self.insert(state, hash);
            (state.capacity() - before) * size_of::<u64>()
        })
    }

    fn merge(&self, state: &mut Vec<u64>, other: Vec<u64>) -> Result<usize> {
        let before = state.capacity();
        other.into_iter().for_each(|hash| self.insert(state, hash));
        Ok((state.capacity() - before) * size_of::<u64>())
    }

    fn write(&self, state: &Vec<u64>, out: &mut Vec<u8>) {
        out.extend_from_slice(&(state.len() as u64).to_le_bytes());
        for hash in state {
            out.extend_from_slice(&hash.to_le_bytes());
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Vec<u64>> {
        let len = bytes.len(size_of::<u64>())?;
        (0..len).map(|_| bytes.u64()).collect()
    }

    fn finish(&self, states: &mut [Vec<u64>]) -> Result<ArrayRef> {
        Ok(counts(states, |s| s.len() as u64))
    }
}
