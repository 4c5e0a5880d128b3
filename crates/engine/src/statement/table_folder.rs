//! Finds the folder of a new table on disk.

use std::path::PathBuf;

use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::temporary::TemporaryFolder;
use basalt_parser::ast::CreateTable;

use crate::definitions;
use crate::session::Session;
use crate::store;

/// A folder that need not exist yet.
pub(super) struct TableFolder {
    /// The name of the folder, unless that is temporary.
    pub(super) uuid: String,
    pub(super) path: PathBuf,
    /// Keeps a temporary folder.
    pub(super) temporary: Option<TemporaryFolder>,
    /// Whether no other process changes what is in it.
    pub(super) is_owned: bool,
}

impl TableFolder {
    /// The folder that the statement names, or a new one.
    pub(super) fn of(session: &Session, create: &CreateTable) -> Result<Self> {
        let database = &session.database;
        let uuid = match &create.uuid {
            None => uuid::Uuid::new_v4(),
            Some(text) => uuid::Uuid::parse_str(text).map_err(|_| {
                let message = format!("Cannot parse UUID of the table: {text}");
                Error::new(ErrorCode::CANNOT_PARSE_UUID, message)
            })?,
        };
        let uuid = uuid.hyphenated().to_string();
        let path = database.store.as_ref().map(|store| store.join(&uuid));
        // Rows of a table that was dropped may still be read.
        let is_there = !session.loads_definitions && path.as_ref().is_some_and(|p| p.exists());
        if is_there || database.catalog.uuids().contains(&uuid) {
            return Err(Error::new(
                ErrorCode::TABLE_ALREADY_EXISTS,
                format!("Leave the UUID out: {uuid} is that of another table"),
            ));
        }
        let (path, temporary) = match path.filter(|_| !create.temporary) {
            Some(path) => {
                if !session.loads_definitions {
                    store::begin(&path)?;
                }
                (path, None)
            }
            None => {
                let folder = database.temporary_files.create_folder()?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        Ok(Self {
            uuid,
            path,
            temporary,
            is_owned: create.temporary || definitions::is_claimed(database),
        })
    }
}
