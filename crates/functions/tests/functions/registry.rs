//! Names of functions.

use basalt_functions::registry::{all_function_names, unknown_function};

#[test]
fn near_names_are_found() {
    for (written, near) in [
        ("sumIff", "'sumIf'"),
        ("cuont", "'count'"),
        ("lenght", "'length'"),
    ] {
        let error = unknown_function(written);
        assert!(error.message().contains(near), "{error}");
    }
}

#[test]
fn no_name_is_taken_twice() {
    let mut names: Vec<_> = all_function_names().collect();
    names.sort_unstable();
    let twice: Vec<_> = names
        .windows(2)
        .filter(|w| w[0] == w[1])
        .map(|w| w[0])
        .collect();
    assert!(twice.is_empty(), "{twice:?}");
}
