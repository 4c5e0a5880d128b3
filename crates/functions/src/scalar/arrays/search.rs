//! Looks for elements in arrays: `has`, `indexOf`, `countEqual`, `hasAll`, `hasAny`, `hasSubstr`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, UInt8Array, UInt64Array};
use arrow::datatypes::UInt8Type;
use basalt_error::Result;
use basalt_types::{DataType, least_supertype};

use super::lists::{Lists, Picks, entries};
use super::matching::{Equality, Ids, RowSet};
use super::unify::{Unify, element_type};
use crate::{Call, Fails, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "has",
        fails: Fails::Decimals,
        nulls: Nulls::Own,
        syntax: "has(arr, x)",
        description: "Whether the array has an element (a map: a key) that equals x.",
        resolve: resolve_has,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "notHas",
        nulls: Nulls::Own,
        syntax: "notHas(arr, x)",
        description: "Whether no element of the array (of a map: no key) equals x.",
        resolve: resolve_not_has,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "indexOf",
        fails: Fails::Decimals,
        aliases: &["indexOfAssumeSorted"],
        nulls: Nulls::Own,
        syntax: "indexOf(arr, x)",
        description: "Position from 1 of the first element that equals x, or 0.",
        resolve: |call| {
            resolve_number(call, |equality, range, row| {
                let start = range.start;
                equality
                    .first(range, row)
                    .map_or(0, |i| (i - start + 1) as u64)
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "countEqual",
        fails: Fails::Decimals,
        nulls: Nulls::Own,
        syntax: "countEqual(arr, x)",
        description: "Number of elements that equal x.",
        resolve: |call| {
            resolve_number(call, |equality, range, row| {
                equality.count(range, row) as u64
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayRemove",
        aliases: &["array_remove"],
        nulls: Nulls::Own,
        syntax: "arrayRemove(arr, x)",
        description: "The array without the elements that equal x.",
        resolve: resolve_remove,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasAll",
        fails: Fails::Decimals,
        syntax: "hasAll(arr, wanted)",
        description: "Whether every element of the second array is in the first.",
        resolve: |call| resolve_sets(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasAny",
        fails: Fails::Decimals,
        syntax: "hasAny(arr, wanted)",
        description: "Whether at least one element of the second array is in the first.",
        resolve: |call| resolve_sets(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasSubstr",
        syntax: "hasSubstr(arr, wanted)",
        description: "Whether the second array is a part of the first, in order and without gaps.",
        resolve: resolve_substr,
        ..ScalarFunction::BASE
    },
];

type Range = std::ops::Range<usize>;

/// Which part of an argument is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The elements of an array.
    Elements,
    /// The keys of a map.
    Keys,
    /// The values of a map.
    Values,
}

impl Part {
    fn of<'a>(self, lists: &Lists<'a>) -> Result<&'a ArrayRef> {
        Ok(match self {
            Part::Elements => lists.values(),
            Part::Keys => entries(lists)?.0,
            Part::Values => entries(lists)?.1,
        })
    }
}

/// A type in which values of two types compare: integers have one even where no supertype is.
fn comparable(a: &DataType, b: &DataType) -> Result<DataType> {
    least_supertype(&[a.clone(), b.clone()]).or_else(|e| {
        let wide = if a.is_integer() && b.is_integer() {
            DataType::Decimal {
                precision: 38,
                scale: 0,
            }
        } else if a.is_number() && b.is_number() && !a.is_decimal() && !b.is_decimal() {
            DataType::Float64
        } else {
            return Err(e);
        };
        let nullable = a.is_nullable() || b.is_nullable();
        Ok(if nullable { wide.to_nullable() } else { wide })
    })
}

/// Whether ClickHouse finds no value of one type in a constant array of the other: it looks for the text of a
/// name among the numbers of an enum, or for the number among texts.
fn misses_names(call: &Call<'_>, element: &DataType) -> bool {
    let wanted = call.data_type(1);
    let is_mixed =
        element.is_enum() && wanted.is_string() || element.is_string() && wanted.is_enum();
    is_mixed && call.args[0].constant.is_some() && matches!(call.data_type(0), DataType::Array(_))
}

/// A loop that gives each row what `find` finds in its elements; with `only_nulls` a value equals none.
fn search(
    call: &Call<'_>,
    (part, element, only_nulls): (Part, &DataType, bool),
    result: DataType,
    find: impl Fn(&Equality<'_>, &Lists<'_>, usize) -> Result<ArrayRef> + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let wanted = call.data_type(1);
    let common = comparable(element, wanted)?;
    let element_cast = Unify::new(element, &common, call.context)?;
    let wanted_cast = Unify::new(wanted, &common, call.context)?;
    Resolved::new(result, move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let elements = element_cast.array(part.of(&lists)?)?;
        let wanted = wanted_cast.column(&columns[1])?;
        let equality = match only_nulls {
            true => Equality::of_nulls(&elements, &wanted),
            false => Equality::new(&elements, &wanted)?,
        };
        find(&equality, &lists, num_rows)
    })
}

fn resolve_has(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    match call.data_type(0) {
        DataType::Map(..) => resolve_contains(call, Part::Keys),
        _ => resolve_contains(call, Part::Elements),
    }
}

fn resolve_not_has(call: &Call<'_>) -> Result<Resolved> {
    let eval = resolve_has(call)?.eval;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let has = eval(columns, num_rows)?;
        let has = has.as_primitive::<UInt8Type>();
        Ok(Arc::new(has.unary::<_, UInt8Type>(|has| 1 - has)))
    })
}

/// Whether a part of the first argument contains the second.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT` if it has no such part, `NO_COMMON_TYPE`.
pub fn resolve_contains(call: &Call<'_>, part: Part) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let element = match (call.data_type(0), part) {
        (DataType::Array(element), Part::Elements) => element,
        (DataType::Map(key, _), Part::Keys) => key,
        (DataType::Map(_, value), Part::Values) => value,
        _ => return Err(call.illegal_type(0)),
    };
    search(
        call,
        (part, element, misses_names(call, element)),
        DataType::UInt8,
        |equality, lists, num_rows| {
            let has = |row| u8::from(equality.first(lists.range(row), row).is_some());
            Ok(Arc::new(UInt8Array::from_iter_values(
                (0..num_rows).map(has),
            )))
        },
    )
}

