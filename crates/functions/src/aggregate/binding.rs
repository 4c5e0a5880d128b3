//! Binds a name with combinators to types: finds the function, applies the rules for NULL.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array, new_null_array};
use arrow::datatypes::{ArrowPrimitiveType, Float32Type, Float64Type, Int64Type, UInt64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::combinators::{self, Combinator, nullable};
use super::{
    AggregateCall, AggregateFunction, AggregateNulls, Aggregator, BoundAggregate, Groups,
    OnlyNulls, Shortcut,
};
use crate::Arg;

struct Names {
    exact: HashMap<&'static str, &'static AggregateFunction>,
    lower: HashMap<String, &'static AggregateFunction>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names {
        exact: HashMap::new(),
        lower: HashMap::new(),
    };
    for function in super::all() {
        for name in std::iter::once(&function.name).chain(function.aliases) {
            names.exact.insert(name, function);
            let is_standard = name.contains('_') || name.chars().all(|c| c.is_ascii_uppercase());
            if function.case_insensitive || (is_standard && *name != function.name) {
                names.lower.insert(name.to_ascii_lowercase(), function);
            }
        }
    }
    names
});

/// Names of their own for a function with a combinator, found in any case.
const COMBINED_ALIASES: [(&str, &str); 1] = [("array_concat_agg", "groupArrayArray")];

/// The name with its combinators written out.
fn spelled_out(name: &str) -> &str {
    let alias = COMBINED_ALIASES
        .iter()
        .find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    alias.map_or(name, |(_, full)| full)
}

/// The function of that name without combinators.
pub(super) fn find(name: &str) -> Option<&'static AggregateFunction> {
    let exact = NAMES.exact.get(name).copied();
    exact.or_else(|| NAMES.lower.get(&name.to_ascii_lowercase()).copied())
}

/// Whether `name` is a function with any number of combinators.
pub(super) fn is_known(name: &str) -> bool {
    find(name).is_some() || split(name).is_some()
}

/// The name without its last combinator, and the combinator.
pub(super) fn split(name: &str) -> Option<(&str, &'static Combinator)> {
    combinators::ALL.iter().find_map(|combinator| {
        let inner = spelled_out(name).strip_suffix(combinator.suffix)?;
        is_known(inner).then_some((inner, combinator))
    })
}

/// The name with its function's own name in place of an alias.
pub(super) fn canonical_name(name: &str) -> String {
    if let Some(function) = find(name) {
        return function.name.to_owned();
    }
    match split(name) {
        Some((inner, combinator)) => format!("{}{}", canonical_name(inner), combinator.suffix),
        None => name.to_owned(),
    }
}

/// Binds a call; its name has combinators, its types are as the query has them.
pub(super) fn bind(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let mut bound = if let Some(function) = find(call.name) {
        bind_function(function, call)?
    } else if let Some((inner, combinator)) = split(call.name) {
        let twice = split(inner).is_some_and(|(_, next)| next.suffix == combinator.suffix);
        if twice && !combinator.nests {
            return Err(Error::new(
                ErrorCode::ILLEGAL_AGGREGATION,
                format!(
                    "Nested identical combinator '{}' is not supported",
                    combinator.suffix
                ),
            ));
        }
        let combined = (combinator.bind)(&AggregateCall {
            name: inner,
            ..*call
        })?;
        match takes_only_nulls(call, combinator).then(|| innermost(inner)) {
            Some(Some(function)) if function.nulls != AggregateNulls::Own => of_nothing(function),
            _ => combined,
        }
    } else {
        return Err(crate::registry::unknown_function(call.name));
    };
    bound.name = full_name(call);
    Ok(bound)
}

/// Whether there is nothing to combine: an argument, but for the condition of `-If`, is always NULL.
fn takes_only_nulls(call: &AggregateCall<'_>, combinator: &Combinator) -> bool {
    let values = match call.types.split_last() {
        Some((_, values)) if combinator.suffix == "If" => values,
        _ => call.types,
    };
    values.iter().any(is_only_null)
}

fn is_only_null(data_type: &DataType) -> bool {
    data_type.is_nullable() && *data_type.base() == DataType::Nothing
}

/// The function under all combinators.
pub(super) fn innermost(name: &str) -> Option<&'static AggregateFunction> {
    find(name).or_else(|| innermost(split(name)?.0))
}

fn full_name(call: &AggregateCall<'_>) -> String {
    if call.params.is_empty() {
        return call.name.to_owned();
    }
    format!("{}({})", call.name, param_texts(call.params).join(", "))
}

