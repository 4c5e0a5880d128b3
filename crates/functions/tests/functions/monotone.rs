//! Compares what calls say of the order of their results with results.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type, UInt64Type};
use basalt_functions::{Arg, BoundFunction, Column, Context, registry};
use basalt_types::{DataType, parse_data_type};

use crate::testing::{Input, constant};

/// Where clocks were set back or forth in unusual ways.
const ZONES: &[&str] = &[
    "UTC",
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Havana",
    "America/Sao_Paulo",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Kolkata",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
    "Pacific/Kiritimati",
];

/// Days that moments are taken from: the first that are promised, those around 2011, when zones changed much, and late
/// ones, behind which rules do not change.
const DAYS: [RangeInclusive<i128>; 3] = [400..=1_100, 14_400..=15_500, 24_400..=25_200];

/// Less than an hour, and no part of it.
const STEP_SECONDS: i128 = 3_517;

const X: Option<Input> = None;

/// The arguments of functions that take more than one, or other ones than a time; `X` differs from row to row.
fn calls(name: &str) -> Vec<Vec<Option<Input>>> {
    let c = |data_type: &str, text: &str| Some(constant(data_type, text));
    let units = ["Second", "Minute", "Hour", "Day", "Week", "Month", "Year"];
    match name {
        "toStartOfInterval" => {
            let units = units.iter().flat_map(|unit| {
                let unit = format!("Interval{unit}");
                ["1", "5", "7"].map(|n| vec![X, c(&unit, n)])
            });
            units.collect()
        }
        "dateTrunc" => units
            .map(|u| vec![c("String", &u.to_lowercase()), X])
            .into(),
        "toYearWeek" | "toStartOfWeek" | "toLastDayOfWeek" => {
            let modes = (0..10).map(|mode| vec![X, c("UInt8", &mode.to_string())]);
            modes.chain([vec![X]]).collect()
        }
        "toYear" | "toYYYYMM" | "toStartOfDay" => {
            vec![vec![X], vec![X, c("String", "Europe/Lisbon")]]
        }
        "plus" | "minus" => vec![
            vec![X, c("UInt8", "5")],
            vec![X, c("UInt64", "18446744073709551615")],
            vec![X, c("Int16", "-500")],
            vec![c("UInt32", "4000000000"), X],
        ],
        "intDiv" => [
            ("UInt8", "3"),
            ("UInt8", "200"),
            ("Int16", "-3"),
            ("UInt16", "300"),
            ("UInt16", "40000"),
            ("UInt32", "3000000000"),
            ("UInt64", "9223372036854775808"),
        ]
        .map(|(name, text)| vec![X, c(name, text)])
        .into(),
        _ => vec![vec![X]],
    }
}

#[test]
fn calls_keep_the_order_that_they_say() {
    let zoned = ZONES.iter().flat_map(|zone| {
        [
            format!("DateTime('{zone}')"),
            format!("DateTime64(3, '{zone}')"),
        ]
    });
    let plain = [
        "Date", "Date32", "UInt8", "Int8", "UInt16", "Int16", "UInt32", "Int32", "UInt64", "Int64",
    ];
    let types = plain.map(str::to_owned).into_iter().chain(zoned);
    let mut found = std::collections::BTreeSet::new();
    for data_type in types.map(|t| parse_data_type(&t).expect(&t)) {
        for function in registry::all_scalar() {
            for call in calls(function.name) {
                if check(function.name, &data_type, &call) == Some(true) {
                    found.insert(function.name);
                }
            }
        }
    }
    for name in [
        "toYYYYMM",
        "toStartOfInterval",
        "dateTrunc",
        "intDiv",
        "toInt64",
        "negate",
    ] {
        assert!(found.contains(name), "{name} is in no order");
    }
}

/// Whether the call is in an order; none if there is no such call.
fn check(name: &str, data_type: &DataType, call: &[Option<Input>]) -> Option<bool> {
    let args = call.iter().map(|arg| match arg {
        Some(input) => Arg {
            data_type: input.data_type.clone(),
            constant: Some(Arc::clone(&input.column.array)),
        },
        None => Arg::new(data_type.clone()),
    });
    let args: Vec<Arg> = args.collect();
    let function = registry::get_scalar(name).expect(name);
    let bound = BoundFunction::bind(function, &args, &Context::default()).ok()?;
    let Some(monotone) = bound.monotone.clone() else {
        return Some(false);
    };
    let values = values(data_type, &monotone.domain);
    let array = array(&values, data_type);
    let columns = call.iter().map(|arg| match arg {
        Some(input) => input.column.clone(),
        None => Column::new(Arc::clone(&array)),
    });
    let columns: Vec<Column> = columns.collect();
    let results = bound.call(&columns, values.len()).expect(name);
    let results = integers(&results).unwrap_or_else(|| panic!("{name}: no integers"));
    let (mut before, mut most) = (0, i128::MIN);
    for (i, value) in values.iter().enumerate() {
        let place = |i: usize| match monotone.is_falling {
            true => -results[i],
            false => results[i],
        };
        while values[before] + monotone.slack < *value {
            most = most.max(place(before));
            before += 1;
        }
        assert!(
            most <= place(i),
            "{name} of {data_type} {value}: {} with {args:?}",
            results[i]
        );
    }
    Some(true)
}

/// Ascending values of a domain.
fn values(data_type: &DataType, domain: &RangeInclusive<i128>) -> Vec<i128> {
    let unit = match data_type {
        DataType::DateTime(_) => 1,
        DataType::DateTime64(..) => 1_000,
        _ => {
            let is_day = matches!(data_type, DataType::Date | DataType::Date32);
            let parts = if is_day { i128::MAX } else { 1_009 };
            return spaced(domain, ((domain.end() - domain.start()) / parts).max(1)).collect();
        }
    };
    let spans = DAYS.iter().flat_map(|days| {
        let (start, end) = days.clone().into_inner();
        spaced(
            &(start * 86_400 * unit..=end * 86_400 * unit),
            STEP_SECONDS * unit + unit / 2,
        )
    });
    let mut values: Vec<i128> = spans.filter(|value| domain.contains(value)).collect();
    values.push(*domain.end());
    values
}

/// Values of a range, and its end.
fn spaced(range: &RangeInclusive<i128>, step: i128) -> impl Iterator<Item = i128> + use<> {
    let (start, end) = range.clone().into_inner();
    let step = usize::try_from(step).unwrap_or(1);
    (start..end).step_by(step).chain([end])
}

fn array(values: &[i128], data_type: &DataType) -> ArrayRef {
    let physical = data_type.physical();
    let wide: ArrayRef = if physical.is_unsigned_integer() {
        let values = values.iter().map(|v| u64::try_from(*v).expect("a value"));
        Arc::new(UInt64Array::from_iter_values(values))
    } else {
        let values = values.iter().map(|v| i64::try_from(*v).expect("a value"));
        Arc::new(Int64Array::from_iter_values(values))
    };
    cast(&wide, &physical).expect("integers")
}

/// The numbers of an integer array.
fn integers(array: &ArrayRef) -> Option<Vec<i128>> {
    Some(if array.data_type().is_unsigned_integer() {
        let wide = cast(array, &ArrowType::UInt64).ok()?;
        let values = wide.as_primitive::<UInt64Type>().values();
        values.iter().map(|v| i128::from(*v)).collect()
    } else if array.data_type().is_signed_integer() {
        let wide = cast(array, &ArrowType::Int64).ok()?;
        let values = wide.as_primitive::<Int64Type>().values();
        values.iter().map(|v| i128::from(*v)).collect()
    } else {
        return None;
    })
}
