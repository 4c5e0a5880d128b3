//! Checks functions against recorded answers: `check` for one call, `check_table` for a file.
//!
//! A table has lines `expression <tab> type <tab> value`, or `expression <tab> ERR code`. Such a
//! line is what ClickHouse prints for `SELECT toTypeName(x), x FROM (SELECT expression AS x)` as
//! TSV. Expressions are calls, literals, arrays, tuples, `::Type`, `INTERVAL` and operators. Each
//! runs twice: with constants, and (unless `!` stands before it) with every literal as a column of
//! three rows.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::{ColumnText, Style, TextOptions};
use basalt_types::{ColumnBuilder, DataType, parse_data_type};

use basalt_functions::scalar::core::cast::{CastMode, cast_function};
use basalt_functions::{Arg, BoundFunction, Column, Context, Purity, registry};

/// A typed value or column.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) data_type: DataType,
    pub(crate) column: Column,
}

/// A column of a type from the texts of its rows; `\N` is NULL.
pub(crate) fn column(data_type: &str, rows: &[&str]) -> Input {
    let data_type = parse_data_type(data_type).expect(data_type);
    let mut builder = ColumnBuilder::new(&data_type, rows.len()).expect("builder");
    for row in rows {
        if *row == "\\N" {
            builder.append_null();
        } else {
            builder.append_text(row.as_bytes()).expect(row);
        }
    }
    Input {
        data_type,
        column: Column::new(builder.finish().expect("array")),
    }
}

/// A constant of a type from its text.
pub(crate) fn constant(data_type: &str, text: &str) -> Input {
    let mut input = column(data_type, &[text]);
    input.column.is_const = true;
    input
}

/// Runs a function of the registry.
pub(crate) fn call(name: &str, args: &[Input], num_rows: usize) -> Result<Input> {
    let function = registry::get_scalar(name)?;
    let typed: Vec<Arg> = args
        .iter()
        .map(|a| Arg {
            data_type: a.data_type.clone(),
            constant: a.column.is_const.then(|| Arc::clone(&a.column.array)),
        })
        .collect();
    let bound = BoundFunction::bind(function, &typed, &Context::default())?;
    let is_const = bound.purity != Purity::PerRow
        && !args.is_empty()
        && args.iter().all(|a| a.column.is_const);
    let columns: Vec<Column> = args.iter().map(|a| a.column.clone()).collect();
    let array = bound.call(&columns, if is_const { 1 } else { num_rows })?;
    let physical = bound.return_type.physical();
    assert_eq!(
        array.data_type(),
        &physical,
        "{name} returned another physical type"
    );
    Ok(Input {
        data_type: bound.return_type,
        column: Column { array, is_const },
    })
}

