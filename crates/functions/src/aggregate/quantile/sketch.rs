//! `quantileGK` and `quantileDD`: sketches with a bound on the error of ranks and of values.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array, UInt64Array};
use basalt_error::Result;
use basalt_types::DataType;

use super::Levels;
use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::{bug, default_array};
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::to_floats;
use crate::aggregate::{AggregateCall, BoundAggregate};

/// `quantileGK(accuracy, level)(x)`, after Greenwald and Khanna.
pub(super) fn resolve_gk(call: &AggregateCall<'_>, many: bool) -> Result<BoundAggregate> {
    let levels = Levels::behind_accuracy(call, many)?;
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_number() || t.is_date_or_time())?;
    let accuracy = match call.param_u64(0)? {
        0 => return Err(call.bad_param(0, &"the accuracy must be positive")),
        accuracy => accuracy,
    };
    let function = GreenwaldKhanna {
        error: 1.0 / accuracy as f64,
        levels: levels.clone(),
        data_type: call.types[0].clone(),
    };
    let return_type = levels.return_type(call.types[0].clone());
    Ok(bind_collected(return_type, call.types, function))
}

#[derive(Debug)]
struct GreenwaldKhanna {
    error: f64,
    levels: Levels,
    data_type: DataType,
}

/// A value, the ranks it stands for besides the one before, and how unsure its rank is.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    row: usize,
    value: f64,
    ranks: u64,
    unsure: u64,
}

/// Values are taken in so many at a time.
const BUFFERED: usize = 50_000;
/// More samples than this are thinned out.
const MAX_SAMPLES: usize = 10_000;

impl GreenwaldKhanna {
    fn sample(&self, values: &[f64], rows: Range<usize>) -> (Vec<Ranked>, u64) {
        let mut samples: Vec<Ranked> = Vec::new();
        let mut count = 0;
        let all: Vec<usize> = rows.filter(|row| !values[*row].is_nan()).collect();
        for rows in all.chunks(BUFFERED) {
            let mut sorted = rows.to_vec();
            sorted.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
            samples = self.insert(&samples, &sorted, values, &mut count);
            if samples.len() >= MAX_SAMPLES {
                samples = self.thinned(&samples, count);
            }
        }
        (self.thinned(&samples, count), count)
    }

    fn insert(
        &self,
        samples: &[Ranked],
        sorted: &[usize],
        values: &[f64],
        count: &mut u64,
    ) -> Vec<Ranked> {
        let mut merged = Vec::with_capacity(samples.len() + sorted.len());
        let mut next = 0;
        for (i, row) in sorted.iter().enumerate() {
            let value = values[*row];
            while next < samples.len() && samples[next].value <= value {
                merged.push(samples[next]);
                next += 1;
            }
            *count += 1;
            let is_last = next == samples.len() && i + 1 == sorted.len();
            let unsure = if merged.is_empty() || is_last {
                0
            } else {
                (2.0 * self.error * *count as f64).floor() as u64
            };
            merged.push(Ranked {
                row: *row,
                value,
                ranks: 1,
                unsure,
            });
        }
        merged.extend_from_slice(&samples[next..]);
        merged
    }

    fn thinned(&self, samples: &[Ranked], count: u64) -> Vec<Ranked> {
        let limit = 2.0 * self.error * count as f64;
        let Some((mut head, rest)) = samples.split_last().map(|(h, r)| (*h, r)) else {
            return Vec::new();
        };
        let mut kept = Vec::new();
        for sample in rest.iter().skip(1).rev() {
            if ((sample.ranks + head.ranks + head.unsure) as f64) < limit {
                head.ranks += sample.ranks;
            } else {
                kept.push(head);
                head = *sample;
            }
        }
        kept.push(head);
        if samples[0].value <= head.value && samples.len() > 1 {
            kept.push(samples[0]);
        }
        kept.reverse();
        kept
    }

    /// The row of the value at a level.
    fn query(samples: &[Ranked], count: u64, level: f64) -> Option<usize> {
        let widest = samples.iter().map(|s| s.ranks + s.unsure).max()?;
        let tolerated = (widest / 2) as f64;
        let rank = (level * count as f64).ceil();
        let mut least = 0;
        for sample in samples {
            least += sample.ranks;
            let most = least + sample.unsure;
            if most as f64 - tolerated <= rank && rank <= least as f64 + tolerated {
                return Some(sample.row);
            }
        }
        samples.last().map(|s| s.row)
    }
}

