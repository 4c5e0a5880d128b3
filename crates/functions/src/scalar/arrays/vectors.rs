//! Computes with arrays and tuples as vectors: products, norms, distances.
//!
//! Arrays are computed in Float32 if their elements are, else in Float64; tuples element by
//! element with the arithmetic functions and their result types.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::floats::{Float, to_floats};
use super::lists::{Lists, as_list, different_lengths, list_of};
use super::unify::{Unify, element_type};
use crate::scalar::core::arithmetic::{BinaryOp, binary_result_type};
use crate::scalar::core::numeric::{FromNum, Native, Num, array_of, values, with_native};
use crate::scalar::tuples::vector;
use crate::{Call, Column, Resolved, ScalarFunction};

/// How a vector's length is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the variants are the norms' names")]
pub enum Norm {
    L1,
    L2,
    L2Squared,
    Linf,
    Lp(f64),
}

macro_rules! norms {
    ($($kind:ident: $norm:literal,)*) => {
        /// Norms and distances.
        pub const NORMS: &[ScalarFunction] = &[$(
            ScalarFunction {
                name: concat!($norm, "Norm"),
                aliases: &[concat!("norm", $norm)],
                syntax: concat!($norm, "Norm(vector)"),
                description: concat!("The length of an array or tuple as a vector, by the norm ", $norm, "."),
                resolve: |call| resolve_norm(call, Norm::$kind),
                ..ScalarFunction::BASE
            },
            ScalarFunction {
                name: concat!($norm, "Distance"),
                aliases: &[concat!("distance", $norm)],
                syntax: concat!($norm, "Distance(a, b)"),
                description: concat!("The distance of two arrays or tuples as vectors, by the norm ", $norm, "."),
                resolve: |call| resolve_distance(call, Norm::$kind),
                ..ScalarFunction::BASE
            },
        )*];
    };
}

norms! {
    L1: "L1",
    L2: "L2",
    L2Squared: "L2Squared",
    Linf: "Linf",
}

/// The other functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "LpNorm",
        aliases: &["normLp"],
        syntax: "LpNorm(vector, p)",
        description: "The length of an array or tuple as a vector, by the norm of that power.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            resolve_norm(&without_last(call), Norm::Lp(power(call)?))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "LpDistance",
        aliases: &["distanceLp"],
        syntax: "LpDistance(a, b, p)",
        description: "The distance of two arrays or tuples as vectors, by the norm of that power.",
        resolve: |call| {
            call.expect_args(3..=3)?;
            resolve_distance(&without_last(call), Norm::Lp(power(call)?))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "cosineDistance",
        syntax: "cosineDistance(a, b)",
        description: "One minus the cosine of the angle between two arrays or tuples as vectors.",
        resolve: resolve_cosine,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayDotProduct",
        syntax: "arrayDotProduct(a, b)",
        description: "The sum of the products of two arrays' elements.",
        resolve: resolve_dot,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "dotProduct",
        aliases: &["scalarProduct"],
        syntax: "dotProduct(a, b)",
        description: "The sum of the products of two arrays' or tuples' elements.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            match (call.data_type(0), call.data_type(1)) {
                (DataType::Tuple(_), _) => vector::resolve_dot(call),
                _ => resolve_dot(call),
            }
        },
        ..ScalarFunction::BASE
    },
];

/// The call without its last argument.
pub(crate) fn without_last<'a>(call: &Call<'a>) -> Call<'a> {
    Call {
        args: &call.args[..call.args.len() - 1],
        ..*call
    }
}

/// The power of a norm that the last argument gives.
pub(crate) fn power(call: &Call<'_>) -> Result<f64> {
    let p = call.constant_f64(call.args.len() - 1)?;
    if p.is_finite() && p >= 1.0 {
        return Ok(p);
    }
    Err(Error::new(
        ErrorCode::ARGUMENT_OUT_OF_BOUND,
        format!(
            "The power of function {} must be a finite number not less than one",
            call.name
        ),
    ))
}

