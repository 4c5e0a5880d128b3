//! Answers of ClickHouse to calls of the functions of this family.

use crate::testing::{check, check_table, column, constant};

#[test]
fn recorded_answers() {
    check_table(include_str!("introspection/all.tsv"));
}

#[test]
fn rows_see_their_neighbours() {
    let numbers = || column("UInt8", &["1", "5", "3"]);
    check(
        "runningDifference",
        &[numbers()],
        "Int16",
        &["0", "4", "-2"],
    );
    check(
        "runningDifferenceStartingWithFirstValue",
        &[numbers()],
        "Int16",
        &["1", "4", "-2"],
    );
    let nullable = column("Nullable(UInt8)", &["1", "\\N", "3"]);
    check(
        "runningDifference",
        &[nullable],
        "Nullable(Int16)",
        &["0", "\\N", "2"],
    );
    let dates = column("Date", &["2024-01-01", "2024-01-03"]);
    check("runningDifference", &[dates], "Int32", &["0", "2"]);
    check(
        "neighbor",
        &[numbers(), constant("Int8", "-1")],
        "UInt8",
        &["0", "1", "5"],
    );
    let default = constant("UInt16", "300");
    check(
        "neighbor",
        &[numbers(), constant("UInt8", "1"), default],
        "UInt16",
        &["5", "3", "300"],
    );
    check("rowNumberInBlock", &[], "UInt64", &["0"]);
}
