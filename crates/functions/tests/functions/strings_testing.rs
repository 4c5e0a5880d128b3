//! Evaluates small expressions for the tests of functions over bytes.
//!
//! `check(&[("substring('hello', 2, 3)", "String\tell")])`: the expression is also valid in
//! ClickHouse, where the expected text (type, tab, value) comes from. Unlike in
//! `scalar::testing`, strings may hold any bytes (`\xFF`), and each call runs three times: with
//! constants, with the first argument as a full column, and with full columns only.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, FixedSizeBinaryArray, Float64Array, Int64Array,
    ListArray, NullArray, StructArray, UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type, Int64Type, UInt64Type};
use basalt_error::{Error, Result};
use basalt_types::{DataType, least_supertype, parse_data_type};

use basalt_functions::{Arg, BoundFunction, Column, Context, Purity, registry};

/// A constant: its type and an array of one row.
#[derive(Clone, Debug)]
struct Value {
    data_type: DataType,
    array: ArrayRef,
}

/// Checks the lines of a table, each `expression <tab> type <tab> value` or
/// `expression <tab> ERR code`.
pub(crate) fn check_table(table: &str) {
    let cases = table.lines().filter(|line| !line.starts_with('#'));
    let cases: Vec<(&str, &str)> = cases
        .map(|line| line.split_once('\t').expect(line))
        .collect();
    check(&cases);
}

/// Checks each expression's type and value, or the number of its error as `ERR 43`.
pub(crate) fn check(cases: &[(&str, &str)]) {
    let failed: Vec<String> = cases
        .iter()
        .map(|(expression, expected)| (expression, expected, evaluate(expression)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(e, expected, found)| format!("{e}\n  expected {expected:?}\n  found    {found:?}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn evaluate(expression: &str) -> String {
    let mut parser = Parser(expression);
    match parser.value() {
        Ok(value) => {
            assert!(
                parser.0.trim().is_empty(),
                "rest {:?} in {expression}",
                parser.0
            );
            format!(
                "{}\t{}",
                value.data_type,
                show(&value.array, 0, &value.data_type, false)
            )
        }
        Err(error) => format!("ERR {}", error.code().number),
    }
}

struct Parser<'a>(&'a str);

impl Parser<'_> {
    fn value(&mut self) -> Result<Value> {
        let mut value = self.primary()?;
        while self.eat("::") {
            let mut depth = 0i32;
            let end = self.0.find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth < 0 || depth == 0 && [',', ']', ' '].contains(&c)
            });
            let (name, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
            self.0 = rest;
            value = cast(&value, &parse_data_type(name)?)?;
        }
        Ok(value)
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start();
        let found = rest.strip_prefix(token);
        self.0 = found.unwrap_or(rest);
        found.is_some()
    }

    fn list(&mut self, end: &str) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        while !self.eat(end) {
            values.push(self.value()?);
            self.eat(",");
        }
        Ok(values)
    }

    fn primary(&mut self) -> Result<Value> {
        if self.eat("[") {
            return array(&self.list("]")?);
        }
        if self.eat("'") {
            return Ok(self.string());
        }
        if self.eat("(") {
            return Ok(tuple(&self.list(")")?));
        }
        let is_word = |c: char| c.is_alphanumeric() || "_.".contains(c);
        let rest = self.0;
        let sign = usize::from(rest.starts_with('-'));
        let end = rest[sign..]
            .find(|c| !is_word(c))
            .map_or(rest.len(), |e| e + sign);
        let word = &rest[..end];
        self.0 = &rest[end..];
        if word == "NULL" {
            return Ok(Value {
                data_type: DataType::Nothing.to_nullable(),
                array: Arc::new(NullArray::new(1)),
            });
        }
        if self.eat("(") {
            let args = self.list(")")?;
            return match word.strip_prefix("to").map(parse_data_type) {
                Some(Ok(data_type)) => cast(&args[0], &data_type),
                _ => call(word, &args),
            };
        }
        Ok(number(word))
    }

    fn string(&mut self) -> Value {
        let mut bytes = Vec::new();
        let mut rest = self.0.bytes();
        while let Some(byte) = rest.next() {
            let escaped = match byte {
                b'\'' => break,
                b'\\' => rest.next().expect("escaped"),
                byte => {
                    bytes.push(byte);
                    continue;
                }
            };
            bytes.push(match escaped {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'0' => 0,
                b'x' => {
                    let digits = [rest.next().expect("hex"), rest.next().expect("hex")];
                    let digits = std::str::from_utf8(&digits).expect("hex");
                    u8::from_str_radix(digits, 16).expect("hex")
                }
                other => other,
            });
        }
        self.0 = &self.0[self.0.len() - rest.len()..];
        Value {
            data_type: DataType::String,
            array: Arc::new(BinaryViewArray::from_iter_values([bytes])),
        }
    }
}

