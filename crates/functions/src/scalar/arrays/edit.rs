//! How many elements must change to turn one array into another.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::floats::to_floats;
use super::lists::Lists;
use super::matching::Ids;
use super::unify::{Unify, element_type};
use crate::scalar::core::numeric::array_of;
use crate::{Call, Column, Resolved, ScalarFunction, interrupt};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayLevenshteinDistance",
        syntax: "arrayLevenshteinDistance(a, b)",
        description: "Least number of elements to insert, delete and replace to turn one array into the other.",
        resolve: resolve_levenshtein,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayLevenshteinDistanceWeighted",
        syntax: "arrayLevenshteinDistanceWeighted(a, b, weights_a, weights_b)",
        description: "Least weight of the elements to insert and delete to turn one array into the other.",
        resolve: |call| resolve_weighted(call, |distance, _| distance),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arraySimilarity",
        syntax: "arraySimilarity(a, b, weights_a, weights_b)",
        description: "From 0 to 1, how little of the weight must change to turn one array into the other.",
        resolve: |call| {
            resolve_weighted(call, |distance, total| {
                if total == 0.0 {
                    1.0
                } else {
                    1.0 - distance / total
                }
            })
        },
        ..ScalarFunction::BASE
    },
];

/// Brings the elements of the first two arguments to one type.
fn unify(call: &Call<'_>) -> Result<[Unify; 2]> {
    let types = [
        element_type(call, 0)?.clone(),
        element_type(call, 1)?.clone(),
    ];
    let common = least_supertype(&types)?;
    let casts = Unify::all(&types, &common, call.context)?;
    <[Unify; 2]>::try_from(casts).map_err(|_| Error::bug("two casts for two types"))
}

/// Numbers for the elements of two columns of arrays; equal elements have the same.
fn ids(casts: &[Unify; 2], lists: &[Lists<'_>; 2]) -> Result<Ids> {
    let left = casts[0].array(lists[0].values())?;
    let right = casts[1].array(lists[1].values())?;
    Ids::new(&[&left, &right])
}

fn resolve_levenshtein(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let casts = unify(call)?;
    Resolved::new(DataType::UInt32, move |columns, num_rows| {
        let lists = [Lists::of(&columns[0])?, Lists::of(&columns[1])?];
        let ids = ids(&casts, &lists)?;
        let distance = |row| {
            distance(
                &ids.of(0)[lists[0].range(row)],
                &ids.of(1)[lists[1].range(row)],
            )
        };
        let distances: Vec<u32> = (0..num_rows).map(distance).collect::<Result<_>>()?;
        Ok(array_of(distances))
    })
}

fn distance(a: &[u32], b: &[u32]) -> Result<u32> {
    let mut row: Vec<u32> = (0..=b.len() as u32).collect();
    for (i, x) in a.iter().enumerate() {
        interrupt::check_at(i)?;
        let mut diagonal = row[0];
        row[0] = i as u32 + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + u32::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    Ok(row[b.len()])
}

/// A loop that gives a number for the weighted distance and the weight of all elements.
fn resolve_weighted(call: &Call<'_>, value: fn(f64, f64) -> f64) -> Result<Resolved> {
    call.expect_args(4..=4)?;
    let casts = unify(call)?;
    for idx in 2..4 {
        let element = element_type(call, idx)?;
        if !(element.is_integer() || element.is_float()) || element.is_nullable() {
            return Err(call.illegal_type(idx));
        }
    }
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        let lists = [Lists::of(&columns[0])?, Lists::of(&columns[1])?];
        let ids = ids(&casts, &lists)?;
        let weights = [Weights::of(&columns[2])?, Weights::of(&columns[3])?];
        let mut values: Vec<f64> = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let a = weights[0].with(row, &ids.of(0)[lists[0].range(row)])?;
            let b = weights[1].with(row, &ids.of(1)[lists[1].range(row)])?;
            let sum = |of: &[(u32, f64)]| of.iter().map(|(_, weight)| weight).sum::<f64>();
            values.push(value(weighted_distance(&a, &b)?, sum(&a) + sum(&b)));
        }
        Ok(array_of(values) as ArrayRef)
    })
}

/// A column of arrays of weights.
struct Weights<'a> {
    lists: Lists<'a>,
    values: Vec<f64>,
}

impl<'a> Weights<'a> {
    fn of(column: &'a Column) -> Result<Self> {
        let lists = Lists::of(column)?;
        let values = to_floats::<f64>(lists.values())?;
        Ok(Self { lists, values })
    }

    /// The elements of a row, each with its weight.
    fn with(&self, row: usize, ids: &[u32]) -> Result<Vec<(u32, f64)>> {
        let weights = &self.values[self.lists.range(row)];
        if weights.len() != ids.len() {
            return Err(Error::new(
                ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                format!(
                    "Give a weight for each element: {} elements, {} weights",
                    ids.len(),
                    weights.len()
                ),
            ));
        }
        Ok(ids.iter().copied().zip(weights.iter().copied()).collect())
    }
}

fn weighted_distance(a: &[(u32, f64)], b: &[(u32, f64)]) -> Result<f64> {
    let mut row = vec![0.0];
    let mut all = 0.0;
    for (_, weight) in b {
        all += weight;
        row.push(all);
    }
    for (i, (x, deleted)) in a.iter().enumerate() {
        interrupt::check_at(i)?;
        let mut diagonal = row[0];
        row[0] += deleted;
        for (j, (y, inserted)) in b.iter().enumerate() {
            let replaced = diagonal + if x == y { 0.0 } else { deleted + inserted };
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + deleted).min(row[j] + inserted);
        }
    }
    Ok(row[b.len()])
}
