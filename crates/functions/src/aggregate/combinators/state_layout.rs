//! Which aggregate functions have states that ClickHouse reads, too, and of what parts.

use basalt_types::{AggregateType, DataType};

use super::state_bytes::{Part, Value, value_of};
use crate::aggregate::binding;

/// The parts of a state with the columns that they are in.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) parts: Vec<(usize, Part)>,
    /// Whether nothing follows a flag that says that there was no row.
    pub(super) stops_without_rows: bool,
}

/// The layout of the states of `name` over the arguments of `function`.
pub(super) fn layout(name: &str, function: &AggregateType) -> Option<Layout> {
    let mut name = name.to_owned();
    let mut args: Vec<DataType> = function.args.clone();
    let mut is_tracked = false;
    while binding::find(&name).is_none() {
        let (inner, combinator) = binding::split(&name)?;
        match combinator.suffix {
            "If" => {
                // A condition that may be NULL is tracked in ClickHouse only.
                args.pop().filter(|condition| !condition.is_nullable())?;
            }
            "Array" => {
                let elements = args.iter().map(|t| match t {
                    DataType::Array(element) => Some(element.as_ref().clone()),
                    _ => None,
                });
                args = elements.collect::<Option<_>>()?;
            }
            "OrNull" | "OrDefault" if !is_tracked => is_tracked = true,
            _ => return None,
        }
        name = inner.to_owned();
    }
    let args: Vec<DataType> = args
        .into_iter()
        .map(|t| t.without_low_cardinality().clone())
        .collect();
    let is_nullable = args.iter().any(DataType::is_nullable);
    let plain: Vec<DataType> = args.iter().map(|t| t.base().clone()).collect();
    let parts = parts_of(&name, &plain, !function.params.is_empty())?;
    let num_columns: usize = parts.iter().map(|p| if_flagged(p) + 1).sum();
    let mut places = Vec::with_capacity(parts.len());
    let mut column = 0;
    for part in parts {
        let width = if_flagged(&part) + 1;
        places.push((column, part));
        column += width;
    }
    // Counts and lists are never NULL: there is nothing to track.
    let tracks_nulls = is_nullable && !matches!(name.as_str(), "count" | "groupArray");
    match (tracks_nulls, is_tracked) {
        (true, true) => return None,
        (true, false) => places.insert(0, (num_columns, Part::Flag)),
        (false, true) => places.push((num_columns, Part::Flag)),
        (false, false) => {}
    }
    Some(Layout {
        parts: places,
        stops_without_rows: tracks_nulls,
    })
}

fn if_flagged(part: &Part) -> usize {
    usize::from(matches!(part, Part::Flagged(_)))
}

fn parts_of(name: &str, args: &[DataType], has_params: bool) -> Option<Vec<Part>> {
    let float = || Part::Number(number(8));
    let first = args.first();
    Some(match name {
        "count" => vec![Part::Count],
        // Of floats there is, beside the sum, what it has rounded away.
        "sum" if first?.is_float() => vec![float(), Part::Absent],
        "sumCount" | "avg" if first?.is_float() => vec![float(), Part::Absent, Part::Count],
        "sum" => vec![Part::Number(number(sum_width(first?)?))],
        "sumWithOverflow" => vec![Part::Number(value_of(first?).filter(is_number)?)],
        "sumKahan" => vec![float(), float()],
        "sumCount" | "avg" => vec![Part::Number(number(sum_width(first?)?)), Part::Count],
        "min" | "max" => vec![Part::Optional(value_of(first?)?)],
        "any" | "anyLast" => vec![Part::Flagged(value_of(first?)?)],
        "groupArray" if !has_params => vec![Part::List(value_of(first?)?)],
        "groupBitAnd" | "groupBitOr" | "groupBitXor" if first?.is_unsigned() => {
            vec![Part::Number(number(first?.fixed_size_bytes()?))]
        }
        "varSamp" | "varPop" | "stddevSamp" | "stddevPop" => {
            vec![float(), float(), float(), Part::Absent, Part::Absent]
        }
        "skewSamp" | "skewPop" => vec![float(), float(), float(), float(), Part::Absent],
        "kurtSamp" | "kurtPop" => vec![float(), float(), float(), float(), float()],
        _ => return None,
    })
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Fixed { .. })
}

fn number(width: usize) -> Value {
    Value::Fixed {
        width,
        is_signed: true,
    }
}

/// Bytes of the sum of values of a type.
fn sum_width(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Decimal { precision, .. } if *precision > 38 => Some(32),
        DataType::Decimal { .. } => Some(16),
        t if t.is_integer() || t.is_float() => Some(8),
        _ => None,
    }
}
