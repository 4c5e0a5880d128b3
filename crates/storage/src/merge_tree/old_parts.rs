//! Keeps the files of parts that were merged or dropped for a while: a reader of another process may have
//! begun with them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::options::Options;
use super::part::Part;
use crate::disk::Disk;

/// Marks the folder of a part that the list has named once, and tells since when it does not.
const MARK: &str = "obsolete";

/// Parts whose files are still there.
#[derive(Debug, Default)]
pub(super) struct OldParts {
    parts: Vec<(SystemTime, Old)>,
}

#[derive(Debug)]
enum Old {
    /// Its folder goes with its last reader.
    Part(Arc<Part>),
    /// Of another process.
    Folder(Arc<dyn Disk>, PathBuf),
}

impl OldParts {
    /// Takes a part that the list does not name any more.
    pub(super) fn add(&mut self, part: Arc<Part>, options: &Options) {
        if options.old_parts_lifetime.is_zero() {
            part.set_obsolete();
            return;
        }
        // Without the mark it would go when the table is next opened to write.
        let _ = part.mark(MARK);
        let end = SystemTime::now() + options.old_parts_lifetime;
        self.parts.push((end, Old::Part(part)));
    }

    /// Takes a folder that the list does not name, or removes it.
    pub(super) fn find(&mut self, disk: &Arc<dyn Disk>, folder: PathBuf, options: &Options) {
        if self.parts.iter().any(|(_, old)| old.is_in(&folder)) {
            return;
        }
        let end = disk.modified(&folder.join(MARK)).ok();
        let end = end.map(|since| since + options.old_parts_lifetime);
        match end.filter(|end| *end > SystemTime::now()) {
            Some(end) => self
                .parts
                .push((end, Old::Folder(Arc::clone(disk), folder))),
            None => {
                // What cannot be removed is not read either.
                let _ = disk.remove_folder(&folder);
            }
        }
    }

    /// Removes what has been there long enough.
    pub(super) fn remove_expired(&mut self) {
        let now = SystemTime::now();
        let is_expired =
            |end: &SystemTime| end.duration_since(now).unwrap_or(Duration::ZERO).is_zero();
        for (_, old) in self.parts.extract_if(.., |(end, _)| is_expired(end)) {
            match old {
                Old::Part(part) => part.set_obsolete(),
                Old::Folder(disk, folder) => {
                    let _ = disk.remove_folder(&folder);
                }
            }
        }
    }
}

impl Old {
    fn is_in(&self, folder: &std::path::Path) -> bool {
        match self {
            Old::Part(part) => part.folder() == folder,
            Old::Folder(_, place) => place == folder,
        }
    }
}
