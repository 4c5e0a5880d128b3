//! Finds functions by name, with ClickHouse's rules of case, and suggests near names.

use std::collections::HashMap;
use std::sync::LazyLock;

use basalt_error::{Error, ErrorCode, Result};
pub use basalt_error::{edit_distance, nearest};
use basalt_types::parse::absent_type;

use crate::ScalarFunction;

struct Names {
    exact: HashMap<&'static str, &'static ScalarFunction>,
    lower: HashMap<String, &'static ScalarFunction>,
}

static SCALAR: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names {
        exact: HashMap::new(),
        lower: HashMap::new(),
    };
    for function in all_scalar() {
        for name in std::iter::once(&function.name).chain(function.aliases) {
            names.exact.insert(name, function);
            if function.case_insensitive {
                names.lower.insert(name.to_ascii_lowercase(), function);
            }
        }
    }
    names
});

/// Every scalar function, family by family.
pub fn all_scalar() -> impl Iterator<Item = &'static ScalarFunction> {
    let tables = crate::scalar::FAMILIES
        .iter()
        .flat_map(|family| family.iter());
    tables.flat_map(|table| table.iter())
}

/// The scalar function of that name or alias.
pub fn find_scalar(name: &str) -> Option<&'static ScalarFunction> {
    let names = &*SCALAR;
    names
        .exact
        .get(name)
        .copied()
        .or_else(|| names.lower.get(&name.to_ascii_lowercase()).copied())
}

/// The error for a conversion to a type that is not there, `toInt128OrZero`.
fn makes_absent_type(name: &str) -> Option<Error> {
    let prefixes = ["reinterpretAs", "to"];
    let made = prefixes.iter().find_map(|p| name.strip_prefix(p))?;
    let suffixes = ["OrNull", "OrZero", "OrDefault"];
    let plain = suffixes.iter().find_map(|s| made.strip_suffix(s));
    absent_type(plain.unwrap_or(made))
}

/// The error for a name that is no function, with the nearest names that are.
pub fn unknown_function(name: &str) -> Error {
    if name.starts_with("dictGet") || matches!(name, "dictHas" | "dictIsIn") {
        return Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Use a JOIN: dictionary not found, as there are none for {name} to read"),
        );
    }
    if let Some(error) = makes_absent_type(name) {
        return error;
    }
    let combined: Vec<String> = crate::aggregate::all_combined_names().collect();
    let mut names: Vec<&str> = all_function_names().collect();
    names.extend(combined.iter().map(String::as_str));
    let near = nearest(name, names.into_iter());
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!("Maybe you meant: {near:?}. ")
    };
    Error::new(
        ErrorCode::UNKNOWN_FUNCTION,
        format!(
            "{}Function with name `{name}` does not exist",
            hint.replace('"', "'")
        ),
    )
}

/// The scalar function of that name, or the error with suggestions.
///
/// # Errors
/// `UNKNOWN_FUNCTION`.
pub fn get_scalar(name: &str) -> Result<&'static ScalarFunction> {
    find_scalar(name).ok_or_else(|| unknown_function(name))
}

/// Names of all functions of every kind, aliases included.
pub fn all_function_names() -> impl Iterator<Item = &'static str> {
    let scalar =
        all_scalar().flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()));
    let higher_order = crate::higher_order::FUNCTIONS.iter().map(|f| f.name);
    let aggregate = crate::aggregate::all()
        .flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()));
    scalar.chain(higher_order).chain(aggregate)
}
