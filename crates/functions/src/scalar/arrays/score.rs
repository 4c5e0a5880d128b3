//! Rates predictions: area under a curve, Gini coefficients.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::floats::to_floats;
use super::lists::{Lists, bad_arguments, struct_of};
use super::unify::element_type;
use crate::scalar::core::numeric::array_of;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayROCAUC",
        aliases: &["arrayAUC"],
        syntax: "arrayROCAUC(scores, labels[, as_share])",
        description: "Area under the ROC curve: how likely a positive example scores above a negative one.",
        resolve: resolve_auc,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayAUCPR",
        aliases: &["arrayPRAUC"],
        syntax: "arrayAUCPR(scores, labels)",
        description: "Area under the curve of precision by recall.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            resolve_scores(call, precision_area)
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayNormalizedGini",
        syntax: "arrayNormalizedGini(predicted, labels)",
        description: "Gini coefficients of predictions and labels, and their quotient.",
        resolve: resolve_gini,
        ..ScalarFunction::BASE
    },
];

fn resolve_auc(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let as_share = match call.args.get(2) {
        Some(_) => call.constant_u64(2)? != 0,
        None => true,
    };
    resolve_scores(call, move |examples| area(examples, as_share))
}

/// Checks that the two first arguments are arrays of numbers, the labels of enums, too.
fn expect_examples(call: &Call<'_>) -> Result<()> {
    for idx in 0..2 {
        let element = element_type(call, idx)?;
        let is_number = element.is_integer() || element.is_float();
        if element.is_nullable() || !(is_number || (idx == 1 && element.is_enum())) {
            return Err(call.illegal_type(idx));
        }
    }
    Ok(())
}

/// A loop from scores and labels to a number.
fn resolve_scores(
    call: &Call<'_>,
    area: impl Fn(Vec<(f64, bool)>) -> f64 + Send + Sync + 'static,
) -> Result<Resolved> {
    expect_examples(call)?;
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        let (scores, labels) = (Lists::of(&columns[0])?, Lists::of(&columns[1])?);
        let score_values = to_floats::<f64>(scores.values())?;
        let label_values = to_floats::<f64>(labels.values())?;
        let mut areas = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            if scores.len(row) != labels.len(row) {
                return Err(bad_arguments("Scores and labels must be equally many"));
            }
            let pairs = score_values[scores.range(row)].iter().copied();
            if pairs.clone().any(f64::is_nan) {
                areas.push(f64::NAN);
                continue;
            }
            let labels = label_values[labels.range(row)].iter().map(|l| *l > 0.0);
            areas.push(area(pairs.zip(labels).collect()));
        }
        Ok(array_of(areas) as ArrayRef)
    })
}

/// The share of pairs of a positive and a negative example in which the positive one scores more;
/// equal scores count half. Or not the share, but the number of such pairs.
fn area(mut examples: Vec<(f64, bool)>, as_share: bool) -> f64 {
    examples.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut negatives, mut positives, mut won) = (0.0, 0.0, 0.0);
    for same in examples.chunk_by(|a, b| a.0 == b.0) {
        let positive = same.iter().filter(|e| e.1).count() as f64;
        let negative = same.len() as f64 - positive;
        won += positive * (negatives + negative / 2.0);
        negatives += negative;
        positives += positive;
    }
    if as_share {
        won / (positives * negatives)
    } else {
        won
    }
}

/// The precision at each threshold, weighted with the share of positive examples it adds.
fn precision_area(mut examples: Vec<(f64, bool)>) -> f64 {
    examples.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total = examples.iter().filter(|e| e.1).count() as f64;
    if total == 0.0 {
        return 0.0;
    }
    let (mut seen, mut positives, mut area) = (0.0, 0.0, 0.0);
    for same in examples.chunk_by(|a, b| a.0 == b.0) {
        let positive = same.iter().filter(|e| e.1).count() as f64;
        seen += same.len() as f64;
        positives += positive;
        area += positive / total * (positives / seen);
    }
    area
}

fn resolve_gini(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if (0..2).any(|idx| element_type(call, idx).is_ok_and(DataType::is_decimal)) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Function {} takes no decimals", call.name),
        ));
    }
    expect_examples(call)?;
    let tuple = DataType::tuple(vec![DataType::Float64; 3]);
    let physical = tuple.physical();
    Resolved::new(tuple, move |columns, num_rows| {
        let (predicted, labels) = (Lists::of(&columns[0])?, Lists::of(&columns[1])?);
        let predictions = to_floats::<f64>(predicted.values())?;
        let label_values = to_floats::<f64>(labels.values())?;
        let mut coefficients = [Vec::new(), Vec::new(), Vec::new()];
        for row in 0..num_rows {
            if predicted.len(row) != labels.len(row) {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_COLUMN,
                    "Predictions and labels must be equally many",
                ));
            }
            let labels = &label_values[labels.range(row)];
            let by_prediction = gini(&predictions[predicted.range(row)], labels);
            let by_label = gini(labels, labels);
            coefficients[0].push(by_prediction);
            coefficients[1].push(by_label);
            coefficients[2].push(by_prediction / by_label);
        }
        let columns = coefficients.map(|c| array_of(c) as ArrayRef).to_vec();
        struct_of(&physical, columns, num_rows)
    })
}

/// How far the shares of the labels, in the order of the keys, lag behind equal shares.
fn gini(keys: &[f64], labels: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|a, b| keys[*a].total_cmp(&keys[*b]));
    let total: f64 = labels.iter().sum();
    let (mut sum, mut shares) = (0.0, 0.0);
    for at in order {
        sum += labels[at];
        shares += sum / total;
    }
    let len = labels.len() as f64;
    ((len + 1.0) / 2.0 - shares) / len
}
