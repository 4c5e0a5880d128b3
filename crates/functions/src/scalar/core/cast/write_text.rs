//! Writes columns of any type as strings.
//!
//! Integers, the hot ones, have a module of their own: [`digits`].

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder};
use basalt_error::{Error, Result};
use basalt_types::text::{ColumnText, Style, TextOptions};
use basalt_types::{DataType, Tz};

use super::{BaseCast, How, digits};

pub(super) fn to_string(from: &DataType, how: How) -> Result<BaseCast> {
    let zone = how.zone;
    match from {
        DataType::FixedString(_) => Ok(Arc::new(move |array, _| {
            fixed_texts(array, how.keeps_padding)
        })),
        t if t.is_integer() && *t != DataType::Bool => {
            Ok(Arc::new(|array, _| digits::texts(array)))
        }
        t => {
            let from = t.clone();
            Ok(Arc::new(move |array, _| texts(array, &from, zone)))
        }
    }
}

/// The text of every row; NULLs have any text.
pub(crate) fn texts(array: &ArrayRef, from: &DataType, zone: Tz) -> Result<ArrayRef> {
    let options = TextOptions {
        time_zone: zone,
        ..TextOptions::default()
    };
    let text = ColumnText::new(from, array, options)?;
    let mut builder = BinaryViewBuilder::with_capacity(array.len());
    let mut bytes = Vec::with_capacity(64);
    for row in 0..array.len() {
        bytes.clear();
        text.write(row, Style::Plain, &mut bytes);
        builder.append_value(&bytes);
    }
    Ok(Arc::new(builder.finish()))
}

fn fixed_texts(array: &ArrayRef, keeps_padding: bool) -> Result<ArrayRef> {
    let fixed = array
        .as_fixed_size_binary_opt()
        .ok_or_else(|| Error::bug("FixedString is binary"))?;
    let mut builder = BinaryViewBuilder::with_capacity(array.len());
    for row in 0..fixed.len() {
        let bytes = fixed.value(row);
        builder.append_value(if keeps_padding {
            bytes
        } else {
            trim_zeros(bytes)
        });
    }
    Ok(Arc::new(builder.finish()))
}

/// The bytes without the zeros at the end.
pub(crate) fn trim_zeros(bytes: &[u8]) -> &[u8] {
    let len = bytes
        .iter()
        .rposition(|b| *b != 0)
        .map_or(0, |last| last + 1);
    &bytes[..len]
}
