//! Moves detached parts into the table once, whenever the process ends.
//!
//! The files of an attached part are links, so that there are two parts for a while. Until the list of parts has the one,
//! the other has a name with the number of the insert that the first one is to be: `attaching_<number>_<part>`. If the
//! list has come to this number, the detached one goes, else it is a detached part as before.

use std::path::Path;

use basalt_error::{Error, Result};

use super::table::DETACHED;
use crate::disk::Disk;

const PREFIX: &str = "attaching_";

/// Gives detached parts such names, the first one with `first_block`, just before the list names them.
///
/// # Errors
/// If they cannot be renamed; then [`end`] gives those back their names that were.
pub(super) fn begin(
    disk: &dyn Disk,
    table: &Path,
    (names, first_block): (&[String], u64),
) -> Result<()> {
    let detached = table.join(DETACHED);
    let rename = || -> std::io::Result<()> {
        for (block, name) in (first_block..).zip(names) {
            let attaching = detached.join(format!("{PREFIX}{block}_{name}"));
            disk.rename(&detached.join(name), &attaching)?;
        }
        disk.sync_folder(&detached)
    };
    rename().map_err(|e| Error::from(e).within(detached.display()))
}

/// Removes parts of such names that the table has by now, and gives the others their own names back.
pub(super) fn end(disk: &dyn Disk, table: &Path, last_block: u64) {
    let detached = table.join(DETACHED);
    let entries = disk.list(&detached).unwrap_or_default();
    for entry in &entries {
        let parts = entry
            .name
            .strip_prefix(PREFIX)
            .and_then(|name| name.split_once('_'));
        let Some((block, name)) = parts else {
            continue;
        };
        let folder = detached.join(&entry.name);
        // A loss of power may leave both names.
        let is_there = entries.iter().any(|entry| entry.name == name);
        // What the system refuses is done when the table is next opened to write.
        let _ = match block.parse::<u64>() {
            Ok(block) if block <= last_block => disk.remove_folder(&folder),
            Ok(_) if is_there => disk.remove_folder(&folder),
            Ok(_) => disk.rename(&folder, &detached.join(name)),
            Err(_) => Ok(()),
        };
    }
}
