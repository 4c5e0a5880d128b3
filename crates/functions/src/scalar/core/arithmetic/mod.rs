//! Resolves the arithmetic operators by the kinds of their arguments.
//!
//! | module | owns |
//! |---|---|
//! | [`number`] | integers and floats: `+ - * /`, `gcd`, `lcm`, `min2`, `max2` |
//! | [`division`] | `intDiv`, `modulo` and kin, with reciprocals for constant divisors |
//! | [`decimal`] | decimals: scales, overflow |
//! | [`narrow_decimal`] | decimals of up to 18 digits in 64 bits |
//! | [`temporal`] | dates and times with numbers and intervals |
//! | [`nested`] | tuples and arrays, element by element |
//! | [`states`] | states of aggregate functions |
//! | [`unary`] | `negate`, `abs`, `sign` and kin |

pub(crate) mod decimal;
mod division;
mod narrow_decimal;
mod nested;
mod number;
mod states;
pub(crate) mod temporal;
mod unary;

use arrow::buffer::NullBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::function::with_nulls;
use crate::{Arg, Call, Column, Context, Fails, Resolved, ScalarFunction};

/// An operator on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the functions' names")]
pub enum BinaryOp {
    Plus,
    Minus,
    Multiply,
    Divide,
    IntDiv,
    IntDivOrZero,
    Modulo,
    ModuloOrZero,
    PositiveModulo,
    Gcd,
    Lcm,
}

impl BinaryOp {
    /// The operator of a function's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "plus" => BinaryOp::Plus,
            "minus" => BinaryOp::Minus,
            "multiply" => BinaryOp::Multiply,
            "divide" => BinaryOp::Divide,
            "intDiv" => BinaryOp::IntDiv,
            "intDivOrZero" => BinaryOp::IntDivOrZero,
            "modulo" => BinaryOp::Modulo,
            "moduloOrZero" => BinaryOp::ModuloOrZero,
            "positiveModulo" => BinaryOp::PositiveModulo,
            "gcd" => BinaryOp::Gcd,
            "lcm" => BinaryOp::Lcm,
            _ => return None,
        })
    }
}

/// The type of `op` on arguments of those types, with the dialect's rules for Nullable.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT` if the operator does not take them.
pub fn binary_result_type(op: BinaryOp, a: &DataType, b: &DataType) -> Result<DataType> {
    let function = FUNCTIONS
        .iter()
        .find(|f| BinaryOp::from_name(f.name) == Some(op))
        .ok_or_else(|| Error::bug(format!("no function for {op:?}")))?;
    let args = [Arg::new(a.clone()), Arg::new(b.clone())];
    let bound = crate::BoundFunction::bind(function, &args, &Context::default())?;
    Ok(bound.return_type)
}

/// Resolves `op` on two arguments that are not Nullable.
pub(crate) fn resolve_binary(op: BinaryOp, args: &[Arg], context: &Context) -> Result<Resolved> {
    let [a, b] = args else {
        return Err(Error::bug("a binary operator takes two arguments"));
    };
    let (a, b) = (&a.data_type, &b.data_type);
    if let Some(resolved) = nested::resolve(op, args, context)? {
        return Ok(resolved);
    }
    if is_address_with_other(a, b) {
        return Err(illegal_types(op, a, b));
    }
    if let Some(resolved) = states::resolve(op, args, context)? {
        return Ok(resolved);
    }
    if let Some(resolved) = temporal::resolve(op, args, context)? {
        return Ok(resolved);
    }
    let resolved = if a.is_decimal() || b.is_decimal() {
        decimal::resolve(op, a, b, context)?
    } else if matches!(
        op,
        BinaryOp::IntDiv
            | BinaryOp::IntDivOrZero
            | BinaryOp::Modulo
            | BinaryOp::ModuloOrZero
            | BinaryOp::PositiveModulo
    ) {
        division::resolve(op, a, b)?
    } else {
        number::resolve(op, a, b)?
    };
    resolved.ok_or_else(|| illegal_types(op, a, b))
}

