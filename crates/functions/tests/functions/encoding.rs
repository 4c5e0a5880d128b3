//! Checks functions that write bytes in other ways against values from ClickHouse.

use crate::strings_testing::{check, check_table};

#[test]
fn encodings_are_those_of_clickhouse() {
    check_table(include_str!("encoding/encoding.tsv"));
}

#[test]
fn cells_and_numbers_of_the_hilbert_curve_are_opposites() {
    check(&[("hilbertEncode(3, 4)", "UInt64\t31")]);
    for (x, y) in [
        (0, 0),
        (3, 4),
        (u32::MAX, 0),
        (123_456, 654_321),
        (7, u32::MAX),
    ] {
        let expression = format!("hilbertDecode(2, hilbertEncode({x}, {y}))");
        let expected = format!("Tuple(UInt64, UInt64)\t({x},{y})");
        check(&[(&expression, &expected)]);
    }
}