fn bind_function(
    function: &'static AggregateFunction,
    call: &AggregateCall<'_>,
) -> Result<BoundAggregate> {
    let types: Vec<DataType> = call
        .types
        .iter()
        .map(DataType::without_any_low_cardinality)
        .collect();
    let call = AggregateCall {
        name: function.name,
        types: &types,
        ..*call
    };
    let is_nothing = types.iter().position(|t| *t == DataType::Nothing);
    let has_null = types.iter().any(is_only_null);
    if let Some(idx) = is_nothing.filter(|_| !has_null && !counts(function))
        && function.nulls == AggregateNulls::Skip
    {
        return Err(call.illegal_type(idx));
    }
    let is_of_nothing = has_null || (is_nothing.is_some() && counts(function));
    if is_of_nothing && function.nulls != AggregateNulls::Own {
        check_nothing(function, &call)?;
        return Ok(of_nothing(function));
    }
    call.expect_params(0..=function.max_params)?;
    if function.nulls == AggregateNulls::Own {
        let bound = (function.resolve)(&call)?;
        return Ok(BoundAggregate {
            skips_nulls: false,
            ..bound
        });
    }
    let plain: Vec<DataType> = types.iter().map(|t| t.base().clone()).collect();
    let bound = (function.resolve)(&AggregateCall {
        types: &plain,
        ..call
    })?;
    let any_nullable = types.iter().any(DataType::is_nullable);
    if !any_nullable {
        return Ok(bound);
    }
    // Only where distinct values are counted, NULLs are looked for on the short way too.
    let is_distinct = |shortcut: &Shortcut| matches!(shortcut, Shortcut::UniqExact { .. });
    let bound = BoundAggregate {
        shortcut: bound.shortcut.filter(is_distinct),
        ..bound
    };
    Ok(match function.nulls {
        AggregateNulls::Skip => nullable::or_null(bound),
        _ => bound,
    })
}

/// What is wrong with a call that has only NULLs, where that matters.
fn check_nothing(function: &AggregateFunction, call: &AggregateCall<'_>) -> Result<()> {
    if matches!(function.only_nulls, OnlyNulls::Zero | OnlyNulls::Refused) {
        call.expect_params(0..=function.max_params)?;
        let numbers = vec![DataType::UInt8; call.types.len()];
        (function.resolve)(&AggregateCall {
            types: &numbers,
            ..*call
        })?;
    }
    match function.only_nulls {
        OnlyNulls::Null | OnlyNulls::Zero => Ok(()),
        OnlyNulls::Refused | OnlyNulls::RefusedFirst => Err(call.illegal_type(0)),
    }
}

fn counts(function: &AggregateFunction) -> bool {
    function.only_nulls == OnlyNulls::Zero
}

/// Only NULLs ever come: counts are 0, all else is NULL.
fn of_nothing(function: &AggregateFunction) -> BoundAggregate {
    let counts = counts(function);
    let return_type = if counts {
        DataType::UInt64
    } else {
        DataType::Nothing.to_nullable()
    };
    BoundAggregate::new(return_type, Vec::new(), move || OfNothing { counts })
}

#[derive(Debug)]
struct OfNothing {
    counts: bool,
}

impl Aggregator for OfNothing {
    fn update(&mut self, _args: &[ArrayRef], _groups: Groups<'_>) -> Result<()> {
        Ok(())
    }

    fn merge(&mut self, _states: &[ArrayRef], _groups: Groups<'_>) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        Ok(if self.counts {
            Arc::new(UInt64Array::from_value(0, range.len()))
        } else {
            new_null_array(&arrow::datatypes::DataType::Null, range.len())
        })
    }

    fn states(&mut self, _range: Range<usize>) -> Result<Vec<ArrayRef>> {
        Ok(Vec::new())
    }

    fn size_bytes(&self) -> usize {
        0
    }
}

/// The parameters as SQL literals.
pub(super) fn param_texts(params: &[Arg]) -> Vec<String> {
    let text = |arg: &Arg| arg.constant.as_ref().map_or(String::new(), literal_text);
    params.iter().map(text).collect()
}

fn literal_text(array: &ArrayRef) -> String {
    if array.is_null(0) {
        return "NULL".to_owned();
    }
    if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
        return float_text(floats.value(0));
    }
    if let Some(floats) = array.as_primitive_opt::<Float32Type>() {
        return float_text(f64::from(floats.value(0)));
    }
    if let Ok(strings) = crate::StringColumn::of_array(array, true) {
        let text = String::from_utf8_lossy(strings.value(0)).into_owned();
        return format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    }
    arrow::util::display::array_value_to_string(array, 0).unwrap_or_default()
}

fn float_text(value: f64) -> String {
    let text = value.to_string();
    if text.chars().all(|c| c.is_ascii_digit() || c == '-') {
        format!("{text}.")
    } else {
        text
    }
}

/// A parameter from the SQL literal in a type's name.
pub(super) fn parse_param(text: &str) -> Result<Arg> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        let bytes = inner.replace("\\'", "'").replace("\\\\", "\\");
        let array = arrow::array::BinaryViewArray::from_iter_values([bytes.as_bytes()]);
        return Ok(constant(DataType::String, Arc::new(array)));
    }
    if let Ok(value) = text.parse::<u64>() {
        return Ok(of_primitive::<UInt64Type>(DataType::UInt64, value));
    }
    if let Ok(value) = text.parse::<i64>() {
        return Ok(of_primitive::<Int64Type>(DataType::Int64, value));
    }
    if let Ok(value) = text.parse::<f64>() {
        return Ok(of_primitive::<Float64Type>(DataType::Float64, value));
    }
    Err(Error::new(
        ErrorCode::BAD_ARGUMENTS,
        format!("Cannot parse parameter {text} of an aggregate function"),
    ))
}

fn of_primitive<T: ArrowPrimitiveType>(data_type: DataType, value: T::Native) -> Arg {
    let array = arrow::array::PrimitiveArray::<T>::from_value(value, 1);
    constant(data_type, Arc::new(array))
}

fn constant(data_type: DataType, array: ArrayRef) -> Arg {
    Arg {
        data_type,
        constant: Some(array),
    }
}
