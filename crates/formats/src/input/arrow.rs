//! Reads Apache Arrow's file and stream formats and Apache Parquet.

use std::io::Cursor;

use ::arrow::buffer::Buffer;
use ::arrow::datatypes::SchemaRef;
use ::arrow::record_batch::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamDecoder};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::arrow_edge::{from_arrow_field, read_as, to_physical};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaDataReader;

use super::arrow_messages::{END_OF_STREAM, next_message, prepare_file, schema_of};
use super::native::arrange;
use super::{BlockReader, Source, Target};
use crate::{Columns, parquet_types};

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Turns a file's batches into blocks.
pub(super) struct BatchReader {
    target: Target,
    types: Vec<(String, DataType)>,
    batches: Batches,
    /// What is left of a batch that is longer than a block: it may say that it has any number of rows.
    pending: Option<RecordBatch>,
}

pub(super) fn cannot_read(e: impl std::fmt::Display) -> Error {
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
    basalt_profile::read_behind(&mut source, &mut bytes, usize::MAX)?;
    Ok(bytes)
}

fn open_file(source: Source) -> Result<FileReader<Cursor<Vec<u8>>>> {
    let mut bytes = read_all(source)?;
    guarded(|| {
        prepare_file(&mut bytes)?;
        FileReader::try_new(Cursor::new(bytes), None).map_err(cannot_read)
    })
}

/// The messages of a stream, of which the first is its schema.
struct Stream {
    source: Source,
    decoder: StreamDecoder,
    schema: SchemaRef,
    /// Bytes that the decoder has not taken.
    pending: Buffer,
    is_at_end: bool,
}

impl Stream {
    fn open(mut source: Source) -> Result<Self> {
        let mut first = guarded(|| next_message(&mut source))?.unwrap_or_default();
        let schema = guarded(|| schema_of(&mut first))?;
        Ok(Self {
            source,
            decoder: StreamDecoder::new(),
            schema,
            pending: Buffer::from(first),
            is_at_end: false,
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            while !self.pending.is_empty() {
                let batch = self.decoder.decode(&mut self.pending);
                if let Some(batch) = batch.map_err(cannot_read)? {
                    return Ok(Some(batch));
                }
            }
            if self.is_at_end {
                return Ok(None);
            }
            // A message without a body is taken when more bytes come: at last the mark of the end.
            let message = next_message(&mut self.source)?;
            self.is_at_end = message.is_none();
            self.pending = Buffer::from(message.unwrap_or_else(|| END_OF_STREAM.to_vec()));
        }
    }
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
        batches: Box::new(reader.map(|batch| batch.map_err(cannot_read))),
        pending: None,
    })
}

pub(super) fn stream(target: Target, source: Source) -> Result<BatchReader> {
    let mut stream = Stream::open(source)?;
    let types = columns_of(&stream.schema)?;
    Ok(BatchReader {
        target,
        types,
        batches: Box::new(std::iter::from_fn(move || stream.next_batch().transpose())),
        pending: None,
    })
}

pub(super) fn parquet(target: Target, source: Source) -> Result<BatchReader> {
    let builder = open_parquet(source)?.with_batch_size(target.settings.block_rows());
    let types = parquet_types::columns(builder.schema(), builder.parquet_schema())?;
    let reader = guarded(|| builder.build().map_err(cannot_read))?;
    Ok(BatchReader {
        target,
        types,
        batches: Box::new(reader.map(|batch| batch.map_err(cannot_read))),
        pending: None,
    })
}

/// Names and types of the columns of an Arrow file or stream or a Parquet file.
pub(crate) fn schema(kind: crate::registry::Kind, source: Source) -> Result<Columns> {
    match kind {
        crate::registry::Kind::Arrow => columns_of(&open_file(source)?.schema()),
        crate::registry::Kind::ArrowStream => columns_of(&Stream::open(source)?.schema),
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
        let batch = loop {
            let next = match self.pending.take() {
                None => guarded(|| self.batches.next().transpose())?,
                pending => pending,
            };
            match next {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => break batch,
                None => return Ok(None),
            }
        };
        let num_rows = batch.num_rows();
        if num_rows <= max_rows {
            return guarded(|| self.convert(&batch)).map(Some);
        }
        self.pending = Some(batch.slice(max_rows, num_rows - max_rows));
        guarded(|| self.convert(&batch.slice(0, max_rows))).map(Some)
    }
}
