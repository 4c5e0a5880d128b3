//! Finds the least type that holds the values of several types: array elements, branches, unions.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};

use crate::variant::MAX_ALTERNATIVES;
use crate::{DataType, IntervalUnit, TupleType};

/// The least type that every value of `types` fits into without loss.
///
/// # Errors
/// `NO_COMMON_TYPE` if there is none.
pub fn least_supertype(types: &[DataType]) -> Result<DataType> {
    let Some((first, rest)) = types.split_first() else {
        return Ok(DataType::Nothing);
    };
    if rest.iter().all(|t| t == first) {
        return Ok(first.clone());
    }
    let all_low_cardinality = types
        .iter()
        .all(|t| matches!(t, DataType::LowCardinality(_)));
    let nullable = types.iter().any(DataType::is_nullable);
    // Integers that have no common type but a wider one need none beside a float.
    let (floats, others): (Vec<_>, Vec<_>) =
        types.iter().map(DataType::base).partition(|t| t.is_float());
    let mut common = DataType::Nothing;
    for (i, t) in floats.into_iter().chain(others).enumerate() {
        common = match i {
            0 => t.clone(),
            _ => common_of_two(&common, t).ok_or_else(|| no_common_type(types))?,
        };
    }
    if nullable && !common.holds_null() {
        if !common.can_be_nullable() {
            return Err(no_common_type(types));
        }
        common = common.to_nullable();
    }
    if all_low_cardinality {
        common = DataType::LowCardinality(Arc::new(common));
    }
    Ok(common)
}

/// The type of a choice between values of several types: that of [`least_supertype`], else a Variant
/// of them all.
///
/// # Errors
/// `NO_COMMON_TYPE` for more types than a Variant has room for, and for intervals without a common unit.
pub fn supertype_or_variant(types: &[DataType]) -> Result<DataType> {
    least_supertype(types).or_else(|e| {
        let intervals = types
            .iter()
            .all(|t| matches!(t.base(), DataType::Interval(_)));
        let mut alternatives: Vec<DataType> = Vec::new();
        for data_type in types {
            match data_type {
                DataType::Variant(inner) => alternatives.extend(inner.iter().cloned()),
                _ if *data_type.base() == DataType::Nothing => {}
                other => alternatives.push(other.base().clone()),
            }
        }
        if intervals || alternatives.is_empty() || alternatives.len() > MAX_ALTERNATIVES {
            return Err(e);
        }
        Ok(DataType::variant(alternatives))
    })
}

fn no_common_type(types: &[DataType]) -> Error {
    let names: Vec<String> = types.iter().map(ToString::to_string).collect();
    Error::new(
        ErrorCode::NO_COMMON_TYPE,
        format!(
            "Cast them to one type: there is no supertype for types {}",
            names.join(", ")
        ),
    )
}

/// `a` and `b` are base types; the result is one, too.
fn common_of_two(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (T::Nothing, t) | (t, T::Nothing) => Some(t.clone()),
        (T::Variant(x), T::Variant(y)) => Some(T::variant(x.iter().chain(y.iter()).cloned())),
        (T::Variant(x), t) | (t, T::Variant(x)) => x.contains(t).then(|| T::Variant(Arc::clone(x))),
        (T::Array(x), T::Array(y)) => Some(T::array(element(x, y)?)),
        (T::Tuple(x), T::Tuple(y)) => common_tuple(x, y),
        (T::Map(k1, v1), T::Map(k2, v2)) => Some(T::map(element(k1, k2)?, element(v1, v2)?)),
        (T::Interval(x), T::Interval(y)) => common_interval(*x, *y),
        // Both are bytes: the first one says what they are.
        (T::Bool, T::UInt8) | (T::UInt8, T::Bool) => Some(a.clone()),
        (T::Bool, t) | (t, T::Bool) if t.is_number() => common_number(&T::UInt8, t),
        (T::Ipv4, T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64) => common_integer(&T::UInt32, b),
        (T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64, T::Ipv4) => common_integer(a, &T::UInt32),
        _ if a.is_string() && b.is_string() => Some(T::String),
        _ if a.is_enum() && b.is_string() || a.is_string() && b.is_enum() => Some(T::String),
        _ if a.is_enum() && b.is_enum() => common_number(&integer_of(a), &integer_of(b)),
        _ if a.is_enum() && (b.is_integer() || b.is_float()) => common_number(&integer_of(a), b),
        _ if b.is_enum() && (a.is_integer() || a.is_float()) => common_number(a, &integer_of(b)),
        _ if a.is_date_or_time() && b.is_date_or_time() => common_time(a, b),
        _ if a.is_number() && b.is_number() => common_number(a, b),
        _ => None,
    }
}

fn element(a: &DataType, b: &DataType) -> Option<DataType> {
    least_supertype(&[a.clone(), b.clone()]).ok()
}

fn integer_of(enumeration: &DataType) -> DataType {
    if matches!(enumeration, DataType::Enum8(_)) {
        DataType::Int8
    } else {
        DataType::Int16
    }
}

fn common_tuple(a: &TupleType, b: &TupleType) -> Option<DataType> {
    if a.types.len() != b.types.len() {
        return None;
    }
    let pairs = a.types.iter().zip(&b.types);
    let types = pairs
        .map(|(x, y)| element(x, y))
        .collect::<Option<Vec<_>>>()?;
    let names = if a.names == b.names {
        a.names.clone()
    } else {
        Vec::new()
    };
    Some(DataType::Tuple(Arc::new(TupleType { types, names })))
}

/// Months do not divide into days: only units of the same kind have a common one, the smaller.
fn common_interval(a: IntervalUnit, b: IntervalUnit) -> Option<DataType> {
    let calendar = |u| u >= IntervalUnit::Month;
    (calendar(a) == calendar(b)).then(|| DataType::Interval(a.min(b)))
}

