//! Numbers of cells on space-filling curves: Z-order (Morton) and Hilbert.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::scalar::arrays::lists::struct_of;
use crate::scalar::core::numeric::{array_of, map1, values};
use crate::{Arg, Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "mortonEncode",
        syntax: "mortonEncode([(ratio, …),] x, …)",
        description: "The number of a cell in Z-order, from up to eight coordinates.",
        resolve: |call| resolve_encode(call, Curve::Morton),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "mortonDecode",
        syntax: "mortonDecode(dimensions, code)",
        description: "The coordinates of a cell from its number in Z-order.",
        resolve: |call| resolve_decode(call, Curve::Morton),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hilbertEncode",
        syntax: "hilbertEncode([(shift, …),] x[, y])",
        description: "The number of a cell on the Hilbert curve.",
        resolve: |call| resolve_encode(call, Curve::Hilbert),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hilbertDecode",
        syntax: "hilbertDecode(dimensions, code)",
        description: "The coordinates of a cell from its number on the Hilbert curve.",
        resolve: |call| resolve_decode(call, Curve::Hilbert),
        ..ScalarFunction::BASE
    },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    Morton,
    Hilbert,
}

impl Curve {
    fn max_dimensions(self) -> usize {
        match self {
            Curve::Morton => 8,
            Curve::Hilbert => 2,
        }
    }

    /// What a mask may say of a coordinate: how far its bits are spread, or how far it is shifted.
    fn takes_mask(self, mask: u64) -> bool {
        match self {
            Curve::Morton => (1..=8).contains(&mask),
            Curve::Hilbert => mask <= 32,
        }
    }

    fn encode(self, coordinates: &[u64], masks: Option<&[u64]>) -> u64 {
        let masked = |i: usize| {
            let x = coordinates[i];
            match (self, masks) {
                (_, None) => x,
                (Curve::Morton, Some(masks)) => spread(x, masks[i], masks[i] - 1),
                (Curve::Hilbert, Some(masks)) => x.checked_shl(masks[i] as u32).unwrap_or(0),
            }
        };
        let dimensions = coordinates.len();
        match (self, dimensions) {
            (_, 1) => masked(0),
            (Curve::Morton, _) => (0..dimensions).fold(0, |code, i| {
                code | spread(masked(i), dimensions as u64, i as u64)
            }),
            (Curve::Hilbert, _) => hilbert_number(masked(0) as u32, masked(1) as u32),
        }
    }

    fn decode(self, code: u64, dimensions: usize, masks: Option<&[u64]>) -> Vec<u64> {
        let plain = match (self, dimensions) {
            (_, 1) => vec![code],
            (Curve::Morton, _) => {
                let dimensions = dimensions as u64;
                (0..dimensions)
                    .map(|i| gather(code, dimensions, i))
                    .collect()
            }
            (Curve::Hilbert, _) => {
                let (x, y) = hilbert_cell(code);
                vec![u64::from(x), u64::from(y)]
            }
        };
        let Some(masks) = masks else {
            return plain;
        };
        let unmask = |(x, mask): (u64, &u64)| match self {
            Curve::Morton => gather(x, *mask, *mask - 1),
            Curve::Hilbert => x.checked_shr(*mask as u32).unwrap_or(0),
        };
        plain.into_iter().zip(masks).map(unmask).collect()
    }
}

/// Bit i at place `step * i + start`; upper bits are lost.
fn spread(x: u64, step: u64, start: u64) -> u64 {
    // All coordinates have the same number of bits, which may leave some of the 64 unused.
    let places = (0..64 / step).map(|i| (i, step * i + start));
    places.fold(0, |spread, (i, place)| spread | (x >> i & 1) << place)
}

/// The opposite of [`spread`].
fn gather(x: u64, step: u64, start: u64) -> u64 {
    // All coordinates have the same number of bits, which may leave some of the 64 unused.
    let places = (0..64 / step).map(|i| (i, step * i + start));
    places.fold(0, |gathered, (i, place)| gathered | (x >> place & 1) << i)
}

/// Turns the square of a quarter so that the curve in it begins and ends where it must.
fn turn(x: u32, y: u32, right: bool, up: bool) -> (u32, u32) {
    match (right, up) {
        (_, true) => (x, y),
        (true, false) => (!y, !x),
        (false, false) => (y, x),
    }
}

fn hilbert_number(x: u32, y: u32) -> u64 {
    // The curve begins along y.
    let (mut x, mut y) = (y, x);
    let mut number = 0;
    for bit in (0..32).rev() {
        let (right, up) = (x >> bit & 1 == 1, y >> bit & 1 == 1);
        number = number << 2 | ((3 * u64::from(right)) ^ u64::from(up));
        (x, y) = turn(x, y, right, up);
    }
    number
}

