//! Moves detached parts into the table once, whenever the process ends.
//!
//! The files of an attached part are links, so that there are two parts for a while. Before the list of parts names the
//! one, the other gets a name with the number of the insert that the first one is to be: `attaching_<number>_<part>`. The
//! list names this folder, too; so a folder that it names goes, and another one is a detached part as before.

use std::path::Path;

use basalt_error::{Error, Result};

use super::manifest::Manifest;
use super::table::DETACHED;
use crate::disk::Disk;

const PREFIX: &str = "attaching_";

/// Gives detached parts such names, just before the list is written that has them.
///
/// # Errors
/// If they cannot be renamed; then [`end`] gives those back their names that were.
pub(super) fn begin(
    disk: &dyn Disk,
    table: &Path,
    (names, manifest): (&[String], &mut Manifest),
) -> Result<()> {
    let detached = table.join(DETACHED);
    let mut rename = || -> std::io::Result<()> {
        for (block, name) in (manifest.last_block + 1..).zip(names) {
            let attaching = format!("{PREFIX}{block}_{name}");
            disk.rename(&detached.join(name), &detached.join(&attaching))?;
            manifest.attached.push(attaching);
        }
        disk.sync_folder(&detached)
    };
    rename().map_err(|e| Error::from(e).within(detached.display()))
}

/// Removes folders of such names that the list has, and gives the others their own names back.
pub(super) fn end(disk: &dyn Disk, table: &Path, manifest: &Manifest) {
    let detached = table.join(DETACHED);
    let entries = disk.list(&detached).unwrap_or_default();
    for entry in &entries {
        let name = entry.name.strip_prefix(PREFIX);
        let Some((_, name)) = name.and_then(|name| name.split_once('_')) else {
            continue;
        };
        let folder = detached.join(&entry.name);
        // A loss of power may leave both names.
        let is_there = entries.iter().any(|entry| entry.name == name);
        // What the system refuses is done when the table is next opened to write.
        let _ = match is_there || manifest.attached.contains(&entry.name) {
            true => disk.remove_folder(&folder),
            false => disk.rename(&folder, &detached.join(name)),
        };
    }
}

/// Takes folders from the list that are gone, even after a loss of power.
pub(super) fn forget(disk: &dyn Disk, table: &Path, manifest: &mut Manifest) {
    let detached = table.join(DETACHED);
    if !manifest.attached.is_empty() && disk.sync_folder(&detached).is_ok() {
        let entries = disk.list(&detached).unwrap_or_default();
        let is_there = |name: &String| entries.iter().any(|entry| entry.name == *name);
        manifest.attached.retain(is_there);
    }
}
