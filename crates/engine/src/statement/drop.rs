//! Runs DROP, DETACH, TRUNCATE, RENAME and EXCHANGE.

use std::collections::BTreeMap;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{DropStatement, ObjectKind, ObjectName, Rename, Truncate};

use super::dependencies::check_no_cycle;
use crate::catalog::Engine;
use crate::session::{RunningQuery, Session, Summary};

/// `DROP TABLE | VIEW | DATABASE | FUNCTION …`; DETACH has nothing to keep in memory.
pub(crate) fn drop(session: &mut Session, statement: &DropStatement) -> Result<Summary> {
    if statement.detach {
        return Err(Error::not_implemented("DETACH"));
    }
    for name in &statement.names {
        match statement.kind {
            ObjectKind::Table | ObjectKind::View => drop_table(session, statement, name)?,
            ObjectKind::Database => {
                let catalog = &session.database.catalog;
                if statement.if_empty && !catalog.tables(&name.name)?.is_empty() {
                    return Err(Error::new(
                        ErrorCode::DATABASE_NOT_EMPTY,
                        format!("Database {} is not empty", name.name),
                    ));
                }
                if catalog.has_database(&name.name) || !statement.if_exists {
                    let tables = catalog.tables(&name.name)?;
                    catalog.remove_database(&name.name)?;
                    let tables = tables.into_iter().map(|(_, table)| table);
                    session.database.dropped.lock().extend(tables);
                }
            }
            ObjectKind::Function => {
                let removed = session.database.sql_functions.write().remove(&name.name);
                if removed.is_none() && !statement.if_exists {
                    return Err(basalt_functions::registry::unknown_function(&name.name));
                }
            }
            ObjectKind::Dictionary if statement.if_exists => {}
            ObjectKind::Dictionary => {
                session.find_table(name)?;
                return Err(Error::new(
                    ErrorCode::INCORRECT_QUERY,
                    format!("Use DROP TABLE: {} is not a dictionary", name.name),
                ));
            }
            ObjectKind::Index => return Err(Error::not_implemented("DROP INDEX … ON")),
            ObjectKind::AllTables => return Err(Error::not_implemented("DROP ALL TABLES")),
        }
    }
    Ok(Summary::default())
}

fn drop_table(session: &mut Session, statement: &DropStatement, name: &ObjectName) -> Result<()> {
    if name.database.is_none() && session.temporary.remove(&name.name).is_some() {
        return Ok(());
    }
    let database = session.database_of(name);
    let catalog = &session.database.catalog;
    match catalog.find(&database, &name.name) {
        Some(table) => {
            let is_view = matches!(table.engine, Engine::View(_));
            if statement.kind == ObjectKind::View && !is_view {
                return Err(Error::new(
                    ErrorCode::INCORRECT_QUERY,
                    format!("Use DROP TABLE: {database}.{} is not a view", name.name),
                ));
            }
            if statement.if_empty && table.num_rows().is_some_and(|n| n > 0) {
                return Err(Error::new(
                    ErrorCode::TABLE_NOT_EMPTY,
                    format!("Table {database}.{} is not empty", name.name),
                ));
            }
            let removed = catalog.remove(&database, &name.name)?;
            session.database.dropped.lock().push(removed);
            Ok(())
        }
        None if crate::system::has_table(&database, &name.name) => {
            catalog.remove(&database, &name.name).map(|_| ())
        }
        None if statement.if_exists => Ok(()),
        None => catalog.remove(&database, &name.name).map(|_| ()),
    }
}

/// `TRUNCATE TABLE | DATABASE …`
pub(crate) fn truncate(
    session: &mut Session,
    query: &RunningQuery<'_>,
    statement: &Truncate,
) -> Result<Summary> {
    let name = &statement.name;
    let tables = match statement.kind {
        ObjectKind::Table | ObjectKind::View => match session.find_table(name) {
            Ok(table) => vec![table],
            Err(_) if statement.if_exists => Vec::new(),
            Err(e) => return Err(e),
        },
        ObjectKind::Database | ObjectKind::AllTables if statement.filter.is_none() => {
            let tables = session.database.catalog.tables(&name.name)?;
            tables.into_iter().map(|(_, t)| t).collect()
        }
        _ => {
            let construct = "TRUNCATE … TABLES FROM … LIKE and TRUNCATE of what has no rows";
            return Err(Error::not_implemented(construct));
        }
    };
    for table in tables {
        match &table.engine {
            Engine::Memory(memory) => memory.truncate(),
            Engine::MergeTree(table) => table.storage.truncate()?,
            Engine::Mmap(table) => table.storage.truncate(&|| query.control.check_end())?,
            Engine::Null => {}
            engine @ (Engine::View(_) | Engine::Function(_)) => {
                return Err(Error::new(
                    ErrorCode::NOT_IMPLEMENTED,
                    format!(
                        "{} has engine {}, and no rows of its own to truncate",
                        name.name,
                        engine.name()
                    ),
                ));
            }
        }
    }
    Ok(Summary::default())
}

/// `RENAME TABLE a TO b, …`, `EXCHANGE TABLES a AND b`.
pub(crate) fn rename(session: &mut Session, statement: &Rename) -> Result<Summary> {
    for pair in &statement.pairs {
        if statement.kind == ObjectKind::Database {
            session
                .database
                .catalog
                .rename_database(&pair.from.name, &pair.to.name)?;
            continue;
        }
        let (from, to) = (
            session.database_of(&pair.from),
            session.database_of(&pair.to),
        );
        let catalog = &session.database.catalog;
        if pair.if_exists && catalog.find(&from, &pair.from.name).is_none() {
            continue;
        }
        let (from, to) = (
            (from.as_str(), pair.from.name.as_str()),
            (to.as_str(), pair.to.name.as_str()),
        );
        let table = catalog.table(from.0, from.1)?;
        if statement.exchange {
            let other = catalog.table(to.0, to.1)?;
            let placed = BTreeMap::from([(to, Some(&*table)), (from, Some(&*other))]);
            check_no_cycle(catalog, &placed)?;
            catalog.exchange(from, to)?;
        } else {
            let placed = BTreeMap::from([(from, None), (to, Some(&*table))]);
            check_no_cycle(catalog, &placed)?;
            catalog.rename(from, to)?;
        }
    }
    Ok(Summary::default())
}
