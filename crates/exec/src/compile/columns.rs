//! Shows Arrow arrays to compiled code, and makes arrays of what it gives.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray, RecordBatch};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use basalt_jit::{Column, MappedRows, Outcome, Program, Type, Values};
use basalt_kernels::Bitmap;

/// The columns of `batch` that `program` reads, at their places; none if they are of other types.
pub(super) fn columns_of<'a>(
    program: &Program,
    batch: &'a RecordBatch,
) -> Option<Vec<Option<Column<'a>>>> {
    let of = |(place, wanted): (usize, &Option<(Type, bool)>)| {
        let Some((data_type, is_nullable)) = wanted else {
            return Some(None);
        };
        let array = batch.columns().get(place)?;
        let validity = validity(array)?;
        let fits = *is_nullable || validity.is_none();
        let values = values(array, *data_type).filter(|_| fits)?;
        Some(Some(Column { values, validity }))
    };
    program.columns().iter().enumerate().map(of).collect()
}

/// Which rows are not NULL, if some are.
fn validity(array: &ArrayRef) -> Option<Option<Bitmap<'_>>> {
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => Some(None),
        Some(nulls) => Bitmap::try_new(nulls.validity(), nulls.offset(), nulls.len()).map(Some),
    }
}

fn values(array: &ArrayRef, data_type: Type) -> Option<Values<'_>> {
    Some(match data_type {
        Type::Bool => return None,
        Type::I8 => Values::I8(slice::<Int8Type>(array)?),
        Type::I16 => Values::I16(slice::<Int16Type>(array)?),
        Type::I32 => Values::I32(slice::<Int32Type>(array)?),
        Type::I64 => Values::I64(slice::<Int64Type>(array)?),
        Type::U8 => Values::U8(slice::<UInt8Type>(array)?),
        Type::U16 => Values::U16(slice::<UInt16Type>(array)?),
        Type::U32 => Values::U32(slice::<UInt32Type>(array)?),
        Type::U64 => Values::U64(slice::<UInt64Type>(array)?),
        Type::F32 => Values::F32(slice::<Float32Type>(array)?),
        Type::F64 => Values::F64(slice::<Float64Type>(array)?),
    })
}

fn slice<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&[T::Native]> {
    let array = array.as_primitive_opt::<T>()?;
    Some(array.values())
}

/// The array of a type with a value for each row; none if there is one value only, or there is no such type.
pub(super) fn array_of(result: &ArrowType, outcome: Outcome, num_rows: usize) -> Option<ArrayRef> {
    let Outcome::Rows(MappedRows { words, validity }) = outcome else {
        return None;
    };
    let nulls = validity
        .map(|bits| NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, num_rows)));
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    let values = Buffer::from_vec(words);
    fn of<T: ArrowPrimitiveType>(
        values: Buffer,
        nulls: Option<NullBuffer>,
        num_rows: usize,
    ) -> ArrayRef {
        let values = ScalarBuffer::<T::Native>::new(values, 0, num_rows);
        Arc::new(PrimitiveArray::<T>::new(values, nulls))
    }
    Some(match result {
        ArrowType::Boolean => {
            let flags = BooleanBuffer::new(values, 0, num_rows);
            Arc::new(BooleanArray::new(flags, nulls))
        }
        ArrowType::Int8 => of::<Int8Type>(values, nulls, num_rows),
        ArrowType::Int16 => of::<Int16Type>(values, nulls, num_rows),
        ArrowType::Int32 => of::<Int32Type>(values, nulls, num_rows),
        ArrowType::Int64 => of::<Int64Type>(values, nulls, num_rows),
        ArrowType::UInt8 => of::<UInt8Type>(values, nulls, num_rows),
        ArrowType::UInt16 => of::<UInt16Type>(values, nulls, num_rows),
        ArrowType::UInt32 => of::<UInt32Type>(values, nulls, num_rows),
        ArrowType::UInt64 => of::<UInt64Type>(values, nulls, num_rows),
        ArrowType::Float32 => of::<Float32Type>(values, nulls, num_rows),
        ArrowType::Float64 => of::<Float64Type>(values, nulls, num_rows),
        _ => return None,
    })
}
