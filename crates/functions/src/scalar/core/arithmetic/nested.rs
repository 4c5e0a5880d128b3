//! Computes with tuples and arrays, element by element.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, UInt32Array};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, TupleType};

use super::BinaryOp;
use crate::{Arg, BoundFunction, Call, Column, Context, Resolved, ScalarFunction};

pub(super) fn resolve(op: BinaryOp, args: &[Arg], context: &Context) -> Result<Option<Resolved>> {
    let (a, b) = (&args[0].data_type, &args[1].data_type);
    let resolved = match (a, b) {
        (DataType::Tuple(x), DataType::Tuple(y)) if op == BinaryOp::Multiply => {
            dot_product(x, y, context)
        }
        (DataType::Tuple(x), DataType::Tuple(y))
            if matches!(op, BinaryOp::Plus | BinaryOp::Minus) =>
        {
            tuples(op, x, y, context)
        }
        (DataType::Tuple(_), t) | (t, DataType::Tuple(_))
            if t.is_number() && matches!(op, BinaryOp::Plus | BinaryOp::Minus) =>
        {
            return Ok(None);
        }
        (DataType::Tuple(x), t) if t.is_number() && op != BinaryOp::ModuloOrZero => {
            let types: Vec<_> = x.types.iter().map(|e| (e.clone(), t.clone())).collect();
            tuple(op, types, (true, false), context)
        }
        (t, DataType::Tuple(y)) if t.is_number() && op == BinaryOp::Multiply => {
            let types: Vec<_> = y.types.iter().map(|e| (t.clone(), e.clone())).collect();
            tuple(op, types, (false, true), context)
        }
        (DataType::Array(x), DataType::Array(y)) => {
            if !matches!(op, BinaryOp::Plus | BinaryOp::Minus) {
                return Ok(None);
            }
            arrays(op, (x, y), (true, true), context)
        }
        (DataType::Array(x), t) if t.is_number() && takes_scalar(op) => {
            arrays(op, (x, t), (true, false), context)
        }
        (t, DataType::Array(y)) if t.is_number() && takes_scalar(op) => {
            arrays(op, (t, y), (false, true), context)
        }
        _ => return Ok(None),
    };
    resolved.map(Some)
}

fn takes_scalar(op: BinaryOp) -> bool {
    !matches!(
        op,
        BinaryOp::Plus | BinaryOp::Minus | BinaryOp::ModuloOrZero | BinaryOp::Gcd | BinaryOp::Lcm
    )
}

/// Binds `op` to the types of one element, NULLs included.
fn bind(op: BinaryOp, a: &DataType, b: &DataType, context: &Context) -> Result<BoundFunction> {
    let function = super::FUNCTIONS
        .iter()
        .find(|f| BinaryOp::from_name(f.name) == Some(op))
        .ok_or_else(|| Error::bug("an operator has a function"))?;
    let args = [Arg::new(a.clone()), Arg::new(b.clone())];
    BoundFunction::bind(function, &args, context)
}

fn same_size(a: &TupleType, b: &TupleType) -> Result<()> {
    if a.types.len() == b.types.len() {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!(
            "Expected tuples of the same size, got {} and {} elements",
            a.types.len(),
            b.types.len()
        ),
    ))
}

fn tuples(op: BinaryOp, a: &TupleType, b: &TupleType, context: &Context) -> Result<Resolved> {
    same_size(a, b)?;
    let types = a.types.iter().cloned().zip(b.types.iter().cloned());
    tuple(op, types.collect(), (true, true), context)
}

/// The column of element `idx`, if `column` is a tuple, else the column itself.
fn element(column: &Column, idx: usize, is_tuple: bool) -> Column {
    if !is_tuple {
        return column.clone();
    }
    Column {
        array: Arc::clone(column.array.as_struct().column(idx)),
        is_const: column.is_const,
    }
}

fn struct_of(fields: &ArrowType, columns: Vec<ArrayRef>, num_rows: usize) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = fields else {
        return Err(Error::bug("a tuple is a struct"));
    };
    let array = StructArray::try_new_with_length(fields.clone(), columns, None, num_rows);
    Ok(Arc::new(array.map_err(|e| Error::bug(e.to_string()))?))
}

fn tuple(
    op: BinaryOp,
    types: Vec<(DataType, DataType)>,
    (a_is_tuple, b_is_tuple): (bool, bool),
    context: &Context,
) -> Result<Resolved> {
    let bound = types
        .iter()
        .map(|(a, b)| bind(op, a, b, context))
        .collect::<Result<Vec<_>>>()?;
    let result = DataType::tuple(bound.iter().map(|f| f.return_type.clone()).collect());
    let physical = result.physical();
    Resolved::new(result, move |columns, num_rows| {
        let run = |(idx, function): (usize, &BoundFunction)| {
            let a = element(&columns[0], idx, a_is_tuple);
            let b = element(&columns[1], idx, b_is_tuple);
            function.call(&[a, b], num_rows)
        };
        let elements = bound
            .iter()
            .enumerate()
            .map(run)
            .collect::<Result<Vec<_>>>()?;
        struct_of(&physical, elements, num_rows)
    })
}

