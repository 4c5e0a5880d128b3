//! Looks into values of `Variant`: `variantType`, `variantElement`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int8Array, Int16Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::variant::{NO_VALUE, VariantArray};
use basalt_types::{DataType, EnumType, parse_data_type};

use super::conditional::select;
use super::defaults::default_array;
use crate::scalar::arrays::lists::{as_list, list_of};
use crate::{Call, Column, Nulls, Resolved, ScalarFunction};

/// Functions of `Variant`.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "variantType",
        nulls: Nulls::Raw,
        syntax: "variantType(variant)",
        description: "Returns the name of the type that each row of a Variant has, 'None' for NULL.",
        resolve: variant_type,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "variantElement",
        nulls: Nulls::Raw,
        syntax: "variantElement(variant, 'Type'[, default])",
        description: "Returns the values of one type of a Variant, NULL in rows of other types.",
        resolve: variant_element,
        ..ScalarFunction::BASE
    },
];

fn variant_type(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let DataType::Variant(alternatives) = call.data_type(0) else {
        return Err(call.illegal_type(0));
    };
    let names = (0_i16..).zip(alternatives.iter());
    let mut values: Vec<(String, i16)> = names.map(|(i, t)| (t.to_string(), i)).collect();
    values.push(("None".to_owned(), -1));
    let is_small = alternatives.len() <= 127;
    let names = Arc::new(EnumType::new(values));
    let result = if is_small {
        DataType::Enum8(names)
    } else {
        DataType::Enum16(names)
    };
    Resolved::new(result, move |columns, num_rows| {
        let array = columns[0].expand(num_rows)?;
        let variant = VariantArray::of(&array)?;
        let numbers = (0..num_rows).map(|row| match variant.discriminator(row) {
            NO_VALUE => -1,
            number => i16::from(number),
        });
        Ok(if is_small {
            let small = numbers.map(|n| i8::try_from(n).unwrap_or(-1));
            Arc::new(Int8Array::from_iter_values(small)) as ArrayRef
        } else {
            Arc::new(Int16Array::from_iter_values(numbers))
        })
    })
}

fn variant_element(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let name = call.constant_str(1)?;
    let mut depth = 0;
    let mut inner = call.data_type(0);
    while let DataType::Array(element) = inner {
        (inner, depth) = (element, depth + 1);
    }
    let DataType::Variant(alternatives) = inner else {
        return Err(call.illegal_type(0));
    };
    let wanted = parse_data_type(&name)?;
    let Some(idx) = alternatives.iter().position(|t| *t == wanted) else {
        // With a default anything that is asked for may be missing.
        if call.args.len() == 3 {
            return Resolved::new(call.data_type(2).clone(), |columns, num_rows| {
                columns[2].expand(num_rows)
            });
        }
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("{inner} doesn't contain variant with type {wanted}"),
        ));
    };
    let element = wanted.to_nullable();
    let mut result = element.clone();
    for _ in 0..depth {
        result = DataType::array(result);
    }
    Resolved::new(result.clone(), move |columns, num_rows| {
        elements(&columns[0].expand(num_rows)?, &result, (idx, &element))
    })
}

/// The values of alternative `idx` inside arrays of any depth.
fn elements(
    array: &ArrayRef,
    result: &DataType,
    (idx, element): (usize, &DataType),
) -> Result<ArrayRef> {
    if let (DataType::Array(inner), true) = (result, array.data_type().is_list()) {
        let list = as_list(array)?;
        let values = elements(list.values(), inner, (idx, element))?;
        return list_of(result, list.offsets().clone(), values);
    }
    let variant = VariantArray::of(array)?;
    let values = Arc::clone(&variant.alternatives[idx]);
    if element.is_nullable() {
        return Ok(values);
    }
    let mask: Vec<u8> = (0..array.len())
        .map(|row| u8::from(usize::from(variant.discriminator(row)) == idx))
        .collect();
    let default = Column::constant(default_array(element, 1)?);
    select(&mask, &Column::new(values), &default, None)
}
