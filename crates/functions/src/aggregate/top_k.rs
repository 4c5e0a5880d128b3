//! `topK` and its kind: the most frequent values, by counters for a bounded number of them.
//!
//! A group counts up to twice its capacity of values; then the rarer half is dropped, and values
//! that come later start at the count of the most frequent one dropped (Space-Saving in batches).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray, UInt64Array};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::physical::item_field;
use basalt_types::{DataType, TupleType};

use super::byte_arena::ByteCodec;
use super::defaults::bug;
use super::grouped::{ByteReader, StateFunction, bind_grouped, write_prefixed};
use super::quantile::weights;
use super::row_keys::bytes_key;
use super::row_log::list_of;
use super::rows::Rows;
use super::values::{column, wrong_array};
use super::{AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "topK",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 3,
        syntax: "topK(N[, load_factor[, 'counts']])(x)",
        description: "Array of the approximately most frequent values, in descending order.",
        resolve: |call| resolve(call, false, false),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "topKWeighted",
        nulls: AggregateNulls::SkipNotNull,
        max_params: 3,
        syntax: "topKWeighted(N[, load_factor[, 'counts']])(x, weight)",
        description: "Array of the values with approximately the greatest sums of weights.",
        resolve: |call| resolve(call, true, false),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "approx_top_k",
        aliases: &["approx_top_count"],
        case_insensitive: true,
        nulls: AggregateNulls::SkipNotNull,
        max_params: 2,
        syntax: "approx_top_k(N[, reserved])(x)",
        description: "The approximately most frequent values with their counts and errors.",
        resolve: |call| resolve(call, false, true),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "approx_top_sum",
        case_insensitive: true,
        nulls: AggregateNulls::SkipNotNull,
        max_params: 2,
        syntax: "approx_top_sum(N[, reserved])(x, weight)",
        description: "The values with approximately the greatest sums, with sums and errors.",
        resolve: |call| resolve(call, true, true),
        ..AggregateFunction::BASE
    },
];

/// Counters that are kept however few are asked for: a value of every 256th row stays among values that come once.
const MIN_COUNTERS: u64 = 256;

/// Largest N and capacity.
const MAX_LEN: u64 = 65_536;

fn resolve(call: &AggregateCall<'_>, weighted: bool, approx: bool) -> Result<BoundAggregate> {
    let num_args = if weighted { 2 } else { 1 };
    call.expect_args(num_args..=num_args)?;
    if weighted {
        call.expect_type(1, DataType::is_integer)?;
    }
    let len = match call.params.len() {
        0 => 10,
        _ => call.param_len(0)?,
    };
    let second = match call.params.len() {
        0 | 1 => None,
        _ => Some(call.param_len(1)?),
    };
    let capacity = if approx {
        second.unwrap_or(len.saturating_mul(3))
    } else {
        len.saturating_mul(second.unwrap_or(3))
    };
    if len == 0 || capacity < len || capacity > MAX_LEN {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!(
                "Parameters of aggregate function {} must be from 1 to {MAX_LEN}: {len}, {capacity}",
                call.name
            ),
        ));
    }
    let with_counts = approx || wants_counts(call)?;
    let item = call.types[0].clone();
    let element = if with_counts {
        DataType::Tuple(Arc::new(TupleType {
            types: vec![item.clone(), DataType::UInt64, DataType::UInt64],
            names: ["item", "count", "error"].map(str::to_owned).to_vec(),
        }))
    } else {
        item.clone()
    };
    let function = TopK {
        len: len as usize,
        capacity: capacity.max(MIN_COUNTERS) as usize,
        codec: ByteCodec::new(&item.physical())?,
        element: element.clone(),
        weighted,
        with_counts,
    };
    Ok(bind_grouped(DataType::array(element), function))
}

fn wants_counts(call: &AggregateCall<'_>) -> Result<bool> {
    if call.params.len() < 3 {
        return Ok(false);
    }
    match call.param_bytes(2)?.as_slice() {
        b"counts" => Ok(true),
        _ => Err(call.bad_param(2, &"it may only be 'counts'")),
    }
}

#[derive(Debug)]
struct TopK {
    len: usize,
    capacity: usize,
    codec: ByteCodec,
    element: DataType,
    weighted: bool,
    with_counts: bool,
}

#[derive(Clone, Debug)]
struct Counter {
    value: Box<[u8]>,
    count: u64,
    /// How much of the count may belong to other values.
    error: u64,
}

impl Counter {
    /// Greater counts first; of equal ones the surer.
    fn rank(&self) -> (Reverse<u64>, u64) {
        (Reverse(self.count), self.error)
    }
}

/// The counters of a group.
#[derive(Debug, Default)]
struct Counters {
    counters: Vec<Counter>,
    /// Where the counter of a value is, once there are more than [`MAX_UNINDEXED`].
    places: Option<Box<Places>>,
    /// Most that a value without a counter may have been seen.
    floor: u64,
    /// Counters whose bytes are accounted for: those that come after others were dropped take their place.
    num_accounted: usize,
}

/// Places of counters by [`bytes_key`] of their values.
type Places = HashMap<u128, usize, ahash::RandomState>;

/// Most counters that are found by looking at all: a group of few values, of which there may be many, has no
/// memory for an index.
const MAX_UNINDEXED: usize = 8;

