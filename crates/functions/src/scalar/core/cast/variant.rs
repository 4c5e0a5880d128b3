//! Puts values into a `Variant` and takes them out, and turns one `Variant` into a wider one.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_null_array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::ReadOptions;
use basalt_types::variant::{NO_VALUE, VariantArray, assemble, wrap};
use basalt_types::{ColumnBuilder, DataType};

use super::super::defaults::default_array;
use super::{ArrayCast, How, array_cast_how};
use crate::StringColumn;
use crate::variant::each_alternative;

pub(super) fn cast(from: &DataType, to: &DataType, how: How) -> Result<ArrayCast> {
    match (from.base(), to.base()) {
        (DataType::Variant(a), DataType::Variant(b)) => widen(a, b, (from, to)),
        (DataType::Variant(alternatives), _) => Ok(take_out(alternatives, to, how)),
        (_, DataType::Variant(alternatives)) => put_in(from, alternatives, how),
        _ => Err(Error::bug("a conversion without a Variant")),
    }
}

fn put_in(from: &DataType, alternatives: &Arc<[DataType]>, how: How) -> Result<ArrayCast> {
    let to = DataType::Variant(Arc::clone(alternatives));
    if *from.base() == DataType::Nothing {
        return Ok(Arc::new(move |array| {
            Ok(new_null_array(&to.physical(), array.len()))
        }));
    }
    if how.reads_variants && *from.base() == DataType::String {
        return Ok(Arc::new(move |array| read(array, &to, how)));
    }
    let position = alternatives.iter().position(|t| t.base() == from.base());
    let Some(position) = position else {
        return Err(not_among(
            "Conversion to Variant allowed only for types from this Variant",
            (from, &to),
        ));
    };
    let alternatives = Arc::clone(alternatives);
    Ok(Arc::new(move |array| wrap(&alternatives, position, array)))
}

/// Each text as a value of the first alternative that has it.
fn read(array: &ArrayRef, to: &DataType, how: How) -> Result<ArrayRef> {
    let options = ReadOptions {
        time_zone: how.zone,
        best_effort: None,
        is_cast: false,
        bool_words: None,
    };
    let mut builder = ColumnBuilder::with_options(to, array.len(), &options)?;
    let texts = StringColumn::of_array(array, false)?;
    for row in 0..array.len() {
        if array.is_null(row) {
            builder.append_null();
        } else {
            builder.append_text(texts.value(row))?;
        }
    }
    builder.finish()
}

/// An alternative that does not convert is an error once a row has it.
fn take_out(alternatives: &[DataType], to: &DataType, how: How) -> ArrayCast {
    let casts: Vec<Result<ArrayCast>> = alternatives
        .iter()
        .map(|t| array_cast_how(t, to, how))
        .collect();
    let to = to.clone();
    Arc::new(move |array| {
        let none = default_array(&to, 1)?;
        each_alternative(array, &none, |idx, _, values| match &casts[idx] {
            Ok(cast) => cast(values),
            Err(e) => Err(e.clone()),
        })
    })
}

fn widen(a: &[DataType], b: &Arc<[DataType]>, types: (&DataType, &DataType)) -> Result<ArrayCast> {
    let positions = a
        .iter()
        .map(|t| b.iter().position(|other| other == t))
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(|| {
            not_among(
                "Conversion between Variant types is allowed only when the new one has all types of the old",
                types,
            )
        })?;
    let b = Arc::clone(b);
    Ok(Arc::new(move |array| {
        let variant = VariantArray::of(array)?;
        let number = |row| match variant.discriminator(row) {
            NO_VALUE => Some(NO_VALUE),
            old => u8::try_from(positions[usize::from(old)]).ok(),
        };
        let discriminators: Option<Vec<u8>> = (0..array.len()).map(number).collect();
        let discriminators = discriminators.ok_or_else(|| Error::bug("too many alternatives"))?;
        let values =
            b.iter()
                .enumerate()
                .map(|(new, t)| match positions.iter().position(|p| *p == new) {
                    Some(old) => Arc::clone(&variant.alternatives[old]),
                    None => new_null_array(&t.physical(), array.len()),
                });
        assemble(&b, discriminators, values.collect())
    }))
}

fn not_among(message: &str, (from, to): (&DataType, &DataType)) -> Error {
    Error::new(
        ErrorCode::CANNOT_CONVERT_TYPE,
        format!("Cannot convert type {from} to {to}. {message}"),
    )
}
