//! Reads Apache Arrow's file and stream formats and Apache Parquet.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use ::arrow::datatypes::SchemaRef;
use ::arrow::error::ArrowError;
use ::arrow::record_batch::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::arrow_edge::{from_arrow_field, read_as, to_physical};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaDataReader;

use super::native::arrange;
use super::{BlockReader, Source, Target};
use crate::{Columns, parquet_types};

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Turns a file's batches into blocks.
pub(super) struct BatchReader {
    target: Target,
    types: Vec<(String, DataType)>,
    batches: Batches,
    /// What is left of a batch that is longer than a block.
    pending: VecDeque<RecordBatch>,
}

fn cannot_read(e: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::INCORRECT_DATA,
        format!("The file is damaged or of another format: {e}"),
    )
}

/// Runs a reader on bytes that may be damaged: what it cannot bear is an error of the file.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    outcome.unwrap_or_else(|_| Err(cannot_read("a length or an offset in it is wrong")))
}

/// Names and types of a file's columns.
fn columns_of(schema: &SchemaRef) -> Result<Columns> {
    schema
        .fields()
        .iter()
        .map(|f| Ok((f.name().clone(), from_arrow_field(f)?)))
        .collect()
}

fn read_all(mut source: Source) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_file(source: Source) -> Result<FileReader<Cursor<Vec<u8>>>> {
    let bytes = Cursor::new(read_all(source)?);
    guarded(|| FileReader::try_new(bytes, None).map_err(cannot_read))
}

fn open_stream(source: Source) -> Result<StreamReader<Source>> {
    guarded(|| StreamReader::try_new(source, None).map_err(cannot_read))
}

fn open_parquet(source: Source) -> Result<ParquetRecordBatchReaderBuilder<bytes::Bytes>> {
    let bytes = bytes::Bytes::from(read_all(source)?);
    let metadata = guarded(|| {
        let footer = ParquetMetaDataReader::new().parse_and_finish(&bytes);
        let metadata = footer.and_then(parquet_types::reader_metadata);
        metadata.map_err(cannot_read)
    })?;
    Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(
        bytes, metadata,
    ))
}

pub(super) fn file(target: Target, source: Source) -> Result<BatchReader> {
    let reader = open_file(source)?;
    let types = columns_of(&reader.schema())?;
    Ok(BatchReader {
        target,
        types,
        batches: Box::new(reader),
        pending: VecDeque::new(),
    })
}

pub(super) fn stream(target: Target, source: Source) -> Result<BatchReader> {
    let reader = open_stream(source)?;
    let types = columns_of(&reader.schema())?;
    Ok(BatchReader {
        target,
        types,
        batches: Box::new(reader),
        pending: VecDeque::new(),
    })
}

pub(super) fn parquet(target: Target, source: Source) -> Result<BatchReader> {
    let builder = open_parquet(source)?.with_batch_size(target.settings.block_rows());
    let types = parquet_types::columns(builder.schema(), builder.parquet_schema())?;
    let reader = guarded(|| builder.build().map_err(cannot_read))?;
    Ok(BatchReader {
        target,
        types,
        batches: Box::new(reader),
        pending: VecDeque::new(),
    })
}

/// Names and types of the columns of an Arrow file or stream or a Parquet file.
pub(crate) fn schema(kind: crate::registry::Kind, source: Source) -> Result<Columns> {
    match kind {
        crate::registry::Kind::Arrow => columns_of(&open_file(source)?.schema()),
        crate::registry::Kind::ArrowStream => columns_of(&open_stream(source)?.schema()),
        _ => {
            let builder = open_parquet(source)?;
            parquet_types::columns(builder.schema(), builder.parquet_schema())
        }
    }
}

impl BatchReader {
    fn convert(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut found = Vec::with_capacity(self.types.len());
        for ((name, data_type), array) in self.types.iter().zip(batch.columns()) {
            if let Some(position) = self.target.position(name.as_bytes()) {
                let data_type = read_as(data_type, &self.target.columns[position].1);
                let array = to_physical(array, &data_type)?;
                found.push((name.clone(), data_type, array));
            }
        }
        arrange(&self.target, &found, batch.num_rows())
    }
}

impl BlockReader for BatchReader {
    fn next_block(&mut self) -> Result<Option<RecordBatch>> {
        let max_rows = self.target.settings.block_rows();
        loop {
            if let Some(batch) = self.pending.pop_front() {
                return Ok(Some(batch));
            }
            let next = || self.batches.next().transpose().map_err(cannot_read);
            let Some(batch) = guarded(next)? else {
                return Ok(None);
            };
            let batch = guarded(|| self.convert(&batch))?;
            let starts = (0..batch.num_rows()).step_by(max_rows);
            let parts = starts.map(|s| batch.slice(s, max_rows.min(batch.num_rows() - s)));
            self.pending.extend(parts);
        }
    }
}
