//! Reads the constant arguments of table functions.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{Float64Type, UInt64Type};
use basalt_analyzer::{ConstantArg, Typed, cast};
use basalt_error::{Error, ErrorCode, Result, counted};
use basalt_functions::StringColumn;
use basalt_functions::scalar::core::cast::CastMode;
use basalt_types::DataType;

use crate::environment::QueryEnvironment;

/// The arguments of one call.
pub(crate) struct Arguments<'a> {
    /// Name of the table function.
    pub(crate) function: &'a str,
    args: &'a [ConstantArg],
    /// The query of the call.
    pub(crate) environment: &'a QueryEnvironment<'a>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(
        function: &'a str,
        args: &'a [ConstantArg],
        environment: &'a QueryEnvironment<'a>,
    ) -> Self {
        Self {
            function,
            args,
            environment,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.args.len()
    }

    pub(crate) fn all(&self) -> &'a [ConstantArg] {
        self.args
    }

    pub(crate) fn wrong_number(&self, expected: &str) -> Error {
        Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!(
                "Table function {} takes {}, got {}",
                self.function,
                counted(expected, "argument"),
                self.args.len()
            ),
        )
    }

    fn get(&self, idx: usize) -> Result<&'a ConstantArg> {
        self.args
            .get(idx)
            .ok_or_else(|| self.wrong_number(&format!("at least {}", idx + 1)))
    }

    /// A whole number from 0 up, also as a float (`numbers(1e6)`).
    pub(crate) fn u64(&self, idx: usize) -> Result<u64> {
        let arg = self.get(idx)?;
        let refused = |what: &str| {
            let text = format!("Argument {} of {} must be {what}", idx + 1, self.function);
            Error::new(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, text)
        };
        let as_float = arrow::compute::cast(&arg.value, &arrow::datatypes::DataType::Float64);
        let value = as_float.map_or(f64::NAN, |v| v.as_primitive::<Float64Type>().value(0));
        if !arg.data_type.is_number() || value < 0.0 {
            return Err(refused(&format!(
                "a number from 0 up, not {}",
                arg.data_type
            )));
        }
        // Integers as large as the largest are this float, too.
        const END: f64 = 18_446_744_073_709_551_616.0;
        if arg.data_type.is_float() && (value.is_nan() || value >= END) {
            return Err(refused(&format!("less than 2^64, not {value}")));
        }
        if arg.data_type.is_float() && value.fract() != 0.0 {
            return Err(refused("a whole number"));
        }
        let array = convert(
            self.environment,
            std::sync::Arc::clone(&arg.value),
            &arg.data_type,
            &DataType::UInt64,
        )?;
        Ok(array.as_primitive::<UInt64Type>().value(0))
    }

    /// A string that is text.
    pub(crate) fn text(&self, idx: usize) -> Result<String> {
        String::from_utf8(self.bytes(idx)?).map_err(|_| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Argument {} of {} must be UTF-8", idx + 1, self.function),
            )
        })
    }

    /// A string, of any bytes.
    pub(crate) fn bytes(&self, idx: usize) -> Result<Vec<u8>> {
        let arg = self.get(idx)?;
        let is_string = arg.data_type.is_string();
        let bytes = StringColumn::of_array(&arg.value, true)
            .ok()
            .filter(|_| is_string);
        bytes.map(|s| s.value(0).to_vec()).ok_or_else(|| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Argument {} of {} must be a string", idx + 1, self.function),
            )
        })
    }

    /// A string, or nothing if there are fewer arguments or it is `auto`.
    pub(crate) fn optional_text(&self, idx: usize) -> Result<Option<String>> {
        if idx >= self.args.len() {
            return Ok(None);
        }
        Ok(Some(self.text(idx)?).filter(|t| t != "auto"))
    }
}

/// One value converted to another type.
pub(crate) fn convert(
    environment: &QueryEnvironment<'_>,
    value: ArrayRef,
    from: &DataType,
    to: &DataType,
) -> Result<ArrayRef> {
    let typed = Typed::constant(value, from.clone())?;
    let converted = cast(typed, to, CastMode::Normal, &environment.context)?;
    converted
        .constant
        .ok_or_else(|| Error::bug("a constant stays one"))
}
