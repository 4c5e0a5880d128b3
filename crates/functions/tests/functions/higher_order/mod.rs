//! Checks the higher-order functions; expected values are ClickHouse's.

mod aggregates;
mod order;

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::{ColumnBuilder, DataType};

use crate::testing::{Input, call, column, constant, texts};
use basalt_functions::Column;
use basalt_functions::higher_order::{HigherOrderCall, LambdaBody, find};

/// A lambda as a Rust function of its parameters.
type Lambda = fn(&[Input]) -> Result<Input>;

#[derive(Debug)]
struct Body {
    types: Vec<DataType>,
    lambda: Lambda,
}

impl Body {
    fn run(&self, parameters: &[ArrayRef]) -> Result<Input> {
        assert_eq!(parameters.len(), self.types.len(), "number of parameters");
        let inputs = parameters
            .iter()
            .zip(&self.types)
            .map(|(array, data_type)| {
                assert_eq!(
                    array.data_type(),
                    &data_type.physical(),
                    "type of a parameter"
                );
                Input {
                    data_type: data_type.clone(),
                    column: Column::new(std::sync::Arc::clone(array)),
                }
            });
        (self.lambda)(&inputs.collect::<Vec<_>>())
    }
}

impl LambdaBody for Body {
    fn eval(&self, parameters: &[ArrayRef], rows: &[u32]) -> Result<ArrayRef> {
        assert!(
            parameters.iter().all(|p| p.len() == rows.len()),
            "a row for each parameter"
        );
        self.run(parameters)?.column.expand(rows.len())
    }

    fn arity(&self) -> Option<usize> {
        Some(self.types.len())
    }
}

fn default_value(data_type: &DataType) -> Result<ArrayRef> {
    let mut builder = ColumnBuilder::new(data_type, 1)?;
    builder.append_default();
    builder.finish()
}

fn run(
    name: &str,
    lambda: Option<(usize, Lambda)>,
    arrays: &[Input],
) -> Result<(DataType, ArrayRef)> {
    let function = find(name).expect(name);
    let types: Vec<DataType> = arrays.iter().map(|a| a.data_type.clone()).collect();
    let body = match lambda {
        None => None,
        Some((arity, lambda)) => Some(Body {
            types: (function.parameters)(name, arity, &types)?,
            lambda,
        }),
    };
    let body_type = match (&body, types.first()) {
        (Some(body), _) => {
            let one = body.types.iter().map(|t| default_value(t));
            body.run(&one.collect::<Result<Vec<_>>>()?)?.data_type
        }
        (None, Some(DataType::Array(element))) => element.as_ref().clone(),
        _ => DataType::Nothing,
    };
    let return_type = (function.return_type)(name, &body_type, &types)?;
    let num_rows = arrays
        .iter()
        .map(|a| a.column.array.len())
        .max()
        .unwrap_or(0);
    let arrays = arrays
        .iter()
        .map(|a| a.column.expand(num_rows))
        .collect::<Result<Vec<_>>>()?;
    let array = (function.eval)(&HigherOrderCall {
        body: body.as_ref().map(|b| b as &dyn LambdaBody),
        body_type: &body_type,
        arrays: &arrays,
        types: &types,
        return_type: &return_type,
        num_rows,
    })?;
    assert_eq!(array.len(), num_rows, "rows of {name}");
    assert_eq!(
        array.data_type(),
        &return_type.physical(),
        "array of {name}"
    );
    Ok((return_type, array))
}

fn check(name: &str, lambda: Option<(usize, Lambda)>, arrays: &[Input], expected: (&str, &[&str])) {
    let (data_type, array) = run(name, lambda, arrays).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(data_type.to_string(), expected.0, "type of {name}");
    assert_eq!(texts(&data_type, &array), expected.1, "rows of {name}");
}

fn check_error(name: &str, lambda: Option<(usize, Lambda)>, arrays: &[Input], code: u16) {
    let error = run(name, lambda, arrays).expect_err(name);
    assert_eq!(error.code().number, code, "{name}: {error}");
}

fn number(text: &str) -> Input {
    constant("UInt8", text)
}

fn apply(name: &str, args: &[Input]) -> Result<Input> {
    let num_rows = args.iter().map(|a| a.column.array.len()).max().unwrap_or(1);
    let num_rows = args
        .iter()
        .find(|a| !a.column.is_const)
        .map_or(num_rows, |a| a.column.array.len());
    call(name, args, num_rows)
}

fn greater_one(p: &[Input]) -> Result<Input> {
    apply("greater", &[p[0].clone(), number("1")])
}

fn negated(p: &[Input]) -> Result<Input> {
    apply("negate", &p[..1])
}

fn second(p: &[Input]) -> Result<Input> {
    Ok(p[1].clone())
}

fn rows() -> Input {
    column("Array(UInt8)", &["[3,1,2]", "[]", "[1]", "[5,1,2,0]"])
}