fn resolve_number(
    call: &Call<'_>,
    number: fn(&Equality<'_>, Range, usize) -> u64,
) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let element = element_type(call, 0)?;
    search(
        call,
        (Part::Elements, element, misses_names(call, element)),
        DataType::UInt64,
        move |equality, lists, num_rows| {
            let number = |row| number(equality, lists.range(row), row);
            Ok(Arc::new(UInt64Array::from_iter_values(
                (0..num_rows).map(number),
            )))
        },
    )
}

fn resolve_remove(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let element = element_type(call, 0)?;
    let list = call.data_type(0).clone();
    search(
        call,
        (Part::Elements, element, false),
        list.clone(),
        move |equality, lists, num_rows| {
            let mut picks = Picks::for_lists(lists, num_rows);
            for row in 0..num_rows {
                let mut rest = lists.range(row);
                while let Some(found) = equality.first(rest.clone(), row) {
                    picks.extend(rest.start..found);
                    rest.start = found + 1;
                }
                picks.extend(rest);
                picks.end_row()?;
            }
            picks.finish(&list, lists.values())
        },
    )
}

/// Numbers of both arrays' elements in their common type, and which of them equal nothing.
fn resolve_pair(
    call: &Call<'_>,
    holds: impl Fn(&Ids, [Lists<'_>; 2], &mut RowSet, usize) -> bool + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let (a, b) = (element_type(call, 0)?, element_type(call, 1)?);
    let common = comparable(a, b)?;
    let casts = [a, b].map(|t| Unify::new(t, &common, call.context));
    let [cast_a, cast_b] = casts;
    let (cast_a, cast_b) = (cast_a?, cast_b?);
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let lists = [Lists::of(&columns[0])?, Lists::of(&columns[1])?];
        let values = [
            cast_a.array(lists[0].values())?,
            cast_b.array(lists[1].values())?,
        ];
        let ids = Ids::of_equal(&[&values[0], &values[1]])?;
        let mut set = RowSet::new(ids.num_ids());
        let flags = (0..num_rows).map(|row| u8::from(holds(&ids, lists, &mut set, row)));
        Ok(Arc::new(UInt8Array::from_iter_values(flags)))
    })
}

fn resolve_sets(call: &Call<'_>, wants_all: bool) -> Result<Resolved> {
    resolve_pair(call, move |ids, [lists, wanted], set, row| {
        if !(lists.is_const() && row > 0) {
            set.clear();
            for i in lists.range(row) {
                set.insert(ids.of(0)[i]);
            }
        }
        let mut wanted = wanted.range(row).map(|i| set.contains(ids.of(1)[i]));
        if wants_all {
            wanted.all(|found| found)
        } else {
            wanted.any(|found| found)
        }
    })
}

/// Whether the first array begins, or ends, with the second.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT` if one is no array, `NO_COMMON_TYPE`.
pub fn resolve_affix(call: &Call<'_>, at_end: bool) -> Result<Resolved> {
    resolve_pair(call, move |ids, [lists, affix], _, row| {
        let (all, affix) = (&ids.of(0)[lists.range(row)], &ids.of(1)[affix.range(row)]);
        if at_end {
            all.ends_with(affix)
        } else {
            all.starts_with(affix)
        }
    })
}

fn resolve_substr(call: &Call<'_>) -> Result<Resolved> {
    resolve_pair(call, |ids, [lists, wanted], _, row| {
        let (all, wanted) = (&ids.of(0)[lists.range(row)], &ids.of(1)[wanted.range(row)]);
        wanted.is_empty() || all.windows(wanted.len()).any(|part| part == wanted)
    })
}