fn expect_number(call: &Call<'_>, idx: usize) -> Result<DataType> {
    let element = element_type(call, idx)?;
    let fits = (element.is_integer() || element.is_float()) && !element.is_nullable();
    if fits {
        Ok(element.clone())
    } else {
        Err(call.illegal_type(idx))
    }
}

fn float_of(element: &DataType) -> DataType {
    match element {
        DataType::Float32 => DataType::Float32,
        _ => DataType::Float64,
    }
}

fn resolve_norm(call: &Call<'_>, norm: Norm) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    if matches!(call.data_type(0), DataType::Tuple(_)) {
        return vector::resolve_norm(call, norm);
    }
    let result = float_of(&expect_number(call, 0)?);
    Resolved::new(result.clone(), move |columns, num_rows| {
        if result == DataType::Float32 {
            norms::<f32>(&columns[0], num_rows, norm)
        } else {
            norms::<f64>(&columns[0], num_rows, norm)
        }
    })
}

/// The first argument, an array, with each element divided by its norm.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT` if it has no numbers.
pub fn resolve_normalize(call: &Call<'_>, norm: Norm) -> Result<Resolved> {
    let element = float_of(&expect_number(call, 0)?);
    let result = DataType::array(element.clone());
    Resolved::new(result.clone(), move |columns, num_rows| {
        let column = Column::new(columns[0].expand(num_rows)?);
        let lists = Lists::of(&column)?;
        let values = if element == DataType::Float32 {
            normalized::<f32>(&lists, num_rows, norm)?
        } else {
            normalized::<f64>(&lists, num_rows, norm)?
        };
        list_of(&result, as_list(&column.array)?.offsets().clone(), values)
    })
}

fn normalized<F: Float>(lists: &Lists<'_>, num_rows: usize, norm: Norm) -> Result<ArrayRef> {
    let mut floats = to_floats::<F>(lists.values())?;
    for row in 0..num_rows {
        let vector = &mut floats[lists.range(row)];
        let length = measure(norm, vector.len(), |i| vector[i]).to_f64();
        vector
            .iter_mut()
            .for_each(|x| *x = F::of(x.to_f64() / length));
    }
    Ok(array_of(floats))
}

fn norms<F: Float>(column: &Column, num_rows: usize, norm: Norm) -> Result<ArrayRef> {
    let lists = Lists::of(column)?;
    let floats = to_floats::<F>(lists.values())?;
    let norm = |row| {
        let vector = &floats[lists.range(row)];
        measure(norm, vector.len(), |i| vector[i])
    };
    Ok(array_of((0..num_rows).map(norm).collect::<Vec<F>>()))
}

/// Sums are kept in as many lanes, so that they can be added at once; their order is fixed.
const LANES: usize = 16;

fn lane_sum<F: Float>(len: usize, value: impl Fn(usize) -> F) -> F {
    let mut lanes = [F::default(); LANES];
    let whole = len - len % LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum = sum.add_wrapping(value(start + lane));
        }
    }
    let sum = lanes.into_iter().fold(F::default(), F::add_wrapping);
    (whole..len).fold(sum, |sum, i| sum.add_wrapping(value(i)))
}

/// The norm of a vector of `len` values.
fn measure<F: Float>(norm: Norm, len: usize, value: impl Fn(usize) -> F) -> F {
    let square = |i| {
        let x = value(i);
        x.mul_wrapping(x)
    };
    match norm {
        Norm::L1 => lane_sum(len, |i| value(i).abs()),
        Norm::L2 => lane_sum(len, square).sqrt(),
        Norm::L2Squared => lane_sum(len, square),
        Norm::Linf => {
            let greater = |a: F, b: F| if b > a { b } else { a };
            (0..len).map(|i| value(i).abs()).fold(F::default(), greater)
        }
        Norm::Lp(p) => {
            let total = lane_sum(len, |i| value(i).abs().powf(F::of(p)));
            total.powf(F::of(1.0 / p))
        }
    }
}

