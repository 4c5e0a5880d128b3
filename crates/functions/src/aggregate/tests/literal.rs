//! Makes arrays from values as they stand in SQL.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, FixedSizeBinaryArray, ListArray, NullArray, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType};
use basalt_types::DataType;

use crate::aggregate::values::{Primitive, PrimitiveVisitor, primitive_array, visit_primitive};

#[derive(Clone, Debug)]
enum Literal {
    Null,
    Scalar(String),
    List(Vec<Literal>),
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

struct Numbers<'a>(&'a [Literal], &'a ArrowType, Option<NullBuffer>);

impl PrimitiveVisitor for Numbers<'_> {
    type Output = ArrayRef;

    fn visit<T: Primitive>(self) -> ArrayRef {
        let number = |l: &Literal| match l {
            Literal::Scalar(text) => number::<T>(text, self.1),
            _ => T::Native::default(),
        };
        let values = self.0.iter().map(number).collect();
        primitive_array::<T>(values, self.2, self.1)
    }
}

fn number<T: Primitive>(text: &str, arrow: &ArrowType) -> T::Native {
    let text = match text {
        "true" => "1",
        "false" => "0",
        t => t,
    };
    let scale = match arrow {
        ArrowType::Decimal128(_, s) | ArrowType::Decimal256(_, s) => u32::try_from(*s).expect("s"),
        _ => 0,
    };
    if scale > 0 {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{part:0<width$}", width = scale as usize);
        return cast_text::<T>(&digits);
    }
    cast_text::<T>(text)
}

fn cast_text<T: Primitive>(text: &str) -> <T as ArrowPrimitiveType>::Native {
    use arrow::array::{AsArray, StringArray};
    let strings = StringArray::from_iter_values([text]);
    let target = match T::DATA_TYPE {
        ArrowType::Decimal128(..) => ArrowType::Decimal128(38, 0),
        ArrowType::Decimal256(..) => ArrowType::Decimal256(76, 0),
        t => t,
    };
    let array = arrow::compute::cast(&strings, &target).expect(text);
    assert!(arrow::array::Array::is_valid(&array, 0), "{text}");
    array.as_primitive::<T>().value(0)
}

fn array(data_type: &DataType, literals: &[Literal]) -> ArrayRef {
    let physical = data_type.physical();
    let nulls = data_type.is_nullable().then(|| {
        let valid = literals.iter().map(|l| !matches!(l, Literal::Null));
        valid.collect::<NullBuffer>()
    });
    let numbers = Numbers(literals, &physical, nulls.clone());
    if let Some(numbers) = visit_primitive(&physical, numbers) {
        return numbers;
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
