//! Defines [`DataType`]: every type of the dialect, and its predicates.

use std::sync::Arc;

use chrono_tz::Tz;

use crate::{AggregateType, EnumType, IntervalUnit, TupleType};

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
        self.has(&|t| matches!(t, DataType::Variant(_)))
    }

    /// Whether the type or one inside it is one that is looked for.
    pub fn has(&self, is_wanted: &dyn Fn(&DataType) -> bool) -> bool {
        is_wanted(self)
            || match self {
                DataType::Array(t) | DataType::Nullable(t) | DataType::LowCardinality(t) => {
                    t.has(is_wanted)
                }
                DataType::Map(k, v) => k.has(is_wanted) || v.has(is_wanted),
                DataType::Tuple(tuple) => tuple.types.iter().any(|t| t.has(is_wanted)),
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
