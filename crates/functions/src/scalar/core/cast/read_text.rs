//! Reads columns of strings as any other type.
//!
//! Integers and floats have loops of their own; the rest goes through [`ColumnBuilder`].

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::ReadOptions;
use basalt_types::text::best_effort::DateOrder;
use basalt_types::text::parse_number::{Integer, parse_whole, read_int};
use basalt_types::text::{parse_f32, parse_f64};
use basalt_types::{ColumnBuilder, DataType};

use super::write_text::trim_zeros;
use super::{BaseCast, Failures, How};
use crate::StringColumn;
use crate::scalar::core::numeric::{Native, array_of};

pub(super) fn from_string(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    let trims = matches!(from, DataType::FixedString(_)) && !to.is_string();
    let (kind, to) = (to.to_string(), to.clone());
    // A type without text is an error now, not when the first row comes.
    ColumnBuilder::new(&to, 0)?;
    if matches!(to, DataType::Map(..)) {
        return Err(super::nested::map_of_text(&to));
    }
    Ok(Arc::new(move |array, failures| {
        let texts = Texts {
            array,
            trims,
            kind: &kind,
        };
        texts.read(&to, how, failures)
    }))
}

/// A column of texts that are read as one type.
#[derive(Clone, Copy)]
struct Texts<'a> {
    array: &'a ArrayRef,
    /// Whether zeros at the end do not belong to the text.
    trims: bool,
    /// Name of the type that is read.
    kind: &'a str,
}

impl Texts<'_> {
    fn read(self, to: &DataType, how: How, failures: &mut Failures) -> Result<ArrayRef> {
        match to {
            DataType::UInt8 => self.integers::<u8>(how, failures),
            DataType::UInt16 => self.integers::<u16>(how, failures),
            DataType::UInt32 => self.integers::<u32>(how, failures),
            DataType::UInt64 => self.integers::<u64>(how, failures),
            DataType::Int8 => self.integers::<i8>(how, failures),
            DataType::Int16 => self.integers::<i16>(how, failures),
            DataType::Int32 => self.integers::<i32>(how, failures),
            DataType::Int64 | DataType::Interval(_) => self.integers::<i64>(how, failures),
            DataType::Float32 => self.numbers(failures, parse_f32),
            DataType::Float64 => self.numbers(failures, parse_f64),
            _ => self.build(to, how, failures),
        }
    }

    /// Calls `each` with the text of every row that is not NULL; its errors are failures, for
    /// which `each` is called without a text.
    fn each(
        self,
        failures: &mut Failures,
        mut each: impl FnMut(Option<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let strings = StringColumn::of_array(self.array, false)?;
        let has_nulls = failures.has_nulls();
        for row in 0..self.array.len() {
            if has_nulls && failures.is_null(row) {
                each(None)?;
                continue;
            }
            let text = strings.value(row);
            let text = if self.trims { trim_zeros(text) } else { text };
            if let Err(e) = each(Some(text)) {
                failures.fail(row, e)?;
                each(None)?;
            }
        }
        Ok(())
    }

    /// Digits beyond the type wrap, unless changed values are failures.
    fn integers<T: Native + Integer + std::str::FromStr>(
        self,
        how: How,
        failures: &mut Failures,
    ) -> Result<ArrayRef> {
        let kind = self.kind;
        if !how.accurate {
            return self.numbers(failures, |t| parse_whole(t, kind, read_int::<T>));
        }
        self.numbers(failures, |text| {
            let value = parse_whole(text, kind, read_int::<T>)?;
            let fits = std::str::from_utf8(text).is_ok_and(|t| t.parse::<T>().is_ok());
            if fits {
                Ok(value)
            } else {
                Err(out_of_range(text, kind))
            }
        })
    }

    fn numbers<T: Native>(
        self,
        failures: &mut Failures,
        parse: impl Fn(&[u8]) -> Result<T>,
    ) -> Result<ArrayRef> {
        let mut out = Vec::with_capacity(self.array.len());
        self.each(failures, |text| {
            out.push(text.map_or(Ok(T::default()), &parse)?);
            Ok(())
        })?;
        Ok(array_of(out))
    }

    fn build(self, to: &DataType, how: How, failures: &mut Failures) -> Result<ArrayRef> {
        let options = ReadOptions {
            time_zone: how.zone,
            best_effort: (!how.fixed_layouts).then_some(DateOrder::DayFirst),
            is_cast: true,
            bool_words: None,
        };
        let mut builder = ColumnBuilder::with_options(to, self.array.len(), &options)?;
        self.each(failures, |text| {
            let len = builder.len();
            let takes = !how.fixed_layouts || !to.is_date_time();
            match text {
                Some(text) if !takes && !has_fixed_layout(text, to) => {
                    let text = String::from_utf8_lossy(text);
                    Err(Error::new(
                        ErrorCode::CANNOT_PARSE_DATETIME,
                        format!("Cannot parse '{text}' as {to}"),
                    ))
                }
                Some(text) => builder
                    .append_text(text)
                    .inspect_err(|_| builder.truncate(len)),
                None if *to == DataType::Date32 => builder.append_text(b"1900-01-01"),
                None => {
                    builder.append_default();
                    Ok(())
                }
            }
        })?;
        builder.finish()
    }
}

/// Whether a text is `YYYY-MM-DD`, with ` hh:mm:ss` or not, or Unix seconds of five digits or more.
fn has_fixed_layout(text: &[u8], to: &DataType) -> bool {
    let whole = match to {
        DataType::DateTime64(..) => text.split(|b| *b == b'.').next().unwrap_or(text),
        _ => text,
    };
    let all_digits = whole.iter().all(u8::is_ascii_digit);
    let has_date = whole.iter().take(5).filter(|b| b.is_ascii_digit()).count() == 4;
    (all_digits && whole.len() >= 5) || (has_date && matches!(whole.len(), 10 | 19))
}

fn out_of_range(text: &[u8], kind: &str) -> Error {
    let text = String::from_utf8_lossy(text);
    Error::new(
        ErrorCode::CANNOT_PARSE_TEXT,
        format!("Cannot parse string '{text}' as {kind}: the number is out of range"),
    )
}
