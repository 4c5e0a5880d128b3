//! Functions of how often values occur: `entropy`, `cramersV`, `rankCorr`, `anyHeavy`, ….

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use basalt_error::{Error, Result};
use basalt_types::DataType;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::{bug, default_array};
use crate::aggregate::row_keys::row_keys;
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::to_floats;
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "entropy",
        syntax: "entropy(x[, ...])",
        description: "Shannon's entropy of the values in bits.",
        resolve: |call| {
            call.expect_args(1..=usize::MAX)?;
            Ok(bind_collected(DataType::Float64, call.types, Entropy))
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "cramersV",
        syntax: "cramersV(x, y)",
        description: "Cramér's V: how much two columns of categories depend on each other.",
        resolve: |call| resolve_table(call, cramers_v),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "cramersVBiasCorrected",
        syntax: "cramersVBiasCorrected(x, y)",
        description: "Cramér's V, corrected for its bias in small samples.",
        resolve: |call| resolve_table(call, cramers_v_corrected),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "contingency",
        syntax: "contingency(x, y)",
        description: "Contingency coefficient of two columns of categories.",
        resolve: |call| resolve_table(call, |t| (t.phi_squared() / (t.phi_squared() + 1.0)).sqrt()),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "theilsU",
        syntax: "theilsU(x, y)",
        description: "Theil's U: how much of the entropy of x the value of y explains.",
        resolve: |call| resolve_table(call, theils_u),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "rankCorr",
        syntax: "rankCorr(x, y)",
        description: "Spearman's rank correlation coefficient.",
        resolve: resolve_rank,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "anyHeavy",
        syntax: "anyHeavy(x)",
        description: "A value that more than half of the rows have, if there is one, else any.",
        resolve: |call| {
            call.expect_args(1..=1)?;
            let data_type = call.types[0].clone();
            let function = Heavy {
                data_type: data_type.clone(),
            };
            Ok(bind_collected(data_type, call.types, function))
        },
        ..AggregateFunction::BASE
    },
];

type Counts<K> = HashMap<K, f64, ahash::RandomState>;

fn count<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Counts<K> {
    let mut counts = Counts::default();
    keys.for_each(|key| *counts.entry(key).or_default() += 1.0);
    counts
}

/// Entropy in bits of counts that sum up to `total`, in a fixed order of addition.
fn entropy_of(counts: impl Iterator<Item = f64>, total: f64) -> f64 {
    let mut counts: Vec<f64> = counts.collect();
    counts.sort_unstable_by(f64::total_cmp);
    let terms = counts.iter().map(|c| c / total * (c / total).log2());
    // Not the negated sum: that would be -0 for a single value.
    0.0 - terms.sum::<f64>()
}

#[derive(Debug)]
struct Entropy;

impl RowsFunction for Entropy {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let keys = row_keys(&rows.columns)?;
        let entropies = range.map(|group| {
            let group = &keys[rows.rows(group)];
            entropy_of(count(group.iter()).into_values(), group.len() as f64)
        });
        Ok(Arc::new(Float64Array::from_iter_values(entropies)))
    }
}

fn resolve_table(call: &AggregateCall<'_>, measure: fn(&Table) -> f64) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    Ok(bind_collected(
        DataType::Float64,
        call.types,
        OfTable { measure },
    ))
}

#[derive(Debug)]
struct OfTable {
    measure: fn(&Table) -> f64,
}

/// How often pairs of values and each of them occur.
struct Table {
    pairs: Counts<(u128, u128)>,
    x: Counts<u128>,
    y: Counts<u128>,
    total: f64,
}

impl Table {
    /// Pearson's chi squared, divided by the number of rows.
    fn phi_squared(&self) -> f64 {
        let share = |((x, y), n): (&(u128, u128), &f64)| n * n / (self.x[x] * self.y[y]);
        let mut shares: Vec<f64> = self.pairs.iter().map(share).collect();
        shares.sort_unstable_by(f64::total_cmp);
        (shares.iter().sum::<f64>() - 1.0).max(0.0)
    }
}

