//! Tests of aggregates over arrays, running values and maps.

use super::{Lambda, apply, check, check_error, greater_one, negated, rows, second};
use crate::testing::column;

#[test]
fn aggregates() {
    let rows = || [rows()];
    check("arraySum", None, &rows(), ("UInt64", &["6", "0", "1", "8"]));
    check(
        "arraySum",
        Some((1, negated)),
        &rows(),
        ("Int64", &["-6", "0", "-1", "-8"]),
    );
    check(
        "arrayAvg",
        None,
        &rows(),
        ("Float64", &["2", "0", "1", "2"]),
    );
    check(
        "arrayProduct",
        None,
        &rows(),
        ("Float64", &["6", "0", "1", "0"]),
    );
    check("arrayMin", None, &rows(), ("UInt8", &["1", "0", "1", "0"]));
    check(
        "arrayMax",
        Some((1, negated)),
        &rows(),
        ("Int16", &["-1", "0", "-1", "0"]),
    );
    let texts = column("Array(String)", &["['a','b']", "[]"]);
    check("arrayMax", None, &[texts], ("String", &["b", ""]));
    let floats = column("Array(Float64)", &["[nan,1]", "[1,nan]", "[nan]"]);
    check("arrayMax", None, &[floats], ("Float64", &["1", "1", "nan"]));
    let nullable = column("Array(Nullable(UInt8))", &["[1,NULL]", "[NULL,NULL]"]);
    check(
        "arrayMax",
        None,
        std::slice::from_ref(&nullable),
        ("Nullable(UInt8)", &["1", "\\N"]),
    );
    check_error("arraySum", None, &[nullable], 43);
    let decimals = column("Array(Decimal(9, 1))", &["[1.5,2]"]);
    check(
        "arraySum",
        None,
        std::slice::from_ref(&decimals),
        ("Decimal(38, 1)", &["3.5"]),
    );
    check("arrayAvg", None, &[decimals], ("Float64", &["1.75"]));
    check_error("arraySum", None, &[column("Array(Date)", &["[]"])], 43);
}

#[test]
fn running() {
    let rows = || [rows()];
    check(
        "arrayCumSum",
        None,
        &rows(),
        ("Array(UInt64)", &["[3,4,6]", "[]", "[1]", "[5,6,8,8]"]),
    );
    let signed = column("Array(Int8)", &["[1,-5,3]"]);
    check(
        "arrayCumSumNonNegative",
        None,
        &[signed],
        ("Array(Int64)", &["[1,0,3]"]),
    );
    check(
        "arrayDifference",
        None,
        &rows(),
        ("Array(Int16)", &["[0,-2,1]", "[]", "[0]", "[0,-4,1,-2]"]),
    );
    let days = column("Array(Date)", &["['2020-01-01','2020-01-05']"]);
    check(
        "arrayDifference",
        None,
        &[days],
        ("Array(Int32)", &["[0,4]"]),
    );
    let decimals = column("Array(Decimal(9, 1))", &["[1.5,2.5]"]);
    check(
        "arrayDifference",
        None,
        std::slice::from_ref(&decimals),
        ("Array(Decimal(9, 1))", &["[0,1]"]),
    );
    check(
        "arrayCumSum",
        None,
        &[decimals],
        ("Array(Decimal(38, 1))", &["[1.5,4]"]),
    );
    let repeated = column(
        "Array(Nullable(Float64))",
        &["[1,1,nan,nan,2,3,3,NULL,NULL]"],
    );
    check(
        "arrayCompact",
        None,
        &[repeated],
        ("Array(Nullable(Float64))", &["[1,nan,2,3,NULL]"]),
    );
    check_error("arrayCumSum", None, &[column("Array(String)", &["[]"])], 43);
}

#[test]
fn maps() {
    let map = || [column("Map(String, UInt8)", &["{'b':1,'a':2}", "{}"])];
    let swap: Lambda = |p| apply("tuple", &[p[1].clone(), p[0].clone()]);
    check(
        "mapApply",
        Some((2, swap)),
        &map(),
        ("Map(UInt8, String)", &["{1:'b',2:'a'}", "{}"]),
    );
    let value_over_one: Lambda = |p| greater_one(&p[1..]);
    check(
        "mapFilter",
        Some((2, value_over_one)),
        &map(),
        ("Map(String, UInt8)", &["{'a':2}", "{}"]),
    );
    check(
        "mapExists",
        Some((2, value_over_one)),
        &map(),
        ("UInt8", &["1", "0"]),
    );
    check(
        "mapAll",
        Some((2, value_over_one)),
        &map(),
        ("UInt8", &["0", "1"]),
    );
    check(
        "mapSort",
        None,
        &map(),
        ("Map(String, UInt8)", &["{'a':2,'b':1}", "{}"]),
    );
    check(
        "mapReverseSort",
        Some((2, second)),
        &map(),
        ("Map(String, UInt8)", &["{'a':2,'b':1}", "{}"]),
    );
    check_error("mapApply", Some((2, second)), &map(), 36);
    check_error("mapApply", Some((2, swap)), &[rows()], 43);
    let itself: Lambda = |p| Ok(p[0].clone());
    check(
        "mapApply",
        Some((1, itself)),
        &map(),
        ("Map(String, UInt8)", &["{'b':1,'a':2}", "{}"]),
    );
}
