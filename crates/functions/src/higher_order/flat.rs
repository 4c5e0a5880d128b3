//! Flattens the arrays of a higher-order call and evaluates its lambda over all elements at once.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, new_empty_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::HigherOrderCall;
use crate::scalar::arrays::lists::{different_lengths, flat_list, list_of, rows_of_elements};

/// The elements of all rows.
pub(super) struct Flat {
    /// Ends of the rows' elements.
    pub(super) offsets: OffsetBuffer<i32>,
    /// The elements of each array.
    pub(super) elements: Vec<ArrayRef>,
    /// The row of each element.
    pub(super) rows: Vec<u32>,
}

impl Flat {
    /// The elements of all arrays of a call, which must be equally long in each row.
    pub(super) fn of(call: &HigherOrderCall<'_>, name: &str) -> Result<Self> {
        Self::of_arrays(call.arrays, name)
    }

    /// The elements of `arrays`.
    pub(super) fn of_arrays(arrays: &[ArrayRef], name: &str) -> Result<Self> {
        let mut flat: Option<(OffsetBuffer<i32>, Vec<ArrayRef>)> = None;
        for array in arrays {
            if array.as_list_opt::<i32>().is_none() {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                    format!("Function {name} takes a lambda and arrays"),
                ));
            }
            let (offsets, values) = flat_list(array)?;
            match &mut flat {
                None => flat = Some((offsets, vec![values])),
                Some((first, elements)) => {
                    if first[..] != offsets[..] {
                        return Err(different_lengths(name));
                    }
                    elements.push(values);
                }
            }
        }
        let (offsets, elements) = flat.ok_or_else(|| Error::bug("no array"))?;
        let rows = rows_of_elements(&offsets);
        Ok(Self {
            offsets,
            elements,
            rows,
        })
    }

    /// The lambda's parameters: the elements, or the parts of tuples and entries that it takes
    /// apart.
    fn parameters(&self, call: &HigherOrderCall<'_>) -> Vec<ArrayRef> {
        let arity = call.body.and_then(super::LambdaBody::arity);
        let is_map = matches!(call.types.last(), Some(DataType::Map(..)));
        let apart = arity.map_or(is_map, |arity| arity > self.elements.len());
        match self.elements[0].as_struct_opt() {
            Some(tuple) if apart => tuple.columns().to_vec(),
            _ => self.elements.clone(),
        }
    }

    /// The lambda's value for each element; without a lambda the elements of the first array.
    pub(super) fn values(&self, call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
        match call.body {
            None => Ok(Arc::clone(&self.elements[0])),
            Some(_) if self.rows.is_empty() => Ok(new_empty_array(&call.body_type.physical())),
            Some(body) => body.eval(&self.parameters(call), &self.rows),
        }
    }

    /// Number of rows.
    pub(super) fn num_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The elements of `row`.
    #[inline]
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Arrays of `values`, of the call's type, with the same lengths.
    pub(super) fn with_values(self, list: &DataType, values: ArrayRef) -> Result<ArrayRef> {
        list_of(list, self.offsets, values)
    }
}

/// The values of a predicate; NULL is false.
pub(super) struct Predicate {
    values: ArrayRef,
    nulls: Option<NullBuffer>,
}

impl Predicate {
    /// The lambda's values over all elements.
    pub(super) fn of(flat: &Flat, call: &HigherOrderCall<'_>) -> Result<Self> {
        let values = flat.values(call)?;
        let nulls = values.logical_nulls().filter(|n| n.null_count() > 0);
        Ok(Self { values, nulls })
    }

    /// The elements for which the lambda is true.
    pub(super) fn flags(&self) -> Result<Flags<'_>> {
        let values: &[u8] = match self.values.as_primitive_opt::<UInt8Type>() {
            Some(values) => values.values(),
            // A lambda that always returns NULL has no values.
            None if self.nulls.is_some() || self.values.is_empty() => &[],
            None => return Err(Error::bug("a predicate is UInt8")),
        };
        Ok(Flags {
            values,
            nulls: self.nulls.as_ref(),
        })
    }
}

/// Which elements a predicate holds for.
#[derive(Clone, Copy)]
pub(super) struct Flags<'a> {
    values: &'a [u8],
    nulls: Option<&'a NullBuffer>,
}

impl Flags<'_> {
    /// Whether the predicate holds for an element.
    #[inline]
    pub(super) fn get(&self, idx: usize) -> bool {
        self.nulls.is_none_or(|n| n.is_valid(idx)) && self.values.get(idx).is_some_and(|v| *v != 0)
    }

    /// The values, if none of them is NULL.
    pub(super) fn without_nulls(&self) -> Option<&[u8]> {
        self.nulls.is_none().then_some(self.values)
    }
}

fn illegal(message: String) -> Error {
    Error::new(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, message)
}

/// Type of the elements of argument `idx` behind the lambda.
pub(super) fn element<'a>(name: &str, idx: usize, types: &'a [DataType]) -> Result<&'a DataType> {
    match types.get(idx) {
        Some(DataType::Array(element)) => Ok(element),
        Some(other) => Err(illegal(format!(
            "Argument {} of function {name} must be Array. Found {other} instead",
            idx + 2
        ))),
        None => Err(too_few(name)),
    }
}

/// The error for a call without arrays.
pub(super) fn too_few(name: &str) -> Error {
    Error::new(
        ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
        format!("Function {name} needs at least 2 arguments"),
    )
}

/// A parameter for each array; a lambda over one array of tuples may take them apart.
pub(super) fn element_parameters(
    name: &str,
    arity: usize,
    types: &[DataType],
) -> Result<Vec<DataType>> {
    if types.is_empty() {
        return Err(too_few(name));
    }
    let elements = (0..types.len()).map(|idx| element(name, idx, types).cloned());
    let elements = elements.collect::<Result<Vec<_>>>()?;
    if let ([DataType::Tuple(tuple)], true) = (&elements[..], arity > 1)
        && tuple.types.len() == arity
    {
        return Ok(tuple.types.clone());
    }
    Ok(elements)
}

/// Checks that a lambda is a predicate.
pub(super) fn expect_predicate(name: &str, body: &DataType) -> Result<()> {
    let base = body.without_low_cardinality();
    let fits = matches!(base, DataType::UInt8 | DataType::Bool | DataType::Nothing)
        || base.is_nullable()
            && matches!(
                base.base(),
                DataType::UInt8 | DataType::Bool | DataType::Nothing
            );
    if fits {
        return Ok(());
    }
    Err(illegal(format!(
        "Expression for function {name} must return UInt8 or Nullable(UInt8), found {body}"
    )))
}

/// Checks that the first array is one of predicates, for calls without a lambda.
pub(super) fn expect_flags(name: &str, body: &DataType, types: &[DataType]) -> Result<()> {
    if types.is_empty() {
        return Err(too_few(name));
    }
    if !matches!(types[0], DataType::Array(_)) {
        return Err(illegal(format!(
            "Argument 1 of function {name} must be Array. Found {} instead",
            types[0]
        )));
    }
    let is_plain = types.len() == 1 && types[0] == DataType::array(body.clone());
    if is_plain && *body == DataType::Nothing {
        return Err(illegal(format!(
            "The only argument of function {name} must be array of UInt8, found Array(Nothing)"
        )));
    }
    expect_predicate(name, body)
}
