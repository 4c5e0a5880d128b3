//! Chooses between values: `if`, `multiIf`, `coalesce`, `nullIf`, `greatest`, `least` and kin.
//!
//! All branches are computed for all rows; conditions that are NULL are false.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Scalar, new_null_array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use basalt_error::{Error, ErrorCode, Result};
use basalt_kernels::append::append;
use basalt_types::{DataType, least_supertype, supertype_or_variant};

use super::cast::{ArrayCast, array_cast, branch_cast};
use super::logic::truths;
use super::mixed_extreme::mixed_extreme;
use super::numeric::{Chunk, Native, Num, Source, array_of, chunks, values, with_native};
use crate::function::with_nulls;
use crate::{Arg, BoundFunction, Call, Column, Context, Fails, Nulls, Resolved, ScalarFunction};

const OWN: ScalarFunction = ScalarFunction {
    nulls: Nulls::Own,
    takes_variants: true,
    ..ScalarFunction::BASE
};

/// Functions that choose between values.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "if",
        fails: Fails::Decimals,
        case_insensitive: true,
        syntax: "if(condition, then, else)",
        description: "Returns the second argument where the condition is true, else the third.",
        resolve: resolve_if,
        ..OWN
    },
    ScalarFunction {
        name: "multiIf",
        fails: Fails::Decimals,
        case_insensitive: true,
        syntax: "multiIf(condition1, then1, …, else)",
        description: "Returns the value behind the first condition that is true, else the last.",
        resolve: multi_if,
        ..OWN
    },
    ScalarFunction {
        name: "ifNull",
        fails: Fails::Decimals,
        case_insensitive: true,
        syntax: "ifNull(x, default)",
        description: "Returns x, or the default where x is NULL.",
        resolve: if_null,
        ..OWN
    },
    ScalarFunction {
        name: "nullIf",
        fails: Fails::Decimals,
        case_insensitive: true,
        syntax: "nullIf(x, y)",
        description: "Returns NULL where x equals y, else x.",
        resolve: null_if,
        ..OWN
    },
    ScalarFunction {
        name: "coalesce",
        fails: Fails::Decimals,
        case_insensitive: true,
        syntax: "coalesce(x, …)",
        description: "Returns the first argument that is not NULL.",
        resolve: coalesce,
        ..OWN
    },
    ScalarFunction {
        name: "greatest",
        fails: Fails::Decimals,
        case_insensitive: true,
        syntax: "greatest(a, b, …)",
        description: "Returns the greatest argument; NULLs are left out.",
        resolve: |call| extreme(call, "greater"),
        ..OWN
    },
    ScalarFunction {
        name: "least",
        fails: Fails::Decimals,
        case_insensitive: true,
        syntax: "least(a, b, …)",
        description: "Returns the least argument; NULLs are left out.",
        resolve: |call| extreme(call, "less"),
        ..OWN
    },
];

/// Casts a column and keeps its being constant.
fn cast_column(cast: &ArrayCast, column: &Column) -> Result<Column> {
    Ok(Column {
        array: cast(&column.array)?,
        is_const: column.is_const,
    })
}

fn check_condition(call: &Call<'_>, idx: usize) -> Result<()> {
    call.expect_type(idx, |t| {
        matches!(
            t.base(),
            DataType::UInt8 | DataType::Bool | DataType::Nothing
        )
    })
}

/// One truth value per row; NULL is false.
fn condition(column: &Column, num_rows: usize) -> Result<ArrayRef> {
    if *column.array.data_type() == arrow::datatypes::DataType::Null {
        return Ok(array_of(vec![0_u8; num_rows]));
    }
    let truth = truths(column, num_rows)?;
    match column.validity(num_rows).filter(|v| v.null_count() > 0) {
        None => Ok(truth),
        Some(valid) => {
            let pairs = values::<u8>(truth.as_ref())?.iter().zip(valid.iter());
            Ok(array_of(
                pairs.map(|(t, v)| t & u8::from(v)).collect::<Vec<u8>>(),
            ))
        }
    }
}

