//! Says which parts (`tuple.element`, `array.size0`) the values of a type have.

use basalt_types::DataType;

/// Whether values of a type have the part that `names`, separated by dots in the query, lead to.
pub(crate) fn has_part(data_type: &DataType, names: &[String]) -> bool {
    let Some((name, rest)) = names.split_first() else {
        return true;
    };
    let is_last = rest.is_empty();
    match data_type {
        DataType::Tuple(tuple) => {
            let by_name = tuple.names.iter().position(|n| n == name);
            let number = || name.parse::<usize>().ok()?.checked_sub(1);
            let element = by_name.or_else(number).and_then(|i| tuple.types.get(i));
            element.is_some_and(|element| has_part(element, rest))
        }
        DataType::Nullable(inner) => (is_last && name == "null") || has_part(inner, names),
        DataType::Array(element) => {
            (is_last && (name == "size0" || is_part_of_elements(element, name)))
                || (matches!(**element, DataType::Tuple(_)) && has_part(element, names))
        }
        DataType::Map(..) => {
            is_last
                && (["size0", "keys", "values"].contains(&name.as_str())
                    || name.starts_with("key_"))
        }
        DataType::String => is_last && name == "size",
        DataType::Variant(types) => is_last && types.iter().any(|t| t.to_string() == *name),
        _ => false,
    }
}

/// Whether `name` is a part that the elements of an array have.
pub(crate) fn is_part_of_elements(element: &DataType, name: &str) -> bool {
    match (element, name.strip_prefix("size").map(str::parse::<usize>)) {
        (DataType::Array(_) | DataType::Map(..), Some(Ok(1))) => true,
        (DataType::Array(inner), Some(Ok(depth))) if depth > 1 => {
            is_part_of_elements(inner, &format!("size{}", depth - 1))
        }
        (DataType::Nullable(_), None) => name == "null",
        (DataType::Variant(types), None) => types.iter().any(|t| t.to_string() == name),
        _ => false,
    }
}
