//! Lists the names that a user may want to type.

use crate::session::Session;

/// Names of a session, each list in order and without repetition.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// What rows come from: tables, table functions, databases.
    pub sources: Vec<String>,
    /// Functions, columns, settings, formats.
    pub others: Vec<String>,
}

impl Session {
    /// Names that a user may want to type.
    pub fn names(&self) -> Names {
        let functions = basalt_functions::registry::all_function_names().map(str::to_owned);
        let mut others: Vec<String> = functions.collect();
        others.extend(crate::settings::declared().map(|s| s.name.to_owned()));
        others.extend(basalt_formats::FORMATS.iter().map(|f| f.name.to_owned()));
        let table_functions = crate::table_function::TABLE_FUNCTIONS.iter();
        let mut sources: Vec<String> = table_functions.map(|(n, _)| (*n).to_owned()).collect();
        let of_system = crate::system::table_names("system");
        sources.extend(of_system.iter().map(|n| format!("system.{n}")));
        let catalog = &self.database.catalog;
        for database in catalog.databases() {
            for (name, table) in catalog.tables(&database).unwrap_or_default() {
                sources.push(name);
                others.extend(table.columns.iter().map(|c| c.column.name.clone()));
            }
            sources.push(database);
        }
        for (name, table) in &self.temporary {
            sources.push(name.clone());
            others.extend(table.columns.iter().map(|c| c.column.name.clone()));
        }
        for names in [&mut sources, &mut others] {
            names.sort_unstable();
            names.dedup();
        }
        Names { sources, others }
    }
}