/// `a` where `mask` is 1, else `b`; both of the type that `num` holds, if one does.
pub(crate) fn select(mask: &[u8], a: &Column, b: &Column, num: Option<Num>) -> Result<ArrayRef> {
    let no_nulls = a.array.null_count() == 0 && b.array.null_count() == 0;
    if let Some(num) = num.filter(|_| no_nulls) {
        return with_native!(num, T => select_numbers::<T>(mask, a, b));
    }
    let mask = BooleanArray::new(
        BooleanBuffer::collect_bool(mask.len(), |i| mask[i] != 0),
        None,
    );
    match (a.is_const, b.is_const) {
        (false, false) => zip(&mask, &a.array, &b.array),
        (true, false) => zip(&mask, &Scalar::new(Arc::clone(&a.array)), &b.array),
        (false, true) => zip(&mask, &a.array, &Scalar::new(Arc::clone(&b.array))),
        (true, true) => {
            let (a, b) = (
                Scalar::new(Arc::clone(&a.array)),
                Scalar::new(Arc::clone(&b.array)),
            );
            zip(&mask, &a, &b)
        }
    }
}

fn zip(
    mask: &BooleanArray,
    a: &dyn arrow::array::Datum,
    b: &dyn arrow::array::Datum,
) -> Result<ArrayRef> {
    arrow::compute::kernels::zip::zip(mask, a, b).map_err(|e| Error::bug(e.to_string()))
}

fn select_numbers<T: Native>(mask: &[u8], a: &Column, b: &Column) -> Result<ArrayRef> {
    let (a, b) = (Source::<T>::new(a)?, Source::<T>::new(b)?);
    let mut buffers = (a.buffer(), b.buffer());
    let mut out: Vec<T> = Vec::with_capacity(mask.len());
    for range in chunks(mask.len()) {
        let (mask, len) = (&mask[range.clone()], range.len());
        let a = a.chunk(range.clone(), &mut buffers.0);
        let b = b.chunk(range, &mut buffers.1);
        let pick = |m: u8, a: T, b: T| if m != 0 { a } else { b };
        match (a, b) {
            (Chunk::Slice(a), Chunk::Slice(b)) => {
                let (a, b) = (&a[..len], &b[..len]);
                append(&mut out, len, |i| pick(mask[i], a[i], b[i]));
            }
            (Chunk::Slice(a), Chunk::Scalar(b)) => {
                let a = &a[..len];
                append(&mut out, len, |i| pick(mask[i], a[i], b));
            }
            (Chunk::Scalar(a), Chunk::Slice(b)) => {
                let b = &b[..len];
                append(&mut out, len, |i| pick(mask[i], a, b[i]));
            }
            (Chunk::Scalar(a), Chunk::Scalar(b)) => {
                append(&mut out, len, |i| pick(mask[i], a, b));
            }
        }
    }
    Ok(array_of(out))
}

/// How one branch gets the common type: a number that [`select`] converts itself needs no cast.
fn narrow_cast(from: &DataType, to: &DataType, context: &Context) -> Result<Option<ArrayCast>> {
    let widened = from.is_number() && Num::of(from).is_some() && Num::of(to).is_some();
    if widened && !from.is_nullable() && !to.is_nullable() && to.is_number() {
        return Ok(None);
    }
    branch_cast(from, to, context).map(Some)
}

/// Branches of one type.
struct Branches {
    casts: Vec<Option<ArrayCast>>,
    result: DataType,
    num: Option<Num>,
}

impl Branches {
    fn new(types: &[DataType], context: &Context) -> Result<Self> {
        let result = supertype_or_variant(types)?;
        let casts = types
            .iter()
            .map(|t| narrow_cast(t, &result, context))
            .collect::<Result<Vec<_>>>()?;
        let num = Num::of(&result);
        Ok(Self { casts, result, num })
    }

    fn column(&self, idx: usize, column: &Column) -> Result<Column> {
        match &self.casts[idx] {
            Some(cast) => cast_column(cast, column),
            None => Ok(column.clone()),
        }
    }

    /// Column `idx` of the common type, one value a row.
    fn full(&self, idx: usize, column: &Column, num_rows: usize) -> Result<ArrayRef> {
        let column = self.column(idx, column)?;
        match (&self.casts[idx], self.num) {
            (None, Some(num)) => {
                with_native!(num, T => super::numeric::map1::<T, T>(&column, num_rows, |x| x))
            }
            _ => column.expand(num_rows),
        }
    }
}

fn resolve_if(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    check_condition(call, 0)?;
    choose(call, vec![0], vec![1, 2])
}

fn multi_if(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=usize::MAX)?;
    let len = call.args.len();
    if len.is_multiple_of(2) {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!("Function multiIf takes an odd number of arguments, got {len}"),
        ));
    }
    let conditions: Vec<usize> = (0..len - 1).step_by(2).collect();
    for idx in &conditions {
        check_condition(call, *idx)?;
    }
    let branches = (1..len).step_by(2).chain([len - 1]).collect();
    choose(call, conditions, branches)
}

