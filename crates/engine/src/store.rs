//! Knows the folders of tables: which are of no table any more, and when they go.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};

use crate::database::Database;
use crate::on_disk::OnDisk;

/// Marks a folder that other processes may read for so many seconds more.
const RETIRED: &str = "retired";

/// Folders that no definition names.
fn unknown(database: &Database) -> Vec<PathBuf> {
    let known = database.catalog.on_disk();
    let known: Vec<&str> = known
        .iter()
        .filter_map(|table| table.on_disk().map(OnDisk::uuid))
        .collect();
    let store = database.store.as_ref();
    let folders = store.map(|store| folders(store)).unwrap_or_default();
    let is_unknown = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str());
        !name.is_some_and(|name| known.contains(&name))
    };
    folders.into_iter().filter(is_unknown).collect()
}

/// All folders with names that those of tables have.
fn folders(store: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(store).into_iter().flatten().flatten();
    let is_table = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| uuid::Uuid::parse_str(name).is_ok())
    };
    entries.map(|entry| entry.path()).filter(is_table).collect()
}

/// Checks that definitions which nothing vouches for name all folders.
///
/// # Errors
/// `CORRUPTED_DATA` if a folder is no table's.
pub(crate) fn check_known(database: &Database, definitions: &Path) -> Result<()> {
    let mut unknown = unknown(database).into_iter();
    match unknown.find(|folder| !folder.join(RETIRED).exists()) {
        None => Ok(()),
        Some(folder) => Err(Error::new(
            ErrorCode::CORRUPTED_DATA,
            format!(
                "Put the definitions back: {} has no checksum, and names no table in {}",
                definitions.display(),
                folder.display()
            ),
        )),
    }
}

/// Removes folders that no definition names; those that may be read stay for their time.
pub(crate) fn remove_unknown(database: &Database) {
    for folder in unknown(database) {
        if !is_read(&folder) {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Lets a folder go when queries of other processes have ended that read it.
pub(crate) fn retire(folder: &Path, lifetime: Duration) {
    // Without the mark it goes when a process next begins to change definitions.
    let _ = fs::write(folder.join(RETIRED), lifetime.as_secs().to_string());
}

/// Removes folders whose time is over.
pub(crate) fn remove_retired(store: &Path) {
    for folder in folders(store) {
        if folder.join(RETIRED).exists() && !is_read(&folder) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Whether a folder was retired and its time is not over.
fn is_read(folder: &Path) -> bool {
    let mark = folder.join(RETIRED);
    let lifetime = fs::read_to_string(&mark)
        .ok()
        .and_then(|text| text.parse().ok());
    let retired = fs::metadata(&mark).and_then(|mark| mark.modified()).ok();
    let age = retired.and_then(|retired| retired.elapsed().ok());
    match (lifetime, age) {
        (Some(lifetime), Some(age)) => age < Duration::from_secs(lifetime),
        _ => false,
    }
}
