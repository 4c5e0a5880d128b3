//! Describes one call of an aggregate function while it is resolved, and checks it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result, counted};
use basalt_types::DataType;

use super::binding::param_texts;
use super::{Aggregator, AggregatorFactory, BoundAggregate, Shortcut};
use crate::{Arg, Call, Context};

/// One call of an aggregate function while its types are resolved.
#[derive(Clone, Copy, Debug)]
pub struct AggregateCall<'a> {
    /// Name of the function, without combinators.
    pub name: &'a str,
    /// Constant parameters in the first brackets: `quantile(0.9)(x)`.
    pub params: &'a [Arg],
    /// Types of the arguments, never Nullable where the entry says
    /// [`super::AggregateNulls::Skip`].
    pub types: &'a [DataType],
    /// Facts of the session.
    pub context: &'a Context,
}

impl AggregateCall<'_> {
    /// Checks the number of arguments.
    ///
    /// # Errors
    /// `NUMBER_OF_ARGUMENTS_DOESNT_MATCH`.
    pub fn expect_args(&self, range: RangeInclusive<usize>) -> Result<()> {
        if range.contains(&self.types.len()) {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!(
                "Aggregate function {} takes {}, got {}",
                self.name,
                counted(range_text(&range), "argument"),
                self.types.len()
            ),
        ))
    }

    /// Checks the number of parameters.
    ///
    /// # Errors
    /// `AGGREGATE_FUNCTION_DOESNT_ALLOW_PARAMETERS`, `NUMBER_OF_ARGUMENTS_DOESNT_MATCH`.
    pub fn expect_params(&self, range: RangeInclusive<usize>) -> Result<()> {
        if range.contains(&self.params.len()) {
            return Ok(());
        }
        let code = if *range.end() == 0 {
            ErrorCode::AGGREGATE_FUNCTION_DOESNT_ALLOW_PARAMETERS
        } else {
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH
        };
        Err(Error::new(
            code,
            format!(
                "Aggregate function {} takes {}, got {}",
                self.name,
                counted(range_text(&range), "parameter"),
                self.params.len()
            ),
        ))
    }

    /// The error for an argument whose type the function does not take.
    pub fn illegal_type(&self, idx: usize) -> Error {
        let shown = self.types.get(idx).map(ToString::to_string);
        Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Illegal type {} of argument {} of aggregate function {}",
                shown.unwrap_or_default(),
                idx + 1,
                self.name
            ),
        )
    }

    /// Checks the type of argument `idx`.
    ///
    /// # Errors
    /// `ILLEGAL_TYPE_OF_ARGUMENT`.
    pub fn expect_type(&self, idx: usize, fits: impl Fn(&DataType) -> bool) -> Result<()> {
        if self.types.get(idx).is_some_and(fits) {
            Ok(())
        } else {
            Err(self.illegal_type(idx))
        }
    }

    /// Parameter `idx` as an unsigned number.
    ///
    /// # Errors
    /// `BAD_ARGUMENTS` if it is missing or no such number.
    pub fn param_u64(&self, idx: usize) -> Result<u64> {
        self.params_call()
            .constant_u64(self.checked_param(idx)?)
            .map_err(|_| {
                self.wrong_param(ErrorCode::BAD_ARGUMENTS, idx, "a whole number of 0 or more")
            })
    }

    /// Parameter `idx` as a length: any number, without its fraction.
    ///
    /// # Errors
    /// `CANNOT_CONVERT_TYPE` if it is no number, `ARGUMENT_OUT_OF_BOUND` if it is negative.
    pub fn param_len(&self, idx: usize) -> Result<u64> {
        if !self.params[idx].data_type.is_number() {
            return Err(self.wrong_param(ErrorCode::CANNOT_CONVERT_TYPE, idx, "a number"));
        }
        let number = self.param_f64(idx)?;
        if number < 0.0 {
            let code = ErrorCode::ARGUMENT_OUT_OF_BOUND;
            return Err(self.wrong_param(code, idx, "a number of 0 or more"));
        }
        Ok(number as u64)
    }

    /// Parameter `idx` as an integer.
    ///
    /// # Errors
    /// `BAD_ARGUMENTS` if it is missing or no integer.
    pub fn param_i64(&self, idx: usize) -> Result<i64> {
        self.params_call()
            .constant_i64(self.checked_param(idx)?)
            .map_err(|_| self.wrong_param(ErrorCode::BAD_ARGUMENTS, idx, "a whole number"))
    }

    /// Parameter `idx` as a float.
    ///
    /// # Errors
    /// `BAD_ARGUMENTS` if it is missing or no number.
    pub fn param_f64(&self, idx: usize) -> Result<f64> {
        self.params_call()
            .constant_f64(self.checked_param(idx)?)
            .map_err(|_| self.wrong_param(ErrorCode::BAD_ARGUMENTS, idx, "a number"))
    }

    /// Parameter `idx` as bytes.
    ///
    /// # Errors
    /// `BAD_ARGUMENTS` if it is missing or no string.
    pub fn param_bytes(&self, idx: usize) -> Result<Vec<u8>> {
        self.params_call()
            .constant_bytes(self.checked_param(idx)?)
            .map_err(|_| self.wrong_param(ErrorCode::BAD_ARGUMENTS, idx, "a string"))
    }

    /// The error for a parameter that the function cannot use.
    pub fn bad_param(&self, idx: usize, reason: &dyn std::fmt::Display) -> Error {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Parameter {} of aggregate function {} is not valid: {reason}",
                idx + 1,
                self.name
            ),
        )
    }

    fn wrong_param(&self, code: ErrorCode, idx: usize, wanted: &str) -> Error {
        let given = param_texts(&self.params[idx..=idx]).concat();
        Error::new(
            code,
            format!(
                "Write {wanted}: parameter {} of aggregate function {} is {given}",
                idx + 1,
                self.name
            ),
        )
    }

    fn checked_param(&self, idx: usize) -> Result<usize> {
        if idx < self.params.len() {
            Ok(idx)
        } else {
            Err(self.bad_param(idx, &"it is missing"))
        }
    }

    fn params_call(&self) -> Call<'_> {
        Call {
            name: self.name,
            args: self.params,
            context: self.context,
        }
    }
}

fn range_text(range: &RangeInclusive<usize>) -> String {
    match (range.start(), range.end()) {
        (from, to) if from == to => from.to_string(),
        (from, &usize::MAX) => format!("at least {from}"),
        (from, to) => format!("{from} to {to}"),
    }
}

impl BoundAggregate {
    /// An aggregate whose states `make` makes; the binding adds its name.
    pub(crate) fn new<A: Aggregator + 'static>(
        return_type: DataType,
        state_types: Vec<ArrowType>,
        make: impl Fn() -> A + Send + Sync + 'static,
    ) -> Self {
        Self::of_factory(return_type, state_types, Arc::new(move || Box::new(make())))
    }

    fn of_factory(
        return_type: DataType,
        state_types: Vec<ArrowType>,
        factory: AggregatorFactory,
    ) -> Self {
        Self {
            name: String::new(),
            return_type,
            state_types,
            shortcut: None,
            skips_nulls: true,
            factory,
        }
    }

    /// The aggregate with a shorter way for operators.
    pub(crate) fn with_shortcut(self, shortcut: Shortcut) -> Self {
        Self {
            shortcut: Some(shortcut),
            ..self
        }
    }
}
