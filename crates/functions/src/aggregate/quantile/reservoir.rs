//! `quantile`: reservoir sampling with a fixed random sequence, so that results repeat.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::Levels;
use crate::aggregate::average::from_floats;
use crate::aggregate::grouped::{ByteReader, StateFunction, bind_grouped};
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{column, to_floats};
use crate::aggregate::{AggregateCall, BoundAggregate};

/// What ClickHouse seeds each sample with: the same values in the same order give the same sample.
const SEED: u64 = 123_456;

/// Most values that a group keeps.
const SAMPLE_LEN: usize = 8192;

/// `quantile`.
pub(super) fn resolve(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let data_type = result_type(call)?;
    let return_type = levels.return_type(data_type.clone());
    Ok(bind_grouped(return_type, Sampled { levels, data_type }))
}

/// Dates, times and decimals keep their type, other numbers become Float64.
pub(super) fn result_type(call: &AggregateCall<'_>) -> Result<DataType> {
    call.expect_type(0, |t| t.is_number() || t.is_date_or_time())?;
    Ok(
        if call.types[0].is_date_or_time() || call.types[0].is_decimal() {
            call.types[0].clone()
        } else {
            DataType::Float64
        },
    )
}

#[derive(Debug)]
struct Sampled {
    levels: Levels,
    data_type: DataType,
}

/// A uniform sample of the values so far.
#[derive(Debug)]
pub(crate) struct Reservoir {
    values: Vec<f64>,
    /// Number of values offered.
    total: u64,
    random: Pcg,
}

/// The generator `pcg32_fast` of the PCG family.
#[derive(Debug)]
struct Pcg(u64);

impl Pcg {
    fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(6_364_136_223_846_793_005);
        let shift = 22 + (state >> 61);
        ((state ^ (state >> 22)) >> shift) as u32
    }

    /// A number below `limit`, which is at least 1.
    fn below(&mut self, limit: u64) -> u64 {
        if limit <= u64::from(u32::MAX) {
            u64::from(self.next()) % limit
        } else {
            let high = u64::from(self.next()) << 32;
            (high + u64::from(self.next())) % limit
        }
    }
}

impl Default for Reservoir {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            total: 0,
            random: Pcg(SEED | 3),
        }
    }
}

impl Reservoir {
    fn offer(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.total += 1;
        if self.values.len() < SAMPLE_LEN {
            self.values.push(value);
            return;
        }
        let place = self.random.below(self.total);
        if let Some(old) = usize::try_from(place)
            .ok()
            .and_then(|p| self.values.get_mut(p))
        {
            *old = value;
        }
    }

    /// Draws from both samples in proportion to what they stand for.
    fn merge(&mut self, mut other: Reservoir) {
        if other.total < self.total {
            std::mem::swap(self, &mut other);
        }
        // `other` stands for fewer values now and replaces its share of the sample.
        let before = self.values.len();
        let total = self.total + other.total;
        if (other.total as usize) == other.values.len() {
            for value in other.values {
                self.offer(value);
            }
            return;
        }
        for value in &mut self.values {
            if self.random.below(total) < other.total && !other.values.is_empty() {
                let pick = self.random.below(other.values.len() as u64) as usize;
                *value = other.values[pick];
            }
        }
        debug_assert_eq!(before, self.values.len());
        self.total = total;
    }
}

/// The value between the two sorted values around `level`, NaN if there are none.
pub(super) fn interpolate(sorted: &[f64], level: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = (level * last as f64).clamp(0.0, last as f64);
    let left = position as usize;
    let right = left + 1;
    if right > last {
        return sorted[left];
    }
    let left_weight = right as f64 - position;
    let right_weight = position - left as f64;
    sorted[left] * left_weight + sorted[right] * right_weight
}

impl StateFunction for Sampled {
    type State = Reservoir;

    fn new_state(&self) -> Reservoir {
        Reservoir::default()
    }

    fn update(
        &self,
        states: &mut [Reservoir],
        args: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<usize> {
        let values = to_floats(column(args, 0)?)?;
        let mut grown = 0;
        rows.for_each(|row, group| {
            let state = &mut states[group];
            let before = state.values.capacity();
            state.offer(values[row]);
            grown += state.values.capacity() - before;
        });
        Ok(grown * size_of::<f64>())
    }

    fn merge(&self, state: &mut Reservoir, other: Reservoir) -> Result<usize> {
        let before = state.values.capacity();
        state.merge(other);
        Ok(state.values.capacity().saturating_sub(before) * size_of::<f64>())
    }

    fn write(&self, state: &Reservoir, out: &mut Vec<u8>) {
        out.extend_from_slice(&state.total.to_le_bytes());
        out.extend_from_slice(&state.random.0.to_le_bytes());
        out.extend_from_slice(&(state.values.len() as u64).to_le_bytes());
        for value in &state.values {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Reservoir> {
        let (total, random) = (bytes.u64()?, bytes.u64()?);
        let len = bytes.len(size_of::<f64>())?;
        let values = (0..len).map(|_| bytes.f64()).collect::<Result<_>>()?;
        Ok(Reservoir {
            values,
            total,
            random: Pcg(random),
        })
    }

    fn finish(&self, states: &mut [Reservoir]) -> Result<ArrayRef> {
        let mut quantiles = Vec::with_capacity(states.len() * self.levels.levels.len());
        for state in states {
            // A copy: the order in the reservoir decides what later values replace.
            let mut sorted = state.values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let levels = self.levels.levels.iter();
            quantiles.extend(levels.map(|level| interpolate(&sorted, *level)));
        }
        let values = from_floats(quantiles, &self.data_type)?;
        self.levels.assemble(values, &self.data_type)
    }
}
