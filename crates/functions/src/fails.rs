//! Says for which values functions report errors, so that AND and OR can keep such calls from rows that are decided.

use basalt_types::DataType;

use crate::Arg;
use crate::monotone::integer;

/// For which values of its arguments a function may report an error.
///
/// What is wrong with the types or with a constant is an error before any row is seen and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// For none.
    Never,
    /// Where it reads a text, or the result's type does not have the value: conversions.
    Texts,
    /// Where a Decimal does not hold the result.
    Decimals,
    /// As `Decimals`, and where the second argument is 0, or -1 and the quotient has no place, or a float
    /// has no whole number.
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
                let is_text =
                    |arg: &Arg| arg.data_type.base().is_string() && arg.constant.is_none();
                let converts = args
                    .first()
                    .map(|a| has_all_values(&a.data_type, return_type));
                converts != Some(true) || args.iter().skip(1).any(is_text)
            }
            Fails::Decimals => has_decimals(args, return_type),
            Fails::Divisors => {
                let is_harmless = args.get(1).is_some_and(is_harmless_divisor);
                let is_float = args.first().is_some_and(|a| a.data_type.base().is_float());
                !is_harmless || is_float || has_decimals(args, return_type)
            }
            Fails::Patterns => args.get(1).is_none_or(|a| a.constant.is_none()),
            Fails::Values => true,
        }
    }
}

/// Whether a conversion gives a value for each value of `from`. Numbers wrap, but floats that are no number
/// have no integer.
fn has_all_values(from: &DataType, to: &DataType) -> bool {
    if from.holds_null() && !to.holds_null() {
        return false;
    }
    let (from, to) = (from.base(), to.base());
    let is_day =
        |t: &DataType| matches!(t, DataType::Date | DataType::Date32 | DataType::DateTime(_));
    let is_text = to.is_string() && !matches!(to, DataType::FixedString(_));
    from == to
        || (is_text && !matches!(from, DataType::AggregateFunction(_)))
        || (from.is_integer() && (to.is_integer() || to.is_float() || is_day(to)))
        || (from.is_float() && to.is_float())
        || (is_day(from) && (is_day(to) || to.is_integer()))
}

/// Whether there are Decimals among the types or inside of them.
fn has_decimals(args: &[Arg], return_type: &DataType) -> bool {
    fn holds(data_type: &DataType) -> bool {
        match data_type.base() {
            DataType::Array(element) => holds(element),
            DataType::Tuple(tuple) => tuple.types.iter().any(holds),
            DataType::Map(key, value) => holds(key) || holds(value),
            base => base.is_decimal(),
        }
    }
    holds(return_type) || args.iter().any(|a| holds(&a.data_type))
}

/// Whether it is a constant that everything can be divided by.
fn is_harmless_divisor(arg: &Arg) -> bool {
    let divisor = arg.constant.as_ref().and_then(integer);
    arg.data_type.base().is_integer() && divisor.is_some_and(|d| !(-1..=0).contains(&d))
}
