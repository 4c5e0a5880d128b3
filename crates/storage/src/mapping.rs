//! Maps files of columns into memory: what is stored plain in a part, and raw columns, are read where they lie.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use basalt_codec::PaddedBuffer;
use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};

/// The bytes of a file, or of a range of it, which stay readable as long as somebody has a slice of them, even if the file's name
/// goes.
#[derive(Clone, Debug)]
pub struct MappedFile {
    bytes: Bytes,
    /// None if the bytes were read instead.
    map: Option<Arc<Map>>,
}

/// Maps of all tables at once: systems allow a process some 65,000, of which the allocator needs many.
const MAX_MAPS: usize = 16_384;

/// Bytes that a file must have for a map to be worth its place.
pub(crate) const LEAST_MAPPED_BYTES: u64 = 1 << 20;

static NUM_MAPS: AtomicUsize = AtomicUsize::new(0);

/// A map that is counted.
#[derive(Debug)]
struct Map(Mmap);

impl Drop for Map {
    fn drop(&mut self) {
        NUM_MAPS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Who keeps a map for `Bytes`.
struct Owner(Arc<Map>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0.0
    }
}

impl MappedFile {
    /// Maps a file of the system, which nobody may change any more; errors as of [`MappedFile::open_range`].
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Self::open_range(&file, 0..len)
    }

    /// Maps a range of a file, which nobody may change any more; `UnexpectedEof` if the file ends before,
    /// `OutOfMemory` if there are too many maps, `Unsupported` if the range is small.
    pub(crate) fn open_range(file: &File, range: Range<u64>) -> io::Result<Self> {
        if file.metadata()?.len() < range.end {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let num_bytes = range.end.saturating_sub(range.start);
        if num_bytes < LEAST_MAPPED_BYTES {
            return Err(ErrorKind::Unsupported.into());
        }
        if NUM_MAPS.load(Ordering::Relaxed) >= MAX_MAPS {
            return Err(ErrorKind::OutOfMemory.into());
        }
        let len = usize::try_from(num_bytes).map_err(|_| ErrorKind::OutOfMemory)?;
        let mut options = MmapOptions::new();
        options.offset(range.start).len(len);
        #[allow(unsafe_code, reason = "the one place that maps files")]
        // SAFETY: (validity) the map is read only, and all bits are valid bytes. (aliasing) files of parts are
        // written once, synced and renamed into place before anybody opens them; those of Mmap tables are only
        // written behind the range, which ends where the rows of complete inserts end, and never cut before that;
        // both are removed otherwise, which leaves a map as it is. Somebody who cuts a file short in spite of that
        // ends the process by a signal, as for every program that maps files. Pays in `benchmarks/`, clickbench
        // q20 over MergeTree: a column that does not compress is read at the speed of memory.
        let map = unsafe { options.map(file) }?;
        NUM_MAPS.fetch_add(1, Ordering::Relaxed);
        let map = Arc::new(Map(map));
        Ok(Self {
            bytes: Bytes::from_owner(Owner(Arc::clone(&map))),
            map: Some(map),
        })
    }

    /// Bytes that were read from a file that cannot be mapped.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self {
            bytes: Bytes::from_owner(PaddedBuffer::copied(bytes)),
            map: None,
        }
    }

    /// A range of the file; `UnexpectedEof` if it ends before.
    pub(crate) fn slice(&self, range: Range<usize>) -> io::Result<Bytes> {
        if range.start > range.end || range.end > self.bytes.len() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(self.bytes.slice(range))
    }

    /// Has the system bring a range into memory at once: a disk that fails is an error here, and a signal later.
    pub(crate) fn load(&self, range: Range<usize>) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(map) = &self.map {
            let loaded =
                map.0
                    .advise_range(memmap2::Advice::PopulateRead, range.start, range.len());
            return match loaded {
                // A system that does not know the advice.
                Err(e) if is_unknown(&e) => Ok(()),
                loaded => loaded,
            };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (&self.map, range);
        Ok(())
    }
}

/// Whether a system call is refused because it is newer than the system, or than a sandbox around it.
#[cfg(target_os = "linux")]
fn is_unknown(e: &io::Error) -> bool {
    let kinds = [
        ErrorKind::InvalidInput,
        ErrorKind::Unsupported,
        ErrorKind::PermissionDenied,
    ];
    kinds.contains(&e.kind())
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::MappedFile;

    #[test]
    fn ranges_outside_of_the_file_are_errors() {
        let folder = std::env::temp_dir().join(format!("basalt-mapping-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        let bytes = vec![7; (1 << 20) + 5000];
        let len = bytes.len();
        std::fs::write(&path, &bytes).unwrap();
        for file in [
            MappedFile::open(&path).unwrap(),
            MappedFile::of_bytes(&bytes),
        ] {
            file.load(4096..len).unwrap();
            assert_eq!(file.slice(len - 904..len).unwrap(), vec![7; 904]);
            let kind = |range| file.slice(range).map_err(|e| e.kind());
            assert_eq!(kind(4096..len + 1), Err(ErrorKind::UnexpectedEof));
            let (start, end) = (6000, 4000);
            assert_eq!(kind(start..end), Err(ErrorKind::UnexpectedEof));
        }
        let file = std::fs::File::open(&path).unwrap();
        let end = len as u64;
        let range = MappedFile::open_range(&file, 100..end).unwrap();
        range.load(5000..len - 100).unwrap();
        assert_eq!(range.slice(len - 104..len - 100).unwrap(), vec![7; 4]);
        assert!(range.slice(len - 104..len - 99).is_err());
        let behind = MappedFile::open_range(&file, 100..end + 1);
        assert_eq!(behind.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        std::fs::write(&path, [7; 5000]).unwrap();
        assert!(MappedFile::open(&path).is_err(), "small");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
