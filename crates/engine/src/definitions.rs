//! Keeps the definitions of databases, tables, views and functions in a folder, as a script.
//!
//! Rows of Memory tables are not kept: such a table is there again, and empty, as in ClickHouse.

use std::path::Path;
use std::sync::Arc;

use basalt_error::{Error, Result};
use basalt_parser::ast::Statement;

use crate::database::Database;
use crate::session::{Io, Session};

const FILE: &str = "definitions.sql";

/// Runs the folder's script.
pub(crate) fn load(database: &Arc<Database>, path: &Path) -> Result<()> {
    let file = path.join(FILE);
    if !file.exists() {
        return Ok(());
    }
    let text = std::fs::read(&file).map_err(|e| Error::from(e).within(file.display()))?;
    let mut session = Session::new(database);
    for parsed in basalt_parser::parse_statements(&text) {
        let parsed = parsed.map_err(|e| e.within(file.display()))?;
        let io = Io {
            out: &mut std::io::sink(),
            input: None,
        };
        session
            .run(&text, &parsed, io)
            .map_err(|e| e.within(file.display()))?;
    }
    Ok(())
}

/// Writes the script anew; a crash leaves the old one or the new one.
pub(crate) fn save(database: &Arc<Database>) -> Result<()> {
    let Some(path) = database.path.read().clone() else {
        return Ok(());
    };
    let script = script(database)?;
    let (file, temporary) = (path.join(FILE), path.join(format!("{FILE}.new")));
    let write = || -> std::io::Result<()> {
        std::fs::write(&temporary, script)?;
        std::fs::File::open(&temporary)?.sync_all()?;
        std::fs::rename(&temporary, &file)
    };
    write().map_err(|e| {
        Error::from(e).within(format!("Cannot keep definitions in {}", file.display()))
    })
}

fn script(database: &Database) -> Result<String> {
    let mut tables = String::new();
    let mut views = String::new();
    let mut script = String::new();
    for (name, lambda) in database.sql_functions.read().iter() {
        let create = basalt_parser::ast::CreateFunction {
            or_replace: true,
            if_not_exists: false,
            name: name.clone(),
            cluster: None,
            lambda: lambda.as_ref().clone(),
        };
        let statement = Statement::CreateFunction(Box::new(create));
        script.push_str(&basalt_parser::format_one_line(&statement));
        script.push_str(";\n");
    }
    for name in database.catalog.databases() {
        let all = database.catalog.tables(&name)?;
        if !crate::catalog::SYSTEM_DATABASES.contains(&name.as_str()) {
            script.push_str(&format!("CREATE DATABASE IF NOT EXISTS `{name}`;\n"));
        }
        for (_, table) in all {
            let is_view = matches!(table.engine, crate::catalog::Engine::View(_));
            let target = if is_view { &mut views } else { &mut tables };
            target.push_str(&table.create_sql);
            target.push_str(";\n");
        }
    }
    // Views name tables, so that they come behind them.
    Ok(script + &tables + &views)
}
