//! Defines [`DataType`]: every type of the dialect, its printed name and its predicates.

use std::fmt;
use std::sync::Arc;

use chrono_tz::Tz;

use crate::text::escape::write_quoted;

/// A type as users see it: what `toTypeName` prints and `DESCRIBE` shows.
///
/// How its values lie in memory is [`DataType::physical`]'s answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the dialect's own type names")]
pub enum DataType {
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Int8,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Bool,
    /// At most 76 digits, `scale` of them behind the point.
    Decimal {
        precision: u8,
        scale: u8,
    },
    String,
    FixedString(u32),
    Date,
    Date32,
    /// Seconds since 1970; without a time zone of its own it is shown in the session's.
    DateTime(Option<Tz>),
    /// Ticks of 10^-p seconds since 1970.
    DateTime64(u8, Option<Tz>),
    Enum8(Arc<EnumType>),
    Enum16(Arc<EnumType>),
    Uuid,
    Ipv4,
    Ipv6,
    Interval(IntervalUnit),
    Array(Arc<DataType>),
    Tuple(Arc<TupleType>),
    Map(Arc<DataType>, Arc<DataType>),
    Nullable(Arc<DataType>),
    LowCardinality(Arc<DataType>),
    AggregateFunction(Arc<AggregateType>),
    /// Values of several types, ordered by their names; every value may be NULL. See [`DataType::variant`].
    Variant(Arc<[DataType]>),
    /// The type of no value: `[]` is an `Array(Nothing)`, `NULL` a `Nullable(Nothing)`.
    Nothing,
}

/// The names and numbers of an `Enum8` or `Enum16`, ordered by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    values: Vec<(String, i16)>,
}

impl EnumType {
    /// Makes the type from its pairs; they may come in any order.
    pub fn new(mut values: Vec<(String, i16)>) -> Self {
        values.sort_by_key(|(_, number)| *number);
        Self { values }
    }

    /// Pairs of name and number, by number.
    pub fn values(&self) -> &[(String, i16)] {
        &self.values
    }

    /// The name of `number`, if the type has it.
    pub fn name_of(&self, number: i16) -> Option<&str> {
        let i = self
            .values
            .binary_search_by_key(&number, |(_, n)| *n)
            .ok()?;
        Some(&self.values[i].0)
    }

    /// The number of `name`, if the type has it.
    pub fn number_of(&self, name: &[u8]) -> Option<i16> {
        self.values
            .iter()
            .find(|(n, _)| n.as_bytes() == name)
            .map(|(_, v)| *v)
    }
}

/// The elements of a tuple; `names` is empty for an unnamed one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleType {
    /// Types of the elements, in order.
    pub types: Vec<DataType>,
    /// Names of the elements, either none or as many as types.
    pub names: Vec<String>,
}

impl TupleType {
    /// The name of element `idx` (from 0): its own, or its position from 1.
    pub fn name(&self, idx: usize) -> String {
        self.names
            .get(idx)
            .cloned()
            .unwrap_or_else(|| (idx + 1).to_string())
    }
}

/// What an `AggregateFunction(name(params), args…)` holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AggregateType {
    /// Name of the function with its combinators, without `State`.
    pub name: String,
    /// Parameters as SQL literals.
    pub params: Vec<String>,
    /// Types of the arguments.
    pub args: Vec<DataType>,
}

/// The unit of an `IntervalX` type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are units of time")]
pub enum IntervalUnit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl IntervalUnit {
    /// Every unit, from the smallest on.
    pub const ALL: [IntervalUnit; 11] = [
        IntervalUnit::Nanosecond,
        IntervalUnit::Microsecond,
        IntervalUnit::Millisecond,
        IntervalUnit::Second,
        IntervalUnit::Minute,
        IntervalUnit::Hour,
        IntervalUnit::Day,
        IntervalUnit::Week,
        IntervalUnit::Month,
        IntervalUnit::Quarter,
        IntervalUnit::Year,
    ];

    /// The unit by its capitalised name (`Second`).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|u| format!("{u:?}") == name)
    }
}

impl DataType {
    /// `Array(element)`.
    pub fn array(element: DataType) -> Self {
        DataType::Array(Arc::new(element))
    }

    /// An unnamed tuple.
    pub fn tuple(types: Vec<DataType>) -> Self {
        DataType::Tuple(Arc::new(TupleType {
            types,
            names: Vec::new(),
        }))
    }

    /// `Map(key, value)`.
    pub fn map(key: DataType, value: DataType) -> Self {
        DataType::Map(Arc::new(key), Arc::new(value))
    }

    /// `Variant(types…)`: its alternatives are in the order of their names, each once.
    pub fn variant(types: impl IntoIterator<Item = DataType>) -> Self {
        let mut named: Vec<(String, DataType)> =
            types.into_iter().map(|t| (t.to_string(), t)).collect();
        named.sort_by(|(a, _), (b, _)| a.cmp(b));
        named.dedup_by(|(a, _), (b, _)| a == b);
        DataType::Variant(named.into_iter().map(|(_, t)| t).collect())
    }

    /// `Nullable(self)` where that type exists, else `self` (arrays, tuples, maps hold no NULL).
    #[must_use]
    pub fn to_nullable(self) -> Self {
        match self {
            DataType::LowCardinality(inner) => {
                DataType::LowCardinality(Arc::new(inner.as_ref().clone().to_nullable()))
            }
            t if t.can_be_nullable() => DataType::Nullable(Arc::new(t)),
            t => t,
        }
    }

