//! Reads files of formats other than Parquet: large ones in parts, by several threads.
//!
//! One thread at a time reads the next bytes and cuts them between rows; parsing, which is most
//! of the work, is done by all of them. A wrong row may be found before another that stands before
//! it: the thread that finds it reads the parts in front of its own that others have in hand, and
//! names the first.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use basalt_analyzer::{TableColumn, TableEntry};
use basalt_error::{Error, Result};
use basalt_exec::scan::{BatchIter, FileFact, MorselSource, ScanRequest, SourceTable, TableKind};
use basalt_formats::{BlockReader, Evaluator, Extras, FormatEntry, FormatSettings};
use basalt_functions::Context;
use basalt_types::DataType;
use parking_lot::Mutex;

use super::arguments::Arguments;
use super::compression;
use super::file::hidden;
use super::structure::Structure;
use super::text_parts::{Part, Parts};
use crate::statement::inline_data::{converter, evaluator};

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
        evaluator: SharedEvaluator(Arc::new(Mutex::new(evaluator(args.environment)))),
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
pub(super) fn named(e: Error, path: &Path) -> Error {
    let name = path.display().to_string();
    match e.message().contains(&name) {
        true => e,
        false => e.within(name),
    }
}

/// What computes expressions in files of `VALUES`, for all threads: seldom is there one to compute.
#[derive(Clone)]
struct SharedEvaluator(Arc<Mutex<Box<dyn Evaluator>>>);

impl std::fmt::Debug for SharedEvaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedEvaluator")
    }
}

impl Evaluator for SharedEvaluator {
    fn evaluate(&mut self, expression: &str, data_type: &DataType) -> Result<ArrayRef> {
        self.0.lock().evaluate(expression, data_type)
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
    evaluator: SharedEvaluator,
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
        Ok(Arc::new(TextSource {
            parts: self.parts(),
            table: Arc::new(self.clone()),
            projection: request.projection.clone(),
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            num_workers: if in_order { 1 } else { request.num_threads },
        }))
    }
}

impl TextTable {
    /// All parts of all files.
    fn parts(&self) -> Arc<Mutex<Parts>> {
        Arc::new(Mutex::new(Parts::new(
            self.files.iter().cloned(),
            (self.format, self.method.as_deref()),
            (&self.header, &self.settings),
        )))
    }

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
    parts: Arc<Mutex<Parts>>,
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
        let num_stored = self.table.num_stored();
        let read = self.table.columns_read(&self.projection);
        let header = read.iter().map(|i| self.table.header[*i].clone());
        let mut worker = Worker {
            header: header.collect(),
            only_counts: self.table.counts && self.projection.iter().all(|i| *i >= num_stored),
            table: Arc::clone(&self.table),
            parts: Arc::clone(&self.parts),
            projection: self.projection.clone(),
            read,
            schema: Arc::clone(&self.schema),
            current: None,
        };
        Ok(Box::new(std::iter::from_fn(move || {
            worker.next_batch().transpose()
        })))
    }

    fn anew(&self) -> Option<Arc<dyn MorselSource>> {
        Some(Arc::new(Self {
            table: Arc::clone(&self.table),
            parts: self.table.parts(),
            projection: self.projection.clone(),
            schema: Arc::clone(&self.schema),
            num_workers: self.num_workers,
        }))
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

/// Reads parts until there are none.
struct Worker {
    table: Arc<TextTable>,
    parts: Arc<Mutex<Parts>>,
    projection: Vec<usize>,
    schema: SchemaRef,
    /// The columns of the header that are read, by position and by name.
    read: Vec<usize>,
    header: Vec<(String, DataType)>,
    only_counts: bool,
    current: Option<Opened>,
}

/// A part that is being read.
struct Opened {
    number: u64,
    path: PathBuf,
    /// Where the next row stands in the file.
    next_row: u64,
    reader: Box<dyn BlockReader>,
}

impl Worker {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(mut opened) = self.current.take() else {
                let part = self.parts.lock().next_part();
                let Some(part) = part.map_err(|e| self.first_error(u64::MAX, e))? else {
                    return Ok(None);
                };
                let number = part.number;
                let opened = self.opened(part);
                self.current = Some(opened.map_err(|e| self.first_error(number, e))?);
                continue;
            };
            let block = opened.reader.next_block();
            let block =
                block.map_err(|e| self.first_error(opened.number, named(e, &opened.path)))?;
            let Some(block) = block else {
                self.parts.lock().finished(opened.number);
                continue;
            };
            let place = (opened.path.as_path(), opened.next_row);
            let columns = (self.projection.as_slice(), self.read.as_slice());
            let batch = self.table.project(&block, place, columns, &self.schema);
            opened.next_row += block.num_rows() as u64;
            self.current = Some(opened);
            return batch.map(Some);
        }
    }

    fn opened(&self, part: Part) -> Result<Opened> {
        let extras = Extras {
            tracked: self.table.tracked.clone(),
            converter: Some(converter(&self.table.context)),
            only_counts: self.only_counts,
            evaluator: Some(Box::new(self.table.evaluator.clone())),
        };
        let (format, settings) = (self.table.format.name, &self.table.settings);
        let reader =
            basalt_formats::input_with(format, &self.header, settings, part.source, extras);
        let mut reader = reader.map_err(|e| named(e, &part.path))?;
        reader.stands_behind(part.rows_before, part.bytes_before);
        if let Some(len) = part.header_len {
            reader.begins_with_header(len);
        }
        Ok(Opened {
            number: part.number,
            path: part.path,
            next_row: part.rows_before,
            reader,
        })
    }

    /// The error of the first part that has one, of those before part `number` that are being read;
    /// else `e`, its own. Waiting for who reads them could last for ever: nobody may want more rows.
    fn first_error(&self, number: u64, e: Error) -> Error {
        let earlier = self.parts.lock().unfinished_before(number);
        let found = earlier.into_iter().find_map(|part| self.error_of(part));
        found.unwrap_or(e)
    }

    /// What is wrong with a part.
    fn error_of(&self, part: Part) -> Option<Error> {
        let mut opened = match self.opened(part) {
            Ok(opened) => opened,
            Err(e) => return Some(e),
        };
        loop {
            match opened.reader.next_block() {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(e) => return Some(named(e, &opened.path)),
            }
        }
    }
}