fn cramers_v(table: &Table) -> f64 {
    let smaller = table.x.len().min(table.y.len()) as f64;
    (table.phi_squared() / (smaller - 1.0)).sqrt()
}

fn cramers_v_corrected(table: &Table) -> f64 {
    let (rows, columns) = (table.x.len() as f64, table.y.len() as f64);
    let divisor = table.total - 1.0;
    let phi = (table.phi_squared() - (rows - 1.0) * (columns - 1.0) / divisor).max(0.0);
    let corrected = |n: f64| n - (n - 1.0) * (n - 1.0) / divisor;
    (phi / (corrected(rows).min(corrected(columns)) - 1.0)).sqrt()
}

fn theils_u(table: &Table) -> f64 {
    let entropy = entropy_of(table.x.values().copied(), table.total);
    let mut terms: Vec<f64> = table
        .pairs
        .iter()
        .map(|((_, y), n)| n / table.total * (n / table.y[y]).log2())
        .collect();
    terms.sort_unstable_by(f64::total_cmp);
    let conditional = -terms.iter().sum::<f64>();
    (entropy - conditional) / entropy
}

impl RowsFunction for OfTable {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let x = row_keys(&rows.columns[..1])?;
        let y = row_keys(&rows.columns[1..])?;
        let results = range.map(|group| {
            let rows = rows.rows(group);
            if rows.len() < 2 {
                return f64::NAN;
            }
            (self.measure)(&Table {
                pairs: count(rows.clone().map(|row| (x[row], y[row]))),
                x: count(rows.clone().map(|row| x[row])),
                y: count(rows.clone().map(|row| y[row])),
                total: rows.len() as f64,
            })
        });
        Ok(Arc::new(Float64Array::from_iter_values(results)))
    }
}

fn resolve_rank(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    for idx in 0..2 {
        if !call.types[idx].is_number() {
            return Err(Error::not_implemented(format!(
                "Aggregate function {} of {}",
                call.name, call.types[idx]
            )));
        }
    }
    Ok(bind_collected(
        DataType::Float64,
        call.types,
        RankCorrelation,
    ))
}

#[derive(Debug)]
struct RankCorrelation;

/// The rank of each value from 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for run in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let mean = start as f64 + (run.len() as f64 + 1.0) / 2.0;
        run.iter().for_each(|i| ranks[*i] = mean);
        start += run.len();
    }
    ranks
}

impl RowsFunction for RankCorrelation {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let (x, y) = (to_floats(&rows.columns[0])?, to_floats(&rows.columns[1])?);
        let results = range.map(|group| {
            let rows = rows.rows(group);
            let n = rows.len() as f64;
            let (x, y) = (ranks(&x[rows.clone()]), ranks(&y[rows]));
            let squares = x.iter().zip(&y).map(|(a, b)| (a - b) * (a - b));
            1.0 - 6.0 * squares.sum::<f64>() / (n * (n * n - 1.0))
        });
        Ok(Arc::new(Float64Array::from_iter_values(results)))
    }
}

/// Boyer and Moore's majority vote.
#[derive(Debug)]
struct Heavy {
    data_type: DataType,
}

impl RowsFunction for Heavy {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let keys = row_keys(&rows.columns)?;
        let winners: Vec<(usize, usize)> = range
            .map(|group| {
                let (mut winner, mut votes) = (None, 0u64);
                for row in rows.rows(group) {
                    match winner {
                        Some(known) if keys[known] == keys[row] => votes += 1,
                        _ if votes == 0 => (winner, votes) = (Some(row), 1),
                        _ => votes -= 1,
                    }
                }
                winner.map_or((1, 0), |row| (0, row))
            })
            .collect();
        let default = default_array(&self.data_type, 1)?;
        let sources = [rows.columns[0].as_ref(), default.as_ref()];
        arrow::compute::interleave(&sources, &winners).map_err(bug)
    }
}