    /// Whether `Nullable(self)` is a type.
    pub fn can_be_nullable(&self) -> bool {
        !matches!(
            self,
            DataType::Nullable(_)
                | DataType::LowCardinality(_)
                | DataType::Array(_)
                | DataType::Tuple(_)
                | DataType::Map(..)
                | DataType::AggregateFunction(_)
                | DataType::Variant(_)
        )
    }

    /// Whether values may be NULL, also inside `LowCardinality`.
    pub fn is_nullable(&self) -> bool {
        match self {
            DataType::Nullable(_) => true,
            DataType::LowCardinality(inner) => inner.is_nullable(),
            _ => false,
        }
    }

    /// Whether rows may be without a value: those of Nullable types and of Variants.
    pub fn holds_null(&self) -> bool {
        self.is_nullable() || matches!(self, DataType::Variant(_))
    }

    /// Whether a Variant is the type or in it.
    pub fn has_variant(&self) -> bool {
        match self {
            DataType::Variant(_) => true,
            DataType::Array(t) => t.has_variant(),
            DataType::Map(k, v) => k.has_variant() || v.has_variant(),
            DataType::Tuple(tuple) => tuple.types.iter().any(DataType::has_variant),
            _ => false,
        }
    }

    /// The type without `LowCardinality` around it (`Nullable` stays).
    pub fn without_low_cardinality(&self) -> &DataType {
        match self {
            DataType::LowCardinality(inner) => inner,
            t => t,
        }
    }

    /// The type without `LowCardinality` around it and in its elements.
    pub fn without_any_low_cardinality(&self) -> DataType {
        match self {
            DataType::LowCardinality(inner) => inner.as_ref().clone(),
            DataType::Array(element) => DataType::array(element.without_any_low_cardinality()),
            DataType::Map(key, value) => DataType::Map(
                Arc::new(key.without_any_low_cardinality()),
                Arc::new(value.without_any_low_cardinality()),
            ),
            DataType::Tuple(tuple) => DataType::Tuple(Arc::new(TupleType {
                types: tuple
                    .types
                    .iter()
                    .map(Self::without_any_low_cardinality)
                    .collect(),
                names: tuple.names.clone(),
            })),
            t => t.clone(),
        }
    }

    /// The type without `LowCardinality` and `Nullable` around it.
    pub fn base(&self) -> &DataType {
        match self {
            DataType::LowCardinality(inner) | DataType::Nullable(inner) => inner.base(),
            t => t,
        }
    }

    /// Whether the base is one of the unsigned integers (`Bool` counts as `UInt8`).
    pub fn is_unsigned(&self) -> bool {
        use DataType::{Bool, UInt8, UInt16, UInt32, UInt64};
        matches!(self.base(), UInt8 | UInt16 | UInt32 | UInt64 | Bool)
    }

    /// Whether the base is one of the signed integers.
    pub fn is_signed(&self) -> bool {
        use DataType::{Int8, Int16, Int32, Int64};
        matches!(self.base(), Int8 | Int16 | Int32 | Int64)
    }

    /// Whether the base is an integer (`Bool` included).
    pub fn is_integer(&self) -> bool {
        self.is_unsigned() || self.is_signed()
    }

    /// Whether the base is a float.
    pub fn is_float(&self) -> bool {
        matches!(self.base(), DataType::Float32 | DataType::Float64)
    }

    /// Whether the base is a decimal.
    pub fn is_decimal(&self) -> bool {
        matches!(self.base(), DataType::Decimal { .. })
    }

    /// Whether the base is an integer, a float or a decimal.
    pub fn is_number(&self) -> bool {
        self.is_integer() || self.is_float() || self.is_decimal()
    }

    /// Whether the base is `String` or `FixedString`.
    pub fn is_string(&self) -> bool {
        matches!(self.base(), DataType::String | DataType::FixedString(_))
    }

    /// Whether the base is one of the date types, with or without time.
    pub fn is_date_or_time(&self) -> bool {
        self.is_date() || self.is_date_time()
    }

    /// Whether the base is `Date` or `Date32`.
    pub fn is_date(&self) -> bool {
        matches!(self.base(), DataType::Date | DataType::Date32)
    }

    /// Whether the base is `DateTime` or `DateTime64`.
    pub fn is_date_time(&self) -> bool {
        matches!(
            self.base(),
            DataType::DateTime(_) | DataType::DateTime64(..)
        )
    }

    /// Whether the base is an enum.
    pub fn is_enum(&self) -> bool {
        matches!(self.base(), DataType::Enum8(_) | DataType::Enum16(_))
    }

    /// Size of a value in memory, for types whose values all have the same size.
    pub fn fixed_size_bytes(&self) -> Option<usize> {
        Some(match self.base() {
            DataType::UInt8 | DataType::Int8 | DataType::Bool | DataType::Enum8(_) => 1,
            DataType::UInt16 | DataType::Int16 | DataType::Enum16(_) | DataType::Date => 2,
            DataType::UInt32
            | DataType::Int32
            | DataType::Float32
            | DataType::Date32
            | DataType::DateTime(_)
            | DataType::Ipv4 => 4,
            DataType::UInt64
            | DataType::Int64
            | DataType::Float64
            | DataType::DateTime64(..)
            | DataType::Interval(_) => 8,
            DataType::Decimal { precision, .. } => match precision {
                0..=9 => 4,
                10..=18 => 8,
                19..=38 => 16,
                _ => 32,
            },
            DataType::Uuid | DataType::Ipv6 => 16,
            DataType::FixedString(n) => *n as usize,
            _ => return None,
        })
    }
}

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
