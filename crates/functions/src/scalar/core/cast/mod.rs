//! Converts columns between any two types that convert: every implicit and explicit cast.
//!
//! | module | owns |
//! |---|---|
//! | [`number`] | between integers, floats, `Bool`; also dates, enums and addresses as their numbers |
//! | [`decimal`] | decimals from and to numbers and each other |
//! | [`temporal`] | numbers to dates and times, dates and times to each other |
//! | [`write_text`], [`digits`] | anything to `String`; integers, fast |
//! | [`read_text`] | strings to anything |
//! | [`enumeration`] | numbers and enums to enums |
//! | [`nested`] | arrays, tuples and maps |
//! | [`variant`] | into a Variant and out of one |
//! | [`functions`], [`intervals`] | the functions `toX`; those of intervals |
//! | [`named`] | `CAST`, `accurateCast` |
//! | [`reinterpret`] | the bytes of a value as another type |

mod decimal;
mod digits;
mod enumeration;
mod functions;
mod intervals;
mod named;
mod nested;
mod number;
mod read_text;
mod reinterpret;
mod temporal;
mod variant;
mod write_text;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, new_null_array};
use arrow::buffer::NullBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, Tz};

pub use functions::{FUNCTIONS, keep_zone};
pub(crate) use intervals::unit_size;
pub use reinterpret::FUNCTIONS as REINTERPRET_FUNCTIONS;
pub(crate) use write_text::trim_zeros;

use super::defaults::{type_default_array, with_defaults};
use crate::aggregate::has_open_states;
use crate::function::with_nulls;
use crate::{Arg, BoundFunction, Column, Context, Fails};

/// What becomes of values that do not convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMode {
    /// Text that does not parse is an error; numbers wrap.
    Normal,
    /// As `Normal`, but a text for a Variant is read as the first of its types that has such a value.
    Reading,
    /// As `Normal`, but a FixedString keeps the zeros behind its text: how branches become one type.
    Branch,
    /// Whatever changes the value is an error.
    Accurate,
    /// As `Accurate`, but NULL instead of an error.
    OrNull,
    /// As `OrNull`, for texts, in which times have one of the fixed layouts.
    TextOrNull,
    /// As `TextOrNull`, but the type's default instead of NULL.
    OrZero,
    /// As `OrZero`, with the default taken from the second argument if there is one.
    OrDefault,
}

/// A conversion of whole arrays.
pub(crate) type ArrayCast = Arc<dyn Fn(&ArrayRef) -> Result<ArrayRef> + Send + Sync>;

/// A conversion that leaves NULLs to its caller: neither type is Nullable.
type BaseCast = Arc<dyn Fn(&ArrayRef, &mut Failures) -> Result<ArrayRef> + Send + Sync>;

/// How one base type converts to another.
#[derive(Clone, Copy, Debug)]
struct How {
    /// Time zone of types that name none.
    zone: Tz,
    /// Whether a changed value is a failure.
    accurate: bool,
    /// Whether text that does not parse is NULL for a Nullable target.
    null_for_bad_text: bool,
    /// Whether times in texts have one of the fixed layouts only.
    fixed_layouts: bool,
    /// Whether texts become the type of a Variant that they are a value of.
    reads_variants: bool,
    /// Whether strings keep the zeros at the end of a FixedString.
    keeps_padding: bool,
}

impl How {
    /// As values become another type without being told to.
    fn implicit(zone: Tz) -> Self {
        Self {
            zone,
            accurate: false,
            null_for_bad_text: true,
            fixed_layouts: false,
            reads_variants: false,
            keeps_padding: false,
        }
    }
}

/// The rows of one array that did not convert.
struct Failures {
    nulls: Option<NullBuffer>,
    /// `None` if the first failure ends the query.
    failed: Option<Vec<bool>>,
}

impl Failures {
    fn new(array: &ArrayRef, soft: bool) -> Self {
        Self {
            nulls: array.logical_nulls().filter(|n| n.null_count() > 0),
            failed: soft.then(|| vec![false; array.len()]),
        }
    }

    /// Whether nothing needs to be converted in this row.
    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Whether rows may be skipped.
    fn has_nulls(&self) -> bool {
        self.nulls.is_some()
    }

