//! Knows the functions whose result depends on the rows that came before: who calls one means the rows in the
//! order in which a subquery sorts them.

/// Their names.
const OF_ROWS_BEFORE: &[&str] = &[
    "neighbor",
    "rowNumberInAllBlocks",
    "rowNumberInBlock",
    "runningAccumulate",
    "runningConcurrency",
    "runningDifference",
    "runningDifferenceStartingWithFirstValue",
];

/// Whether the function of this name is one of them.
pub fn is_of_rows_before(function: &str) -> bool {
    OF_ROWS_BEFORE.contains(&function)
}
