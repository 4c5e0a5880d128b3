//! Opens compressed files for reading and writing, by method or by the file's ending.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use basalt_error::{Error, ErrorCode, Result};

use super::brotli_writer::BrotliWriter;
use super::snappy;

/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 20;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// LZ4 frames.
    Lz4,
    /// bzip2.
    Bzip2,
    /// xz (LZMA).
    Xz,
    /// Snappy in Hadoop's blocks.
    Snappy,
    /// Brotli.
    Brotli,
    /// zlib's format, which ClickHouse calls deflate.
    Deflate,
}

impl Method {
    /// Bytes that an encoder takes beside what it is given, about.
    pub fn encoder_bytes(self) -> usize {
        match self {
            Method::None => 16 << 10,
            Method::Snappy | Method::Lz4 | Method::Gzip | Method::Deflate => 512 << 10,
            Method::Zstd | Method::Bzip2 => 5 << 20,
            Method::Brotli => 32 << 20,
            Method::Xz => 94 << 20,
        }
    }

    /// The method by its name in SQL, or by the file's ending for `auto`.
    ///
    /// # Errors
    /// `NOT_IMPLEMENTED` for a name that is none.
    pub fn of(path: &str, name: Option<&str>) -> Result<Self> {
        let ending = || path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        let known = |name: &str| {
            Some(match name {
                "gz" | "gzip" => Method::Gzip,
                "zst" | "zstd" => Method::Zstd,
                "lz4" => Method::Lz4,
                "bz2" => Method::Bzip2,
                "xz" | "lzma" => Method::Xz,
                "snappy" => Method::Snappy,
                "br" | "brotli" => Method::Brotli,
                "deflate" => Method::Deflate,
                "none" | "" => Method::None,
                _ => return None,
            })
        };
        match name.filter(|n| *n != "auto") {
            Some(name) => known(&name.to_ascii_lowercase()).ok_or_else(|| {
                Error::new(
                    ErrorCode::NOT_IMPLEMENTED,
                    format!(
                        "Use gz, deflate, br, zstd, lz4, bz2, xz, snappy or none: unknown compression method {name}"
                    ),
                )
            }),
            None => Ok(known(&ending()).unwrap_or(Method::None)),
        }
    }
}

/// Opens a file for reading, decompressed.
///
/// # Errors
/// If the file cannot be opened or the method is none.
pub fn open(path: &Path, method: Option<&str>) -> Result<Box<dyn BufRead + Send>> {
    let name = path.to_string_lossy();
    let file =
        File::open(path).map_err(|e| Error::from(e).within(format!("Cannot open {name}")))?;
    let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
    let method = Method::of(&name, method)?;
    // Nothing at all holds no rows, though it is no whole stream of any method.
    let is_empty = file
        .fill_buf()
        .map_err(|e| Error::from(e).within(format!("Cannot read {name}")))?
        .is_empty();
    if method == Method::None || is_empty {
        return Ok(Box::new(file));
    }
    let decoder: Box<dyn Read + Send> = match method {
        Method::None => Box::new(file),
        Method::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Method::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
        Method::Lz4 => Box::new(lz4_flex::frame::FrameDecoder::new(file)),
        Method::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(file)),
        Method::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(file)),
        Method::Snappy => Box::new(snappy::Reader::new(file)),
        Method::Brotli => Box::new(brotli::Decompressor::new(file, BUFFER_BYTES)),
        Method::Deflate => Box::new(flate2::bufread::ZlibDecoder::new(file)),
    };
    let decompressed = Decompressed {
        decoder,
        method,
        path: name.into_owned(),
        failure: None,
    };
    let buffered = BufReader::with_capacity(BUFFER_BYTES, decompressed);
    Ok(Box::new(buffered))
}

/// Bytes of a compressed file, whose errors say which file it is.
struct Decompressed {
    decoder: Box<dyn Read + Send>,
    method: Method,
    path: String,
    /// What went wrong: decoders say so once, and would then seem to be at the end.
    failure: Option<Error>,
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = &self.failure {
            return Err(io::Error::other(failure.clone()));
        }
        self.decoder.read(buffer).map_err(|e| {
            let code = match self.method {
                Method::Gzip | Method::Deflate => ErrorCode::ZLIB_INFLATE_FAILED,
                Method::Brotli => ErrorCode::BROTLI_READ_FAILED,
                Method::Zstd => ErrorCode::ZSTD_DECODER_FAILED,
                Method::Lz4 => ErrorCode::LZ4_DECODER_FAILED,
                Method::Xz => ErrorCode::LZMA_STREAM_DECODER_FAILED,
                Method::Snappy => ErrorCode::SNAPPY_UNCOMPRESS_FAILED,
                Method::None | Method::Bzip2 => ErrorCode::CANNOT_READ_ALL_DATA,
            };
            let text = format!("The file is damaged or cut off: {}: {e}", self.path);
            let failure = Error::new(code, text);
            self.failure = Some(failure.clone());
            io::Error::other(failure)
        })
    }
}

/// A file being written; what is not finished is not whole.
pub trait Encoder: Write {
    /// Writes the rest.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// What compressed bytes go to.
type Output = BufWriter<Box<dyn Write>>;

impl Encoder for Output {
    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.flush()?)
    }
}

/// Implements [`Encoder`] for a compressor that gives its writer back.
macro_rules! encoder {
    ($compressor:ty) => {
        impl Encoder for $compressor {
            fn finish(self: Box<Self>) -> Result<()> {
                let finished = (*self).finish();
                let mut file = finished.map_err(|e| {
                    Error::new(ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR, e.to_string())
                })?;
                Ok(file.flush()?)
            }
        }
    };
}

encoder!(flate2::write::GzEncoder<Output>);
encoder!(flate2::write::ZlibEncoder<Output>);
encoder!(zstd::Encoder<'static, Output>);
encoder!(lz4_flex::frame::FrameEncoder<Output>);
encoder!(bzip2::write::BzEncoder<Output>);
encoder!(liblzma::write::XzEncoder<Output>);
encoder!(snappy::Writer<Output>);
encoder!(BrotliWriter<Output>);

/// A writer into a file that compresses by method, or by the file's ending.
///
/// # Errors
/// If the method is none.
pub fn encoder(
    file: impl Write + 'static,
    path: &str,
    method: Option<&str>,
) -> Result<Box<dyn Encoder>> {
    let file: Output = BufWriter::new(Box::new(file));
    Ok(match Method::of(path, method)? {
        Method::None => Box::new(file),
        Method::Gzip => Box::new(flate2::write::GzEncoder::new(
            file,
            flate2::Compression::default(),
        )),
        Method::Zstd => Box::new(zstd::Encoder::new(file, 3)?),
        Method::Lz4 => Box::new(lz4_flex::frame::FrameEncoder::new(file)),
        Method::Bzip2 => Box::new(bzip2::write::BzEncoder::new(
            file,
            bzip2::Compression::default(),
        )),
        Method::Xz => Box::new(liblzma::write::XzEncoder::new(file, 6)),
        Method::Snappy => Box::new(snappy::Writer::new(file)),
        Method::Brotli => Box::new(BrotliWriter::new(file)),
        Method::Deflate => Box::new(flate2::write::ZlibEncoder::new(
            file,
            flate2::Compression::default(),
        )),
    })
}
