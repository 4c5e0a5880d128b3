//! Computes with decimals: scales of results, overflow of ClickHouse's own width.

use arrow::array::ArrayRef;
use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::{BinaryOp, narrow_decimal};
use crate::scalar::core::decimals::{
    Ticks, Width, decimal_array, digits, math_overflow, ticks_of, to_float,
};
use crate::scalar::core::numeric::{FromNum, Num, array_of, with_native};
use crate::{Column, Context, Resolved};

/// The setting that says whether results that do not fit are errors.
const CHECK_OVERFLOW: &str = "decimal_check_overflow";

/// How an operator on decimals is computed.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) op: BinaryOp,
    pub(super) width: Width,
    /// Powers of ten that the arguments are multiplied with first.
    pub(super) exponents: (u32, u32),
    pub(super) result: DataType,
    /// Whether what does not fit is an error; else it wraps.
    pub(super) checks: bool,
}

impl Plan {
    /// ClickHouse looks for overflow of products in narrow decimals only.
    fn checks_products(&self) -> bool {
        self.checks && self.width <= Width::W64
    }
}

pub(super) fn resolve(
    op: BinaryOp,
    a: &DataType,
    b: &DataType,
    context: &Context,
) -> Result<Option<Resolved>> {
    if !a.is_number() || !b.is_number() {
        return Ok(None);
    }
    if matches!(op, BinaryOp::ModuloOrZero | BinaryOp::Gcd | BinaryOp::Lcm) {
        return Ok(None);
    }
    if a.is_float() || b.is_float() {
        return resolve_as_floats(op, a, b);
    }
    let mut plan = plan(op, a, b)?;
    plan.checks = context.settings.get(CHECK_OVERFLOW).is_none() || context.flag(CHECK_OVERFLOW);
    let result = plan.result.clone();
    Resolved::new(result, move |columns, num_rows| {
        if let Some(narrow) = narrow_decimal::run(&plan, columns, num_rows)? {
            Ok(narrow)
        } else if plan.width == Width::W256 {
            run::<i256>(&plan, columns, num_rows)
        } else {
            run::<i128>(&plan, columns, num_rows)
        }
    })
    .map(Some)
}

fn resolve_as_floats(op: BinaryOp, a: &DataType, b: &DataType) -> Result<Option<Resolved>> {
    let as_float = |t: &DataType| {
        let narrow = matches!(digits(t), Some((precision, _)) if precision <= 9);
        match (t.is_decimal(), narrow) {
            (true, true) => DataType::Float32,
            (true, false) => DataType::Float64,
            _ => t.clone(),
        }
    };
    let (float_a, float_b) = (as_float(a), as_float(b));
    let resolved = match op {
        BinaryOp::Plus | BinaryOp::Minus | BinaryOp::Multiply | BinaryOp::Divide => {
            super::number::resolve(op, &float_a, &float_b)?
        }
        _ => super::division::resolve(op, &float_a, &float_b)?,
    };
    let Some(resolved) = resolved else {
        return Ok(None);
    };
    let eval = resolved.eval;
    Resolved::new(resolved.return_type, move |columns, num_rows| {
        let columns = columns.iter().map(to_float).collect::<Result<Vec<_>>>()?;
        eval(&columns, num_rows)
    })
    .map(Some)
}

fn plan(op: BinaryOp, a: &DataType, b: &DataType) -> Result<Plan> {
    let (digits_a, digits_b) = (digits(a), digits(b));
    let width_of =
        |d: Option<(u8, u8)>| d.map_or(Width::W32, |(precision, _)| Width::of(precision));
    let width = width_of(digits_a).max(width_of(digits_b));
    // With an integer the decimal's own precision stays.
    let precision = match (digits_a, digits_b) {
        (Some(_), Some(_)) => width.precision(),
        (Some((precision, _)), None) | (None, Some((precision, _))) => precision,
        (None, None) => return Err(Error::bug("no decimal among the arguments")),
    };
    let scale_of = |d: Option<(u8, u8)>| d.map_or(0, |(_, scale)| scale);
    let (scale_a, scale_b) = (scale_of(digits_a), scale_of(digits_b));
    let common = scale_a.max(scale_b);
    let up = |scale: u8| u32::from(common - scale);
    let decimal = |scale| DataType::Decimal { precision, scale };
    let (exponents, result) = match op {
        BinaryOp::Plus | BinaryOp::Minus => ((up(scale_a), up(scale_b)), decimal(common)),
        BinaryOp::Multiply => ((0, 0), decimal(product_scale(scale_a, scale_b, width)?)),
        BinaryOp::Divide => {
            let scale_a = if digits_a.is_none() { common } else { scale_a };
            if scale_b > scale_a {
                return Err(Error::new(
                    ErrorCode::ARGUMENT_OUT_OF_BOUND,
                    "Decimal result's scale is less than argument's one; cast the dividend to a greater scale",
                ));
            }
            let own = if digits_a.is_none() {
                u32::from(common)
            } else {
                0
            };
            ((own + u32::from(scale_b), 0), decimal(scale_a))
        }
        BinaryOp::IntDiv | BinaryOp::IntDivOrZero => {
            ((up(scale_a), up(scale_b)), integer_quotient(a, width)?)
        }
        // ClickHouse takes the remainder of the unscaled ticks.
        _ => ((0, 0), decimal(common)),
    };
    Ok(Plan {
        op,
        width,
        exponents,
        result,
        checks: true,
    })
}