fn hilbert_cell(number: u64) -> (u32, u32) {
    let (mut x, mut y) = (0_u32, 0_u32);
    for bit in 0..32 {
        let quarter = number >> (2 * bit) & 3;
        let (right, up) = (quarter >= 2, quarter == 1 || quarter == 2);
        let low = (1_u64 << bit) as u32 - 1;
        let (turned_x, turned_y) = turn(x, y, right, up);
        x = turned_x & low | u32::from(right) << bit;
        y = turned_y & low | u32::from(up) << bit;
    }
    (y, x)
}

fn out_of_bound(message: String) -> Error {
    Error::new(ErrorCode::ARGUMENT_OUT_OF_BOUND, message)
}

/// The numbers of a constant tuple in front of the other arguments.
fn masks(call: &Call<'_>, curve: Curve) -> Result<Option<Vec<u64>>> {
    let Some(Arg {
        data_type: DataType::Tuple(tuple),
        ..
    }) = call.args.first()
    else {
        return Ok(None);
    };
    if !tuple.types.iter().all(DataType::is_unsigned) {
        return Err(call.illegal_type(0));
    }
    let constant = call.constant(0)?;
    let elements = arrow::array::AsArray::as_struct_opt(constant);
    let elements = elements.ok_or_else(|| Error::bug("a tuple is a struct"))?;
    let mut masks = Vec::with_capacity(tuple.types.len());
    for element in elements.columns() {
        let column = Column::constant(std::sync::Arc::clone(element));
        let mask = values::<u64>(map1::<u64, u64>(&column, 1, |m| m)?.as_ref())?[0];
        if !curve.takes_mask(mask) {
            return Err(out_of_bound(format!(
                "Number {mask} in the first argument of function {} is out of bound",
                call.name
            )));
        }
        masks.push(mask);
    }
    Ok(Some(masks))
}

fn resolve_encode(call: &Call<'_>, curve: Curve) -> Result<Resolved> {
    let masks = masks(call, curve)?;
    let first = usize::from(masks.is_some());
    let dimensions = call.args.len() - first;
    if dimensions == 0 {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            format!("Function {} takes at least one number", call.name),
        ));
    }
    if dimensions > curve.max_dimensions() {
        return Err(Error::new(
            ErrorCode::TOO_MANY_ARGUMENTS_FOR_FUNCTION,
            format!(
                "Function {} takes at most {} numbers",
                call.name,
                curve.max_dimensions()
            ),
        ));
    }
    if masks.as_ref().is_some_and(|m| m.len() != dimensions) {
        return Err(out_of_bound(format!(
            "The tuple of function {} must have one element for each number",
            call.name
        )));
    }
    (first..call.args.len()).try_for_each(|idx| call.expect_type(idx, DataType::is_unsigned))?;
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let columns = &columns[first..];
        let columns = columns.iter().map(|c| map1::<u64, u64>(c, num_rows, |x| x));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let slices = columns.iter().map(|c| values::<u64>(c.as_ref()));
        let slices = slices.collect::<Result<Vec<_>>>()?;
        let code = |row| {
            let coordinates: Vec<u64> = slices.iter().map(|s| s[row]).collect();
            curve.encode(&coordinates, masks.as_deref())
        };
        Ok(array_of((0..num_rows).map(code).collect::<Vec<u64>>()))
    })
}

fn resolve_decode(call: &Call<'_>, curve: Curve) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let masks = masks(call, curve)?;
    let dimensions = match &masks {
        Some(masks) => masks.len() as u64,
        None => call.constant_u64(0)?,
    };
    let dimensions = usize::try_from(dimensions).unwrap_or(usize::MAX);
    if !(1..=curve.max_dimensions()).contains(&dimensions) {
        return Err(out_of_bound(format!(
            "Function {} gives 1 to {} numbers",
            call.name,
            curve.max_dimensions()
        )));
    }
    call.expect_type(1, DataType::is_unsigned)?;
    let tuple = DataType::tuple(vec![DataType::UInt64; dimensions]);
    let physical = tuple.physical();
    Resolved::new(tuple, move |columns, num_rows| {
        let codes = map1::<u64, u64>(&columns[1], num_rows, |code| code)?;
        let mut coordinates = vec![Vec::with_capacity(num_rows); dimensions];
        for code in values::<u64>(codes.as_ref())? {
            let decoded = curve.decode(*code, dimensions, masks.as_deref());
            for (list, coordinate) in coordinates.iter_mut().zip(decoded) {
                list.push(coordinate);
            }
        }
        let columns: Vec<ArrayRef> = coordinates.into_iter().map(array_of).collect();
        struct_of(&physical, columns, num_rows)
    })
}