fn dot_product(a: &TupleType, b: &TupleType, context: &Context) -> Result<Resolved> {
    same_size(a, b)?;
    let mut products = Vec::new();
    let mut sums: Vec<BoundFunction> = Vec::new();
    let mut result: Option<DataType> = None;
    for (x, y) in a.types.iter().zip(&b.types) {
        let product = bind(BinaryOp::Multiply, x, y, context)?;
        result = Some(match result {
            None => product.return_type.clone(),
            Some(sum) => {
                let plus = bind(BinaryOp::Plus, &sum, &product.return_type, context)?;
                let sum = plus.return_type.clone();
                sums.push(plus);
                sum
            }
        });
        products.push(product);
    }
    let Some(result) = result else {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            "Scalar product of empty tuples",
        ));
    };
    Resolved::new(result, move |columns, num_rows| {
        let run = |(idx, function): (usize, &BoundFunction)| {
            let a = element(&columns[0], idx, true);
            let b = element(&columns[1], idx, true);
            function.call(&[a, b], num_rows)
        };
        let mut products = products.iter().enumerate().map(run);
        let mut sum = products
            .next()
            .ok_or_else(|| Error::bug("a tuple has elements"))??;
        for (plus, product) in sums.iter().zip(products) {
            sum = plus.call(&[Column::new(sum), Column::new(product?)], num_rows)?;
        }
        Ok(sum)
    })
}

/// Array with array of the same lengths, or with a scalar.
fn arrays(
    op: BinaryOp,
    (a, b): (&DataType, &DataType),
    (a_is_array, b_is_array): (bool, bool),
    context: &Context,
) -> Result<Resolved> {
    let bound = bind(op, a, b, context)?;
    let result = DataType::array(bound.return_type.clone());
    let item = basalt_types::physical::item_field(&bound.return_type);
    Resolved::new(result, move |columns, num_rows| {
        let shape = columns[usize::from(!a_is_array)].expand(num_rows)?;
        let shape = shape.as_list::<i32>();
        let of = |idx: usize, is_array: bool| -> Result<Column> {
            let array = columns[idx].expand(num_rows)?;
            if !is_array {
                return repeat(&array, shape);
            }
            let list = array.as_list::<i32>();
            if list.offsets().lengths().ne(shape.offsets().lengths()) {
                return Err(Error::new(
                    ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                    "The two arrays must have equal sizes",
                ));
            }
            Ok(Column::new(flat_values(list)))
        };
        let values = [of(0, a_is_array)?, of(1, b_is_array)?];
        let len = values[0].array.len();
        let values = bound.call(&values, len)?;
        let offsets = arrow::buffer::OffsetBuffer::from_lengths(shape.offsets().lengths());
        let list = ListArray::try_new(Arc::clone(&item), offsets, values, None);
        Ok(Arc::new(list.map_err(|e| Error::bug(e.to_string()))?) as ArrayRef)
    })
}

/// The elements of all rows, without those before the first and after the last.
fn flat_values(list: &ListArray) -> ArrayRef {
    let offsets = list.value_offsets();
    let (first, last) = (offsets[0] as usize, offsets[list.len()] as usize);
    list.values().slice(first, last - first)
}

/// Each value as often as its row's array has elements.
fn repeat(array: &ArrayRef, shape: &ListArray) -> Result<Column> {
    let lengths = shape.offsets().lengths().enumerate();
    let rows: Vec<u32> = lengths
        .flat_map(|(row, len)| std::iter::repeat_n(row as u32, len))
        .collect();
    let array = arrow::compute::take(array, &UInt32Array::from(rows), None);
    Ok(Column::new(array.map_err(|e| Error::bug(e.to_string()))?))
}

pub(super) fn negate_tuple(call: &Call<'_>) -> Result<Resolved> {
    let DataType::Tuple(tuple) = call.data_type(0) else {
        return Err(call.illegal_type(0));
    };
    let function: &ScalarFunction = super::FUNCTIONS
        .iter()
        .find(|f| f.name == "negate")
        .ok_or_else(|| Error::bug("negate is a function"))?;
    let bind = |t: &DataType| BoundFunction::bind(function, &[Arg::new(t.clone())], call.context);
    let bound = tuple.types.iter().map(bind).collect::<Result<Vec<_>>>()?;
    let result = DataType::tuple(bound.iter().map(|f| f.return_type.clone()).collect());
    let physical = result.physical();
    Resolved::new(result, move |columns, num_rows| {
        let run = |(idx, function): (usize, &BoundFunction)| {
            function.call(&[element(&columns[0], idx, true)], num_rows)
        };
        let elements = bound
            .iter()
            .enumerate()
            .map(run)
            .collect::<Result<Vec<_>>>()?;
        struct_of(&physical, elements, num_rows)
    })
}
