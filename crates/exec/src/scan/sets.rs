//! Reads IN with many values or with tuples as conditions that bounds tell something about.
//!
//! What stands for such an IN holds for all rows for which it holds, and for some more: a large set is read as ranges
//! that hold all its values, one of many tuples as a set for each element.

use std::cmp::Reverse;

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use basalt_analyzer::udf::FunctionUdf;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::utils::{conjunction, disjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, binary_expr};

use super::condition::{integers_of, is_zero};

/// Of so many values each is looked for in a group of rows.
const MAX_VALUES: usize = 128;

/// Ranges that stand for more values than that.
const MAX_RANGES: usize = 64;

/// A filter in which lists and ranges stand for sets, as far as they tell something.
pub(in crate::scan) fn without_sets(filter: &Expr) -> Expr {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if matches!(op, Operator::And | Operator::Or) =>
        {
            binary_expr(without_sets(left), *op, without_sets(right))
        }
        _ => widened(filter).unwrap_or_else(|| filter.clone()),
    }
}

/// What stands for a filter that is IN.
fn widened(filter: &Expr) -> Option<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = filter else {
        return None;
    };
    let Expr::ScalarFunction(call) = left.as_ref() else {
        return None;
    };
    if *op != Operator::NotEq || !is_zero(right) {
        return None;
    }
    let [operand] = call.args.as_slice() else {
        return None;
    };
    is_one_of(operand, function(call)?.members()?)
}

fn function(call: &ScalarFunction) -> Option<&FunctionUdf> {
    call.func.inner().downcast_ref()
}

/// Whether an operand may be one of some values.
fn is_one_of(operand: &Expr, values: &ArrayRef) -> Option<Expr> {
    if let ArrowType::Dictionary(_, plain) = values.data_type() {
        return is_one_of(operand, &cast(values, plain).ok()?);
    }
    match (operand, values.as_struct_opt()) {
        (Expr::ScalarFunction(call), Some(tuples))
            if function(call)?.function_name() == "tuple"
                && call.args.len() == tuples.num_columns() =>
        {
            is_one_of_tuples(&call.args, tuples)
        }
        (_, Some(_)) => None,
        _ if values.len() <= MAX_VALUES => is_in_list(operand, values),
        _ => is_in_ranges(operand, values),
    }
}

/// Whether elements may be those of one of some tuples.
fn is_one_of_tuples(elements: &[Expr], tuples: &StructArray) -> Option<Expr> {
    let columns = || elements.iter().zip(tuples.columns());
    if tuples.is_empty() || tuples.len() > MAX_VALUES {
        let each = columns().filter_map(|(element, column)| is_one_of(element, column));
        return conjunction(each);
    }
    let is_tuple = |row: usize| {
        let row = |(element, column): (&Expr, &ArrayRef)| is_one_of(element, &column.slice(row, 1));
        conjunction(columns().filter_map(row))
    };
    // A tuple of which nothing is known may be in any group.
    disjunction(
        (0..tuples.len())
            .map(is_tuple)
            .collect::<Option<Vec<_>>>()?,
    )
}

fn is_in_list(operand: &Expr, values: &ArrayRef) -> Option<Expr> {
    let list = (0..values.len()).map(|row| literal(values, row));
    let list = InList::new(
        Box::new(operand.clone()),
        list.collect::<Option<_>>()?,
        false,
    );
    Some(Expr::InList(list))
}

/// Whether an operand may lie within ranges that hold all the values.
fn is_in_ranges(operand: &Expr, values: &ArrayRef) -> Option<Expr> {
    let ends = match values.as_binary_view_opt() {
        Some(texts) => {
            let mut order: Vec<usize> = (0..texts.len()).collect();
            order.sort_unstable_by_key(|row| texts.value(*row));
            let pieces = order.chunks(order.len().div_ceil(MAX_RANGES));
            pieces
                .map(|piece| (piece[0], piece[piece.len() - 1]))
                .collect()
        }
        None => ends_between_gaps(integers_of(values)?),
    };
    let ranges = ends.into_iter().map(|(least, greatest)| {
        let at_least = operand.clone().gt_eq(literal(values, least)?);
        Some(at_least.and(operand.clone().lt_eq(literal(values, greatest)?)))
    });
    disjunction(ranges.collect::<Option<Vec<_>>>()?)
}

/// The rows of the least and the greatest number of each range; what lies between ranges is as wide as can be.
fn ends_between_gaps(values: Vec<Option<i128>>) -> Vec<(usize, usize)> {
    let numbers = values.into_iter().zip(0..);
    let mut numbers: Vec<(i128, usize)> = numbers.filter_map(|(v, row)| Some((v?, row))).collect();
    numbers.sort_unstable();
    let mut begins: Vec<usize> = (1..numbers.len()).collect();
    if begins.len() >= MAX_RANGES {
        let gap = |begin: &usize| Reverse(numbers[*begin].0 - numbers[*begin - 1].0);
        begins.select_nth_unstable_by_key(MAX_RANGES - 1, gap);
        begins.truncate(MAX_RANGES - 1);
        begins.sort_unstable();
    }
    let firsts = std::iter::once(0).chain(begins.iter().copied());
    let lasts = begins.iter().copied().chain([numbers.len()]);
    let ends = firsts.zip(lasts);
    ends.map(|(first, end)| (numbers[first].1, numbers[end - 1].1))
        .collect()
}

fn literal(values: &ArrayRef, row: usize) -> Option<Expr> {
    let value = ScalarValue::try_from_array(values, row).ok()?;
    (!value.is_null()).then_some(Expr::Literal(value, None))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::UInt64Array;
    use datafusion::prelude::col;

    use super::*;

    #[test]
    fn ranges_lie_between_the_widest_gaps() {
        let clusters = (0..40_u64).flat_map(|c| (0..50).map(move |i| c * 1_000_000 + i * (c + 1)));
        let mut numbers: Vec<u64> = clusters.collect();
        numbers.reverse();
        let values = numbers.iter().map(|n| Some(i128::from(*n)));
        let ends = ends_between_gaps(values.collect());
        assert_eq!(ends.len(), MAX_RANGES);
        let width: u64 = ends.iter().map(|(a, b)| numbers[*b] - numbers[*a]).sum();
        // Without the 39 gaps between clusters, and some of the widest inside of them.
        let widths: u64 = (0..40).map(|c| 49 * (c + 1)).sum();
        assert!(width < widths, "{width} of {widths}");
        assert!(numbers.iter().all(|n| {
            ends.iter()
                .any(|(a, b)| (numbers[*a]..=numbers[*b]).contains(n))
        }));
    }

    #[test]
    fn few_values_are_a_list_and_many_are_ranges() {
        let of = |num: u64| {
            let values: ArrayRef = Arc::new(UInt64Array::from_iter_values((0..num).map(|i| i * i)));
            is_one_of(&col("a"), &values).unwrap().to_string()
        };
        assert!(
            of(3).contains("IN ([UInt64(0), UInt64(1), UInt64(4)])"),
            "{}",
            of(3)
        );
        assert_eq!(of(1_000).matches(">=").count(), MAX_RANGES);
    }
}
