//! Computes elementary functions on floats.

use basalt_error::{Error, ErrorCode, Result};
use basalt_kernels::c_math;
use basalt_types::{DataType, supertype_or_variant};

use super::cast::array_cast;
use super::decimals::to_float;
use super::numeric::{Num, Numbers, array_of, map1, map2, with_native};
use crate::registry::get_scalar;
use crate::{Arg, BoundFunction, Call, Column, Fails, Resolved, ScalarFunction};

/// Number arguments that a function reads as Float64.
pub(crate) struct FloatArguments {
    has_decimals: bool,
}

/// Checks that all arguments are numbers.
pub(crate) fn float_arguments(call: &Call<'_>) -> Result<FloatArguments> {
    for idx in 0..call.args.len() {
        call.expect_type(idx, DataType::is_number)?;
    }
    let has_decimals = call.args.iter().any(|arg| arg.data_type.is_decimal());
    Ok(FloatArguments { has_decimals })
}

impl FloatArguments {
    /// Columns that can be read as floats.
    pub(crate) fn columns(&self, columns: &[Column]) -> Result<Vec<Column>> {
        if self.has_decimals {
            columns.iter().map(to_float).collect()
        } else {
            Ok(columns.to_vec())
        }
    }
}

/// The logarithm of the gamma function's magnitude; none at the poles, 0 excepted.
fn lgamma(x: f64) -> f64 {
    let is_pole = x < 0.0 && x.trunc() == x;
    if is_pole { f64::NAN } else { c_math::lgamma(x) }
}

/// As ClickHouse computes it: small values have fewer digits than `f64::tanh` gives.
fn tanh(x: f64) -> f64 {
    2.0 / (1.0 + (-2.0 * x).exp()) - 1.0
}

fn unary(
    call: &Call<'_>,
    op: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let args = float_arguments(call)?;
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        map1::<f64, f64>(&args.columns(columns)?[0], num_rows, op)
    })
}

fn binary(
    call: &Call<'_>,
    op: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let args = float_arguments(call)?;
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        let columns = args.columns(columns)?;
        map2::<f64, f64, f64>((&columns[0], &columns[1]), num_rows, op)
    })
}

fn number(call: &Call<'_>, value: f64) -> Result<Resolved> {
    call.expect_args(0..=0)?;
    Resolved::new(DataType::Float64, move |_, num_rows| {
        Ok(array_of(vec![value; num_rows]))
    })
}

/// Functions `f(x)`: name, other names, loop body, description.
macro_rules! of_one {
    ($($name:literal $aliases:expr, $op:expr, $description:literal;)*) => {
        &[$(ScalarFunction {
            name: $name,
            aliases: $aliases,
            case_insensitive: true,
            syntax: concat!($name, "(x)"),
            description: $description,
            fails: Fails::Never,
            resolve: |call| unary(call, $op),
            ..ScalarFunction::BASE
        },)*]
    };
}

/// Functions of one float.
pub const FUNCTIONS: &[ScalarFunction] = of_one! {
    "exp" &[], f64::exp, "Returns e to the power of x.";
    "log" &["ln"], f64::ln, "Returns the natural logarithm.";
    "log2" &[], f64::log2, "Returns the logarithm to base 2.";
    "log10" &[], libm::log10, "Returns the logarithm to base 10.";
    "log1p" &[], f64::ln_1p, "Returns the natural logarithm of 1 + x.";
    "exp2" &[], f64::exp2, "Returns 2 to the power of x.";
    "exp10" &[], libm::exp10, "Returns 10 to the power of x.";
    "sqrt" &[], f64::sqrt, "Returns the square root.";
    "cbrt" &[], f64::cbrt, "Returns the cubic root.";
    "sin" &[], f64::sin, "Returns the sine of an angle in radians.";
    "cos" &[], f64::cos, "Returns the cosine of an angle in radians.";
    "tan" &[], f64::tan, "Returns the tangent of an angle in radians.";
    "asin" &[], f64::asin, "Returns the arc sine in radians.";
    "acos" &[], f64::acos, "Returns the arc cosine in radians.";
    "atan" &[], f64::atan, "Returns the arc tangent in radians.";
    "sinh" &[], f64::sinh, "Returns the hyperbolic sine.";
    "cosh" &[], f64::cosh, "Returns the hyperbolic cosine.";
    "tanh" &[], tanh, "Returns the hyperbolic tangent.";
    "asinh" &[], c_math::asinh, "Returns the inverse hyperbolic sine.";
    "acosh" &[], c_math::acosh, "Returns the inverse hyperbolic cosine.";
    "atanh" &[], c_math::atanh, "Returns the inverse hyperbolic tangent.";
    "erf" &[], c_math::erf, "Returns the error function.";
    "erfc" &[], c_math::erfc, "Returns 1 minus the error function, exact for great x.";
    "lgamma" &[], lgamma, "Returns the logarithm of the gamma function's magnitude.";
    "tgamma" &["gamma"], c_math::tgamma, "Returns the gamma function.";
    "sigmoid" &[], |x| 1.0 / (1.0 + (-x).exp()), "Returns 1 / (1 + e^-x).";
    "degrees" &[], |x| x * (180.0 / std::f64::consts::PI), "Converts radians to degrees.";
    "radians" &[], |x| x * (std::f64::consts::PI / 180.0), "Converts degrees to radians.";
};

