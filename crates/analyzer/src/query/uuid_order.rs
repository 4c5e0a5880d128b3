//! The key that arrays, tuples and maps with UUIDs in them are sorted by: ClickHouse looks at the second half of
//! a UUID first.

use std::sync::Arc;

use basalt_types::DataType;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeBinaryArray, ListArray, StructArray,
};
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::common::internal_err;
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::udf::any_arguments;

/// Bytes of a UUID, and of its halves.
const UUID_BYTES: usize = 16;
const HALF_BYTES: usize = UUID_BYTES / 2;

/// The key of values of a type, which has UUIDs inside.
pub(super) fn uuid_key(expr: Expr, data_type: &DataType) -> Expr {
    let udf = Arc::new(ScalarUDF::new_from_impl(UuidOrder {
        data_type: data_type.clone(),
        signature: any_arguments(Volatility::Immutable),
    }));
    Expr::ScalarFunction(ScalarFunction::new_udf(udf, vec![expr]))
}

/// Exchanges the halves of all UUIDs in values of a type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct UuidOrder {
    data_type: DataType,
    signature: Signature,
}

fn exchanged(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    Ok(match (data_type.base(), array.data_type()) {
        (DataType::Uuid, ArrowType::FixedSizeBinary(size)) => {
            let uuids = array.as_fixed_size_binary();
            let mut bytes = Vec::with_capacity(UUID_BYTES * uuids.len());
            for uuid in (0..uuids.len()).map(|row| uuids.value(row)) {
                let (first, second) = uuid.split_at(HALF_BYTES.min(uuid.len()));
                bytes.extend_from_slice(second);
                bytes.extend_from_slice(first);
            }
            let (bytes, nulls) = (Buffer::from_vec(bytes), uuids.nulls().cloned());
            Arc::new(FixedSizeBinaryArray::try_new(*size, bytes, nulls)?)
        }
        (DataType::Array(element), ArrowType::List(_)) => {
            let list = array.as_list();
            with_elements(list, exchanged(list.values(), element)?)?
        }
        (DataType::Map(key, value), ArrowType::List(_)) => {
            let list = array.as_list();
            let entries = tuple(list.values().as_struct(), &[key, value])?;
            with_elements(list, Arc::new(entries))?
        }
        (DataType::Tuple(types), ArrowType::Struct(_)) => {
            let types: Vec<&DataType> = types.types.iter().collect();
            Arc::new(tuple(array.as_struct(), &types)?)
        }
        _ => Arc::clone(array),
    })
}

/// Lists of the same lengths with other elements.
fn with_elements(list: &ListArray, elements: ArrayRef) -> Result<ArrayRef> {
    let ArrowType::List(field) = list.data_type() else {
        return internal_err!("a list of no list type");
    };
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(
        Arc::clone(field),
        offsets,
        elements,
        nulls,
    )?))
}

fn tuple(tuple: &StructArray, types: &[&DataType]) -> Result<StructArray> {
    let columns = tuple.columns().iter().zip(types);
    let columns = columns.map(|(column, data_type)| exchanged(column, data_type));
    Ok(StructArray::try_new_with_length(
        tuple.fields().clone(),
        columns.collect::<Result<_>>()?,
        tuple.nulls().cloned(),
        tuple.len(),
    )?)
}

impl ScalarUDFImpl for UuidOrder {
    fn name(&self) -> &str {
        "uuidOrder"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[ArrowType]) -> Result<ArrowType> {
        match arg_types {
            [one] => Ok(one.clone()),
            _ => internal_err!("the order of UUIDs takes one column"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        match arrays.as_slice() {
            [one] => Ok(ColumnarValue::Array(exchanged(one, &self.data_type)?)),
            _ => internal_err!("the order of UUIDs takes one column"),
        }
    }
}
