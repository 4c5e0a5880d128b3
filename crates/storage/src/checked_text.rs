//! Keeps a few lines of text in a file that is replaced as a whole, with a checksum as its last line.

use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::disk::Disk;

/// The text with its checksum behind it.
pub(crate) fn with_checksum(mut text: String) -> Vec<u8> {
    let checksum = xxh3_128(text.as_bytes());
    text.push_str(&format!("checksum {checksum:032x}\n"));
    text.into_bytes()
}

/// The text without its checksum; none if that isn't right.
pub(crate) fn checked(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (text, checksum) = text.split_once("checksum ")?;
    (checksum == format!("{:032x}\n", xxh3_128(text.as_bytes()))).then_some(text)
}

/// Puts a file in the place of an old one; a crash leaves one of them.
///
/// # Errors
/// What the system says; then either of them may be there.
pub(crate) fn replace(disk: &dyn Disk, folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let new = folder.join(format!("{name}.new"));
    let mut file = disk.create(&new)?;
    file.write_all(bytes)?;
    file.sync()?;
    disk.rename(&new, &folder.join(name))?;
    disk.sync_folder(folder)
}