/// Addresses are computed with as integers, and only with integers.
fn is_address_with_other(a: &DataType, b: &DataType) -> bool {
    let is_other = |t: &DataType| !t.is_integer() && *t != DataType::Ipv4;
    (*a == DataType::Ipv4 && is_other(b)) || (*b == DataType::Ipv4 && is_other(a))
}

fn illegal_types(op: BinaryOp, a: &DataType, b: &DataType) -> Error {
    let name = FUNCTIONS
        .iter()
        .map(|f| f.name)
        .find(|n| BinaryOp::from_name(n) == Some(op))
        .unwrap_or("");
    let error = Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!("Illegal types {a} and {b} of arguments of function {name}"),
    );
    match a.is_string() != b.is_string() {
        true => error.hinted("Cast the text, for example by toFloat64OrNull"),
        false => error,
    }
}

/// The operator with NULL where the divisor is 0.
fn or_null(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let op = match call.name {
        "divideOrNull" => BinaryOp::Divide,
        "intDivOrNull" => BinaryOp::IntDivOrZero,
        "moduloOrNull" => BinaryOp::ModuloOrZero,
        _ => BinaryOp::PositiveModulo,
    };
    for idx in 0..2 {
        call.expect_type(idx, |t| {
            t.is_integer() || t.is_float() || *t == DataType::Ipv4
        })?;
    }
    let resolved = resolve_binary(op, call.args, call.context)?;
    let eval = resolved.eval;
    Resolved::new(
        resolved.return_type.to_nullable(),
        move |columns, num_rows| {
            let divisor = &columns[1];
            let truths = super::logic::truths(divisor, num_rows)?;
            let valid: NullBuffer = super::numeric::values::<u8>(truths.as_ref())?
                .iter()
                .map(|t| *t != 0)
                .collect();
            let divisor = Column::new(with_nulls(&divisor.expand(num_rows)?, Some(valid.clone()))?);
            let quotients = eval(&[columns[0].clone(), divisor], num_rows)?;
            with_nulls(&quotients, Some(valid))
        },
    )
}

fn square(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_number() || matches!(t, DataType::Tuple(_)))?;
    let pair = [call.args[0].clone(), call.args[0].clone()];
    let product = resolve_binary(BinaryOp::Multiply, &pair, call.context)?;
    let eval = product.eval;
    Resolved::new(product.return_type, move |columns, num_rows| {
        eval(&[columns[0].clone(), columns[0].clone()], num_rows)
    })
}

/// The remainder in the signed or unsigned type of the divisor's size, where it may wrap.
fn modulo_legacy(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| !matches!(t, DataType::Array(_) | DataType::Tuple(_)))?;
    let remainder = resolve_binary(BinaryOp::Modulo, call.args, call.context)?;
    let (dividend, divisor) = (call.data_type(0), call.data_type(1));
    if !dividend.is_integer() || !divisor.is_integer() {
        return Ok(remainder);
    }
    let size_bytes = divisor.fixed_size_bytes().unwrap_or(8);
    let narrow = super::num::Num::integer(size_bytes, dividend.is_signed());
    let eval = remainder.eval;
    Resolved::new(narrow.data_type(), move |columns, num_rows| {
        let wide = Column::new(eval(columns, num_rows)?);
        super::numeric::with_native!(narrow, T => {
            super::numeric::map1::<i64, T>(&wide, num_rows, super::numeric::FromNum::from_num)
        })
    })
}

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let op = BinaryOp::from_name(call.name)
        .ok_or_else(|| Error::bug(format!("{} is no operator", call.name)))?;
    resolve_binary(op, call.args, call.context)
}

const OP: ScalarFunction = ScalarFunction {
    fails: Fails::Decimals,
    resolve,
    ..ScalarFunction::BASE
};

