//! Lists the house rules; each file holds one rule with its exceptions.

use super::Rule;

pub(super) mod comments;
pub(super) mod dependencies;
pub(super) mod file_size;
pub(super) mod function_size;
pub(super) mod header;
pub(super) mod machine_paths;
pub(super) mod module_table;
pub(super) mod names;
pub(super) mod sql_description;
pub(super) mod sql_differences;
pub(super) mod unsafety;

/// Every rule, in the order of docs/STYLE.md.
pub(super) const ALL: &[Rule] = &[
    file_size::RULE,
    function_size::RULE,
    header::RULE,
    module_table::RULE,
    names::RULE,
    dependencies::RULE,
    unsafety::RULE,
    comments::RULE,
    machine_paths::RULE,
    sql_description::RULE,
    sql_differences::RULE,
];
