//! `quantileBFloat16`: counts values by the upper half of their Float32.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::weighted::at_weight;
use super::{Levels, check_weight, weights};
use crate::aggregate::average::from_floats;
use crate::aggregate::grouped::{ByteReader, StateFunction, bind_grouped};
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{column, to_floats};
use crate::aggregate::{AggregateCall, BoundAggregate};

/// `quantileBFloat16`.
pub(super) fn resolve(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    bind(call, levels, false)
}

/// `quantileBFloat16Weighted`.
pub(super) fn resolve_weighted(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    check_weight(call)?;
    bind(call, levels, true)
}

fn bind(call: &AggregateCall<'_>, levels: Levels, weighted: bool) -> Result<BoundAggregate> {
    call.expect_type(0, |t| t.is_integer() || t.is_float())?;
    let return_type = levels.return_type(DataType::Float64);
    Ok(bind_grouped(return_type, Halves { levels, weighted }))
}

#[derive(Debug)]
struct Halves {
    levels: Levels,
    weighted: bool,
}

/// About what a tree takes for an entry.
const ENTRY_BYTES: usize = 24;

/// Weights by half float.
type Counts = BTreeMap<u16, u64>;

fn to_half(value: f64) -> u16 {
    ((value as f32).to_bits() >> 16) as u16
}

fn from_half(half: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(half) << 16))
}

fn add(counts: &mut Counts, half: u16, weight: u64) -> usize {
    let before = counts.len();
    let count = counts.entry(half).or_default();
    *count = count.wrapping_add(weight);
    (counts.len() - before) * ENTRY_BYTES
}

impl StateFunction for Halves {
    type State = Counts;

    fn new_state(&self) -> Counts {
        Counts::new()
    }

    fn update(&self, states: &mut [Counts], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        let values = to_floats(column(args, 0)?)?;
        let weights = weights(args, self.weighted)?;
        let mut grown = 0;
        rows.for_each(|row, group| {
            if !values[row].is_nan() {
                grown += add(&mut states[group], to_half(values[row]), weights[row]);
            }
        });
        Ok(grown)
    }

    fn merge(&self, state: &mut Counts, other: Counts) -> Result<usize> {
        Ok(other
            .into_iter()
            .map(|(half, weight)| add(state, half, weight))
            .sum())
    }

    fn write(&self, state: &Counts, out: &mut Vec<u8>) {
        out.extend_from_slice(&(state.len() as u64).to_le_bytes());
        for (half, weight) in state {
            out.extend_from_slice(&half.to_le_bytes());
            out.extend_from_slice(&weight.to_le_bytes());
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Counts> {
        let len = bytes.len(10)?;
        (0..len)
            .map(|_| Ok((u16::from_le_bytes(bytes.array()?), bytes.u64()?)))
            .collect()
    }

    fn finish(&self, states: &mut [Counts]) -> Result<ArrayRef> {
        let mut quantiles = Vec::new();
        for state in states {
            let mut pairs: Vec<(f64, u64)> = state
                .iter()
                .map(|(half, w)| (from_half(*half), *w))
                .collect();
            pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            for level in &self.levels.levels {
                quantiles.push(at_weight(&pairs, *level).unwrap_or(f64::NAN));
            }
        }
        let values = from_floats(quantiles, &DataType::Float64)?;
        self.levels.assemble(values, &DataType::Float64)
    }
}
