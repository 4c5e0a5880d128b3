//! Compares tuples element by element, each by the rules of its type: NULL where the elements do not decide.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt8Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, Result};
use basalt_types::DataType;

use super::Op;
use crate::scalar::core::conditional::bind;
use crate::{Arg, BoundFunction, Call, Column, Context, Resolved};

/// A truth value, 0 being false: AND is the lesser and OR the greater of two.
type Truth = u8;

const UNKNOWN: Truth = 1;
const TRUE: Truth = 2;

/// What is asked of a pair of elements.
struct Step {
    /// Whether the pair decides by itself.
    decides: BoundFunction,
    /// Whether the elements behind it are asked; `None` for the last pair, and where all pairs decide.
    goes_on: Option<BoundFunction>,
}

/// The comparison, if both are tuples of as many elements, and of some.
pub(super) fn tuples(call: &Call<'_>, op: Op, (a, b): (&Arg, &Arg)) -> Result<Option<Resolved>> {
    let Some(num_elements) = num_elements(a, b) else {
        return Ok(None);
    };
    let step = |i: usize| {
        let pair = [element(a, i)?, element(b, i)?];
        Step::new(op, pair, i + 1 == num_elements, call.context)
    };
    let steps = (0..num_elements).map(step).collect::<Result<Vec<_>>>()?;
    let may_be_null = steps.iter().any(Step::may_be_null);
    let return_type = match may_be_null {
        true => DataType::UInt8.to_nullable(),
        false => DataType::UInt8,
    };
    let is_and = op == Op::Equal;
    let both_constant = a.constant.is_some() && b.constant.is_some();
    if both_constant && (has_written_null(a) || has_written_null(b)) {
        // Whatever the other elements say, which decide in columns.
        return Resolved::new(return_type, |_, num_rows| {
            Ok(array_of(&vec![UNKNOWN; num_rows], true))
        })
        .map(Some);
    }
    Resolved::new(return_type, move |columns, num_rows| {
        let mut truths = Vec::new();
        for (i, step) in steps.iter().enumerate().rev() {
            let pair = [part(&columns[0], i), part(&columns[1], i)];
            let decides = truths_of(&step.decides.call(&pair, num_rows)?);
            truths = match &step.goes_on {
                None if truths.is_empty() => decides,
                None if is_and => zip(decides, &truths, Truth::min),
                None => zip(decides, &truths, Truth::max),
                Some(goes_on) => {
                    let goes_on = truths_of(&goes_on.call(&pair, num_rows)?);
                    zip(decides, &zip(goes_on, &truths, Truth::min), Truth::max)
                }
            };
        }
        Ok(array_of(&truths, may_be_null))
    })
    .map(Some)
}

/// Equality in which NULL is a value like others, or its opposite, under the same conditions.
pub(super) fn distinct(call: &Call<'_>, negated: bool) -> Result<Option<Resolved>> {
    let (a, b) = (&call.args[0], &call.args[1]);
    let Some(num_elements) = num_elements(a, b) else {
        return Ok(None);
    };
    let pair = |i: usize| {
        let pair = [element(a, i)?, element(b, i)?];
        bind("isNotDistinctFrom", &pair, call.context)
    };
    let pairs = (0..num_elements).map(pair).collect::<Result<Vec<_>>>()?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let mut all = vec![TRUE; num_rows];
        for (i, same) in pairs.iter().enumerate() {
            let pair = [part(&columns[0], i), part(&columns[1], i)];
            all = zip(all, &truths_of(&same.call(&pair, num_rows)?), Truth::min);
        }
        if negated {
            all.iter_mut().for_each(|truth| *truth = TRUE - *truth);
        }
        Ok(array_of(&all, false))
    })
    .map(Some)
}

/// How many elements both tuples have; none if they are no tuples, have no elements, or not as many.
fn num_elements(a: &Arg, b: &Arg) -> Option<usize> {
    match (&a.data_type, &b.data_type) {
        (DataType::Tuple(a), DataType::Tuple(b)) => {
            let is_alike = a.types.len() == b.types.len() && !a.types.is_empty();
            is_alike.then_some(a.types.len())
        }
        _ => None,
    }
}

impl Step {
    fn new(op: Op, pair: [Arg; 2], is_last: bool, context: &Context) -> Result<Self> {
        let bind = |function: &str| bind(function, &pair, context);
        let (decides, goes_on) = match op {
            Op::Equal => ("equals", None),
            Op::NotEqual => ("notEquals", None),
            Op::LessOrEqual if is_last => ("lessOrEquals", None),
            Op::Less if is_last => ("less", None),
            Op::Less | Op::LessOrEqual => ("less", Some("equals")),
        };
        Ok(Self {
            decides: bind(decides)?,
            goes_on: goes_on.map(bind).transpose()?,
        })
    }

    fn may_be_null(&self) -> bool {
        self.decides.return_type.holds_null()
    }
}

/// Whether an element is a NULL without a type.
fn has_written_null(tuple: &Arg) -> bool {
    let DataType::Tuple(types) = &tuple.data_type else {
        return false;
    };
    types.types.iter().any(|t| *t.base() == DataType::Nothing)
}

/// An element of an argument.
fn element(tuple: &Arg, i: usize) -> Result<Arg> {
    let DataType::Tuple(types) = &tuple.data_type else {
        return Err(Error::bug("elements are of tuples"));
    };
    let constant = tuple.constant.as_ref().map(|constant| {
        let columns = constant.as_struct_opt().map(|tuples| tuples.column(i));
        columns
            .cloned()
            .ok_or_else(|| Error::bug("a tuple is a struct"))
    });
    Ok(Arg {
        data_type: types.types[i].clone(),
        constant: constant.transpose()?,
    })
}

/// The column of an element.
fn part(tuples: &Column, i: usize) -> Column {
    Column {
        array: Arc::clone(tuples.array.as_struct().column(i)),
        is_const: tuples.is_const,
    }
}

fn truths_of(compared: &ArrayRef) -> Vec<Truth> {
    let Some(values) = compared.as_primitive_opt::<UInt8Type>() else {
        return vec![UNKNOWN; compared.len()];
    };
    let mut truths: Vec<Truth> = values.values().iter().map(|value| value * TRUE).collect();
    if let Some(nulls) = values.nulls() {
        let unknown = truths
            .iter_mut()
            .zip(nulls)
            .filter(|(_, is_known)| !is_known);
        unknown.for_each(|(truth, _)| *truth = UNKNOWN);
    }
    truths
}

fn zip(mut left: Vec<Truth>, right: &[Truth], join: impl Fn(Truth, Truth) -> Truth) -> Vec<Truth> {
    for (left, right) in left.iter_mut().zip(right) {
        *left = join(*left, *right);
    }
    left
}

fn array_of(truths: &[Truth], may_be_null: bool) -> ArrayRef {
    let values: Vec<u8> = truths
        .iter()
        .map(|truth| u8::from(*truth == TRUE))
        .collect();
    let nulls = may_be_null.then(|| {
        truths
            .iter()
            .map(|truth| *truth != UNKNOWN)
            .collect::<NullBuffer>()
    });
    Arc::new(UInt8Array::new(values.into(), nulls))
}