/// What an allocator adds to a few bytes, about.
const LEAST_BYTES: usize = 8;

/// What an indexed counter takes in the index.
const PLACE_BYTES: usize = size_of::<(u128, usize)>();

impl Counters {
    /// Where the counter of a value is.
    fn place(&self, value: &[u8]) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(&bytes_key(value)).copied(),
            None => self.counters.iter().position(|c| *c.value == *value),
        }
    }

    /// Adds what was counted of a value; gives the bytes that this took.
    fn add(&mut self, counter: Counter, capacity: usize) -> usize {
        if let Some(place) = self.place(&counter.value) {
            let known = &mut self.counters[place];
            known.count = known.count.wrapping_add(counter.count);
            known.error = known.error.wrapping_add(counter.error);
            return 0;
        }
        let mut grown = 0;
        if self.counters.len() == self.num_accounted {
            self.num_accounted += 1;
            grown = counter.value.len() + LEAST_BYTES;
            if self.places.is_some() {
                grown += PLACE_BYTES;
            }
        }
        if let Some(places) = &mut self.places {
            places.insert(bytes_key(&counter.value), self.counters.len());
        }
        if self.counters.is_empty() {
            self.counters.reserve_exact(1);
        }
        let before = self.counters.capacity();
        self.counters.push(Counter {
            count: counter.count.wrapping_add(self.floor),
            error: counter.error.wrapping_add(self.floor),
            ..counter
        });
        grown += (self.counters.capacity() - before) * size_of::<Counter>();
        if self.places.is_none() && self.counters.len() > MAX_UNINDEXED {
            self.index();
            grown += self.counters.len() * PLACE_BYTES;
        }
        if self.counters.len() > capacity * 2 {
            self.prune(capacity);
        }
        grown
    }

    fn index(&mut self) {
        let places = self.counters.iter().enumerate();
        let places = places.map(|(place, c)| (bytes_key(&c.value), place));
        self.places = Some(Box::new(places.collect()));
    }

    fn prune(&mut self, capacity: usize) {
        self.counters.sort_by_key(Counter::rank);
        self.floor = self.counters.get(capacity).map_or(0, |c| c.count);
        self.counters.truncate(capacity);
        self.index();
    }
}

impl StateFunction for TopK {
    type State = Counters;

    fn new_state(&self) -> Counters {
        Counters::default()
    }

    fn update(&self, states: &mut [Counters], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        let values = self.codec.encode(column(args, 0)?)?;
        let weights = weights(args, self.weighted)?;
        let mut grown = 0;
        rows.for_each(|row, group| {
            let state = &mut states[group];
            let value = values.value(row);
            match state.place(value) {
                Some(place) => {
                    let counter = &mut state.counters[place];
                    counter.count = counter.count.wrapping_add(weights[row]);
                }
                None => {
                    let counter = Counter {
                        value: value.into(),
                        count: weights[row],
                        error: 0,
                    };
                    grown += state.add(counter, self.capacity);
                }
            }
        });
        Ok(grown)
    }

    fn merge(&self, state: &mut Counters, other: Counters) -> Result<usize> {
        let mut grown = 0;
        for counter in other.counters {
            grown += state.add(counter, self.capacity);
        }
        state.floor = state.floor.wrapping_add(other.floor);
        Ok(grown)
    }

    fn write(&self, state: &Counters, out: &mut Vec<u8>) {
        out.extend_from_slice(&state.floor.to_le_bytes());
        out.extend_from_slice(&(state.counters.len() as u64).to_le_bytes());
        for counter in &state.counters {
            out.extend_from_slice(&counter.count.to_le_bytes());
            out.extend_from_slice(&counter.error.to_le_bytes());
            write_prefixed(out, &counter.value);
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Counters> {
        let floor = bytes.u64()?;
        let mut state = Counters::default();
        for _ in 0..bytes.len(24)? {
            let (count, error) = (bytes.u64()?, bytes.u64()?);
            let value = bytes.prefixed()?.into();
            let counter = Counter {
                value,
                count,
                error,
            };
            state.add(counter, self.capacity);
        }
        state.floor = floor;
        Ok(state)
    }

    fn finish(&self, states: &mut [Counters]) -> Result<ArrayRef> {
        let mut top: Vec<Counter> = Vec::new();
        let mut offsets = vec![0];
        for state in states {
            let mut counters = state.counters.clone();
            counters.sort_by_key(Counter::rank);
            counters.truncate(self.len);
            top.extend(counters);
            offsets.push(top.len());
        }
        let items = self.codec.decode(top.iter().map(|c| Some(&*c.value)))?;
        let items = if self.with_counts {
            let counts = UInt64Array::from_iter_values(top.iter().map(|c| c.count));
            let errors = UInt64Array::from_iter_values(top.iter().map(|c| c.error));
            let ArrowType::Struct(fields) = self.element.physical() else {
                return Err(wrong_array(&items));
            };
            let columns: Vec<ArrayRef> = vec![items, Arc::new(counts), Arc::new(errors)];
            Arc::new(StructArray::try_new(fields, columns, None).map_err(bug)?)
        } else {
            items
        };
        list_of(&items, &offsets, item_field(&self.element))
    }
}