    /// Notes that `row` does not convert; the caller puts the type's default there.
    fn fail(&mut self, row: usize, error: Error) -> Result<()> {
        if self.is_null(row) {
            return Ok(());
        }
        match &mut self.failed {
            Some(failed) => {
                failed[row] = true;
                Ok(())
            }
            None => Err(error),
        }
    }
}

/// Binds the conversion of one column; with [`CastMode::OrDefault`] a second column has defaults.
///
/// # Errors
/// `CANNOT_CONVERT_TYPE`, `ILLEGAL_TYPE_OF_ARGUMENT`, `TYPE_MISMATCH` or `NOT_IMPLEMENTED` for
/// types that do not convert, as in ClickHouse.
pub fn cast_function(
    from: &DataType,
    to: &DataType,
    context: &Context,
    mode: CastMode,
) -> Result<BoundFunction> {
    let result = match mode {
        CastMode::OrNull | CastMode::TextOrNull if !to.is_nullable() => to.clone().to_nullable(),
        _ => to.clone(),
    };
    let cast = match mode {
        CastMode::Normal => array_cast(from, to, context)?,
        CastMode::Reading => {
            let how = How {
                reads_variants: true,
                ..How::implicit(context.time_zone)
            };
            array_cast_how(from, to, how)?
        }
        CastMode::Branch => branch_cast(from, to, context)?,
        _ => checked_cast(from, &result, context, mode)?,
    };
    let defaults = mode == CastMode::OrDefault;
    let soft = defaults.then(|| soft_cast(from, to, context)).transpose()?;
    let eval = move |columns: &[Column], num_rows: usize| {
        let column = &columns[0];
        if let (Some(soft), Some(default)) = (&soft, columns.get(1)) {
            let (array, failed) = soft(&column.expand(num_rows)?)?;
            let default = default.expand(num_rows)?;
            let zipped = arrow::compute::kernels::zip::zip(&failed, &default, &array);
            return zipped.map_err(|e| Error::bug(e.to_string()));
        }
        let converted = Column {
            array: cast(&column.array)?,
            is_const: column.is_const,
        };
        converted.expand(num_rows)
    };
    let may_fail = Fails::Texts.may(&[Arg::new(from.clone())], &result);
    let mut bound = BoundFunction::from_parts("CAST", result, Arc::new(eval));
    bound.may_fail = may_fail;
    Ok(bound)
}

/// The conversion of arrays; text that does not parse is an error, numbers wrap.
pub(crate) fn array_cast(from: &DataType, to: &DataType, context: &Context) -> Result<ArrayCast> {
    implicit_cast(from, to, context.time_zone)
}

/// As [`array_cast`], in a time zone.
fn implicit_cast(from: &DataType, to: &DataType, zone: Tz) -> Result<ArrayCast> {
    array_cast_how(from, to, How::implicit(zone))
}

/// As [`array_cast`], for the branches of a choice.
pub(crate) fn branch_cast(from: &DataType, to: &DataType, context: &Context) -> Result<ArrayCast> {
    let how = How {
        keeps_padding: true,
        ..How::implicit(context.time_zone)
    };
    array_cast_how(from, to, how)
}

/// As [`array_cast`], but text that does not parse is an error for a Nullable target as well.
fn strict_cast(from: &DataType, to: &DataType, zone: Tz) -> Result<ArrayCast> {
    let how = How {
        null_for_bad_text: false,
        ..How::implicit(zone)
    };
    array_cast_how(from, to, how)
}

fn is_variant(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Variant(_))
}

fn array_cast_how(from: &DataType, to: &DataType, how: How) -> Result<ArrayCast> {
    if from.base() == to.base() && (!from.is_nullable() || to.is_nullable()) {
        return Ok(Arc::new(|array| Ok(Arc::clone(array))));
    }
    if is_variant(from) || is_variant(to) {
        return variant::cast(from, to, how);
    }
    if *from.base() == DataType::Nothing {
        return from_nothing(from, to);
    }
    let soft = how.null_for_bad_text && is_soft_text(from, to);
    // A number that does not fit is no better than a text that is no number.
    let accurate = how.accurate || soft;
    let base = base_cast(from.base(), to.base(), How { accurate, ..how })?;
    let nullable = to.is_nullable();
    Ok(Arc::new(move |array| {
        let mut failures = Failures::new(array, soft);
        if failures.has_nulls() && !nullable {
            return Err(null_in_ordinary());
        }
        let converted = base(array, &mut failures)?;
        if !nullable {
            return Ok(converted);
        }
        finish_nullable(&converted, failures)
    }))
}

