//! Cuts text files between rows into parts, and keeps those that are being read.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, Cursor};
use std::path::PathBuf;
use std::sync::Arc;

use basalt_error::Result;
use basalt_formats::{FormatEntry, FormatSettings, count_rows, header_len, split_rows};
use basalt_profile::read_behind;
use basalt_types::DataType;

use super::compression;
use super::text_file::named;

/// Bytes of a part.
const PART_BYTES: usize = 4 << 20;

/// The parts of files.
pub(super) struct Parts {
    files: VecDeque<PathBuf>,
    kind: Kind,
    current: Option<Splitter>,
    /// The number of the next part.
    next_number: u64,
    /// The parts that are being read, by number; files that are read whole are not kept.
    unfinished: BTreeMap<u64, Text>,
}

/// What is known of all the files.
struct Kind {
    format: &'static FormatEntry,
    method: Option<String>,
    header: Vec<(String, DataType)>,
    settings: FormatSettings,
}

/// Rows of a file, and how much stands before them in it.
pub(super) struct Part {
    /// Parts have numbers in the order of their rows.
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) source: Box<dyn BufRead + Send>,
    pub(super) rows_before: u64,
    pub(super) bytes_before: u64,
    /// Length of the header that the source begins with, where it is known.
    pub(super) header_len: Option<usize>,
}

/// A part in memory.
struct Text {
    path: PathBuf,
    bytes: Bytes,
    rows_before: u64,
    bytes_before: u64,
    header_len: usize,
}

#[derive(Clone)]
struct Bytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Text {
    fn part(&self, number: u64) -> Part {
        Part {
            number,
            path: self.path.clone(),
            source: Box::new(Cursor::new(self.bytes.clone())),
            rows_before: self.rows_before,
            bytes_before: self.bytes_before,
            header_len: Some(self.header_len),
        }
    }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} files", self.files.len())
    }
}

impl Parts {
    pub(super) fn new(
        files: impl Iterator<Item = PathBuf>,
        (format, method): (&'static FormatEntry, Option<&str>),
        (header, settings): (&[(String, DataType)], &FormatSettings),
    ) -> Self {
        Self {
            files: files.collect(),
            kind: Kind {
                format,
                method: method.map(str::to_owned),
                header: header.to_vec(),
                settings: settings.clone(),
            },
            current: None,
            next_number: 0,
            unfinished: BTreeMap::new(),
        }
    }

    /// The next part, which nobody has taken yet.
    ///
    /// # Errors
    /// If a file cannot be read or cut.
    pub(super) fn next_part(&mut self) -> Result<Option<Part>> {
        loop {
            if let Some(splitter) = &mut self.current {
                let text = splitter.next_part(&self.kind);
                if let Some(text) = text.map_err(|e| named(e, &splitter.path))? {
                    let number = self.number();
                    let part = text.part(number);
                    self.unfinished.insert(number, text);
                    return Ok(Some(part));
                }
                self.current = None;
            }
            let Some(path) = self.files.pop_front() else {
                return Ok(None);
            };
            let source = compression::open(&path, self.kind.method.as_deref())?;
            // Errors are counted over the whole file.
            if !self.kind.format.splits || self.kind.settings.allows_errors() {
                return Ok(Some(Part {
                    number: self.number(),
                    path,
                    source,
                    rows_before: 0,
                    bytes_before: 0,
                    header_len: None,
                }));
            }
            self.current = Some(Splitter::new(path, source));
        }
    }

    fn number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    /// Notes that all rows of a part are right.
    pub(super) fn finished(&mut self, number: u64) {
        self.unfinished.remove(&number);
    }

    /// The parts before part `number` of which that is not known, in their order, to be read once more.
    pub(super) fn unfinished_before(&self, number: u64) -> Vec<Part> {
        let before = self.unfinished.range(..number);
        before.map(|(number, text)| text.part(*number)).collect()
    }
}

/// A file that is read part by part.
struct Splitter {
    path: PathBuf,
    source: Box<dyn BufRead + Send>,
    /// Bytes read and not given away.
    rest: Vec<u8>,
    /// What stands before the first row, which the reader of every part must see.
    header: Option<Vec<u8>>,
    is_at_end: bool,
    /// Rows and bytes that have been given away.
    rows_before: u64,
    bytes_before: u64,
}

impl Splitter {
    fn new(path: PathBuf, source: Box<dyn BufRead + Send>) -> Self {
        Self {
            path,
            source,
            rest: Vec::new(),
            header: None,
            is_at_end: false,
            rows_before: 0,
            bytes_before: 0,
        }
    }

    fn next_part(&mut self, kind: &Kind) -> Result<Option<Text>> {
        let mut wanted = PART_BYTES;
        loop {
            self.fill(wanted)?;
            if self.rest.is_empty() {
                return Ok(None);
            }
            let parts = split_rows(
                kind.format.name,
                &self.rest,
                &kind.settings,
                PART_BYTES,
                self.is_at_end,
            )?;
            if let Some(first) = parts.first() {
                let rest = self.rest.split_off(first.range.end);
                let text = std::mem::replace(&mut self.rest, rest);
                return self.part(text, first.num_rows, kind).map(Some);
            }
            if self.is_at_end {
                return Ok(None);
            }
            // A row longer than a part.
            wanted += PART_BYTES;
        }
    }

    fn fill(&mut self, wanted: usize) -> Result<()> {
        let target = wanted + PART_BYTES / 2;
        if self.is_at_end || self.rest.len() >= target {
            return Ok(());
        }
        let missing = target - self.rest.len();
        let read = read_behind(&mut self.source, &mut self.rest, missing)?;
        self.is_at_end = read < missing;
        Ok(())
    }

    /// The next part; the first one has the header itself.
    fn part(&mut self, text: Vec<u8>, num_rows: u64, kind: &Kind) -> Result<Text> {
        let (format, settings) = (kind.format.name, &kind.settings);
        let (rows_before, mut bytes_before) = (self.rows_before, self.bytes_before);
        self.rows_before += num_rows;
        self.bytes_before += text.len() as u64;
        let text = match &self.header {
            Some(header) => {
                bytes_before -= header.len() as u64;
                [header.as_slice(), &text].concat()
            }
            None => {
                let end = header_len(format, &kind.header, settings, &text)?;
                self.rows_before -= count_rows(format, &text[..end], settings)?.min(num_rows);
                self.header = Some(text[..end].to_vec());
                text
            }
        };
        Ok(Text {
            path: self.path.clone(),
            bytes: Bytes(Arc::new(text)),
            rows_before,
            bytes_before,
            header_len: self.header.as_ref().map_or(0, Vec::len),
        })
    }
}
