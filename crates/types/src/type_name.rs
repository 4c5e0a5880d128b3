//! Prints the names of types; `parse` reads them.

use std::fmt;

use crate::text::escape::write_quoted;
use crate::{AggregateType, DataType, EnumType, TupleType};

impl DataType {
    /// The name as `toTypeName` and DESCRIBE show it: the named elements of a tuple one a line.
    pub fn pretty_name(&self) -> String {
        self.indented_name(0)
    }

    fn indented_name(&self, depth: usize) -> String {
        match self {
            DataType::Tuple(tuple) if !tuple.names.is_empty() => {
                let indent = " ".repeat(4 * (depth + 1));
                let mut name = String::from("Tuple(");
                for (i, (element, data_type)) in tuple.names.iter().zip(&tuple.types).enumerate() {
                    name.push_str(if i == 0 { "\n" } else { ",\n" });
                    name.push_str(&indent);
                    // Writing to a string does not fail.
                    let _ = write_element_name(&mut name, element);
                    name.push_str(&data_type.indented_name(depth + 1));
                }
                name.push(')');
                name
            }
            DataType::Tuple(tuple) => {
                let types = tuple.types.iter().map(|t| t.indented_name(depth));
                format!("Tuple({})", types.collect::<Vec<_>>().join(", "))
            }
            DataType::Array(t) => format!("Array({})", t.indented_name(depth)),
            DataType::Variant(types) => {
                let types = types.iter().map(|t| t.indented_name(depth));
                format!("Variant({})", types.collect::<Vec<_>>().join(", "))
            }
            DataType::Map(k, v) => {
                format!(
                    "Map({}, {})",
                    k.indented_name(depth),
                    v.indented_name(depth)
                )
            }
            plain => plain.to_string(),
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataType::Decimal { precision, scale } => write!(f, "Decimal({precision}, {scale})"),
            DataType::FixedString(n) => write!(f, "FixedString({n})"),
            DataType::DateTime(None) => f.write_str("DateTime"),
            DataType::DateTime(Some(tz)) => write!(f, "DateTime('{}')", tz.name()),
            DataType::DateTime64(p, None) => write!(f, "DateTime64({p})"),
            DataType::DateTime64(p, Some(tz)) => write!(f, "DateTime64({p}, '{}')", tz.name()),
            DataType::Enum8(values) => write_enum(f, "Enum8", values),
            DataType::Enum16(values) => write_enum(f, "Enum16", values),
            DataType::Uuid => f.write_str("UUID"),
            DataType::Ipv4 => f.write_str("IPv4"),
            DataType::Ipv6 => f.write_str("IPv6"),
            DataType::Interval(unit) => write!(f, "Interval{unit:?}"),
            DataType::Array(t) => write!(f, "Array({t})"),
            DataType::Tuple(tuple) => write_tuple(f, tuple),
            DataType::Map(k, v) => write!(f, "Map({k}, {v})"),
            DataType::Nullable(t) => write!(f, "Nullable({t})"),
            DataType::LowCardinality(t) => write!(f, "LowCardinality({t})"),
            DataType::AggregateFunction(a) => write_aggregate(f, a),
            DataType::Variant(types) => {
                let names: Vec<String> = types.iter().map(ToString::to_string).collect();
                write!(f, "Variant({})", names.join(", "))
            }
            plain => write!(f, "{plain:?}"),
        }
    }
}

fn write_enum(f: &mut fmt::Formatter<'_>, name: &str, values: &EnumType) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, (value, number)) in values.values().iter().enumerate() {
        let separator = if i == 0 { "" } else { ", " };
        let mut quoted = Vec::new();
        write_quoted(value.as_bytes(), &mut quoted);
        let quoted = String::from_utf8_lossy(&quoted);
        write!(f, "{separator}{quoted} = {number}")?;
    }
    f.write_str(")")
}

fn write_tuple(f: &mut fmt::Formatter<'_>, tuple: &TupleType) -> fmt::Result {
    f.write_str("Tuple(")?;
    for (i, t) in tuple.types.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        if let Some(name) = tuple.names.get(i) {
            write_element_name(f, name)?;
        }
        write!(f, "{t}")?;
    }
    f.write_str(")")
}

/// Words that are quoted as names of elements although they are plain.
const QUOTED_WORDS: [&str; 12] = [
    "all", "distinct", "false", "from", "inf", "nan", "select", "some", "table", "top", "true",
    "values",
];

/// Names that are no plain identifiers are quoted with backticks.
fn write_element_name(f: &mut impl fmt::Write, name: &str) -> fmt::Result {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && !QUOTED_WORDS.contains(&name.to_ascii_lowercase().as_str());
    if plain {
        write!(f, "{name} ")
    } else {
        write!(f, "`{}` ", name.replace('\\', "\\\\").replace('`', "\\`"))
    }
}

fn write_aggregate(f: &mut fmt::Formatter<'_>, aggregate: &AggregateType) -> fmt::Result {
    write!(f, "AggregateFunction({}", aggregate.name)?;
    if !aggregate.params.is_empty() {
        write!(f, "({})", aggregate.params.join(", "))?;
    }
    for arg in &aggregate.args {
        write!(f, ", {arg}")?;
    }
    f.write_str(")")
}