/// The elements of two arrays of equal lengths in one type of float.
fn resolve_pair(
    call: &Call<'_>,
    of_f32: fn(&[f32], &[f32], Norm) -> f32,
    of_f64: fn(&[f64], &[f64], Norm) -> f64,
    norm: Norm,
) -> Result<Resolved> {
    let types = [expect_number(call, 0)?, expect_number(call, 1)?];
    let result = float_of(&least_supertype(&types)?);
    let name = call.name.to_owned();
    Resolved::new(result.clone(), move |columns, num_rows| {
        let lists = [Lists::of(&columns[0])?, Lists::of(&columns[1])?];
        if result == DataType::Float32 {
            pairs(&lists, num_rows, &name, |a, b| of_f32(a, b, norm))
        } else {
            pairs(&lists, num_rows, &name, |a, b| of_f64(a, b, norm))
        }
    })
}

fn pairs<F: Float>(
    [a, b]: &[Lists<'_>; 2],
    num_rows: usize,
    name: &str,
    f: impl Fn(&[F], &[F]) -> F,
) -> Result<ArrayRef> {
    let (left, right) = (to_floats::<F>(a.values())?, to_floats::<F>(b.values())?);
    let mut results = Vec::with_capacity(num_rows);
    for row in 0..num_rows {
        let (a, b) = (a.range(row), b.range(row));
        if a.len() != b.len() {
            return Err(different_lengths(name));
        }
        results.push(f(&left[a], &right[b]));
    }
    Ok(array_of(results))
}

fn resolve_distance(call: &Call<'_>, norm: Norm) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if matches!(call.data_type(0), DataType::Tuple(_)) {
        return vector::resolve_distance(call, norm);
    }
    resolve_pair(call, distance::<f32>, distance::<f64>, norm)
}

fn distance<F: Float>(a: &[F], b: &[F], norm: Norm) -> F {
    measure(norm, a.len(), |i| a[i].sub_wrapping(b[i]))
}

fn resolve_cosine(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if matches!(call.data_type(0), DataType::Tuple(_)) {
        return vector::resolve_cosine(call);
    }
    resolve_pair(call, cosine::<f32>, cosine::<f64>, Norm::L2)
}

fn cosine<F: Float>(a: &[F], b: &[F], _: Norm) -> F {
    let dot = |a: &[F], b: &[F]| lane_sum(a.len(), |i| a[i].mul_wrapping(b[i]));
    let lengths = dot(a, a).mul_wrapping(dot(b, b)).sqrt();
    F::of(1.0).sub_wrapping(dot(a, b).div_wrapping(lengths))
}

fn resolve_dot(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let (a, b) = (expect_number(call, 0)?, expect_number(call, 1)?);
    let both_f32 = a == DataType::Float32 && b == DataType::Float32;
    let result = if both_f32 {
        DataType::Float32
    } else {
        binary_result_type(BinaryOp::Multiply, &a, &b)?
    };
    let num = Num::of(&result).ok_or_else(|| call.illegal_type(0))?;
    let casts = [
        Unify::new(&a, &result, call.context)?,
        Unify::new(&b, &result, call.context)?,
    ];
    let name = call.name.to_owned();
    Resolved::new(result, move |columns, num_rows| {
        let lists = [Lists::of(&columns[0])?, Lists::of(&columns[1])?];
        let left = casts[0].array(lists[0].values())?;
        let right = casts[1].array(lists[1].values())?;
        with_native!(num, T => {
            dot_products((values::<T>(left.as_ref())?, values::<T>(right.as_ref())?), &lists, num_rows, &name)
        })
    })
}

fn dot_products<T: Native + FromNum<T>>(
    (left, right): (&[T], &[T]),
    [a, b]: &[Lists<'_>; 2],
    num_rows: usize,
    name: &str,
) -> Result<ArrayRef> {
    let mut products = Vec::with_capacity(num_rows);
    for row in 0..num_rows {
        let (a, b) = (a.range(row), b.range(row));
        if a.len() != b.len() {
            return Err(different_lengths(name));
        }
        let pairs = left[a].iter().zip(&right[b]);
        products.push(pairs.fold(T::default(), |sum, (a, b)| {
            sum.add_wrapping(a.mul_wrapping(*b))
        }));
    }
    Ok(array_of(products))
}
