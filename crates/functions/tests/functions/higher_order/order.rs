//! Tests of functions that sort.

use super::{check, negated, number, rows, second};
use crate::testing::column;

#[test]
fn sorting() {
    let rows = || [rows()];
    check(
        "arraySort",
        None,
        &rows(),
        ("Array(UInt8)", &["[1,2,3]", "[]", "[1]", "[0,1,2,5]"]),
    );
    check(
        "arrayReverseSort",
        None,
        &rows(),
        ("Array(UInt8)", &["[3,2,1]", "[]", "[1]", "[5,2,1,0]"]),
    );
    check(
        "arraySort",
        Some((1, negated)),
        &rows(),
        ("Array(UInt8)", &["[3,2,1]", "[]", "[1]", "[5,2,1,0]"]),
    );
    let limited = [number("2"), column("Array(UInt8)", &["[3,1,2,0]"])];
    check(
        "arrayPartialSort",
        None,
        &limited,
        ("Array(UInt8)", &["[0,1,2,3]"]),
    );
    let by_second = [
        column("Array(UInt8)", &["[1,2,3]"]),
        column("Array(UInt8)", &["[3,2,1]"]),
    ];
    check(
        "arraySort",
        Some((2, second)),
        &by_second,
        ("Array(UInt8)", &["[3,2,1]"]),
    );
}

#[test]
fn order_of_elements() {
    let floats = column("Array(Nullable(Float64))", &["[1,NULL,nan,-2,2]"]);
    check(
        "arraySort",
        None,
        std::slice::from_ref(&floats),
        ("Array(Nullable(Float64))", &["[-2,1,2,nan,NULL]"]),
    );
    check(
        "arrayReverseSort",
        None,
        &[floats],
        ("Array(Nullable(Float64))", &["[2,1,-2,nan,NULL]"]),
    );
    let texts = column("Array(String)", &["['b','a','']"]);
    check(
        "arrayReverseSort",
        None,
        &[texts],
        ("Array(String)", &["['b','a','']"]),
    );
    let tuples = column(
        "Array(Tuple(UInt8, String))",
        &["[(2,'a'),(1,'b'),(1,'a')]"],
    );
    check(
        "arraySort",
        None,
        &[tuples],
        (
            "Array(Tuple(UInt8, String))",
            &["[(1,'a'),(1,'b'),(2,'a')]"],
        ),
    );
    let lists = column("Array(Array(UInt8))", &["[[2],[1,5],[1]]"]);
    check(
        "arraySort",
        None,
        &[lists],
        ("Array(Array(UInt8))", &["[[1],[1,5],[2]]"]),
    );
}
