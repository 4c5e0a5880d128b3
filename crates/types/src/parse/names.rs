//! Lists the names of types: ClickHouse's, standard SQL's, and the nearest to an unknown one.

use basalt_error::{Error, ErrorCode, nearest};

use crate::{DataType, IntervalUnit};

/// Types of ClickHouse that are not there, and what to write instead.
const ABSENT_TYPES: [(&str, &str); 10] = [
    ("Int128", "Decimal(38, 0)"),
    ("UInt128", "Decimal(38, 0)"),
    ("Int256", "Decimal(76, 0)"),
    ("UInt256", "Decimal(76, 0)"),
    ("BFloat16", "Float32"),
    ("Time", "DateTime"),
    ("Time64", "DateTime64"),
    ("Dynamic", "Variant(…) or String"),
    ("JSON", "String and functions like JSONExtract"),
    ("Object", "String and functions like JSONExtract"),
];

/// The error for the name of a type of ClickHouse that is not there.
pub fn absent_type(name: &str) -> Option<Error> {
    let (_, instead) = ABSENT_TYPES.iter().find(|(absent, _)| *absent == name)?;
    let message = format!("Use {instead}: there is no type {name}");
    Some(Error::new(ErrorCode::UNKNOWN_TYPE, message))
}

pub(super) fn unknown_type(name: &str) -> Error {
    if let Some(absent) = absent_type(name) {
        return absent;
    }
    let known = SIMPLE_TYPES
        .iter()
        .map(|(n, _)| *n)
        .chain(COMPOUND_TYPES.iter().copied());
    let same = |n: &&str| n.eq_ignore_ascii_case(name);
    let standard = STANDARD_NAMES.iter().map(|(n, _)| *n);
    let near = || {
        nearest(name, known.clone().chain(standard))
            .first()
            .copied()
    };
    let hint = match known.clone().find(same).or_else(near) {
        Some(n) => format!("Maybe you meant: ['{n}']. "),
        None => "See system.data_type_families for the types there are. ".to_owned(),
    };
    let message = format!("{hint}Unknown data type family: {name}");
    Error::new(ErrorCode::UNKNOWN_TYPE, message)
}

const COMPOUND_TYPES: [&str; 9] = [
    "Nullable",
    "LowCardinality",
    "Array",
    "Tuple",
    "Map",
    "AggregateFunction",
    "FixedString",
    "Enum8",
    "Enum16",
];

/// Types without arguments, by their own names.
const SIMPLE_TYPES: [(&str, DataType); 20] = [
    ("UInt8", DataType::UInt8),
    ("UInt16", DataType::UInt16),
    ("UInt32", DataType::UInt32),
    ("UInt64", DataType::UInt64),
    ("Int8", DataType::Int8),
    ("Int16", DataType::Int16),
    ("Int32", DataType::Int32),
    ("Int64", DataType::Int64),
    ("Float32", DataType::Float32),
    ("Float64", DataType::Float64),
    ("Bool", DataType::Bool),
    ("String", DataType::String),
    ("Date", DataType::Date),
    ("Date32", DataType::Date32),
    ("UUID", DataType::Uuid),
    ("IPv4", DataType::Ipv4),
    ("IPv6", DataType::Ipv6),
    ("Nothing", DataType::Nothing),
    ("INET4", DataType::Ipv4),
    ("INET6", DataType::Ipv6),
];

/// Names of several words, and the type's own name.
pub(super) const SEVERAL_WORDS: [(&str, &str); 28] = [
    ("BIGINT SIGNED", "Int64"),
    ("BIGINT UNSIGNED", "UInt64"),
    ("INT SIGNED", "Int32"),
    ("INT UNSIGNED", "UInt32"),
    ("INT1 SIGNED", "Int8"),
    ("INT1 UNSIGNED", "UInt8"),
    ("INTEGER SIGNED", "Int32"),
    ("INTEGER UNSIGNED", "UInt32"),
    ("MEDIUMINT SIGNED", "Int32"),
    ("MEDIUMINT UNSIGNED", "UInt32"),
    ("SMALLINT SIGNED", "Int16"),
    ("SMALLINT UNSIGNED", "UInt16"),
    ("TINYINT SIGNED", "Int8"),
    ("TINYINT UNSIGNED", "UInt8"),
    ("DOUBLE PRECISION", "Float64"),
    ("BINARY LARGE OBJECT", "TEXT"),
    ("BINARY VARYING", "TEXT"),
    ("CHAR LARGE OBJECT", "TEXT"),
    ("CHAR VARYING", "TEXT"),
    ("CHARACTER LARGE OBJECT", "TEXT"),
    ("CHARACTER VARYING", "TEXT"),
    ("NATIONAL CHAR", "TEXT"),
    ("NATIONAL CHAR VARYING", "TEXT"),
    ("NATIONAL CHARACTER", "TEXT"),
    ("NATIONAL CHARACTER LARGE OBJECT", "TEXT"),
    ("NATIONAL CHARACTER VARYING", "TEXT"),
    ("NCHAR LARGE OBJECT", "TEXT"),
    ("NCHAR VARYING", "TEXT"),
];

/// Names of String that may have a width.
pub(super) const TEXT_NAMES: [&str; 15] = [
    "BLOB",
    "CHAR",
    "CHARACTER",
    "LONGBLOB",
    "LONGTEXT",
    "MEDIUMBLOB",
    "MEDIUMTEXT",
    "NCHAR",
    "NVARCHAR",
    "TEXT",
    "TINYBLOB",
    "TINYTEXT",
    "VARBINARY",
    "VARCHAR",
    "VARCHAR2",
];

/// Names from standard SQL, in any case.
const STANDARD_NAMES: [(&str, DataType); 23] = [
    ("BIT", DataType::UInt64),
    ("BYTE", DataType::Int8),
    ("INT1", DataType::Int8),
    ("MEDIUMINT", DataType::Int32),
    ("SET", DataType::UInt64),
    ("SINGLE", DataType::Float32),
    ("TINYINT", DataType::Int8),
    ("SMALLINT", DataType::Int16),
    ("INT", DataType::Int32),
    ("INTEGER", DataType::Int32),
    ("BIGINT", DataType::Int64),
    ("SIGNED", DataType::Int64),
    ("UNSIGNED", DataType::UInt64),
    ("FLOAT", DataType::Float32),
    ("REAL", DataType::Float32),
    ("DOUBLE", DataType::Float64),
    ("BOOL", DataType::Bool),
    ("BOOLEAN", DataType::Bool),
    ("CLOB", DataType::String),
    ("BYTEA", DataType::String),
    ("DATE", DataType::Date),
    ("DATE32", DataType::Date32),
    ("YEAR", DataType::UInt16),
];

pub(super) fn simple_type(name: &str) -> Option<DataType> {
    if let Some((_, t)) = SIMPLE_TYPES.iter().find(|(n, _)| *n == name) {
        return Some(t.clone());
    }
    if let Some(unit) = name
        .strip_prefix("Interval")
        .and_then(IntervalUnit::from_name)
    {
        return Some(DataType::Interval(unit));
    }
    let standard = STANDARD_NAMES
        .iter()
        .find(|(n, _)| n.eq_ignore_ascii_case(name));
    standard.map(|(_, t)| t.clone())
}