/// Arithmetic functions.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "plus",
        syntax: "plus(a, b)",
        description: "Returns the sum, in a type wide enough for one addition.",
        ..OP
    },
    ScalarFunction {
        name: "minus",
        syntax: "minus(a, b)",
        description: "Returns the difference, always in a signed type.",
        ..OP
    },
    ScalarFunction {
        name: "multiply",
        syntax: "multiply(a, b)",
        description: "Returns the product; of two tuples the scalar product.",
        ..OP
    },
    ScalarFunction {
        name: "divide",
        syntax: "divide(a, b)",
        description: "Returns the quotient as a Float64, or as a Decimal if one is divided.",
        ..OP
    },
    ScalarFunction {
        name: "intDiv",
        fails: Fails::Divisors,
        syntax: "intDiv(a, b)",
        description: "Returns the quotient rounded towards zero; dividing by zero is an error.",
        ..OP
    },
    ScalarFunction {
        name: "intDivOrZero",
        fails: Fails::Divisors,
        syntax: "intDivOrZero(a, b)",
        description: "Returns the quotient rounded towards zero, and 0 where it does not exist.",
        ..OP
    },
    ScalarFunction {
        name: "modulo",
        fails: Fails::Divisors,
        aliases: &["mod"],
        case_insensitive: true,
        syntax: "modulo(a, b)",
        description: "Returns the remainder of the division, with the sign of the dividend.",
        ..OP
    },
    ScalarFunction {
        name: "moduloOrZero",
        syntax: "moduloOrZero(a, b)",
        description: "Returns the remainder of the division, and 0 for a divisor of 0.",
        ..OP
    },
    ScalarFunction {
        name: "positiveModulo",
        fails: Fails::Divisors,
        aliases: &["positive_modulo", "pmod"],
        case_insensitive: true,
        syntax: "positiveModulo(a, b)",
        description: "Returns the remainder of the division that is not negative.",
        ..OP
    },
    ScalarFunction {
        name: "gcd",
        fails: Fails::Values,
        syntax: "gcd(a, b)",
        description: "Returns the greatest common divisor of two integers.",
        ..OP
    },
    ScalarFunction {
        name: "lcm",
        fails: Fails::Values,
        syntax: "lcm(a, b)",
        description: "Returns the least common multiple of two integers.",
        ..OP
    },
    ScalarFunction {
        name: "min2",
        case_insensitive: true,
        syntax: "min2(a, b)",
        description: "Returns the smaller of two numbers as a Float64.",
        resolve: number::min2,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "max2",
        case_insensitive: true,
        syntax: "max2(a, b)",
        description: "Returns the greater of two numbers as a Float64.",
        resolve: number::max2,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "negate",
        syntax: "negate(x)",
        description: "Returns the number with the opposite sign.",
        resolve: unary::negate,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "abs",
        case_insensitive: true,
        syntax: "abs(x)",
        description: "Returns the absolute value, for integers in the unsigned type.",
        resolve: unary::abs,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "sign",
        case_insensitive: true,
        syntax: "sign(x)",
        description: "Returns -1, 0 or 1 for negative numbers, zero and positive numbers.",
        resolve: unary::sign,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "sqr",
        syntax: "sqr(x)",
        description: "Returns the product of the number with itself.",
        resolve: square,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "moduloLegacy",
        fails: Fails::Divisors,
        syntax: "moduloLegacy(a, b)",
        description: "Returns the remainder in the type of the divisor's size.",
        resolve: modulo_legacy,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "divideOrNull",
        syntax: "divideOrNull(a, b)",
        description: "Returns the quotient, and NULL for a divisor of 0.",
        resolve: or_null,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "intDivOrNull",
        syntax: "intDivOrNull(a, b)",
        description: "Returns the quotient rounded towards zero, and NULL for a divisor of 0.",
        resolve: or_null,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "moduloOrNull",
        aliases: &["modOrNull"],
        syntax: "moduloOrNull(a, b)",
        description: "Returns the remainder, and NULL for a divisor of 0.",
        resolve: or_null,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "positiveModuloOrNull",
        aliases: &["positive_modulo_or_null", "pmodOrNull"],
        syntax: "positiveModuloOrNull(a, b)",
        description: "Returns the remainder that is not negative, and NULL for a divisor of 0.",
        resolve: or_null,
        ..ScalarFunction::BASE
    },
];
