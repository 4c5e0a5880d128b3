//! Makes constants: literals have the least type that holds them.

use std::sync::Arc;

use basalt_error::Result;
use basalt_parser::ast::Literal;
use basalt_types::DataType;
use datafusion::arrow::array::{
    ArrayRef, BinaryViewArray, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    NullArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};

use crate::Typed;

/// The constant that a literal means.
pub(crate) fn literal(literal: &Literal) -> Result<Typed> {
    match literal {
        Literal::Null => null(),
        Literal::Bool(value) => Typed::constant(
            Arc::new(UInt8Array::from(vec![u8::from(*value)])),
            DataType::Bool,
        ),
        Literal::UInt(value) => unsigned(*value),
        Literal::Int(value) => signed(*value),
        Literal::Float(float) => Typed::constant(
            Arc::new(Float64Array::from(vec![float.value])),
            DataType::Float64,
        ),
        Literal::String(bytes) => string(bytes),
    }
}

/// `NULL`.
pub(crate) fn null() -> Result<Typed> {
    Typed::constant(Arc::new(NullArray::new(1)), DataType::Nothing.to_nullable())
}

/// A string constant.
pub(crate) fn string(bytes: &[u8]) -> Result<Typed> {
    Typed::constant(
        Arc::new(BinaryViewArray::from(vec![bytes])),
        DataType::String,
    )
}

/// A `UInt64` constant, whatever its size.
pub(crate) fn uint64(value: u64) -> Result<Typed> {
    Typed::constant(Arc::new(UInt64Array::from(vec![value])), DataType::UInt64)
}

/// An unsigned constant of the least width.
pub(crate) fn unsigned(value: u64) -> Result<Typed> {
    let (array, data_type): (ArrayRef, DataType) = if let Ok(v) = u8::try_from(value) {
        (Arc::new(UInt8Array::from(vec![v])), DataType::UInt8)
    } else if let Ok(v) = u16::try_from(value) {
        (Arc::new(UInt16Array::from(vec![v])), DataType::UInt16)
    } else if let Ok(v) = u32::try_from(value) {
        (Arc::new(UInt32Array::from(vec![v])), DataType::UInt32)
    } else {
        (Arc::new(UInt64Array::from(vec![value])), DataType::UInt64)
    };
    Typed::constant(array, data_type)
}

fn signed(value: i64) -> Result<Typed> {
    let (array, data_type): (ArrayRef, DataType) = if let Ok(v) = i8::try_from(value) {
        (Arc::new(Int8Array::from(vec![v])), DataType::Int8)
    } else if let Ok(v) = i16::try_from(value) {
        (Arc::new(Int16Array::from(vec![v])), DataType::Int16)
    } else if let Ok(v) = i32::try_from(value) {
        (Arc::new(Int32Array::from(vec![v])), DataType::Int32)
    } else {
        (Arc::new(Int64Array::from(vec![value])), DataType::Int64)
    };
    Typed::constant(array, data_type)
}