fn common_time(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match (a, b) {
        (T::Date | T::Date32, T::Date | T::Date32) => T::Date32,
        (T::DateTime64(p, z), T::DateTime64(q, _)) => T::DateTime64(*p.max(q), *z),
        (T::DateTime64(p, z), _) | (_, T::DateTime64(p, z)) => T::DateTime64(*p, *z),
        (T::DateTime(z), T::Date32) | (T::Date32, T::DateTime(z)) => T::DateTime64(0, *z),
        (T::DateTime(z), _) | (_, T::DateTime(z)) => T::DateTime(*z),
        _ => return None,
    })
}

fn common_number(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    match (a, b) {
        (T::Decimal { .. }, _) | (_, T::Decimal { .. }) => common_decimal(a, b),
        _ if a.is_float() || b.is_float() => common_float(a, b),
        _ => common_integer(a, b),
    }
}

fn common_integer(a: &DataType, b: &DataType) -> Option<DataType> {
    let (bits_a, bits_b) = (bits(a), bits(b));
    if a.is_unsigned() == b.is_unsigned() {
        return Some(if bits_a >= bits_b {
            a.clone()
        } else {
            b.clone()
        });
    }
    let (unsigned, signed) = if a.is_unsigned() {
        (bits_a, bits_b)
    } else {
        (bits_b, bits_a)
    };
    match if unsigned >= signed {
        unsigned * 2
    } else {
        signed
    } {
        16 => Some(DataType::Int16),
        32 => Some(DataType::Int32),
        64 => Some(DataType::Int64),
        _ => None,
    }
}

/// Float32 holds integers of at most 24 bits, Float64 of at most 53.
fn common_float(a: &DataType, b: &DataType) -> Option<DataType> {
    let needs = |t: &DataType| match t {
        DataType::Float32 => Some(32),
        DataType::Float64 => Some(64),
        t if bits(t) <= 16 => Some(32),
        t if bits(t) <= 32 => Some(64),
        _ => None,
    };
    let widest = needs(a)?.max(needs(b)?);
    Some(if widest == 32 {
        DataType::Float32
    } else {
        DataType::Float64
    })
}

fn common_decimal(a: &DataType, b: &DataType) -> Option<DataType> {
    let digits = |t: &DataType| match t {
        DataType::Decimal { precision, scale } => Some((*precision, *scale)),
        t if t.is_integer() => match bits(t) {
            8 => Some((3, 0)),
            16 => Some((5, 0)),
            32 => Some((10, 0)),
            _ => Some((20, 0)),
        },
        _ => None,
    };
    let ((pa, sa), (pb, sb)) = (digits(a)?, digits(b)?);
    let scale = sa.max(sb);
    let precision = [a, b]
        .iter()
        .zip([(pa, sa), (pb, sb)])
        .map(|(t, (p, s))| {
            if t.is_decimal() {
                p
            } else {
                p.saturating_add(scale - s)
            }
        })
        .max()?;
    let precision = match precision {
        0..=9 => 9,
        10..=18 => 18,
        19..=38 => 38,
        _ => 76,
    };
    Some(DataType::Decimal { precision, scale })
}

fn bits(t: &DataType) -> usize {
    t.fixed_size_bytes().unwrap_or(0) * 8
}

#[cfg(test)]
mod tests {
    use super::least_supertype;
    use crate::parse_data_type;

    fn check(types: &[&str], expected: &str) {
        let types: Vec<_> = types.iter().map(|t| parse_data_type(t).expect(t)).collect();
        let name =
            least_supertype(&types).map_or_else(|e| e.code().number.to_string(), |t| t.to_string());
        assert_eq!(name, expected, "{types:?}");
    }

    #[test]
    fn common_types_are_those_of_clickhouse() {
        check(&["UInt8", "Int8"], "Int16");
        check(&["UInt32", "Int64"], "Int64");
        check(&["UInt64", "Int8"], "386");
        check(&["UInt16", "Float32"], "Float32");
        check(&["UInt32", "Float32"], "Float64");
        check(&["UInt8", "String"], "386");
        check(&["Nullable(Nothing)", "UInt8"], "Nullable(UInt8)");
        check(&["Array(Nothing)", "Array(UInt8)"], "Array(UInt8)");
        check(
            &["Tuple(UInt8, String)", "Tuple(UInt16, String)"],
            "Tuple(UInt16, String)",
        );
        check(&["Bool", "UInt8"], "Bool");
        check(&["UInt8", "Bool"], "UInt8");
        check(&["Bool", "Int32"], "Int32");
        check(&["UInt64", "Bool"], "UInt64");
        check(&["Bool", "Int8"], "Int16");
        check(&["FixedString(2)", "FixedString(3)"], "String");
        check(&["LowCardinality(String)", "String"], "String");
        check(&["Date", "DateTime"], "DateTime");
        check(&["Date32", "DateTime"], "DateTime64(0)");
        check(&["Decimal(9, 2)", "UInt8"], "Decimal(9, 2)");
        check(&["Decimal(9, 2)", "Decimal(18, 4)"], "Decimal(18, 4)");
        check(&["IntervalDay", "IntervalHour"], "IntervalHour");
        check(&["Enum8('a' = 1)", "UInt8"], "Int16");
        check(&["Bool", "Enum16('a' = 1)"], "Int16");
        check(&["Enum8('a' = 1)", "UInt64"], "386");
        check(&["Enum8('a' = 1)", "Decimal(9, 2)"], "386");
        check(
            &["Map(String, UInt8)", "Map(String, UInt16)"],
            "Map(String, UInt16)",
        );
    }
}
