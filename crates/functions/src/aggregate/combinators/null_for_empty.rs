//! Which functions are NULL over no rows, if the setting `aggregate_functions_null_for_empty` wants that.

use crate::aggregate::binding;

/// Functions that are 0 over no rows, whatever the setting says.
const ZERO_OVER_NOTHING: [&str; 7] = [
    "count",
    "deltaSum",
    "deltaSumTimestamp",
    "uniq",
    "uniqExact",
    "uniqHLL12",
    "uniqUpTo",
];

/// The function that the setting puts in place of `name`, which may have combinators.
#[must_use]
pub fn null_for_empty(name: &str) -> String {
    let function = binding::innermost(name);
    let is_zero = function.is_some_and(|function| ZERO_OVER_NOTHING.contains(&function.name));
    if name.contains("OrNull") || is_zero {
        return name.to_owned();
    }
    match binding::split(name) {
        // States know whether they had rows.
        Some((inner, combinator)) if ["State", "Merge"].contains(&combinator.suffix) => {
            format!("{}{}", null_for_empty(inner), combinator.suffix)
        }
        _ => format!("{name}OrNull"),
    }
}
