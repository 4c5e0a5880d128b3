//! Describes one call of a function while its types are resolved, and checks its arguments.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Float64Type, Int64Type, UInt64Type};
use basalt_error::{Error, ErrorCode, Result, counted};
use basalt_types::{DataType, Tz};

use crate::Interrupt;

/// An argument's type, and its value if the same for all rows.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Type of the argument.
    pub data_type: DataType,
    /// The value as an array of one row, for constants.
    pub constant: Option<ArrayRef>,
}

impl Arg {
    /// An argument that differs from row to row.
    pub fn new(data_type: DataType) -> Self {
        Self {
            data_type,
            constant: None,
        }
    }
}

/// What values a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// On or off, `1` or `0` as text.
    Flag,
    /// A number from 0 up.
    Integer,
    /// A number that may have a fraction.
    Number,
    /// Text.
    Text,
}

/// Values of settings by name: those that are set, and the defaults of others.
#[derive(Clone, Debug)]
pub struct SettingValues {
    set: BTreeMap<String, String>,
    default_of: fn(&str) -> Option<&'static str>,
}

impl SettingValues {
    /// The values in `set`; a setting that is not among them has what `default_of` says.
    pub fn new(
        set: BTreeMap<String, String>,
        default_of: fn(&str) -> Option<&'static str>,
    ) -> Self {
        Self { set, default_of }
    }

    /// The text of a setting; `None` for one that does not exist.
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.set.get(name) {
            Some(value) => Some(value),
            None => (self.default_of)(name),
        }
    }
}

impl Default for SettingValues {
    /// No settings at all.
    fn default() -> Self {
        Self::new(BTreeMap::new(), |_| None)
    }
}

/// What functions may know of the session.
#[derive(Clone, Debug)]
pub struct Context {
    /// Time zone of types that name none.
    pub time_zone: Tz,
    /// The moment that `now()` means, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Values of settings.
    pub settings: SettingValues,
    /// What values a setting has; `None` where that is not known.
    pub setting_kind: fn(&str) -> Option<SettingKind>,
    /// Name of the current database.
    pub database: String,
    /// Name of the current user.
    pub user: String,
    /// Identifier of the query.
    pub query_id: String,
    /// What a query may take where no setting limits it.
    pub machine_memory_bytes: usize,
    /// Whether the query may go on.
    pub interrupt: Interrupt,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            time_zone: Tz::UTC,
            now_ns: 0,
            settings: SettingValues::default(),
            setting_kind: |_| None,
            database: "default".to_owned(),
            user: "default".to_owned(),
            query_id: String::new(),
            machine_memory_bytes: usize::MAX,
            interrupt: Interrupt::default(),
        }
    }
}

impl Context {
    /// Whether a setting is on; settings that are not given are off.
    pub fn flag(&self, setting: &str) -> bool {
        matches!(self.settings.get(setting), Some("1" | "true"))
    }
}

/// One call of a function, as its `resolve` sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Name of the function as in its table entry.
    pub name: &'a str,
    /// The arguments; with [`crate::Nulls::Propagate`] their types are never Nullable.
    pub args: &'a [Arg],
    /// Facts of the session.
    pub context: &'a Context,
}