/// The first branch whose condition holds, else the last.
fn choose(call: &Call<'_>, conditions: Vec<usize>, places: Vec<usize>) -> Result<Resolved> {
    let types: Vec<DataType> = places.iter().map(|i| call.data_type(*i).clone()).collect();
    let branches = Branches::new(&types, call.context)?;
    let result = branches.result.clone();
    let default = places.len() - 1;
    Resolved::new(result, move |columns, num_rows| {
        let mut chosen = branches.column(default, &columns[places[default]])?;
        for (idx, place) in conditions.iter().enumerate().rev() {
            let mask = condition(&columns[*place], num_rows)?;
            let mask = values::<u8>(mask.as_ref())?;
            if mask.iter().all(|m| *m == 0) {
                continue;
            }
            let branch = branches.column(idx, &columns[places[idx]])?;
            chosen = Column::new(select(mask, &branch, &chosen, branches.num)?);
        }
        if chosen.is_const || *chosen.array.data_type() != branches.result.physical() {
            return branches.full(default, &columns[places[default]], num_rows);
        }
        Ok(chosen.array)
    })
}

/// The type that is left where no value is NULL.
fn without_null(t: &DataType) -> DataType {
    match t {
        DataType::Nullable(inner) => inner.as_ref().clone(),
        t => t.clone(),
    }
}

fn is_null_only(t: &DataType) -> bool {
    t.is_nullable() && *t.base() == DataType::Nothing
}

fn if_null(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    first_valid(call, &[0, 1])
}

fn coalesce(call: &Call<'_>) -> Result<Resolved> {
    let places: Vec<usize> = (0..call.args.len()).collect();
    first_valid(call, &places)
}

/// The first of some arguments that is not NULL.
fn first_valid(call: &Call<'_>, places: &[usize]) -> Result<Resolved> {
    let mut used: Vec<usize> = Vec::new();
    for place in places.iter().filter(|i| !is_null_only(call.data_type(**i))) {
        used.push(*place);
        if !call.data_type(*place).holds_null() {
            break;
        }
    }
    let Some(last) = used.last().copied() else {
        let null = DataType::Nothing.to_nullable();
        return Resolved::new(null, |_, num_rows| {
            Ok(new_null_array(&arrow::datatypes::DataType::Null, num_rows))
        });
    };
    let mut types: Vec<DataType> = used
        .iter()
        .map(|i| without_null(call.data_type(*i)))
        .collect();
    if call.data_type(last).is_nullable() {
        types = types.into_iter().map(DataType::to_nullable).collect();
    }
    let result = supertype_or_variant(&types)?;
    let nullable = result.clone().to_nullable();
    let cast = |i: &usize| branch_cast(call.data_type(*i), &nullable, call.context);
    let casts = used.iter().map(cast).collect::<Result<Vec<_>>>()?;
    let not_null = !result.holds_null();
    Resolved::new(result, move |columns, num_rows| {
        let mut steps = used.iter().zip(&casts).rev();
        let Some((place, cast)) = steps.next() else {
            return Err(Error::bug("an argument is used"));
        };
        let mut chosen = cast_column(cast, &columns[*place])?.expand(num_rows)?;
        for (place, cast) in steps {
            let column = cast_column(cast, &columns[*place])?;
            let mask: Vec<u8> = match column.validity(num_rows) {
                Some(valid) => valid.iter().map(u8::from).collect(),
                None => vec![1; num_rows],
            };
            chosen = select(&mask, &column, &Column::new(chosen), None)?;
        }
        if not_null {
            strip_nulls(&chosen)
        } else {
            Ok(chosen)
        }
    })
}

/// The same values, each of them valid.
pub(crate) fn strip_nulls(array: &ArrayRef) -> Result<ArrayRef> {
    if array.nulls().is_none() {
        return Ok(Arc::clone(array));
    }
    let array = array.to_data().into_builder().nulls(None).build();
    Ok(arrow::array::make_array(
        array.map_err(|e| Error::bug(e.to_string()))?,
    ))
}

pub(crate) fn bind(name: &str, args: &[Arg], context: &Context) -> Result<BoundFunction> {
    let function = super::comparison::FUNCTIONS
        .iter()
        .find(|f| f.name == name)
        .ok_or_else(|| Error::bug(format!("{name} is a comparison")))?;
    BoundFunction::bind(function, args, context)
}

