//! Tells the aggregate functions apart whose result follows the order of the rows.

/// How the names of functions begin that show the order of the rows themselves.
const SHOWN: &[&str] = &[
    "any",
    "first_value",
    "groupArray",
    "groupConcat",
    "last_value",
];

/// How the names of functions begin that only follow an order which the query gives: of rows without one
/// each answer is as good as another.
const FOLLOWED: &[&str] = &[
    "argMax",
    "argMin",
    "deltaSum",
    "exponential",
    "histogram",
    "singleValueOrNull",
    "stochastic",
];

/// Whether the result of a function shows in which order the rows came.
pub(crate) fn shows_order(name: &str) -> bool {
    SHOWN.iter().any(|ordered| name.starts_with(ordered))
}

/// Whether rows that the query sorts must come in that order.
pub(crate) fn follows_sort(name: &str) -> bool {
    shows_order(name) || FOLLOWED.iter().any(|ordered| name.starts_with(ordered))
}
