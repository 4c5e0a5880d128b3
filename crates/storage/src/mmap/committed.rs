//! Says which rows of a table there are: how many bytes of which log count.
//!
//! The file is replaced as a whole. So what a crash leaves behind the end is nobody's, and all before it is checked: a
//! record that is damaged, or a log that is too short, is an error and never the end of the rows.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use basalt_error::{Error, ErrorCode, Result};

use crate::checked_text::{checked, new_name, replace, with_checksum};
use crate::disk::Disk;

const FILE: &str = "committed.txt";

const FIRST_LINE: &str = "basalt mmap 1";

/// What counts of a table's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Committed {
    /// How often the table was emptied, from 1: each time its files lie in another folder, as old ones may still be
    /// read.
    pub(super) generation: u64,
    /// Bytes of the log; 0 before there are rows.
    pub(super) log_bytes: u64,
}

impl Committed {
    /// What counts now; none if the table never had rows.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` if the file is damaged, or is missing beside others.
    pub(super) fn read(disk: &dyn Disk, table: &Path) -> Result<Option<Self>> {
        let path = path(table);
        match disk.read(&path) {
            Ok(bytes) => match Self::parse(&bytes) {
                Some(committed) => Ok(Some(committed)),
                None => Err(damaged(&path, "it isn't what was written")),
            },
            Err(e) if e.kind() == ErrorKind::NotFound => match is_empty(disk, table)? {
                true => Ok(None),
                false => Err(damaged(&path, "it is missing beside other files")),
            },
            Err(e) => Err(Error::from(e).within(path.display())),
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = checked(bytes)?.lines();
        if lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let mut number = |name| lines.next()?.strip_prefix(name)?.parse().ok();
        Some(Self {
            generation: number("generation ")?,
            log_bytes: number("log bytes ")?,
        })
    }

    /// Puts this in the place of what counted before.
    ///
    /// # Errors
    /// If the system does not keep it; then either may count.
    pub(super) fn save(self, disk: &dyn Disk, table: &Path) -> Result<()> {
        let Self {
            generation,
            log_bytes,
        } = self;
        let text = format!("{FIRST_LINE}\ngeneration {generation}\nlog bytes {log_bytes}\n");
        let saved = replace(disk, table, FILE, &with_checksum(text));
        saved.map_err(|e| Error::from(e).within(path(table).display()))
    }
}

fn path(table: &Path) -> PathBuf {
    table.join(FILE)
}

/// Whether a table's folder is absent or holds nothing; a crash may have left the file that was to be this one.
fn is_empty(disk: &dyn Disk, table: &Path) -> Result<bool> {
    match disk.list(table) {
        Ok(entries) => Ok(entries.iter().all(|entry| entry.name == new_name(FILE))),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        Err(e) => Err(Error::from(e).within(table.display())),
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    let message = format!("The list of rows is damaged: {what}: {}", path.display());
    Error::new(ErrorCode::CORRUPTED_DATA, message)
}
