//! Refuses views that would read themselves.

use std::collections::{BTreeMap, BTreeSet};

use basalt_error::{Error, ErrorCode, Result};

use super::qualify;
use crate::catalog::{Catalog, Engine, Table};

/// Database and name of a table.
pub(super) type Place<'a> = (&'a str, &'a str);

/// Checks that no view leads back to itself once the places have these tables.
///
/// # Errors
/// `INFINITE_LOOP`.
pub(super) fn check_no_cycle(
    catalog: &Catalog,
    placed: &BTreeMap<Place<'_>, Option<&Table>>,
) -> Result<()> {
    for (database, name) in placed.keys() {
        let start = ((*database).to_owned(), (*name).to_owned());
        let mut seen = BTreeSet::new();
        let mut waiting = vec![start.clone()];
        while let Some(place) = waiting.pop() {
            for next in read_by(catalog, placed, &place) {
                if next == start {
                    return Err(Error::new(
                        ErrorCode::INFINITE_LOOP,
                        format!("Choose another name: view {database}.{name} would read itself"),
                    ));
                }
                if seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
    }
    Ok(())
}

/// The tables that the one at a place reads.
fn read_by(
    catalog: &Catalog,
    placed: &BTreeMap<Place<'_>, Option<&Table>>,
    (database, name): &(String, String),
) -> Vec<(String, String)> {
    let query = |table: &Table| match &table.engine {
        Engine::View(query) => qualify::tables_of(query),
        _ => Vec::new(),
    };
    let names = match placed.get(&(database.as_str(), name.as_str())) {
        Some(table) => table.map(query),
        None => catalog.find(database, name).map(|table| query(&table)),
    };
    let full = |name: basalt_parser::ast::ObjectName| Some((name.database?, name.name));
    names.into_iter().flatten().filter_map(full).collect()
}