/// Whether texts that are no value of the type become NULL.
fn is_soft_text(from: &DataType, to: &DataType) -> bool {
    to.is_nullable() && from.is_string() && !to.is_string() && !to.is_enum()
}

fn finish_nullable(array: &ArrayRef, failures: Failures) -> Result<ArrayRef> {
    let failed = failures
        .failed
        .filter(|failed| failed.contains(&true))
        .map(|failed| failed.iter().map(|f| !f).collect::<NullBuffer>());
    with_nulls(
        array,
        NullBuffer::union(failures.nulls.as_ref(), failed.as_ref()),
    )
}

fn null_in_ordinary() -> Error {
    Error::new(
        ErrorCode::CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN,
        "Cannot convert NULL value to non-Nullable type",
    )
}

/// `NULL` and the elements of `[]` have no value to convert.
fn from_nothing(from: &DataType, to: &DataType) -> Result<ArrayCast> {
    if from.is_nullable() && !to.is_nullable() {
        return Err(Error::new(
            ErrorCode::CANNOT_CONVERT_TYPE,
            "Cannot convert NULL to a non-nullable type",
        ));
    }
    let to = to.clone();
    Ok(Arc::new(move |array| {
        if to.is_nullable() {
            return Ok(new_null_array(&to.physical(), array.len()));
        }
        super::defaults::default_array(&to, array.len())
    }))
}

/// The conversion of the other modes: checked for changed values, errors as the mode says.
fn checked_cast(
    from: &DataType,
    to: &DataType,
    context: &Context,
    mode: CastMode,
) -> Result<ArrayCast> {
    let how = How {
        accurate: true,
        null_for_bad_text: false,
        fixed_layouts: matches!(mode, CastMode::TextOrNull | CastMode::OrZero),
        ..How::implicit(context.time_zone)
    };
    if is_variant(from) || is_variant(to) {
        return variant::cast(from, to, how);
    }
    if *from.base() == DataType::Nothing {
        let gives_default = matches!(mode, CastMode::OrZero | CastMode::OrDefault);
        if gives_default && from.is_nullable() && !to.is_nullable() {
            let to = to.clone();
            return Ok(Arc::new(move |array| type_default_array(&to, array.len())));
        }
        return from_nothing(from, to);
    }
    let text_or_null = mode == CastMode::Accurate && is_soft_text(from, to);
    let soft = mode != CastMode::Accurate || text_or_null;
    let base = if mode != CastMode::Accurate {
        soft_base(from.base(), to.base(), how)?
    } else {
        base_cast(from.base(), to.base(), how)?
    };
    let nullable = to.is_nullable();
    // Where nothing is converted, what lies under a NULL would stay.
    let is_same = from.base() == to.base();
    let to = to.clone();
    Ok(Arc::new(move |array| {
        let mut failures = Failures::new(array, soft);
        if failures.has_nulls() && !nullable && !soft {
            return Err(null_in_ordinary());
        }
        let converted = base(array, &mut failures)?;
        match mode {
            CastMode::OrNull | CastMode::TextOrNull => finish_nullable(&converted, failures),
            _ if text_or_null => finish_nullable(&converted, failures),
            _ if nullable => with_nulls(&converted, failures.nulls),
            _ if is_same => match &failures.nulls {
                Some(nulls) => with_defaults(&converted, nulls, type_default_array(&to, 1)?),
                None => Ok(converted),
            },
            _ => Ok(converted),
        }
    }))
}

/// A conversion that tells which rows did not convert.
type SoftCast = Arc<dyn Fn(&ArrayRef) -> Result<(ArrayRef, BooleanArray)> + Send + Sync>;

