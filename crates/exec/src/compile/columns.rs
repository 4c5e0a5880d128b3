//! Shows Arrow arrays to compiled code.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use basalt_jit::{Column, Program, Type, Values};
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