/// Functions of no or two floats, and of integers.
pub const OTHERS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "e",
        syntax: "e()",
        description: "Returns Euler's number.",
        resolve: |call| number(call, std::f64::consts::E),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "pi",
        case_insensitive: true,
        syntax: "pi()",
        description: "Returns the ratio of a circle's circumference to its diameter.",
        resolve: |call| number(call, std::f64::consts::PI),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "pow",
        fails: Fails::Never,
        aliases: &["power"],
        case_insensitive: true,
        syntax: "pow(x, y)",
        description: "Returns x to the power of y.",
        resolve: |call| binary(call, f64::powf),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "atan2",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "atan2(y, x)",
        description: "Returns the angle of the point (x, y) in radians.",
        resolve: |call| binary(call, f64::atan2),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hypot",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "hypot(x, y)",
        description: "Returns the length of the hypotenuse.",
        resolve: |call| binary(call, f64::hypot),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "factorial",
        case_insensitive: true,
        syntax: "factorial(n)",
        description: "Returns the product of the numbers from 1 to n, at most 20.",
        resolve: factorial,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "intExp2",
        syntax: "intExp2(n)",
        description: "Returns 2 to the power of n as a UInt64.",
        resolve: |call| integer_power(call, 2),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "intExp10",
        syntax: "intExp10(n)",
        description: "Returns 10 to the power of n as a UInt64.",
        resolve: |call| integer_power(call, 10),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isNaN",
        fails: Fails::Never,
        syntax: "isNaN(x)",
        description: "Returns 1 for a NaN.",
        resolve: |call| test(call, f64::is_nan),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isInfinite",
        fails: Fails::Never,
        syntax: "isInfinite(x)",
        description: "Returns 1 for an infinity.",
        resolve: |call| test(call, f64::is_infinite),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isFinite",
        fails: Fails::Never,
        syntax: "isFinite(x)",
        description: "Returns 1 for a number that is neither infinite nor NaN.",
        resolve: |call| test(call, f64::is_finite),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "ifNotFinite",
        fails: Fails::Never,
        syntax: "ifNotFinite(x, default)",
        description: "Returns x, or the default if x is infinite or NaN.",
        resolve: if_not_finite,
        ..ScalarFunction::BASE
    },
];

fn test(
    call: &Call<'_>,
    op: impl Fn(f64) -> bool + Copy + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_integer() || t.is_float())?;
    let args = float_arguments(call)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        map1::<f64, u8>(&args.columns(columns)?[0], num_rows, |x| u8::from(op(x)))
    })
}

/// As `if(isFinite(x), x, default)`, for values of different kinds.
fn choose_finite(call: &Call<'_>) -> Result<Resolved> {
    let is_finite = BoundFunction::bind(get_scalar("isFinite")?, &call.args[..1], call.context)?;
    let condition = Arg::new(DataType::UInt8);
    let args = [condition, call.args[0].clone(), call.args[1].clone()];
    let choice = BoundFunction::bind(get_scalar("if")?, &args, call.context)?;
    Resolved::new(choice.return_type.clone(), move |columns, num_rows| {
        let condition = Column::new(is_finite.call(&columns[..1], num_rows)?);
        let args = [condition, columns[0].clone(), columns[1].clone()];
        choice.call(&args, num_rows)
    })
}

fn if_not_finite(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let types = call.data_types();
    call.expect_type(0, DataType::is_number)?;
    let result = supertype_or_variant(&types)?;
    let Some(num) = Num::of_number(&result) else {
        return choose_finite(call);
    };
    let first = array_cast(&types[0], &result, call.context)?;
    let second = array_cast(&types[1], &result, call.context)?;
    Resolved::new(result, move |columns, num_rows| {
        let cast = |column: &Column, cast: &super::cast::ArrayCast| -> Result<Column> {
            Ok(Column {
                array: cast(&column.array)?,
                is_const: column.is_const,
            })
        };
        let pair = (cast(&columns[0], &first)?, cast(&columns[1], &second)?);
        let pair = (&pair.0, &pair.1);
        match num {
            Num::F32 => {
                map2::<f32, f32, f32>(pair, num_rows, |x, y| if x.is_finite() { x } else { y })
            }
            Num::F64 => {
                map2::<f64, f64, f64>(pair, num_rows, |x, y| if x.is_finite() { x } else { y })
            }
            _ => with_native!(num, T => map2::<T, T, T>(pair, num_rows, |x, _| x)),
        }
    })
}

fn check_integer(call: &Call<'_>) -> Result<()> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_integer)
}

fn factorial(call: &Call<'_>) -> Result<Resolved> {
    check_integer(call)?;
    let unsigned = call.data_type(0).is_unsigned();
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let column = &columns[0];
        let numbers: Vec<i64> = Numbers::converted(column.array.as_ref())?;
        let product = |row: usize| {
            let n = numbers[column.row(row)];
            let is_valid = column
                .validity(num_rows)
                .is_none_or(|valid| valid.is_valid(row));
            match n {
                ..=0 if !(unsigned && n < 0) => Ok(1),
                1..=20 => Ok((1..=n as u64).product()),
                _ if !is_valid => Ok(0),
                _ => Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    "The maximum number that factorial takes is 20",
                )),
            }
        };
        Ok(array_of(
            (0..num_rows).map(product).collect::<Result<Vec<u64>>>()?,
        ))
    })
}

/// 0 for negative exponents, the greatest UInt64 for too great ones.
fn integer_power(call: &Call<'_>, base: u64) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_integer() || t.is_float())?;
    let args = float_arguments(call)?;
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        map1::<f64, u64>(&args.columns(columns)?[0], num_rows, |exponent| {
            if exponent < 0.0 {
                return 0;
            }
            base.checked_pow(exponent as u32).unwrap_or(u64::MAX)
        })
    })
}
