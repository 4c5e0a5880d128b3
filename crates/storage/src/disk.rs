//! The few operations on files that tables on disk need, so that tests can let any of them fail.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::time::SystemTime;

use crate::mapping::MappedFile;

/// A file that is being written.
pub trait NewFile: Write + Send {
    /// Has the system keep what has been written.
    ///
    /// # Errors
    /// What the system says.
    fn sync(&mut self) -> io::Result<()>;
}

/// What is in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether it is a folder itself.
    pub is_folder: bool,
}

/// Files and folders.
///
/// Every operation fails with what the system says.
#[allow(
    clippy::missing_errors_doc,
    reason = "said once above, for all of them"
)]
pub trait Disk: Debug + Send + Sync {
    /// Makes a folder, and those that it is in.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes an empty file in the place of any other.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Writes a file on behind its first `len` bytes; what is behind them goes, and `UnexpectedEof` if it has fewer. An
    /// absent file has none.
    fn append(&self, path: &Path, len: u64) -> io::Result<Box<dyn NewFile>>;

    /// All bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Fills `bytes` from a place of a file; `UnexpectedEof` if it ends before.
    fn read_range(&self, path: &Path, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// A file whose bytes can be used where they lie, which nobody may change any more.
    fn map(&self, path: &Path) -> io::Result<MappedFile> {
        Ok(MappedFile::of_bytes(&self.read(path)?))
    }

    /// A range of a file, used where it lies: nobody may change it any more, but the file may grow behind it.
    fn map_range(&self, _path: &Path, _range: Range<u64>) -> io::Result<MappedFile> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Number of bytes of a file.
    fn len(&self, path: &Path) -> io::Result<u64>;

    /// When a file was last written.
    fn modified(&self, path: &Path) -> io::Result<SystemTime>;

    /// What is in a folder.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;

    /// Gives a file or folder another name; a file takes the place of another one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a folder with all that is in it.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Has the system keep the names in a folder.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// The files of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

impl NewFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Disk for SystemDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(File::create(path)?))
    }

    fn append(&self, path: &Path, len: u64) -> io::Result<Box<dyn NewFile>> {
        let mut options = File::options();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        if file.metadata()?.len() < len {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        file.set_len(len)?;
        file.seek(SeekFrom::Start(len))?;
        Ok(Box::new(file))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn read_range(&self, path: &Path, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }

    fn map(&self, path: &Path) -> io::Result<MappedFile> {
        MappedFile::open(path)
    }

    fn map_range(&self, path: &Path, range: Range<u64>) -> io::Result<MappedFile> {
        MappedFile::open_range(&File::open(path)?, range)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        fs::metadata(path)?.modified()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok(Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_folder: entry.file_type()?.is_dir(),
            })
        };
        fs::read_dir(path)?.map(entry).collect()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        match fs::hard_link(from, to) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                // A file system without links.
                fs::copy(from, to)?;
                File::open(to)?.sync_all()
            }
            linked => linked,
        }
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}