fn number(word: &str) -> Value {
    let (data_type, array): (DataType, ArrayRef) = if let Ok(n) = word.parse::<u64>() {
        let data_type = match n {
            0..0x100 => DataType::UInt8,
            0x100..0x1_0000 => DataType::UInt16,
            0x1_0000..0x1_0000_0000 => DataType::UInt32,
            _ => DataType::UInt64,
        };
        (data_type, Arc::new(UInt64Array::from(vec![n])))
    } else if let Ok(n) = word.parse::<i64>() {
        let data_type = match n {
            -0x80..=0x7f => DataType::Int8,
            -0x8000..-0x80 => DataType::Int16,
            -0x8000_0000..-0x8000 => DataType::Int32,
            _ => DataType::Int64,
        };
        (data_type, Arc::new(Int64Array::from(vec![n])))
    } else {
        let number: f64 = word
            .parse()
            .unwrap_or_else(|_| panic!("not a number: {word}"));
        (
            DataType::Float64,
            Arc::new(Float64Array::from(vec![number])),
        )
    };
    let array = arrow::compute::cast(&array, &data_type.physical()).expect("fits");
    Value { data_type, array }
}

fn tuple(values: &[Value]) -> Value {
    let data_type = DataType::tuple(values.iter().map(|v| v.data_type.clone()).collect());
    let ArrowType::Struct(fields) = data_type.physical() else {
        unreachable!("a tuple's physical type is a struct")
    };
    let columns = values.iter().map(|v| Arc::clone(&v.array)).collect();
    Value {
        data_type,
        array: Arc::new(StructArray::new(fields, columns, None)),
    }
}

fn array(values: &[Value]) -> Result<Value> {
    let types: Vec<DataType> = values.iter().map(|v| v.data_type.clone()).collect();
    let element = if types.is_empty() {
        DataType::Nothing
    } else {
        least_supertype(&types)?
    };
    let casted = values.iter().map(|v| cast(v, &element).map(|v| v.array));
    let casted = casted.collect::<Result<Vec<_>>>()?;
    let parts: Vec<&dyn Array> = casted.iter().map(AsRef::as_ref).collect();
    let items = if parts.is_empty() {
        arrow::array::new_empty_array(&element.physical())
    } else {
        arrow::compute::concat(&parts).expect("one type")
    };
    let data_type = DataType::array(element);
    let ArrowType::List(field) = data_type.physical() else {
        unreachable!("an array's physical type is a list")
    };
    let list = ListArray::new(
        field,
        OffsetBuffer::from_lengths([values.len()]),
        items,
        None,
    );
    Ok(Value {
        data_type,
        array: Arc::new(list),
    })
}

fn cast(value: &Value, data_type: &DataType) -> Result<Value> {
    let array: ArrayRef = match (data_type.base(), value.data_type.base()) {
        (a, b) if a == b => Arc::clone(&value.array),
        (DataType::FixedString(n), DataType::String) => {
            let mut bytes = value.array.as_binary_view().value(0).to_vec();
            bytes.resize(*n as usize, 0);
            Arc::new(FixedSizeBinaryArray::new(*n as i32, bytes.into(), None))
        }
        (DataType::Uuid | DataType::Ipv6, DataType::String) => {
            let text = value.array.as_binary_view().value(0);
            let text = std::str::from_utf8(text).expect("text");
            let address = || {
                text.parse::<std::net::Ipv6Addr>()
                    .expect("address")
                    .octets()
            };
            let bytes = match data_type.base() {
                DataType::Uuid => uuid::Uuid::parse_str(text).expect("uuid").into_bytes(),
                _ => address(),
            };
            Arc::new(FixedSizeBinaryArray::new(16, bytes.to_vec().into(), None))
        }
        _ => arrow::compute::cast(&value.array, &data_type.physical())
            .map_err(|e| Error::bug(e.to_string()))?,
    };
    Ok(Value {
        data_type: data_type.clone(),
        array,
    })
}

