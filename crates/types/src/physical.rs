//! Maps a [`DataType`] to the Arrow type that holds its values inside the engine.
//!
//! Dates, times, enums and addresses are plain integers here, as in ClickHouse's own memory, so
//! that every kernel works on primitives; [`crate::arrow_edge`] turns them into Arrow's temporal
//! types for files and clients. `LowCardinality` has the array of the type inside it.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields};

use crate::DataType;

impl DataType {
    /// The Arrow type of this type's arrays inside the engine.
    pub fn physical(&self) -> ArrowType {
        match self {
            DataType::UInt8 | DataType::Bool => ArrowType::UInt8,
            DataType::UInt16 | DataType::Date => ArrowType::UInt16,
            DataType::UInt32 | DataType::DateTime(_) | DataType::Ipv4 => ArrowType::UInt32,
            DataType::UInt64 => ArrowType::UInt64,
            DataType::Int8 | DataType::Enum8(_) => ArrowType::Int8,
            DataType::Int16 | DataType::Enum16(_) => ArrowType::Int16,
            DataType::Int32 | DataType::Date32 => ArrowType::Int32,
            DataType::Int64 | DataType::DateTime64(..) | DataType::Interval(_) => ArrowType::Int64,
            DataType::Float32 => ArrowType::Float32,
            DataType::Float64 => ArrowType::Float64,
            DataType::Decimal { precision, scale } => decimal(*precision, *scale),
            DataType::String | DataType::AggregateFunction(_) => ArrowType::BinaryView,
            DataType::FixedString(n) => {
                ArrowType::FixedSizeBinary(i32::try_from(*n).unwrap_or(i32::MAX))
            }
            DataType::Uuid | DataType::Ipv6 => ArrowType::FixedSizeBinary(16),
            DataType::Array(element) => ArrowType::List(item_field(element)),
            DataType::Tuple(tuple) => {
                let field = |(i, t): (usize, &DataType)| t.field(tuple.name(i));
                ArrowType::Struct(tuple.types.iter().enumerate().map(field).collect())
            }
            DataType::Variant(types) => ArrowType::Struct(crate::variant::fields(types)),
            DataType::Map(key, value) => ArrowType::List(Arc::new(Field::new(
                "item",
                ArrowType::Struct(entry_fields(key, value)),
                false,
            ))),
            DataType::Nullable(inner) | DataType::LowCardinality(inner) => inner.physical(),
            DataType::Nothing => ArrowType::Null,
        }
    }

    /// A field of this type's physical arrays, nullable where the type is.
    pub fn field(&self, name: impl Into<String>) -> FieldRef {
        let physical = self.physical();
        let nullable = self.holds_null() || physical == ArrowType::Null;
        Arc::new(Field::new(name, physical, nullable))
    }
}

/// The field of the elements of an `Array(element)`.
pub fn item_field(element: &DataType) -> FieldRef {
    element.field("item")
}

/// The fields `keys` and `values` of a map's entries.
pub fn entry_fields(key: &DataType, value: &DataType) -> Fields {
    Fields::from(vec![key.field("keys"), value.field("values")])
}

fn decimal(precision: u8, scale: u8) -> ArrowType {
    // Arrow's own limits: 38 digits in 128 bits, 76 in 256; the scale never exceeds them.
    let scale = i8::try_from(scale).unwrap_or(i8::MAX);
    if precision <= 38 {
        ArrowType::Decimal128(precision, scale)
    } else {
        ArrowType::Decimal256(precision, scale)
    }
}
