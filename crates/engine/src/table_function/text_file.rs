//! Reads files of formats other than Parquet: large ones in parts, by several threads.
//!
//! One thread at a time reads the next bytes and cuts them between rows; parsing, which is most
//! of the work, is done by all of them.

use std::collections::VecDeque;
use std::io::{BufRead, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use basalt_analyzer::{TableColumn, TableEntry};
use basalt_error::{Error, Result};
use basalt_exec::scan::{BatchIter, FileFact, MorselSource, ScanRequest, SourceTable, TableKind};
use basalt_formats::{FormatEntry, FormatSettings, count_rows, header_len, split_rows};
use basalt_functions::Context;
use basalt_types::DataType;
use parking_lot::Mutex;

use super::arguments::Arguments;
use super::compression;
use super::file::hidden;
use super::structure::Structure;
use crate::statement::inline_data::converter;

/// Bytes of a part.
const PART_BYTES: usize = 4 << 20;

/// The rows of text files, their structure declared or found out from the first one.
pub(super) fn open(
    args: &Arguments<'_>,
    files: Vec<PathBuf>,
    format: &'static FormatEntry,
    structure: Option<Structure>,
    method: Option<&str>,
) -> Result<TableEntry> {
    let settings = args.environment.settings.formats()?;
    let structure = match structure {
        Some(structure) => structure,
        None => Structure::plain(inferred(&files, format, method, &settings)?),
    };
    let facts = FileFact::beside(&structure.header);
    let of_facts: Vec<TableColumn> = hidden(&facts).collect();
    let mut fields = structure.fields();
    fields.extend(of_facts.iter().map(|c| c.data_type.field(&c.name)));
    let columns: Vec<TableColumn> = structure.columns.into_iter().chain(of_facts).collect();
    let table = TextTable {
        files,
        format,
        method: method.map(str::to_owned),
        header: structure.header,
        tracked: structure.tracked,
        facts,
        schema: Arc::new(Schema::new(fields)),
        settings,
        context: args.environment.context.clone(),
        counts: args.environment.settings.flag("optimize_count_from_files"),
    };
    Ok(TableEntry::Table {
        provider: Arc::new(SourceTable(table)),
        columns,
    })
}

/// The structure of the first file that tells one.
fn inferred(
    files: &[PathBuf],
    format: &'static FormatEntry,
    method: Option<&str>,
    settings: &FormatSettings,
) -> Result<Vec<(String, DataType)>> {
    let mut files = files.iter().peekable();
    while let Some(path) = files.next() {
        let mut sample = compression::open(path, method)?;
        let is_empty = sample.fill_buf().is_ok_and(<[u8]>::is_empty);
        if is_empty && files.peek().is_some() {
            continue;
        }
        return basalt_formats::infer(format.name, sample, settings)
            .map_err(|e| super::file::no_structure(&e, format.name).within(path.display()));
    }
    Err(Error::bug("no file"))
}

/// The error with the name of the file, unless it has it.
fn named(e: Error, path: &Path) -> Error {
    let name = path.display().to_string();
    match e.message().contains(&name) {
        true => e,
        false => e.within(name),
    }
}

#[derive(Clone, Debug)]
struct TextTable {
    files: Vec<PathBuf>,
    format: &'static FormatEntry,
    method: Option<String>,
    header: Vec<(String, DataType)>,
    /// Those of the header of which is told where they have no value.
    tracked: Vec<usize>,
    /// The columns behind those of the header.
    facts: Vec<FileFact>,
    schema: SchemaRef,
    settings: FormatSettings,
    context: Context,
    /// Whether rows are only counted where no column of the header is wanted.
    counts: bool,
}

impl TableKind for TextTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.schema.project(&request.projection);
        let in_order = request.control.keeps_order();
        let queue = Queue {
            files: self.files.iter().cloned().collect(),
            current: None,
        };
        Ok(Arc::new(TextSource {
            queue: Arc::new(Mutex::new(queue)),
            table: Arc::new(self.clone()),
            projection: request.projection.clone(),
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            num_workers: if in_order { 1 } else { request.num_threads },
        }))
    }
}

impl TextTable {
    /// Columns that are not known of the file itself: those of the header and their flags.
    fn num_stored(&self) -> usize {
        self.header.len() + self.tracked.len()
    }

    /// The columns of the header that are read: where the format allows it, those that are asked for.
    fn columns_read(&self, projection: &[usize]) -> Vec<usize> {
        let finds_columns = self.format.finds_columns() && self.tracked.is_empty();
        let is_read = |idx: &usize| !finds_columns || projection.contains(idx);
        (0..self.header.len()).filter(is_read).collect()
    }

    /// The wanted columns of a block of a file, and what is known of the file.
    fn project(
        &self,
        block: &RecordBatch,
        (path, first_row): (&Path, u64),
        (projection, read): (&[usize], &[usize]),
        schema: &SchemaRef,
    ) -> Result<RecordBatch> {
        let num_rows = block.num_rows();
        let num_stored = self.num_stored();
        let missing = || Error::bug("no such column of a file");
        let column = |idx: &usize| {
            if let Some(fact) = idx.checked_sub(num_stored) {
                let fact = self.facts.get(fact).ok_or_else(missing)?;
                return Ok(fact.array(path, first_row, num_rows));
            }
            // Flags stand behind the columns, all of which are read then.
            let position = read.binary_search(idx).unwrap_or(*idx);
            block
                .columns()
                .get(position)
                .map(Arc::clone)
                .ok_or_else(missing)
        };
        let columns = projection.iter().map(column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
            .map_err(|e| Error::bug(e.to_string()))
    }
}

#[derive(Debug)]
struct TextSource {
    table: Arc<TextTable>,
    queue: Arc<Mutex<Queue>>,
    projection: Vec<usize>,
    schema: SchemaRef,
    num_workers: usize,
}

impl MorselSource for TextSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// A morsel is a worker, which takes parts until there are none.
    fn num_morsels(&self) -> usize {
        self.num_workers
    }

