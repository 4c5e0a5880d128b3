//! Says which rows of a table there are: how many bytes of which log count.
//!
//! The file is replaced as a whole. So what a crash leaves behind the end is nobody's, and all before it is checked: a
//! record that is damaged, or a log that is too short, is an error and never the end of the rows.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use basalt_error::{Error, ErrorCode, Result};

use crate::checked_text::{checked, replace, with_checksum};
use crate::disk::Disk;

const FILE: &str = "committed.txt";

const FIRST_LINE: &str = "basalt mmap 1";

/// What counts of a table's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Committed {
    /// A number that no two tables have, even if one comes into the folder of the other.
    pub(super) identity: u64,
    /// How often the table was emptied, from 1: each time its files lie in another folder, as old ones may still be
    /// read.
    pub(super) generation: u64,
    /// Bytes of the log; 0 before there are rows.
    pub(super) log_bytes: u64,
}

impl Committed {
    /// That of a new table.
    pub(super) fn new() -> Self {
        Self {
            identity: RandomState::new().build_hasher().finish(),
            generation: 1,
            log_bytes: 0,
        }
    }

    /// What checksums of the log begin with, so that no record counts for another one.
    pub(super) fn seed(self) -> u64 {
        self.identity.wrapping_add(self.generation)
    }

    /// What counts now.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` if the file is damaged or missing.
    pub(super) fn read(disk: &dyn Disk, table: &Path) -> Result<Self> {
        let path = path(table);
        match disk.read(&path) {
            Ok(bytes) => Self::parse(&bytes).ok_or_else(|| damaged(&path, "damaged")),
            Err(e) if e.kind() == ErrorKind::NotFound => Err(damaged(&path, "missing")),
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
            identity: number("identity ")?,
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
            identity,
            generation,
            log_bytes,
        } = self;
        let text = format!(
            "{FIRST_LINE}\nidentity {identity}\ngeneration {generation}\nlog bytes {log_bytes}\n"
        );
        let saved = replace(disk, table, FILE, &with_checksum(text));
        saved.map_err(|e| Error::from(e).within(path(table).display()))
    }
}

fn path(table: &Path) -> PathBuf {
    table.join(FILE)
}

fn damaged(path: &Path, what: &str) -> Error {
    let message = format!("The list of the table's rows is {what}: {}", path.display());
    Error::new(ErrorCode::CORRUPTED_DATA, message)
}
