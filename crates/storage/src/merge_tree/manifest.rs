//! Writes and reads the list of a table's parts: what it names is there, and nothing else.
//!
//! It is replaced as a whole, so that several parts come and go at once.

use std::io::ErrorKind;
use std::path::Path;

use basalt_error::{Error, ErrorCode, Result};

use super::part::PartName;
use crate::checked_text::{checked, replace, with_checksum};
use crate::disk::Disk;

const FILE: &str = "parts.txt";

const FIRST_LINE: &str = "basalt parts 1";

const ATTACHED: &str = "attached ";

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The number of the last insert.
    pub(super) last_block: u64,
    pub(super) parts: Vec<PartName>,
    /// Detached folders whose parts are in the table by now.
    pub(super) attached: Vec<String>,
}

/// The bytes of the list; none if there is none yet.
pub(super) fn read(disk: &dyn Disk, table: &Path) -> Result<Vec<u8>> {
    let path = table.join(FILE);
    match disk.read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::from(e).within(path.display())),
    }
}

/// The error for parts without a list.
pub(super) fn missing(table: &Path) -> Error {
    let path = table.join(FILE);
    let message = format!(
        "The list of parts is missing beside parts: {}",
        path.display()
    );
    Error::new(ErrorCode::CORRUPTED_DATA, message)
}

impl Manifest {
    pub(super) fn parse(bytes: &[u8], table: &Path) -> Result<Self> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let path = table.join(FILE);
        let damaged = || {
            let message = format!("The list of parts is damaged: {}", path.display());
            Error::new(ErrorCode::CORRUPTED_DATA, message)
        };
        let mut lines = checked(bytes).ok_or_else(damaged)?.lines();
        let last_block = match (lines.next(), lines.next()) {
            (Some(FIRST_LINE), Some(number)) => number.parse().map_err(|_| damaged())?,
            _ => return Err(damaged()),
        };
        let (mut parts, mut attached) = (Vec::new(), Vec::new());
        for line in lines {
            match line.strip_prefix(ATTACHED) {
                Some(folder) => attached.push(folder.to_owned()),
                None => parts.push(PartName::parse(line).ok_or_else(damaged)?),
            }
        }
        Ok(Self {
            last_block,
            parts,
            attached,
        })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{FIRST_LINE}\n{}\n", self.last_block);
        for part in &self.parts {
            text.push_str(&format!("{part}\n"));
        }
        for folder in &self.attached {
            text.push_str(&format!("{ATTACHED}{folder}\n"));
        }
        with_checksum(text)
    }

    /// Puts the list in the place of the old one; a crash leaves one of them.
    pub(super) fn save(&self, disk: &dyn Disk, table: &Path) -> Result<Vec<u8>> {
        let bytes = self.to_bytes();
        let saved = replace(disk, table, FILE, &bytes);
        saved.map_err(|e| Error::from(e).within(table.join(FILE).display()))?;
        Ok(bytes)
    }
}
