//! Makes arrays from values as they stand in SQL.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, FixedSizeBinaryArray, ListArray, NullArray, StringArray,
    StructArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType as ArrowType;
use basalt_functions::Arg;
use basalt_types::DataType;

use crate::testing::constant;

#[derive(Clone, Debug)]
enum Literal {
    Null,
    Scalar(String),
    List(Vec<Literal>),
}

/// A parameter of an aggregate function from its SQL literal.
pub(super) fn parameter(text: &str) -> Arg {
    let unquoted = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
    let input = match unquoted {
        Some(inner) => constant("String", inner),
        None if text.parse::<u64>().is_ok() => constant("UInt64", text),
        None if text.parse::<i64>().is_ok() => constant("Int64", text),
        None => constant("Float64", text),
    };
    Arg {
        data_type: input.data_type,
        constant: Some(input.column.array),
    }
}

/// The array of a comma-separated list of values.
pub(super) fn column(data_type: &DataType, text: &str) -> ArrayRef {
    let mut rest = text;
    let mut literals = Vec::new();
    while !rest.is_empty() {
        literals.push(parse(&mut rest));
        rest = rest.trim_start_matches([',', ' ']);
    }
    array(data_type, &literals)
}

fn parse(rest: &mut &str) -> Literal {
    let first = rest.chars().next().expect("value");
    if first == '[' || first == '(' || first == '{' {
        let mut items = Vec::new();
        *rest = &rest[1..];
        loop {
            *rest = rest.trim_start_matches([',', ' ', ':']);
            if rest.starts_with([']', ')', '}']) {
                *rest = &rest[1..];
                if first == '{' {
                    items = items
                        .chunks(2)
                        .map(|kv| Literal::List(kv.to_vec()))
                        .collect();
                }
                return Literal::List(items);
            }
            items.push(parse(rest));
        }
    }
    if first == '\'' {
        let end = rest[1..].find('\'').expect("quote") + 1;
        let text = rest[1..end].to_owned();
        *rest = &rest[end + 1..];
        return Literal::Scalar(text);
    }
    let end = rest.find([',', ')', ']', '}', ':']).unwrap_or(rest.len());
    let text = rest[..end].trim().to_owned();
    *rest = &rest[end..];
    match text.as_str() {
        "NULL" => Literal::Null,
        _ => Literal::Scalar(text),
    }
}

/// Numbers from their texts; NULL where there is none.
fn numbers(arrow: &ArrowType, literals: &[Literal], nullable: bool) -> ArrayRef {
    let texts = literals.iter().map(|l| match l {
        Literal::Scalar(text) if text == "true" => Some("1"),
        Literal::Scalar(text) if text == "false" => Some("0"),
        Literal::Scalar(text) => Some(text.as_str()),
        _ => (!nullable).then_some("0"),
    });
    let texts: StringArray = texts.collect();
    let array = arrow::compute::cast(&texts, arrow).expect("numbers");
    assert_eq!(array.null_count(), texts.null_count(), "{texts:?}");
    array
}

fn array(data_type: &DataType, literals: &[Literal]) -> ArrayRef {
    let physical = data_type.physical();
    if physical.is_primitive() {
        return numbers(&physical, literals, data_type.is_nullable());
    }
    match data_type.base() {
        DataType::String => Arc::new(BinaryViewArray::from_iter(literals.iter().map(
            |l| match l {
                Literal::Scalar(text) => Some(text.as_bytes().to_vec()),
                _ => None,
            },
        ))),
        DataType::FixedString(n) => {
            let padded = literals.iter().map(|l| match l {
                Literal::Scalar(text) => {
                    let mut bytes = text.as_bytes().to_vec();
                    bytes.resize(*n as usize, 0);
                    Some(bytes)
                }
                _ => None,
            });
            let width = i32::try_from(*n).expect("width");
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(padded, width);
            Arc::new(array.expect("fixed"))
        }
        DataType::Nothing => Arc::new(NullArray::new(literals.len())),
        DataType::Array(element) => list(data_type, element, literals),
        DataType::Map(key, value) => {
            let entry = DataType::Tuple(Arc::new(basalt_types::TupleType {
                types: vec![key.as_ref().clone(), value.as_ref().clone()],
                names: vec!["keys".to_owned(), "values".to_owned()],
            }));
            list(data_type, &entry, literals)
        }
        DataType::Tuple(tuple) => {
            let columns = tuple.types.iter().enumerate().map(|(i, t)| {
                let column: Vec<Literal> = literals.iter().map(|l| items(l)[i].clone()).collect();
                array(t, &column)
            });
            let ArrowType::Struct(fields) = physical else {
                panic!("tuple");
            };
            Arc::new(StructArray::new(fields, columns.collect(), None))
        }
        other => panic!("no literals of {other}"),
    }
}

fn items(literal: &Literal) -> &[Literal] {
    match literal {
        Literal::List(items) => items,
        other => panic!("no list: {other:?}"),
    }
}

fn list(data_type: &DataType, element: &DataType, literals: &[Literal]) -> ArrayRef {
    let ArrowType::List(item) = data_type.physical() else {
        panic!("list");
    };
    let offsets = OffsetBuffer::from_lengths(literals.iter().map(|l| items(l).len()));
    let flat: Vec<Literal> = literals.iter().flat_map(|l| items(l).to_vec()).collect();
    Arc::new(ListArray::new(item, offsets, array(element, &flat), None))
}
