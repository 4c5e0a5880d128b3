//! Keeps the definitions of databases, tables, views and functions in a folder, as a script.
//!
//! Rows of Memory tables are not kept: such a table is there again, and empty, as in ClickHouse.
//!
//! Any number of processes read a folder; the first that changes a definition keeps it for itself
//! until it ends, by a lock on a file that the system releases with the process.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::Statement;

use crate::database::Database;
use crate::session::{Io, Session};

const FILE: &str = "definitions.sql";

const LOCK: &str = "definitions.lock";

/// The folder of the definitions.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The script as it was read or written last.
    script: Vec<u8>,
    /// Held from the first change on.
    lock: Option<File>,
}

impl Folder {
    fn script_file(&self) -> PathBuf {
        self.path.join(FILE)
    }
}

/// Runs the folder's script.
pub(crate) fn load(database: &Arc<Database>, path: &Path) -> Result<Folder> {
    let text = read(&path.join(FILE))?;
    let folder = Folder {
        path: path.to_owned(),
        script: text.clone(),
        lock: None,
    };
    let file = folder.script_file();
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
    Ok(folder)
}

/// The script, empty if there is none yet.
fn read(file: &Path) -> Result<Vec<u8>> {
    match std::fs::read(file) {
        Ok(text) => Ok(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::from(e).within(file.display())),
    }
}

/// Makes sure that this process may change definitions; call it before a change.
///
/// # Errors
/// `CANNOT_OPEN_FILE` if another process may, or has changed them since this one read them.
pub(crate) fn claim(database: &Database) -> Result<()> {
    let mut folder = database.folder.lock();
    let Some(folder) = folder.as_mut().filter(|f| f.lock.is_none()) else {
        return Ok(());
    };
    let busy = |hint: &str| {
        let text = format!("{hint}: {}", folder.path.display());
        Error::new(ErrorCode::CANNOT_OPEN_FILE, text)
    };
    let file = folder.path.join(LOCK);
    let lock = File::create(&file).map_err(|e| Error::from(e).within(file.display()))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(busy(
                "Wait until the process ends that changes the definitions there, or use another --path",
            ));
        }
        Err(TryLockError::Error(e)) => return Err(Error::from(e).within(file.display())),
    }
    if read(&folder.script_file())? != folder.script {
        return Err(busy(
            "Start again, another process has changed the definitions since this one read them",
        ));
    }
    folder.lock = Some(lock);
    Ok(())
}

/// Writes the script anew; a crash leaves the old one or the new one.
pub(crate) fn save(database: &Database) -> Result<()> {
    let mut folder = database.folder.lock();
    let Some(folder) = folder.as_mut() else {
        return Ok(());
    };
    let script = script(database)?.into_bytes();
    let file = folder.script_file();
    let temporary = folder.path.join(format!("{FILE}.new"));
    let write = || -> std::io::Result<()> {
        std::fs::write(&temporary, &script)?;
        File::open(&temporary)?.sync_all()?;
        std::fs::rename(&temporary, &file)
    };
    write().map_err(|e| {
        Error::from(e).within(format!("Cannot keep definitions in {}", file.display()))
    })?;
    folder.script = script;
    Ok(())
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