fn product_scale(a: u8, b: u8, width: Width) -> Result<u8> {
    let (scale, max) = (a + b, width.precision());
    if scale <= max {
        return Ok(scale);
    }
    Err(Error::new(
        ErrorCode::ARGUMENT_OUT_OF_BOUND,
        format!("Scale {scale} is out of bounds (max scale: {max})"),
    ))
}

fn integer_quotient(dividend: &DataType, width: Width) -> Result<DataType> {
    match (digits(dividend), Num::of_number(dividend), width) {
        (Some((0..=9, _)), ..) => Ok(DataType::Int32),
        (Some((10..=18, _)), ..) => Ok(DataType::Int64),
        (None, Some(num), _) => Ok(Num::integer(num.size_bytes(), true).data_type()),
        _ => Err(Error::not_implemented(format!(
            "An integer quotient of {dividend} (Int128 or Int256)"
        ))),
    }
}

fn run<T: Ticks>(plan: &Plan, columns: &[Column], num_rows: usize) -> Result<ArrayRef> {
    let (a, b) = (&columns[0], &columns[1]);
    let ticks_a = scaled::<T>(a, plan, plan.exponents.0)?;
    let ticks_b = scaled::<T>(b, plan, plan.exponents.1)?;
    let valid = [a, b].iter().fold(None, |nulls, column| {
        arrow::buffer::NullBuffer::union(nulls.as_ref(), column.validity(num_rows).as_ref())
    });
    let zero = T::from_i128(0);
    let mut out = Vec::with_capacity(num_rows);
    for row in 0..num_rows {
        let pair = (ticks_a[a.row(row)], ticks_b[b.row(row)]);
        let value = match pair {
            (Some(x), Some(y)) => compute(plan, x, y),
            _ => Err(math_overflow()),
        };
        match value {
            Ok(value) => out.push(value),
            Err(_) if valid.as_ref().is_some_and(|valid| valid.is_null(row)) => out.push(zero),
            Err(e) => return Err(e),
        }
    }
    match &plan.result {
        DataType::Decimal { .. } => decimal_array(out, &plan.result, None),
        integer => {
            let num = Num::of(integer).ok_or_else(|| Error::bug("quotient is no integer"))?;
            Ok(with_native!(num, R => {
                array_of(out.into_iter().map(|v| R::from_num(v.low_bits())).collect::<Vec<R>>())
            }))
        }
    }
}

/// Ticks times a power of ten; `None` where that overflows and is looked for.
fn scaled<T: Ticks>(column: &Column, plan: &Plan, exponent: u32) -> Result<Vec<Option<T>>> {
    let ticks = ticks_of::<T>(column, plan.width)?;
    if exponent == 0 {
        return Ok(ticks.into_iter().map(Some).collect());
    }
    let factor = T::power_of_ten(exponent);
    let scale = |t: T| {
        if !plan.checks_products() {
            return Some(t.mul_wrapping(factor?).wrapped(plan.width));
        }
        let product = t.mul_checked(factor?).ok()?;
        product.fits(plan.width).then_some(product)
    };
    Ok(ticks.into_iter().map(scale).collect())
}

fn compute<T: Ticks>(plan: &Plan, a: T, b: T) -> Result<T> {
    match plan.op {
        BinaryOp::Multiply if !plan.checks_products() => {
            return Ok(a.mul_wrapping(b).wrapped(plan.width));
        }
        BinaryOp::Plus if !plan.checks => return Ok(a.add_wrapping(b).wrapped(plan.width)),
        BinaryOp::Minus if !plan.checks => return Ok(a.sub_wrapping(b).wrapped(plan.width)),
        BinaryOp::Plus => return fitting(plan, a.add_checked(b)),
        BinaryOp::Minus => return fitting(plan, a.sub_checked(b)),
        BinaryOp::Multiply => return fitting(plan, a.mul_checked(b)),
        _ => {}
    }
    if b.is_zero() {
        if plan.op == BinaryOp::IntDivOrZero {
            return Ok(b);
        }
        return Err(Error::new(ErrorCode::ILLEGAL_DIVISION, "Division by zero"));
    }
    let value = match plan.op {
        BinaryOp::Divide | BinaryOp::IntDiv | BinaryOp::IntDivOrZero => a.div_checked(b),
        BinaryOp::PositiveModulo => a.mod_checked(b).map(|rest| {
            let zero = T::from_i128(0);
            match rest < zero {
                true if b < zero => rest.sub_wrapping(b),
                true => rest.add_wrapping(b),
                false => rest,
            }
        }),
        _ => a.mod_checked(b),
    };
    fitting(plan, value)
}

fn fitting<T: Ticks, E>(plan: &Plan, value: std::result::Result<T, E>) -> Result<T> {
    match value {
        Ok(value) if value.fits(plan.width) => Ok(value),
        _ => Err(math_overflow()),
    }
}