    fn open(&self, _morsel: usize) -> Result<BatchIter> {
        let (table, queue) = (Arc::clone(&self.table), Arc::clone(&self.queue));
        let (projection, schema) = (self.projection.clone(), Arc::clone(&self.schema));
        let read = table.columns_read(&projection);
        let num_stored = table.num_stored();
        let only_counts = table.counts && projection.iter().all(|i| *i >= num_stored);
        let header: Vec<_> = read.iter().map(|i| table.header[*i].clone()).collect();
        let mut current: Option<(PathBuf, u64, Box<dyn basalt_formats::BlockReader>)> = None;
        let mut next = move || -> Result<Option<RecordBatch>> {
            loop {
                if let Some((path, first_row, reader)) = &mut current {
                    let block = reader.next_block().map_err(|e| named(e, path))?;
                    if let Some(batch) = block {
                        let place = (path.as_path(), *first_row);
                        *first_row += batch.num_rows() as u64;
                        let columns = (projection.as_slice(), read.as_slice());
                        return table.project(&batch, place, columns, &schema).map(Some);
                    }
                }
                let Some(part) = queue.lock().next_part(&table)? else {
                    return Ok(None);
                };
                let (format, settings) = (table.format.name, &table.settings);
                let extras = basalt_formats::Extras {
                    tracked: table.tracked.clone(),
                    converter: Some(converter(&table.context)),
                    only_counts,
                    evaluator: None,
                };
                let mut reader =
                    basalt_formats::input_with(format, &header, settings, part.source, extras)
                        .map_err(|e| named(e, &part.path))?;
                reader.stands_behind(part.rows_before, part.bytes_before);
                current = Some((part.path, part.rows_before, reader));
            }
        };
        Ok(Box::new(std::iter::from_fn(move || next().transpose())))
    }

    fn num_rows(&self) -> Option<usize> {
        None
    }

    fn describe(&self) -> String {
        format!(
            "{}, {} files",
            self.table.format.name,
            self.table.files.len()
        )
    }
}

/// The parts that nobody has taken yet.
struct Queue {
    files: VecDeque<PathBuf>,
    current: Option<Splitter>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} files", self.files.len())
    }
}

/// Rows of a file, and how much stands before them in it.
struct Part {
    path: PathBuf,
    source: Box<dyn BufRead + Send>,
    rows_before: u64,
    bytes_before: u64,
}

impl Queue {
    fn next_part(&mut self, table: &TextTable) -> Result<Option<Part>> {
        loop {
            if let Some(splitter) = &mut self.current {
                let part = splitter.next_part(table);
                if let Some(part) = part.map_err(|e| named(e, &splitter.path))? {
                    return Ok(Some(part));
                }
                self.current = None;
            }
            let Some(path) = self.files.pop_front() else {
                return Ok(None);
            };
            let source = compression::open(&path, table.method.as_deref())?;
            // Errors are counted over the whole file.
            if !table.format.splits || table.settings.allows_errors() {
                return Ok(Some(Part {
                    path,
                    source,
                    rows_before: 0,
                    bytes_before: 0,
                }));
            }
            self.current = Some(Splitter::new(path, source));
        }
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

    fn next_part(&mut self, table: &TextTable) -> Result<Option<Part>> {
        let mut wanted = PART_BYTES;
        loop {
            self.fill(wanted)?;
            if self.rest.is_empty() {
                return Ok(None);
            }
            let parts = split_rows(
                table.format.name,
                &self.rest,
                &table.settings,
                PART_BYTES,
                self.is_at_end,
            )?;
            if let Some(first) = parts.first() {
                let rest = self.rest.split_off(first.range.end);
                let text = std::mem::replace(&mut self.rest, rest);
                return self.part(text, first.num_rows, table).map(Some);
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
        let missing = (target - self.rest.len()) as u64;
        let read = self
            .source
            .by_ref()
            .take(missing)
            .read_to_end(&mut self.rest)?;
        self.is_at_end = (read as u64) < missing;
        Ok(())
    }

    /// The next part; the first one has the header itself.
    fn part(&mut self, text: Vec<u8>, num_rows: u64, table: &TextTable) -> Result<Part> {
        let (format, settings) = (table.format.name, &table.settings);
        let (rows_before, mut bytes_before) = (self.rows_before, self.bytes_before);
        self.rows_before += num_rows;
        self.bytes_before += text.len() as u64;
        let text = match &self.header {
            Some(header) => {
                bytes_before -= header.len() as u64;
                [header.as_slice(), &text].concat()
            }
            None => {
                let end = header_len(format, &table.header, settings, &text)?;
                self.rows_before -= count_rows(format, &text[..end], settings)?.min(num_rows);
                self.header = Some(text[..end].to_vec());
                text
            }
        };
        Ok(Part {
            path: self.path.clone(),
            source: Box::new(Cursor::new(text)),
            rows_before,
            bytes_before,
        })
    }
}
