//! Writes and reads the list of a table's parts: what it names is there, and nothing else.
//!
//! It is replaced as a whole, so that several parts come and go at once.

use std::io::{ErrorKind, Write};
use std::path::Path;

use basalt_error::{Error, ErrorCode, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::part::PartName;
use crate::disk::Disk;

const FILE: &str = "parts.txt";

const FIRST_LINE: &str = "basalt parts 1";

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The number of the last insert.
    pub(super) last_block: u64,
    pub(super) parts: Vec<PartName>,
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
        let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
        let (list, checksum) = text.split_once("checksum ").ok_or_else(damaged)?;
        if checksum != format!("{:032x}\n", xxh3_128(list.as_bytes())) {
            return Err(damaged());
        }
        let mut lines = list.lines();
        let last_block = match (lines.next(), lines.next()) {
            (Some(FIRST_LINE), Some(number)) => number.parse().map_err(|_| damaged())?,
            _ => return Err(damaged()),
        };
        let parts = lines.map(|line| PartName::parse(line).ok_or_else(damaged));
        Ok(Self {
            last_block,
            parts: parts.collect::<Result<_>>()?,
        })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{FIRST_LINE}\n{}\n", self.last_block);
        for part in &self.parts {
            text.push_str(&format!("{part}\n"));
        }
        let checksum = xxh3_128(text.as_bytes());
        text.push_str(&format!("checksum {checksum:032x}\n"));
        text.into_bytes()
    }

    /// Puts the list in the place of the old one; a crash leaves one of them.
    pub(super) fn save(&self, disk: &dyn Disk, table: &Path) -> Result<Vec<u8>> {
        let bytes = self.to_bytes();
        let path = table.join(FILE);
        let temporary = table.join(format!("{FILE}.new"));
        let write = || -> std::io::Result<()> {
            let mut file = disk.create(&temporary)?;
            file.write_all(&bytes)?;
            file.sync()?;
            disk.rename(&temporary, &path)?;
            disk.sync_folder(table)
        };
        write().map_err(|e| Error::from(e).within(path.display()))?;
        Ok(bytes)
    }
}
