//! Lists functions.

use basalt_analyzer::TableEntry;
use basalt_analyzer::expr::SPECIAL_FUNCTIONS;
use basalt_error::Result;
use basalt_functions::{aggregate, higher_order, registry};

use super::rows::Rows;
use crate::environment::QueryEnvironment;
use crate::table_function::TABLE_FUNCTIONS;

/// A function as `system.functions` shows it.
struct Row {
    name: String,
    is_aggregate: bool,
    case_insensitive: bool,
    alias_to: String,
    origin: &'static str,
    description: String,
    syntax: String,
}

/// `system.functions`
pub(crate) fn functions(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let mut rows = Vec::new();
    for f in registry::all_scalar() {
        let row = |name: &str, alias_to: &str| Row {
            name: name.to_owned(),
            is_aggregate: false,
            case_insensitive: f.case_insensitive,
            alias_to: alias_to.to_owned(),
            origin: "System",
            description: f.description.to_owned(),
            syntax: f.syntax.to_owned(),
        };
        rows.push(row(f.name, ""));
        rows.extend(f.aliases.iter().map(|a| row(a, f.name)));
    }
    let higher_order = higher_order::FUNCTIONS.iter();
    let plain = higher_order.map(|f| (f.name, f.description, f.syntax));
    let special = SPECIAL_FUNCTIONS.iter();
    for (name, description, syntax) in
        plain.chain(special.map(|f| (f.name, f.description, f.syntax)))
    {
        rows.push(Row {
            name: name.to_owned(),
            is_aggregate: false,
            case_insensitive: false,
            alias_to: String::new(),
            origin: "System",
            description: description.to_owned(),
            syntax: syntax.to_owned(),
        });
    }
    for f in aggregate::all() {
        let row = |name: &str, alias_to: &str| Row {
            name: name.to_owned(),
            is_aggregate: true,
            case_insensitive: f.case_insensitive,
            alias_to: alias_to.to_owned(),
            origin: "System",
            description: f.description.to_owned(),
            syntax: f.syntax.to_owned(),
        };
        rows.push(row(f.name, ""));
        rows.extend(f.aliases.iter().map(|a| row(a, f.name)));
    }
    for name in environment.database.sql_functions.read().keys() {
        rows.push(Row {
            name: name.clone(),
            is_aggregate: false,
            case_insensitive: false,
            alias_to: String::new(),
            origin: "SQLUserDefined",
            description: String::new(),
            syntax: String::new(),
        });
    }
    Rows::default()
        .text("name", rows.iter().map(|r| &r.name))
        .flag("is_aggregate", rows.iter().map(|r| r.is_aggregate))
        .flag("case_insensitive", rows.iter().map(|r| r.case_insensitive))
        .text("alias_to", rows.iter().map(|r| &r.alias_to))
        .text("origin", rows.iter().map(|r| r.origin))
        .text("description", rows.iter().map(|r| &r.description))
        .text("syntax", rows.iter().map(|r| &r.syntax))
        .table()
}

/// `system.table_functions`
pub(crate) fn table_functions(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text("name", TABLE_FUNCTIONS.iter().map(|(name, _)| *name))
        .text(
            "description",
            TABLE_FUNCTIONS.iter().map(|(_, description)| *description),
        )
        .table()
}

/// Suffixes of aggregate functions.
const COMBINATORS: [&str; 12] = [
    "Array",
    "Distinct",
    "ForEach",
    "If",
    "Map",
    "Merge",
    "MergeState",
    "OrDefault",
    "OrNull",
    "Resample",
    "SimpleState",
    "State",
];

/// `system.aggregate_function_combinators`
pub(crate) fn combinators(_environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    Rows::default()
        .text("name", COMBINATORS)
        .flag("is_internal", COMBINATORS.map(|_| false))
        .table()
}