fn call(name: &str, values: &[Value]) -> Result<Value> {
    let function = registry::get_scalar(name)?;
    let context = Context::default();
    let constants: Vec<Arg> = values
        .iter()
        .map(|v| Arg {
            data_type: v.data_type.clone(),
            constant: Some(Arc::clone(&v.array)),
        })
        .collect();
    let bound = BoundFunction::bind(function, &constants, &context)?;
    let columns: Vec<Column> = values
        .iter()
        .map(|v| Column::constant(Arc::clone(&v.array)))
        .collect();
    let array = bound.call(&columns, 1)?;
    assert_eq!(array.data_type(), &bound.return_type.physical(), "{name}");
    let plain: Vec<Arg> = values
        .iter()
        .map(|v| Arg::new(v.data_type.clone()))
        .collect();
    // The first argument alone as a full column, and all of them, must give the same.
    let mut first = constants;
    if let Some(arg) = first.first_mut() {
        arg.constant = None;
    }
    for args in [first, plain] {
        let Ok(bound) = BoundFunction::bind(function, &args, &context) else {
            continue;
        };
        let pairs = args.iter().zip(&columns);
        let columns = pairs.map(|(arg, column)| match arg.constant {
            Some(_) => Ok(column.clone()),
            None => column.expand(3).map(Column::new),
        });
        let rows = bound.call(&columns.collect::<Result<Vec<_>>>()?, 3)?;
        if function.purity == Purity::Pure {
            let (row, constant) = (rows.slice(2, 1), array.slice(0, 1));
            assert_eq!(&row, &constant, "{name}: full column and constant differ");
        }
    }
    Ok(Value {
        data_type: bound.return_type,
        array,
    })
}

fn show(array: &ArrayRef, row: usize, data_type: &DataType, nested: bool) -> String {
    if array.is_null(row) || matches!(array.data_type(), ArrowType::Null) {
        return if nested { "NULL" } else { "\\N" }.to_owned();
    }
    match data_type.base() {
        DataType::String | DataType::FixedString(_) => {
            let text = match array.as_binary_view_opt() {
                Some(views) => show_bytes(views.value(row)),
                None => show_bytes(array.as_fixed_size_binary().value(row)),
            };
            if nested { format!("'{text}'") } else { text }
        }
        DataType::Array(element) => {
            let items = array.as_list::<i32>().value(row);
            let items = (0..items.len()).map(|i| show(&items, i, element, true));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        DataType::Tuple(tuple) => {
            let fields = array.as_struct().columns().iter().zip(&tuple.types);
            let fields = fields.map(|(field, t)| show(field, row, t, true));
            format!("({})", fields.collect::<Vec<_>>().join(","))
        }
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).to_string(),
        DataType::Uuid | DataType::Ipv6 => {
            let bytes = array.as_fixed_size_binary().value(row);
            bytes.iter().fold(String::new(), |mut hex, b| {
                write!(hex, "{b:02x}").expect("to a string");
                hex
            })
        }
        t if t.is_unsigned() || matches!(t, DataType::Ipv4) => {
            let numbers = arrow::compute::cast(array, &ArrowType::UInt64).expect("a number");
            numbers.as_primitive::<UInt64Type>().value(row).to_string()
        }
        _ => {
            let numbers = arrow::compute::cast(array, &ArrowType::Int64).expect("a number");
            numbers.as_primitive::<Int64Type>().value(row).to_string()
        }
    }
}

/// As TabSeparated escapes, and what is no UTF-8 as `\xFF`.
fn show_bytes(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\0' => text.push_str("\\0"),
                '\\' => text.push_str("\\\\"),
                '\'' => text.push_str("\\'"),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02X}").expect("to a string");
        }
    }
    text
}
