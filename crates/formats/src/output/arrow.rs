//! Writes Apache Arrow's file and stream formats.

use std::sync::Arc;

use ::arrow::array::ArrayRef;
use ::arrow::datatypes::{Field, Schema, SchemaRef};
use ::arrow::error::ArrowError;
use ::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::arrow_edge::{EdgeTypes, FileFormat};

use super::{Statistics, Writer};
use crate::FormatSettings;

/// Columns as files get them.
pub(super) struct Edge {
    types: Vec<DataType>,
    edge: EdgeTypes,
    pub(super) schema: SchemaRef,
}

impl Edge {
    pub(super) fn new(header: &[(String, DataType)], edge: EdgeTypes) -> Self {
        let fields: Vec<Field> = header.iter().map(|(n, t)| edge.field(n, t)).collect();
        Self {
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            edge,
            schema: Arc::new(Schema::new(fields)),
        }
    }

    fn of_arrow(header: &[(String, DataType)], settings: &FormatSettings) -> Self {
        let edge = EdgeTypes {
            format: FileFormat::Arrow,
            strings_are_utf8: settings.output_format_arrow_string_as_string,
            fixed_strings_are_fixed: settings.output_format_arrow_fixed_string_as_fixed_byte_array,
            dates_are_numbers: settings.output_format_arrow_date_as_uint16,
        };
        Self::new(header, edge)
    }

    pub(super) fn convert(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.types.iter().zip(batch.columns());
        let columns = columns
            .map(|(t, array)| self.edge.convert(array, t))
            .collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(cannot_write)
    }
}

pub(super) fn cannot_write(e: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR,
        format!("Cannot write the format: {e}"),
    )
}

/// Either of the two formats.
enum Ipc {
    File(FileWriter<Vec<u8>>),
    Stream(StreamWriter<Vec<u8>>),
}

/// Writes batches with one schema.
pub(super) struct ArrowWriter {
    edge: Edge,
    ipc: Ipc,
}

fn options(settings: &FormatSettings) -> Result<IpcWriteOptions> {
    let method = settings
        .output_format_arrow_compression_method
        .to_ascii_lowercase();
    let compression = match method.as_str() {
        "lz4_frame" | "lz4" => Some(CompressionType::LZ4_FRAME),
        "zstd" => Some(CompressionType::ZSTD),
        "none" | "uncompressed" => None,
        other => {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Use lz4_frame, zstd or none: Arrow has no compression '{other}'"),
            ));
        }
    };
    IpcWriteOptions::default()
        .try_with_compression(compression)
        .map_err(cannot_write)
}

impl ArrowWriter {
    pub(super) fn file(header: &[(String, DataType)], settings: &FormatSettings) -> Result<Self> {
        let edge = Edge::of_arrow(header, settings);
        let writer = FileWriter::try_new_with_options(Vec::new(), &edge.schema, options(settings)?);
        let ipc = Ipc::File(writer.map_err(cannot_write)?);
        Ok(Self { edge, ipc })
    }

    pub(super) fn stream(header: &[(String, DataType)], settings: &FormatSettings) -> Result<Self> {
        let edge = Edge::of_arrow(header, settings);
        let writer =
            StreamWriter::try_new_with_options(Vec::new(), &edge.schema, options(settings)?);
        let ipc = Ipc::Stream(writer.map_err(cannot_write)?);
        Ok(Self { edge, ipc })
    }

    fn call(
        &mut self,
        file: impl FnOnce(&mut FileWriter<Vec<u8>>) -> Result<(), ArrowError>,
        stream: impl FnOnce(&mut StreamWriter<Vec<u8>>) -> Result<(), ArrowError>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let written = match &mut self.ipc {
            Ipc::File(writer) => {
                file(writer).map_err(cannot_write)?;
                writer.get_mut()
            }
            Ipc::Stream(writer) => {
                stream(writer).map_err(cannot_write)?;
                writer.get_mut()
            }
        };
        out.append(written);
        Ok(())
    }
}

impl Writer for ArrowWriter {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = self.edge.convert(batch)?;
        self.call(
            |file| file.write(&batch),
            |stream| stream.write(&batch),
            out,
        )
    }

    fn end(&mut self, _statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        self.call(FileWriter::finish, StreamWriter::finish, out)
    }
}
