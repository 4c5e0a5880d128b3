//! `quantileTDigest`: a t-digest (Dunning and Ertl), clusters that are small at both ends.
//!
//! Two neighbours are joined while their weight is at most `4 ε n q (1 − q)`, where `q` is the
//! share of values below; ε is 0.01. Up to 2048 new values wait unsorted.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::{Levels, check_weight, weights};
use crate::aggregate::average::from_floats;
use crate::aggregate::grouped::{ByteReader, StateFunction, bind_grouped};
use crate::aggregate::rows::Rows;
use crate::aggregate::values::{column, to_floats};
use crate::aggregate::{AggregateCall, BoundAggregate};

const EPSILON: f64 = 0.01;
const MAX_UNSORTED: usize = 2048;

/// `quantileTDigest`.
pub(super) fn resolve(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    bind(call, levels, false)
}

/// `quantileTDigestWeighted`.
pub(super) fn resolve_weighted(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    check_weight(call)?;
    bind(call, levels, true)
}

fn bind(call: &AggregateCall<'_>, levels: Levels, weighted: bool) -> Result<BoundAggregate> {
    call.expect_type(0, |t| t.is_integer() || t.is_float() || t.is_date_or_time())?;
    let data_type = if call.types[0].is_date_or_time() {
        call.types[0].clone()
    } else {
        DataType::Float32
    };
    let return_type = levels.return_type(data_type.clone());
    Ok(bind_grouped(
        return_type,
        Digested {
            levels,
            data_type,
            weighted,
        },
    ))
}

#[derive(Debug)]
struct Digested {
    levels: Levels,
    data_type: DataType,
    weighted: bool,
}

/// Values near each other, as their mean and weight.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    mean: f64,
    weight: f64,
}

/// The clusters of a group.
#[derive(Debug, Default)]
struct Digest {
    clusters: Vec<Cluster>,
    total: f64,
    /// Number of clusters at the end that are not sorted in.
    num_unsorted: usize,
}

impl Digest {
    fn add(&mut self, cluster: Cluster) {
        if cluster.mean.is_nan() || cluster.weight == 0.0 {
            return;
        }
        self.clusters.push(cluster);
        self.total += cluster.weight;
        self.num_unsorted += 1;
        if self.num_unsorted > MAX_UNSORTED {
            self.compress();
        }
    }

    fn compress(&mut self) {
        if self.num_unsorted == 0 {
            return;
        }
        self.num_unsorted = 0;
        self.clusters.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        if self.clusters.len() <= 3 {
            return;
        }
        let (total, bound) = (self.total, self.total * EPSILON * 4.0);
        let spread = |below: f64| (below / total) * (1.0 - below / total);
        let mut joined: Vec<Cluster> = Vec::with_capacity(self.clusters.len());
        let mut below = 0.0;
        let mut current = self.clusters[0];
        for next in &self.clusters[1..] {
            let left = spread(below + current.weight * 0.5);
            let right = spread(below + current.weight + next.weight * 0.5);
            let weight = current.weight + next.weight;
            let same = current.mean == next.mean || (current.mean - next.mean).is_finite();
            if weight <= bound * left.min(right) && same {
                if next.mean != current.mean {
                    current.mean += next.weight * (next.mean - current.mean) / weight;
                }
                current.weight = weight;
            } else {
                below += current.weight;
                joined.push(current);
                current = *next;
            }
        }
        joined.push(current);
        self.clusters = joined;
    }

    /// The value at `level`; the digest must be compressed.
    fn quantile(&self, level: f64) -> f64 {
        let (Some(first), Some(last)) = (self.clusters.first(), self.clusters.last()) else {
            return f64::NAN;
        };
        let wanted = level * self.total;
        let mut below = 0.0;
        let (mut left_place, mut left) = (0.0, *first);
        for cluster in &self.clusters {
            let place = below + cluster.weight * 0.5;
            if place >= wanted {
                // A single value is not spread over its whole place.
                let from = left_place + if left.weight == 1.0 { 0.5 } else { 0.0 };
                let to = place - if cluster.weight == 1.0 { 0.5 } else { 0.0 };
                return if wanted <= from {
                    left.mean
                } else if wanted >= to {
                    cluster.mean
                } else {
                    let share = (wanted - from) / (to - from);
                    left.mean * (1.0 - share) + cluster.mean * share
                };
            }
            below += cluster.weight;
            (left_place, left) = (place, *cluster);
        }
        last.mean
    }
}

impl StateFunction for Digested {
    type State = Digest;

    fn new_state(&self) -> Digest {
        Digest::default()
    }

    fn update(&self, states: &mut [Digest], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        let values = to_floats(column(args, 0)?)?;
        let weights = weights(args, self.weighted)?;
        let mut grown = 0;
        rows.for_each(|row, group| {
            let state = &mut states[group];
            let before = state.clusters.capacity();
            // Clusters are Float32 numbers, as the results are.
            state.add(Cluster {
                mean: f64::from(values[row] as f32),
                weight: weights[row] as f64,
            });
            grown += state.clusters.capacity().saturating_sub(before);
        });
        Ok(grown * size_of::<Cluster>())
    }

    fn merge(&self, state: &mut Digest, other: Digest) -> Result<usize> {
        let before = state.clusters.capacity();
        for cluster in other.clusters {
            state.add(cluster);
        }
        Ok(state.clusters.capacity().saturating_sub(before) * size_of::<Cluster>())
    }

    fn write(&self, state: &Digest, out: &mut Vec<u8>) {
        out.extend_from_slice(&(state.clusters.len() as u64).to_le_bytes());
        for cluster in &state.clusters {
            out.extend_from_slice(&cluster.mean.to_le_bytes());
            out.extend_from_slice(&cluster.weight.to_le_bytes());
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Digest> {
        let mut digest = Digest::default();
        for _ in 0..bytes.len(size_of::<Cluster>())? {
            digest.add(Cluster {
                mean: bytes.f64()?,
                weight: bytes.f64()?,
            });
        }
        Ok(digest)
    }

    fn finish(&self, states: &mut [Digest]) -> Result<ArrayRef> {
        let mut quantiles = Vec::new();
        for state in states {
            state.compress();
            let levels = self.levels.levels.iter();
            quantiles.extend(levels.map(|level| state.quantile(*level)));
        }
        let values = from_floats(quantiles, &self.data_type)?;
        self.levels.assemble(values, &self.data_type)
    }
}