fn soft_cast(from: &DataType, to: &DataType, context: &Context) -> Result<SoftCast> {
    if *from.base() == DataType::Nothing {
        let to = to.clone();
        return Ok(Arc::new(move |array| {
            let values = type_default_array(&to, array.len())?;
            Ok((values, BooleanArray::from(vec![true; array.len()])))
        }));
    }
    let how = How {
        accurate: true,
        null_for_bad_text: false,
        ..How::implicit(context.time_zone)
    };
    let base = soft_base(from.base(), to.base(), how)?;
    Ok(Arc::new(move |array| {
        let mut failures = Failures::new(array, true);
        let converted = base(array, &mut failures)?;
        let nulls = failures.nulls;
        let mut failed = failures.failed.unwrap_or_default();
        if let Some(nulls) = nulls {
            for (row, failed) in failed.iter_mut().enumerate() {
                *failed |= nulls.is_null(row);
            }
        }
        Ok((converted, BooleanArray::from(failed)))
    }))
}

/// As [`base_cast`], where what does not convert is no error: no number is an address or UUID.
fn soft_base(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    let is_number = from.is_integer() || from.is_float() || *from == DataType::Bool;
    if !is_number || !matches!(to, DataType::Uuid | DataType::Ipv4 | DataType::Ipv6) {
        return base_cast(from, to, how);
    }
    let (from, to) = (from.clone(), to.clone());
    Ok(Arc::new(move |array, failures| {
        for row in 0..array.len() {
            failures.fail(row, unsupported(&from, &to))?;
        }
        type_default_array(&to, array.len())
    }))
}

/// How values of one base type become values of another.
fn base_cast(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    use DataType as T;
    if from == to {
        return Ok(Arc::new(|array, _| without_nulls(array)));
    }
    match (from, to) {
        (T::Variant(_), _) | (_, T::Variant(_)) => Err(unsupported(from, to)),
        (T::String, T::AggregateFunction(function)) if has_open_states(function) => {
            Ok(Arc::new(|array, _| without_nulls(array)))
        }
        // So many bytes are an address in binary form, never its text.
        (T::FixedString(16), T::Ipv6) => Ok(Arc::new(|array, _| without_nulls(array))),
        (_, T::String) => write_text::to_string(from, how),
        (T::String | T::FixedString(_), _) => read_text::from_string(from, to, how),
        (T::Array(_) | T::Tuple(_) | T::Map(..), _)
        | (_, T::Array(_) | T::Tuple(_) | T::Map(..)) => nested::cast(from, to, how),
        (_, T::FixedString(_)) => Err(Error::not_implemented(format!(
            "CAST AS FixedString of {from} (only of String and FixedString)"
        ))),
        (T::Ipv4, T::Ipv6) | (T::Ipv6, T::Ipv4) => number::between_addresses(from),
        (T::Uuid | T::Ipv6, _) | (_, T::Uuid | T::Ipv6) => Err(Error::not_implemented(format!(
            "Conversion between numeric types and UUID or IPv6 (if the value is a text, quote it): {from} to {to}"
        ))),
        (_, T::Enum8(_) | T::Enum16(_)) => enumeration::cast(from, to),
        (T::Enum8(_) | T::Enum16(_), T::Decimal { .. }) => Err(unsupported(from, to)),
        (_, T::Decimal { .. }) | (T::Decimal { .. }, _) => decimal::cast(from, to),
        _ if to.is_date_or_time()
            || matches!(from, T::DateTime64(..))
            || from.is_date_or_time() =>
        {
            temporal::cast(from, to, how)
        }
        _ => number::cast(from, to, how),
    }
}

fn unsupported(from: &DataType, to: &DataType) -> Error {
    Error::new(
        ErrorCode::CANNOT_CONVERT_TYPE,
        format!("Conversion from {from} to {to} is not supported"),
    )
}

/// The array with every row valid, as base casts return it.
fn without_nulls(array: &ArrayRef) -> Result<ArrayRef> {
    if array.nulls().is_none() {
        return Ok(Arc::clone(array));
    }
    let array = array.to_data().into_builder().nulls(None).build();
    Ok(arrow::array::make_array(
        array.map_err(|e| Error::bug(e.to_string()))?,
    ))
}
