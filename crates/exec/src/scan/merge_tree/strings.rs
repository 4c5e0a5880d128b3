//! Tells whether strings are stored so that numbers in their place save work.

use arrow::array::{Array, AsArray};
use arrow::datatypes::UInt16Type;
use basalt_types::DataType;

use super::source::Group;

/// Rows for each different string of a group, at least: to number a string costs about as much as to group
/// some rows by theirs.
const LEAST_REPEATS: usize = 8;

/// The same of columns that are declared to have few.
const LEAST_DECLARED: usize = 2;

/// Whether a column's groups have few different strings, so that all of them take at most so many bytes. The group
/// that takes most bytes on disk speaks for all: it has the most strings, or the longest.
pub(super) fn has_few_strings(
    groups: &[Group],
    (column, data_type): (usize, &DataType),
    (is_cached, max_bytes): (bool, usize),
) -> bool {
    let least = match data_type {
        DataType::LowCardinality(_) => LEAST_DECLARED,
        _ => LEAST_REPEATS,
    };
    let stored = |(part, group): &Group| part.metadata().columns[column].groups[*group].num_bytes;
    let Some(largest) = groups.iter().max_by_key(|group| stored(group)) else {
        return false;
    };
    let (part, group) = largest;
    let Ok((strings, _)) = part.read_encoded((column, *group), is_cached) else {
        // Who reads the rows will say why.
        return false;
    };
    let Some(strings) = strings.as_dictionary_opt::<UInt16Type>() else {
        return false;
    };
    let values = strings.values();
    let bytes = values
        .as_binary_view_opt()
        .map(|values| values.total_bytes_len());
    let bytes = bytes.unwrap_or(usize::MAX) as f64 + (size_of::<u128>() * values.len()) as f64;
    let all = groups.iter().map(stored).sum::<u64>() as f64 / stored(largest).max(1) as f64;
    values.len() * least <= strings.len() && bytes * all <= max_bytes as f64
}