impl<'a> Call<'a> {
    /// Type of argument `idx` (which must exist).
    pub fn data_type(&self, idx: usize) -> &'a DataType {
        &self.args[idx].data_type
    }

    /// Types of all arguments.
    pub fn data_types(&self) -> Vec<DataType> {
        self.args.iter().map(|a| a.data_type.clone()).collect()
    }

    /// Checks the number of arguments.
    ///
    /// # Errors
    /// `NUMBER_OF_ARGUMENTS_DOESNT_MATCH`.
    pub fn expect_args(&self, range: RangeInclusive<usize>) -> Result<()> {
        if range.contains(&self.args.len()) {
            return Ok(());
        }
        let (from, to) = (range.start(), range.end());
        let expected = match (from, to) {
            (from, to) if from == to => from.to_string(),
            (from, &usize::MAX) => format!("at least {from}"),
            (from, to) => format!("{from} to {to}"),
        };
        Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!(
                "Function {} takes {}, got {}",
                self.name,
                counted(expected, "argument"),
                self.args.len()
            ),
        ))
    }

    /// The error for an argument whose type the function does not take.
    pub fn illegal_type(&self, idx: usize) -> Error {
        Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Illegal type {} of argument {} of function {}",
                self.data_type(idx),
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
        if fits(self.data_type(idx)) {
            Ok(())
        } else {
            Err(self.illegal_type(idx))
        }
    }

    /// The array of one row behind a constant argument.
    ///
    /// # Errors
    /// `ILLEGAL_COLUMN` if the argument is no constant.
    pub fn constant(&self, idx: usize) -> Result<&'a ArrayRef> {
        self.args[idx].constant.as_ref().ok_or_else(|| {
            Error::new(
                ErrorCode::ILLEGAL_COLUMN,
                format!(
                    "Argument {} of function {} must be constant",
                    idx + 1,
                    self.name
                ),
            )
        })
    }

    /// The bytes of a constant String or FixedString argument.
    ///
    /// # Errors
    /// `ILLEGAL_COLUMN` if no constant, `ILLEGAL_TYPE_OF_ARGUMENT` if no string.
    pub fn constant_bytes(&self, idx: usize) -> Result<Vec<u8>> {
        self.expect_type(idx, DataType::is_string)?;
        Ok(crate::StringColumn::of_array(self.constant(idx)?, true)?
            .value(0)
            .to_vec())
    }

    /// A constant string argument as text.
    ///
    /// # Errors
    /// As [`Call::constant_bytes`], and `BAD_ARGUMENTS` if not UTF-8.
    pub fn constant_str(&self, idx: usize) -> Result<String> {
        String::from_utf8(self.constant_bytes(idx)?).map_err(|_| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Argument {} of function {} must be UTF-8 text",
                    idx + 1,
                    self.name
                ),
            )
        })
    }

    /// A constant integer argument.
    ///
    /// # Errors
    /// `ILLEGAL_COLUMN` if no constant, `ILLEGAL_TYPE_OF_ARGUMENT` if no integer.
    pub fn constant_i64(&self, idx: usize) -> Result<i64> {
        self.expect_type(idx, DataType::is_integer)?;
        let array = arrow::compute::cast(self.constant(idx)?, &arrow::datatypes::DataType::Int64);
        let array = array.map_err(|_| self.illegal_type(idx))?;
        if array.is_null(0) {
            // Above i64::MAX, as `cast` gives NULL for it.
            return Ok(i64::MAX);
        }
        Ok(array.as_primitive::<Int64Type>().value(0))
    }

    /// A constant unsigned integer argument.
    ///
    /// # Errors
    /// As [`Call::constant_i64`]; negative ones are `ARGUMENT_OUT_OF_BOUND`.
    pub fn constant_u64(&self, idx: usize) -> Result<u64> {
        self.expect_type(idx, DataType::is_integer)?;
        let array = arrow::compute::cast(self.constant(idx)?, &arrow::datatypes::DataType::UInt64);
        let array = array.map_err(|_| self.illegal_type(idx))?;
        if array.is_null(0) {
            return Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                format!(
                    "Argument {} of function {} must not be negative",
                    idx + 1,
                    self.name
                ),
            ));
        }
        Ok(array.as_primitive::<UInt64Type>().value(0))
    }

    /// A constant number argument as a float.
    ///
    /// # Errors
    /// `ILLEGAL_COLUMN` if no constant, `ILLEGAL_TYPE_OF_ARGUMENT` if no number.
    pub fn constant_f64(&self, idx: usize) -> Result<f64> {
        self.expect_type(idx, DataType::is_number)?;
        let array = arrow::compute::cast(self.constant(idx)?, &arrow::datatypes::DataType::Float64);
        let array = array.map_err(|_| self.illegal_type(idx))?;
        Ok(array.as_primitive::<Float64Type>().value(0))
    }
}