/// The text of each row, as in TSV.
pub(crate) fn texts(data_type: &DataType, array: &ArrayRef) -> Vec<String> {
    let text = ColumnText::new(data_type, array, TextOptions::default()).expect("text");
    let row_text = |row| {
        let mut out = Vec::new();
        text.write(row, Style::Escaped, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    (0..array.len()).map(row_text).collect()
}

/// Checks type and text of each row of one call.
pub(crate) fn check(name: &str, args: &[Input], expected_type: &str, expected: &[&str]) {
    let num_rows = args.iter().map(|a| a.column.array.len()).max().unwrap_or(1);
    let result = call(name, args, num_rows).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(
        result.data_type.to_string(),
        expected_type,
        "type of {name}"
    );
    assert_eq!(
        texts(&result.data_type, &result.column.array),
        expected,
        "rows of {name}"
    );
}

/// Checks every line of a table; see the module.
pub(crate) fn check_table(table: &str) {
    let mut wrong = Vec::new();
    for line in table
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let (expression, expected) = line.split_once('\t').expect(line);
        let (expression, constants_only) = match expression.strip_prefix('!') {
            Some(expression) => (expression, true),
            None => (expression, false),
        };
        let found = describe(evaluate(expression, 1));
        if !same(&found, expected) {
            wrong.push(format!(
                "{expression}\n   expected {expected}\n   found    {found}"
            ));
            continue;
        }
        if constants_only {
            continue;
        }
        let columns = describe(evaluate(expression, 3));
        if !columns.starts_with("ERR") && !expected.starts_with("ERR") && !same(&columns, expected)
        {
            wrong.push(format!(
                "{expression} (columns)\n   expected {expected}\n   found    {columns}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn same(found: &str, expected: &str) -> bool {
    if let Some(expected) = expected.strip_prefix("ERR ") {
        let code = expected.split(' ').next();
        return found.strip_prefix("ERR ").and_then(|f| f.split(' ').next()) == code;
    }
    let plain = |text: &str| text.replace("\\'", "'");
    plain(found) == plain(expected) || nearly(found, expected)
}

/// Whether two floats agree in all but their last digits, where libraries of mathematics differ.
fn nearly(found: &str, expected: &str) -> bool {
    let float = |text: &str| {
        text.strip_prefix("Float64\t")
            .and_then(|v| v.parse::<f64>().ok())
    };
    match (float(found), float(expected)) {
        (Some(a), Some(b)) => (a - b).abs() <= b.abs() * 4e-15,
        _ => false,
    }
}

fn describe(result: Result<Input>) -> String {
    match result {
        Ok(input) => {
            let mut rows = texts(&input.data_type, &input.column.array);
            rows.dedup();
            format!("{}\t{}", input.data_type, rows.join(" | "))
        }
        Err(e) => format!("ERR {} {}", e.code().number, e.message()),
    }
}

/// Evaluates an expression; with more than one row its literals are columns.
pub(crate) fn evaluate(expression: &str, num_rows: usize) -> Result<Input> {
    let mut parser = Expression {
        rest: expression.trim(),
        num_rows,
        as_columns: num_rows > 1,
    };
    let value = parser.binary(0)?;
    parser.skip();
    assert!(
        parser.rest.is_empty(),
        "left over: {} of {expression}",
        parser.rest
    );
    Ok(value)
}

struct Expression<'a> {
    rest: &'a str,
    num_rows: usize,
    as_columns: bool,
}

/// Operators by precedence, with their functions.
const OPERATORS: [&[(&str, &str)]; 3] = [
    &[
        ("<=>", "isNotDistinctFrom"),
        ("<=", "lessOrEquals"),
        (">=", "greaterOrEquals"),
        ("!=", "notEquals"),
        ("=", "equals"),
        ("<", "less"),
        (">", "greater"),
    ],
    &[("+", "plus"), ("-", "minus")],
    &[("*", "multiply"), ("/", "divide"), ("%", "modulo")],
];

impl<'a> Expression<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn binary(&mut self, level: usize) -> Result<Input> {
        let Some(operators) = OPERATORS.get(level) else {
            return self.suffixed();
        };
        let mut left = self.binary(level + 1)?;
        while let Some((_, function)) = operators.iter().find(|(token, _)| self.eat(token)) {
            let right = self.binary(level + 1)?;
            left = call(function, &[left, right], self.num_rows)?;
        }
        Ok(left)
    }

    /// A value with any number of `::Type` behind it; its text is cast if it is a literal.
    fn suffixed(&mut self) -> Result<Input> {
        self.skip();
        let start = self.rest;
        let mut value = self.value()?;
        let mut literal = start[..start.len() - self.rest.len()]
            .trim()
            .trim_matches('\'');
        if literal.contains(['(', '[', ' ']) {
            literal = "";
        }
        while self.eat("::") {
            let name = self.type_name();
            let to = parse_data_type(name)?;
            if !literal.is_empty() && literal != "NULL" {
                value = self.literal("String", literal);
            }
            literal = "";
            value = cast(&value, &to, self.num_rows)?;
        }
        Ok(value)
    }

    fn type_name(&mut self) -> &'a str {
        let mut depth = 0;
        let end = self.rest.find(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0 || (depth == 0 && !(c.is_alphanumeric() || c == ')'))
        });
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name
    }

    fn value(&mut self) -> Result<Input> {
        self.skip();
        if self.eat("-") {
            if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                return self.number("-");
            }
            let value = self.suffixed()?;
            return call("negate", &[value], self.num_rows);
        }
        match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() => self.number(""),
            Some('\'') => {
                let text = self.quoted();
                Ok(self.literal("String", &text))
            }
            Some('[') => {
                self.eat("[");
                let items = self.list("]")?;
                call("array", &items, self.num_rows)
            }
            Some('(') => {
                self.eat("(");
                let mut items = self.list(")")?;
                if items.len() == 1 {
                    return Ok(items.remove(0));
                }
                call("tuple", &items, self.num_rows)
            }
            _ => self.named(),
        }
    }

    fn list(&mut self, close: &str) -> Result<Vec<Input>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                assert!(self.eat(","), "comma expected: {}", self.rest);
            }
            items.push(self.binary(0)?);
        }
        Ok(items)
    }

    fn quoted(&mut self) -> String {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some((_, '0')) => text.push('\0'),
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, c)) => text.push(c),
                    None => {}
                },
                '\'' => {
                    self.rest = &self.rest[at + 1..];
                    return text;
                }
                c => text.push(c),
            }
        }
        panic!("no end of string: {}", self.rest)
    }

    fn number(&mut self, sign: &str) -> Result<Input> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
            .unwrap_or(self.rest.len());
        let mut len = end;
        if self.rest[..end].ends_with(['e', 'E']) && self.rest[end..].starts_with(['-', '+']) {
            let digits = self.rest[end + 1..].find(|c: char| !c.is_ascii_digit());
            len = end + 1 + digits.unwrap_or(self.rest.len() - end - 1);
        }
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        let text = format!("{sign}{digits}");
        if let Ok(value) = text.parse::<i128>() {
            let data_type = match value {
                0..=0xFF => "UInt8",
                0x100..=0xFFFF => "UInt16",
                0x1_0000..=0xFFFF_FFFF => "UInt32",
                0x1_0000_0000.. => "UInt64",
                -0x80..0 => "Int8",
                -0x8000..0 => "Int16",
                -0x8000_0000..0 => "Int32",
                _ => "Int64",
            };
            return Ok(self.literal(data_type, &text));
        }
        Ok(self.literal("Float64", &text))
    }

    fn literal(&self, data_type: &str, text: &str) -> Input {
        let mut input = constant(data_type, text);
        if self.as_columns {
            let array = input.column.expand(self.num_rows).expect("rows");
            input.column = Column::new(array);
        }
        input
    }

    fn named(&mut self) -> Result<Input> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        assert!(!name.is_empty(), "no value: {}", self.rest);
        self.rest = rest;
        match name {
            "NULL" => return Ok(self.literal("Nullable(Nothing)", "\\N")),
            "true" | "false" => return Ok(self.literal("Bool", name)),
            "nan" | "inf" => return Ok(self.literal("Float64", name)),
            "INTERVAL" => return self.interval(),
            _ => {}
        }
        assert!(self.eat("("), "call expected: {name}{}", self.rest);
        // Arguments that must be constant stay so among columns: names of types and zones.
        let args = self.list(")")?;
        match (name, args.as_slice()) {
            ("CAST", [value, to]) => {
                let text = texts(&to.data_type, &to.column.array)
                    .remove(0)
                    .replace("\\'", "'");
                if !to.data_type.is_string() {
                    return Err(Error::new(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "type"));
                }
                cast(value, &parse_data_type(&text)?, self.num_rows)
            }
            _ => call(name, &args, self.num_rows),
        }
    }

    fn interval(&mut self) -> Result<Input> {
        let amount = self.value()?;
        self.skip();
        let end = self
            .rest
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(self.rest.len());
        let (unit, rest) = self.rest.split_at(end);
        self.rest = rest;
        let lower = unit.to_ascii_lowercase();
        call(
            &format!(
                "toInterval{}{}",
                &unit[..1].to_ascii_uppercase(),
                &lower[1..]
            ),
            &[amount],
            self.num_rows,
        )
    }
}

fn cast(value: &Input, to: &DataType, num_rows: usize) -> Result<Input> {
    let bound = cast_function(&value.data_type, to, &Context::default(), CastMode::Normal)?;
    let is_const = value.column.is_const;
    let rows = if is_const { 1 } else { num_rows };
    let array = bound.call(std::slice::from_ref(&value.column), rows)?;
    assert_eq!(array.data_type(), &to.physical(), "cast to {to}");
    Ok(Input {
        data_type: bound.return_type,
        column: Column { array, is_const },
    })
}