#[test]
fn maps_and_folds() {
    let plus_one: Lambda = |p| apply("plus", &[p[0].clone(), number("1")]);
    check(
        "arrayMap",
        Some((1, plus_one)),
        &[rows()],
        ("Array(UInt16)", &["[4,2,3]", "[]", "[2]", "[6,2,3,1]"]),
    );
    let pairs = column("Array(Tuple(UInt8, String))", &["[(1,'a'),(2,'b')]"]);
    check(
        "arrayMap",
        Some((2, second)),
        &[pairs],
        ("Array(String)", &["['a','b']"]),
    );
    let short = column("Array(UInt8)", &["[1]", "[]", "[1]", "[1]"]);
    check_error("arrayMap", Some((2, second)), &[rows(), short], 190);
    check_error("arrayMap", Some((1, negated)), &[number("1")], 43);
    let sum: Lambda = |p| apply("plus", &p[..2]);
    let start = constant("Int64", "5");
    check(
        "arrayFold",
        Some((2, sum)),
        &[rows(), start.clone()],
        ("Int64", &["11", "5", "6", "13"]),
    );
    check_error("arrayFold", Some((2, sum)), &[rows(), number("0")], 53);
    let push: Lambda = |p| apply("arrayPushFront", &p[..2]);
    let empty = constant("Array(UInt8)", "[]");
    check(
        "arrayFold",
        Some((2, push)),
        &[rows(), empty],
        ("Array(UInt8)", &["[2,1,3]", "[]", "[1]", "[0,2,1,5]"]),
    );
}

#[test]
fn predicates() {
    let one: Option<(usize, Lambda)> = Some((1, greater_one));
    let rows = || [rows()];
    check(
        "arrayFilter",
        one,
        &rows(),
        ("Array(UInt8)", &["[3,2]", "[]", "[]", "[5,2]"]),
    );
    check(
        "arrayCount",
        one,
        &rows(),
        ("UInt32", &["2", "0", "0", "2"]),
    );
    check(
        "arrayCount",
        None,
        &rows(),
        ("UInt32", &["3", "0", "1", "3"]),
    );
    check(
        "arrayExists",
        one,
        &rows(),
        ("UInt8", &["1", "0", "0", "1"]),
    );
    check("arrayAll", one, &rows(), ("UInt8", &["0", "1", "0", "0"]));
    check("arrayFirst", one, &rows(), ("UInt8", &["3", "0", "0", "5"]));
    check("arrayLast", one, &rows(), ("UInt8", &["2", "0", "0", "2"]));
    check(
        "arrayFirstOrNull",
        one,
        &rows(),
        ("Nullable(UInt8)", &["3", "\\N", "\\N", "5"]),
    );
    check(
        "arrayLastOrNull",
        one,
        &rows(),
        ("Nullable(UInt8)", &["2", "\\N", "\\N", "2"]),
    );
    check(
        "arrayFirstIndex",
        one,
        &rows(),
        ("UInt32", &["1", "0", "0", "1"]),
    );
    check(
        "arrayLastIndex",
        one,
        &rows(),
        ("UInt32", &["3", "0", "0", "3"]),
    );
}

#[test]
fn splits_and_fills() {
    let one: Option<(usize, Lambda)> = Some((1, greater_one));
    let rows = || [rows()];
    check(
        "arraySplit",
        one,
        &rows(),
        (
            "Array(Array(UInt8))",
            &["[[3,1],[2]]", "[]", "[[1]]", "[[5,1],[2,0]]"],
        ),
    );
    check(
        "arrayReverseSplit",
        one,
        &rows(),
        (
            "Array(Array(UInt8))",
            &["[[3],[1,2]]", "[]", "[[1]]", "[[5],[1,2],[0]]"],
        ),
    );
    check(
        "arrayFill",
        one,
        &rows(),
        ("Array(UInt8)", &["[3,3,2]", "[]", "[1]", "[5,5,2,2]"]),
    );
    check(
        "arrayReverseFill",
        one,
        &rows(),
        ("Array(UInt8)", &["[3,2,2]", "[]", "[1]", "[5,2,2,0]"]),
    );
}

#[test]
fn types_of_predicates() {
    let rows = || [rows()];
    let nullable = column("Array(Nullable(UInt8))", &["[1,NULL,3]", "[]"]);
    check(
        "arrayFilter",
        Some((1, greater_one)),
        std::slice::from_ref(&nullable),
        ("Array(Nullable(UInt8))", &["[3]", "[]"]),
    );
    check_error(
        "arrayCount",
        None,
        &[column("Array(String)", &["['a']"])],
        43,
    );
    check_error("arrayFilter", Some((1, negated)), &rows(), 43);
    let null: Lambda = |_| Ok(constant("Nullable(Nothing)", "\\N"));
    check(
        "arrayFilter",
        Some((1, null)),
        &rows(),
        ("Array(UInt8)", &["[]", "[]", "[]", "[]"]),
    );
}
