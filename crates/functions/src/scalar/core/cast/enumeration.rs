//! Converts numbers and enums to enums.

use std::sync::Arc;

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, EnumType};

use super::decimal::fits;
use super::{BaseCast, Failures, unsupported};
use crate::scalar::core::numeric::{Native, Num, Numbers, array_of, with_native};

/// The names of an enum type.
pub(crate) fn enum_type(data_type: &DataType) -> Option<&Arc<EnumType>> {
    match data_type.base() {
        DataType::Enum8(names) | DataType::Enum16(names) => Some(names),
        _ => None,
    }
}

pub(super) fn cast(from: &DataType, to: &DataType) -> Result<BaseCast> {
    let (Some(names), Some(num)) = (enum_type(to), Num::of(to)) else {
        return Err(unsupported(from, to));
    };
    if let Some(old) = enum_type(from) {
        check_names(old, names)?;
    } else if !(from.is_integer() || from.is_float()) {
        return Err(unsupported(from, to));
    }
    let names = Arc::clone(names);
    Ok(Arc::new(
        move |array, failures| with_native!(num, T => checked::<T>(array, failures, &names)),
    ))
}

/// Every element of the old enum that the new one has must keep its number.
fn check_names(old: &EnumType, new: &EnumType) -> Result<()> {
    for (name, number) in old.values() {
        match new.number_of(name.as_bytes()) {
            Some(other) if other != *number => {
                return Err(Error::new(
                    ErrorCode::CANNOT_CONVERT_TYPE,
                    format!(
                        "Enum conversion changes value for element '{name}' from {number} to {other}"
                    ),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn checked<T: Native>(
    array: &ArrayRef,
    failures: &mut Failures,
    names: &EnumType,
) -> Result<ArrayRef> {
    let numbers: Vec<i64> = Numbers::converted(array.as_ref())?;
    let default = names.values().first().map_or(0, |(_, n)| i64::from(*n));
    let mut out = Vec::with_capacity(numbers.len());
    for (row, number) in numbers.into_iter().enumerate() {
        let known = i16::try_from(number).is_ok_and(|n| names.name_of(n).is_some());
        if !known {
            failures.fail(row, no_element::<T>(number))?;
        }
        out.push(T::from_num(if known { number } else { default }));
    }
    Ok(array_of(out))
}

/// The error of a number that names no element; one that no element could have is another.
fn no_element<T: Native>(number: i64) -> Error {
    if fits::<T>(number.into()) {
        Error::new(
            ErrorCode::UNKNOWN_ELEMENT_OF_ENUM,
            format!("Unexpected value {number} in enum"),
        )
    } else {
        Error::new(
            ErrorCode::CANNOT_CONVERT_TYPE,
            format!("Value {number} cannot be converted to enum type"),
        )
    }
}