impl RowsFunction for GreenwaldKhanna {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = to_floats(&rows.columns[0])?;
        let default_row = values.len() as u64;
        let mut taken = Vec::with_capacity(range.len() * self.levels.levels.len());
        for group in range {
            let (samples, count) = self.sample(&values, rows.rows(group));
            for level in &self.levels.levels {
                let row = Self::query(&samples, count, *level);
                taken.push(row.map_or(default_row, |row| row as u64));
            }
        }
        let default = default_array(&self.data_type, 1)?;
        let sources: [&dyn Array; 2] = [&rows.columns[0], &default];
        let all = arrow::compute::concat(&sources).map_err(bug)?;
        let quantiles = arrow::compute::take(&all, &UInt64Array::from(taken), None);
        self.levels
            .assemble(quantiles.map_err(bug)?, &self.data_type)
    }
}

/// `quantileDD(accuracy, level)(x)`: a DDSketch, bins in geometric progression.
pub(super) fn resolve_dd(call: &AggregateCall<'_>, many: bool) -> Result<BoundAggregate> {
    let levels = Levels::behind_accuracy(call, many)?;
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_integer() || t.is_float())?;
    let accuracy = call.param_f64(0)?;
    if !(accuracy > 0.0 && accuracy < 1.0) {
        return Err(call.bad_param(0, &"the accuracy must be between 0 and 1"));
    }
    let return_type = levels.return_type(DataType::Float64);
    let function = Geometric { accuracy, levels };
    Ok(bind_collected(return_type, call.types, function))
}

#[derive(Debug)]
struct Geometric {
    accuracy: f64,
    levels: Levels,
}

/// Counts of the values below zero, of zeros, and above, by bin.
#[derive(Default)]
struct Bins {
    below: BTreeMap<i64, u64>,
    zeros: u64,
    above: BTreeMap<i64, u64>,
}

impl Geometric {
    fn bins(&self, values: &[f64]) -> Bins {
        let base = self.base().ln();
        let bin = |value: f64| (value.ln() / base).floor() as i64;
        let mut bins = Bins::default();
        for value in values.iter().filter(|v| !v.is_nan()) {
            if *value > 0.0 {
                *bins.above.entry(bin(*value)).or_default() += 1;
            } else if *value < 0.0 {
                *bins.below.entry(bin(-value)).or_default() += 1;
            } else {
                bins.zeros += 1;
            }
        }
        bins
    }

    fn base(&self) -> f64 {
        (1.0 + self.accuracy) / (1.0 - self.accuracy)
    }

    fn quantile(&self, bins: &Bins, level: f64) -> f64 {
        let below: u64 = bins.below.values().sum();
        let above: u64 = bins.above.values().sum();
        let total = below + bins.zeros + above;
        if total == 0 {
            return f64::NAN;
        }
        let rank = level * (total - 1) as f64;
        let middle = |bin: &i64| (*bin as f64 * self.base().ln()).exp() * (1.0 + self.accuracy);
        let mut seen = 0;
        for (bin, count) in bins.below.iter().rev() {
            seen += count;
            if seen as f64 > rank {
                return -middle(bin);
            }
        }
        seen += bins.zeros;
        if seen as f64 > rank {
            return 0.0;
        }
        for (bin, count) in &bins.above {
            seen += count;
            if seen as f64 > rank {
                return middle(bin);
            }
        }
        f64::NAN
    }
}

impl RowsFunction for Geometric {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = to_floats(&rows.columns[0])?;
        let mut quantiles = Vec::with_capacity(range.len() * self.levels.levels.len());
        for group in range {
            let bins = self.bins(&values[rows.rows(group)]);
            let levels = self.levels.levels.iter();
            quantiles.extend(levels.map(|level| self.quantile(&bins, *level)));
        }
        let quantiles = Arc::new(Float64Array::from(quantiles));
        self.levels.assemble(quantiles, &DataType::Float64)
    }
}
