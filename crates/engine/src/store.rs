//! Knows the folders of tables: which are of no table any more, and when they go.
//!
//! A folder is removed only if it says itself that it may be: it is of a table that was never finished, or that is no more.
//! Definitions that do not name a folder are no reason: they may be an old copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};

use crate::database::Database;

/// How long the folder of a table stays that is dropped, if the process ends before its last query does.
pub(crate) const DROPPED_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Marks the folder of a table whose definition is not kept yet.
const UNFINISHED: &str = "unfinished";

/// Marks the folder of a table that is no more, which other processes may read for so many seconds.
const RETIRED: &str = "retired";

/// All folders with names that those of tables have, but for these.
fn unknown(store: &Path, known: &[String]) -> Vec<PathBuf> {
    let entries = fs::read_dir(store).into_iter().flatten().flatten();
    let is_unknown = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_known = |name: &str| known.iter().any(|known| known == name);
        name.is_some_and(|name| uuid::Uuid::parse_str(name).is_ok() && !is_known(name))
    };
    entries
        .map(|entry| entry.path())
        .filter(is_unknown)
        .collect()
}

/// Checks that definitions which nothing vouches for name all folders.
///
/// # Errors
/// `CORRUPTED_DATA` if a folder is no table's.
pub(crate) fn check_known(database: &Database, definitions: &Path) -> Result<()> {
    let Some(store) = &database.store else {
        return Ok(());
    };
    let known = database.catalog.uuids();
    let is_marked = |folder: &PathBuf| {
        let marks = [UNFINISHED, RETIRED];
        marks.iter().any(|mark| folder.join(mark).exists())
    };
    match unknown(store, &known)
        .iter()
        .find(|folder| !is_marked(folder))
    {
        None => Ok(()),
        Some(folder) => Err(Error::new(
            ErrorCode::CORRUPTED_DATA,
            format!(
                "Put the definitions back, or move the folder away: {} has no checksum, and names no \
                 table in {}",
                definitions.display(),
                folder.display()
            ),
        )),
    }
}

/// Makes the folder of a new table, which goes if the process ends before its definition is kept.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn begin(folder: &Path) -> Result<()> {
    let made = fs::create_dir_all(folder).and_then(|()| fs::write(folder.join(UNFINISHED), ""));
    made.map_err(|e| Error::from(e).within(folder.display()))
}

/// Says that the definitions of these tables are kept.
pub(crate) fn finish(store: &Path, known: &[String]) {
    for uuid in known {
        // Most have no mark; a named folder is not removed in spite of one.
        let _ = fs::remove_file(store.join(uuid).join(UNFINISHED));
    }
}

/// Lets a folder go when queries of other processes have ended that read it.
pub(crate) fn retire(folder: &Path, lifetime: Duration) {
    // Without the mark it stays.
    let _ = fs::write(folder.join(RETIRED), lifetime.as_secs().to_string());
}

/// Removes folders but for these, if their time is over.
pub(crate) fn remove_retired(store: &Path, known: &[String]) {
    for folder in unknown(store, known).iter().filter(|f| is_over(f)) {
        // What cannot be removed is in nobody's way.
        let _ = fs::remove_dir_all(folder);
    }
}

/// Removes folders but for these, if they were never finished: when no table can be on its way.
pub(crate) fn remove_unfinished(store: &Path, known: &[String]) {
    for folder in unknown(store, known) {
        if folder.join(UNFINISHED).exists() {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Whether a folder was retired and its time is over.
fn is_over(folder: &Path) -> bool {
    let mark = folder.join(RETIRED);
    let lifetime = fs::read_to_string(&mark)
        .ok()
        .and_then(|text| text.parse().ok());
    let retired = fs::metadata(&mark).and_then(|mark| mark.modified()).ok();
    let age = retired.and_then(|retired| retired.elapsed().ok());
    match (lifetime, age) {
        (Some(lifetime), Some(age)) => age >= Duration::from_secs(lifetime),
        _ => false,
    }
}
