//! Lists functions.

use basalt_analyzer::TableEntry;
use basalt_analyzer::expr::SPECIAL_FUNCTIONS;
use basalt_error::Result;
use basalt_functions::{Purity, aggregate, higher_order, registry};

use super::rows::Rows;
use crate::definitions::create_function;
use crate::environment::QueryEnvironment;
use crate::table_function::TABLE_FUNCTIONS;

/// A function as `system.functions` shows it.
#[derive(Clone, Default)]
struct Row {
    name: String,
    is_aggregate: bool,
    case_insensitive: bool,
    alias_to: String,
    /// The statement that made it, if a user did.
    create_query: String,
    description: &'static str,
    syntax: &'static str,
    /// Whether the same arguments give the same result; not asked of aggregate functions.
    deterministic: Option<bool>,
    is_higher_order: bool,
}

impl Row {
    /// The function under its name and each of its aliases.
    fn with_aliases(self, aliases: &'static [&'static str]) -> Vec<Row> {
        let alias = |name: &&str| Row {
            name: (*name).to_owned(),
            alias_to: self.name.clone(),
            ..self.clone()
        };
        let aliases: Vec<Row> = aliases.iter().map(alias).collect();
        std::iter::once(self).chain(aliases).collect()
    }
}

fn scalar() -> impl Iterator<Item = Row> {
    registry::all_scalar().flat_map(|f| {
        let row = Row {
            name: f.name.to_owned(),
            case_insensitive: f.case_insensitive,
            description: f.description,
            syntax: f.syntax,
            deterministic: Some(f.purity == Purity::Pure || f.name == "materialize"),
            ..Row::default()
        };
        row.with_aliases(f.aliases)
    })
}

fn with_lambdas() -> impl Iterator<Item = Row> {
    let higher_order = higher_order::FUNCTIONS.iter();
    let higher_order = higher_order.map(|f| (f.name, f.description, f.syntax, true));
    let special = SPECIAL_FUNCTIONS.iter();
    let special = special.map(|f| (f.name, f.description, f.syntax, false));
    let all = higher_order.chain(special);
    all.map(|(name, description, syntax, is_higher_order)| Row {
        name: name.to_owned(),
        description,
        syntax,
        deterministic: Some(true),
        is_higher_order,
        ..Row::default()
    })
}

fn aggregates() -> impl Iterator<Item = Row> {
    aggregate::all().flat_map(|f| {
        let row = Row {
            name: f.name.to_owned(),
            is_aggregate: true,
            case_insensitive: f.case_insensitive,
            description: f.description,
            syntax: f.syntax,
            ..Row::default()
        };
        row.with_aliases(f.aliases)
    })
}

/// The functions that CREATE FUNCTION has made.
fn of_users(environment: &QueryEnvironment<'_>) -> Vec<Row> {
    let functions = environment.database.sql_functions.read();
    let rows = functions.iter().map(|(name, lambda)| Row {
        name: name.clone(),
        create_query: create_function(name, lambda, false),
        deterministic: None,
        ..Row::default()
    });
    rows.collect()
}

/// `system.functions`
pub(crate) fn functions(environment: &QueryEnvironment<'_>) -> Result<TableEntry> {
    let own = scalar().chain(with_lambdas()).chain(aggregates());
    let rows: Vec<Row> = own.chain(of_users(environment)).collect();
    let origin = |r: &Row| match r.create_query.is_empty() {
        true => "System",
        false => "SQLUserDefined",
    };
    let is_higher_order = |r: &Row| r.deterministic.map(|_| r.is_higher_order);
    Rows::default()
        .text("name", rows.iter().map(|r| &r.name))
        .flag("is_aggregate", rows.iter().map(|r| r.is_aggregate))
        .flag("case_insensitive", rows.iter().map(|r| r.case_insensitive))
        .text("alias_to", rows.iter().map(|r| &r.alias_to))
        .text("create_query", rows.iter().map(|r| &r.create_query))
        .read("origin", ORIGIN, rows.iter().map(origin))?
        .text("description", rows.iter().map(|r| r.description))
        .text("syntax", rows.iter().map(|r| r.syntax))
        .maybe_flag("deterministic", rows.iter().map(|r| r.deterministic))
        .maybe_flag("higher_order", rows.iter().map(is_higher_order))
        .table()
}

/// Type of the column `origin`.
const ORIGIN: &str = "origin Enum8('System' = 0, 'SQLUserDefined' = 1, 'ExecutableUserDefined' = 2, 'WasmUserDefined' = 3)";

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