fn null_if(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let first = call.data_type(0);
    let result = first.clone().to_nullable();
    if is_null_only(first) || is_null_only(call.data_type(1)) {
        let cast = array_cast(first, &result, call.context)?;
        return Resolved::new(result, move |columns, num_rows| {
            cast_column(&cast, &columns[0])?.expand(num_rows)
        });
    }
    check_null_if(call, first)?;
    let equals = bind("equals", call.args, call.context)?;
    Resolved::new(result, move |columns, num_rows| {
        let equal = equals.call(columns, num_rows)?;
        let unequal: NullBuffer = values::<u8>(equal.as_ref())?
            .iter()
            .enumerate()
            .map(|(row, e)| *e == 0 || equal.is_null(row))
            .collect();
        with_nulls(&columns[0].expand(num_rows)?, Some(unequal))
    })
}

/// The value must be able to be NULL, and a text is compared with a text only.
fn check_null_if(call: &Call<'_>, first: &DataType) -> Result<()> {
    let second = call.data_type(1);
    let is_text = |t: &DataType| t.is_string() || t.is_enum();
    let is_null = |idx: usize| {
        call.args[idx]
            .constant
            .as_ref()
            .is_some_and(|c| c.is_null(0))
    };
    if let DataType::Array(_) | DataType::Map(..) | DataType::Variant(_) = first {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Nested type {first} cannot be inside Nullable type"),
        ));
    }
    let both = [first, second];
    let has_string = both.iter().any(|t| t.is_string());
    if has_string && !both.iter().all(|t| is_text(t)) && !is_null(0) && !is_null(1) {
        least_supertype(&[first.clone(), second.clone()])?;
    }
    Ok(())
}

/// The type as which `greatest` and `least` take a Bool: that of its bytes.
fn bytes_of_bool(data_type: DataType) -> DataType {
    match data_type.base() {
        DataType::Bool if data_type.is_nullable() => DataType::UInt8.to_nullable(),
        DataType::Bool => DataType::UInt8,
        _ => data_type,
    }
}

/// Folds the arguments; the first of two stays if `keeps(first, second)` holds: of 0 and -0 the last does.
fn extreme(call: &Call<'_>, keeps: &str) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    let types: Vec<DataType> = call.data_types().into_iter().map(bytes_of_bool).collect();
    let result = match least_supertype(&types) {
        Ok(result) => result,
        Err(e) => {
            let unlike = match &types[..] {
                [a, b] if a.base().is_number() && b.base().is_number() => Error::new(
                    ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                    format!(
                        "Cast one of them: illegal types {a} and {b} of arguments of function {}",
                        call.name
                    ),
                ),
                _ => e,
            };
            return mixed_extreme(call, keeps == "greater").unwrap_or(Err(unlike));
        }
    };
    if call.args.len() == 1 {
        return Resolved::new(result, |columns, num_rows| columns[0].expand(num_rows));
    }
    let plain = without_null(&result);
    if plain == DataType::Nothing {
        return Resolved::new(result, |columns, num_rows| columns[0].expand(num_rows));
    }
    let args = [Arg::new(plain.clone()), Arg::new(plain.clone())];
    let keeps = bind(keeps, &args, call.context)?;
    let branches = Branches::new(&types, call.context)?;
    let num = Num::of(&plain);
    Resolved::new(result, move |columns, num_rows| {
        let mut best = branches.full(0, &columns[0], num_rows)?;
        for (idx, column) in columns.iter().enumerate().skip(1) {
            let next = Column::new(branches.full(idx, column, num_rows)?);
            let current = Column::new(best);
            let stays = keeps.call(&[current.clone(), next.clone()], num_rows)?;
            let mask = values::<u8>(stays.as_ref())?;
            let has_nulls =
                current.array.logical_null_count() + next.array.logical_null_count() > 0;
            best = if has_nulls {
                let valid = |column: &Column, row: usize| column.array.is_valid(row);
                let mask: Vec<u8> = (0..num_rows)
                    .map(|row| match (valid(&current, row), valid(&next, row)) {
                        (true, true) => mask[row],
                        (first, _) => u8::from(first),
                    })
                    .collect();
                select(&mask, &current, &next, num)?
            } else {
                select(mask, &current, &next, num)?
            };
        }
        Ok(best)
    })
}
