//! Writes values as ClickHouse's TabSeparated does, as far as the cases need it.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Float32Type, Float64Type};
use basalt_types::DataType;
use basalt_types::calendar::CivilDate;

use basalt_functions::StringColumn;

/// The value of a row.
pub(super) fn value(data_type: &DataType, array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) || *data_type.base() == DataType::Nothing {
        return "\\N".to_owned();
    }
    nested(data_type, array, row, false)
}

fn nested(data_type: &DataType, array: &ArrayRef, row: usize, quotes: bool) -> String {
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    match data_type.base() {
        DataType::String | DataType::FixedString(_) => {
            let bytes = StringColumn::of_array(array, false).expect("string");
            let text = String::from_utf8_lossy(bytes.value(row)).replace('\0', "\\0");
            if quotes { format!("'{text}'") } else { text }
        }
        DataType::Array(element) => {
            let values = array.as_list::<i32>().value(row);
            let items = (0..values.len()).map(|i| nested(element, &values, i, true));
            format!("[{}]", items.collect::<Vec<_>>().join(","))
        }
        DataType::Tuple(tuple) => {
            let columns = array.as_struct().columns();
            let items = tuple.types.iter().zip(columns);
            let items = items.map(|(t, c)| nested(t, c, row, true));
            format!("({})", items.collect::<Vec<_>>().join(","))
        }
        DataType::Map(key, value) => {
            let entries = array.as_list::<i32>().value(row);
            let columns = entries.as_struct().columns();
            let items = (0..entries.len()).map(|i| {
                let key = nested(key, &columns[0], i, true);
                format!("{key}:{}", nested(value, &columns[1], i, true))
            });
            format!("{{{}}}", items.collect::<Vec<_>>().join(","))
        }
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row).to_string()),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(row).to_string()),
        DataType::AggregateFunction(_) => "state".to_owned(),
        DataType::Decimal { .. } => {
            let text = arrow::util::display::array_value_to_string(array, row).expect("decimal");
            let text = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                &text
            };
            text.to_owned()
        }
        DataType::Bool => if integer(array, row) == 0 {
            "false"
        } else {
            "true"
        }
        .to_owned(),
        DataType::Date | DataType::Date32 => date(integer(array, row)),
        DataType::DateTime(_) => {
            let seconds = integer(array, row);
            let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
            let day = date(seconds / 86_400);
            format!("{day} {hours:02}:{minutes:02}:{:02}", seconds % 60)
        }
        _ => arrow::util::display::array_value_to_string(array, row).expect("value"),
    }
}

fn integer(array: &ArrayRef, row: usize) -> i64 {
    let wide = arrow::compute::cast(array, &arrow::datatypes::DataType::Int64).expect("integer");
    wide.as_primitive::<arrow::datatypes::Int64Type>()
        .value(row)
}

fn date(days: i64) -> String {
    let CivilDate { year, month, day } = CivilDate::from_days(i32::try_from(days).expect("day"));
    format!("{year}-{month:02}-{day:02}")
}

fn float(text: String) -> String {
    text.replace("NaN", "nan")
}

/// Whether two answers agree, floats in 14 digits.
pub(super) fn same(ours: &str, expected: &str) -> bool {
    if ours == expected {
        return true;
    }
    let split = |text: &str| -> Vec<String> {
        text.split_inclusive([' ', ',', '[', ']', '(', ')', '{', '}', ':'])
            .map(str::to_owned)
            .collect()
    };
    let (ours, expected) = (split(ours), split(expected));
    ours.len() == expected.len() && ours.iter().zip(&expected).all(|(a, b)| same_token(a, b))
}

fn same_token(ours: &str, expected: &str) -> bool {
    if ours == expected {
        return true;
    }
    let number = |text: &str| {
        let text = text.trim_end_matches([' ', ',', '[', ']', '(', ')', '{', '}', ':']);
        text.contains(['.', 'e'])
            .then(|| text.parse::<f64>().ok())
            .flatten()
    };
    match (number(ours), number(expected)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-14 * a.abs().max(b.abs()) * 10.0,
        _ => false,
    }
}
