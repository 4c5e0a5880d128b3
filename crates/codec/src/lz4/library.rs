//! Decompresses blocks by a C library that is loaded at run time: another version than the one built in, to
//! measure against.

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

use crate::error::{DecodeError, Result};
use crate::padded::PaddedBuffer;

type DecompressSafe = unsafe extern "C" fn(*const c_char, *mut c_char, c_int, c_int) -> c_int;
type VersionString = unsafe extern "C" fn() -> *const c_char;

/// A version of the C library.
#[derive(Debug)]
pub struct Library {
    decompress: DecompressSafe,
    version: String,
    /// Keeps the code in memory.
    _library: libloading::Library,
}

impl Library {
    /// Loads the library in a file, such as `/lib/x86_64-linux-gnu/liblz4.so.1`. Its code runs in this process:
    /// it must be a liblz4.
    ///
    /// # Errors
    /// Why it could not be loaded.
    pub fn open(path: &Path) -> std::result::Result<Self, String> {
        // SAFETY: (initialisers) a liblz4 has none; that the file is one is the caller's word.
        let library = unsafe { libloading::Library::new(path) }.map_err(|e| e.to_string())?;
        // SAFETY: (type) that of lz4.h, unchanged since version 1.7.
        let version = unsafe { library.get::<VersionString>(b"LZ4_versionString\0") };
        let version = *version.map_err(|e| e.to_string())?;
        // SAFETY: (type) as above.
        let decompress = unsafe { library.get::<DecompressSafe>(b"LZ4_decompress_safe\0") };
        let decompress = *decompress.map_err(|e| e.to_string())?;
        // SAFETY: (call) it takes nothing. (text) it gives a constant of the library, which ends in 0.
        let version = unsafe { CStr::from_ptr(version()) };
        Ok(Self {
            decompress,
            version: version.to_string_lossy().into_owned(),
            _library: library,
        })
    }

    /// Its version, such as `1.9.4`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Decompresses a block into `out`, which it must fill exactly.
    ///
    /// # Errors
    /// If it is damaged; what `out` holds then is unspecified.
    pub fn decompress(&self, block: &[u8], out: &mut PaddedBuffer) -> Result<()> {
        let length = |len: usize| c_int::try_from(len).map_err(|_| DecodeError::TooLong);
        let (stored, wanted) = (length(block.len())?, length(out.len())?);
        // SAFETY: (bounds) both lengths are those of the slices, which it never leaves.
        //         (code) the library is loaded as long as `self` is there.
        let written = unsafe {
            (self.decompress)(
                block.as_ptr().cast(),
                out.as_mut_ptr().cast(),
                stored,
                wanted,
            )
        };
        match written {
            written if written < 0 => Err(DecodeError::Corrupt),
            written if written == wanted => Ok(()),
            _ => Err(DecodeError::Truncated),
        }
    }
}
