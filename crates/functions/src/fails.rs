//! Says for which values functions report errors, so that AND and OR can keep such calls from rows that are decided.

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use basalt_types::DataType;

use crate::Arg;

/// For which values of its arguments a function may report an error.
///
/// What is wrong with the types or with a constant is an error before any row is seen and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// For none.
    Never,
    /// Where it reads a text, or the result's type does not have the value (Decimals, Enums, types
    /// without NULL): conversions.
    Texts,
    /// Where a Decimal does not hold the result.
    Decimals,
    /// As `Decimals`, and where the second argument is 0, or -1 and the quotient has no place.
    Divisors,
    /// Where the second argument is a pattern that differs from row to row.
    Patterns,
    /// For some; what functions do that do not say.
    Values,
}

impl Fails {
    /// Whether a call with these arguments and this type of result may fail.
    pub(crate) fn may(self, args: &[Arg], return_type: &DataType) -> bool {
        match self {
            Fails::Never => false,
            Fails::Texts => {
                let result = return_type.base();
                let is_text = |(idx, arg): (usize, &Arg)| {
                    arg.data_type.base().is_string() && (idx == 0 || arg.constant.is_none())
                };
                let is_checked = result.is_decimal() || result.is_enum();
                (is_checked && has_other_type(args, result))
                    || loses_nulls(args, return_type)
                    || args.iter().enumerate().any(is_text)
            }
            Fails::Decimals => has_decimals(args, return_type),
            Fails::Divisors => {
                let is_harmless = args.get(1).is_some_and(is_harmless_divisor);
                !is_harmless || has_decimals(args, return_type)
            }
            Fails::Patterns => args.get(1).is_none_or(|a| a.constant.is_none()),
            Fails::Values => true,
        }
    }
}

fn has_other_type(args: &[Arg], result: &DataType) -> bool {
    args.first().is_none_or(|a| a.data_type.base() != result)
}

/// Whether NULLs of the first argument have no place in the result.
fn loses_nulls(args: &[Arg], return_type: &DataType) -> bool {
    let has_nulls = args.first().is_some_and(|a| a.data_type.holds_null());
    has_nulls && !return_type.holds_null()
}

fn has_decimals(args: &[Arg], return_type: &DataType) -> bool {
    let holds = |data_type: &DataType| {
        let base = data_type.base();
        base.is_decimal() || matches!(base, DataType::Array(_) | DataType::Tuple(_))
    };
    holds(return_type) || args.iter().any(|a| holds(&a.data_type))
}

/// Whether it is a constant that everything can be divided by.
fn is_harmless_divisor(arg: &Arg) -> bool {
    let value = |array: &ArrayRef| {
        let wide = cast(array, &ArrowType::Int64).ok()?;
        wide.as_primitive::<Int64Type>().iter().flatten().next()
    };
    let divisor = arg.constant.as_ref().and_then(value);
    arg.data_type.base().is_integer() && divisor.is_some_and(|d| !(-1..=0).contains(&d))
}
