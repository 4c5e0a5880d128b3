//! Maps the file of a column into memory, so that what is stored plain is read where it lies.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use basalt_codec::PaddedBuffer;
use bytes::Bytes;
use memmap2::Mmap;

/// The bytes of a file, which stay readable as long as somebody has a slice of them, even if the file's name
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
const LEAST_BYTES: u64 = 1 << 20;

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
    /// Maps a file of the system, of which nobody may change what is read of it; `OutOfMemory` if there are too many maps,
    /// `Unsupported` if it is small.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() < LEAST_BYTES {
            return Err(ErrorKind::Unsupported.into());
        }
        if NUM_MAPS.load(Ordering::Relaxed) >= MAX_MAPS {
            return Err(ErrorKind::OutOfMemory.into());
        }
        #[allow(unsafe_code, reason = "the one place that maps files")]
        // SAFETY: (validity) the map is read only, and all bits are valid bytes. (aliasing) what is read of a file
        // was written and synced before anybody knew of it, is never written again, and the file is only ever
        // removed, which leaves a map as it is, or written to behind that; somebody who cuts a file short in spite of that ends the process by a
        // signal, as for every program that maps files. Pays in `benchmarks/`, clickbench q20 over MergeTree:
        // a column that does not compress is read at the speed of memory.
        let map = unsafe { Mmap::map(&file) }?;
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
        std::fs::write(&path, [7; 5000]).unwrap();
        assert!(MappedFile::open(&path).is_err(), "small");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
