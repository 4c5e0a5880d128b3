//! Writes Apache Arrow's file and stream formats.

use std::sync::Arc;

use ::arrow::array::ArrayRef;
use ::arrow::datatypes::{Field, Schema, SchemaRef};
use ::arrow::error::ArrowError;
use ::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::arrow_edge::{EdgeTypes, FileFormat};
use basalt_types::{ColumnBuilder, DataType};

use super::dictionary::{Dictionary, dictionary_field};
use super::{Statistics, Writer};
use crate::FormatSettings;

/// Columns as files get them.
pub(super) struct Edge {
    types: Vec<DataType>,
    edge: EdgeTypes,
    pub(super) schema: SchemaRef,
}

impl Edge {
    pub(super) fn new(header: &[(String, DataType)], edge: EdgeTypes) -> Result<Self> {
        let is_unknown = |t: &DataType| matches!(t, DataType::Variant(_) | DataType::Nothing);
        let unknown = header.iter().find(|(_, t)| t.has(&is_unknown));
        if let (Some((name, data_type)), FileFormat::Parquet { .. }) = (unknown, edge.format) {
            return Err(Error::new(
                ErrorCode::UNKNOWN_TYPE,
                format!(
                    "Cast column '{name}' to another type: the format has none for {data_type}"
                ),
            ));
        }
        let fields: Vec<Field> = header.iter().map(|(n, t)| edge.field(n, t)).collect();
        Ok(Self {
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            edge,
            schema: Arc::new(Schema::new(fields)),
        })
    }

    fn of_arrow(
        header: &[(String, DataType)],
        settings: &FormatSettings,
        strings_are_utf8: bool,
    ) -> Result<Self> {
        let edge = EdgeTypes {
            format: FileFormat::Arrow,
            strings_are_utf8,
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
///
/// Strings are written as the bytes that they are, also where the schema of the file calls them UTF-8, as
/// ClickHouse does it: both lie in a file in the same way.
pub(super) struct ArrowWriter {
    edge: Edge,
    /// What is written for each column: as it is, or as a dictionary.
    dictionaries: Vec<Option<Dictionary>>,
    /// Of the batches; strings are bytes.
    schema: SchemaRef,
    ipc: Ipc,
}

/// The dictionaries of LowCardinality columns, if a setting asks for them, and the fields with them.
fn dictionaries(
    header: &[(String, DataType)],
    edge: &Edge,
    settings: &FormatSettings,
) -> Result<(Vec<Option<Dictionary>>, SchemaRef)> {
    let (mut dictionaries, mut fields) = (Vec::new(), Vec::new());
    for ((_, data_type), field) in header.iter().zip(edge.schema.fields()) {
        let is_wanted = settings.output_format_arrow_low_cardinality_as_dictionary
            && matches!(data_type, DataType::LowCardinality(_));
        if !is_wanted {
            fields.push(Arc::clone(field));
            dictionaries.push(None);
            continue;
        }
        let base = data_type.without_low_cardinality().base().clone();
        let mut default = ColumnBuilder::new(&base, 1)?;
        default.append_default();
        let default = edge.edge.convert(&default.finish()?, &base)?;
        dictionaries.push(Some(Dictionary::new(&default).map_err(cannot_write)?));
        fields.push(Arc::new(dictionary_field(field)));
    }
    Ok((dictionaries, Arc::new(Schema::new(fields))))
}

/// The schema that readers see.
fn schema_of_file(header: &[(String, DataType)], settings: &FormatSettings) -> Result<SchemaRef> {
    let strings_are_utf8 = settings.output_format_arrow_string_as_string;
    let edge = Edge::of_arrow(header, settings, strings_are_utf8)?;
    Ok(dictionaries(header, &edge, settings)?.1)
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
        .with_dictionary_handling(DictionaryHandling::Delta)
        .try_with_compression(compression)
        .map_err(cannot_write)
}

impl ArrowWriter {
    pub(super) fn file(header: &[(String, DataType)], settings: &FormatSettings) -> Result<Self> {
        let schema = schema_of_file(header, settings)?;
        let writer = FileWriter::try_new_with_options(Vec::new(), &schema, options(settings)?);
        Self::new(header, settings, Ipc::File(writer.map_err(cannot_write)?))
    }

    pub(super) fn stream(header: &[(String, DataType)], settings: &FormatSettings) -> Result<Self> {
        let schema = schema_of_file(header, settings)?;
        let writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options(settings)?);
        Self::new(header, settings, Ipc::Stream(writer.map_err(cannot_write)?))
    }

    fn new(header: &[(String, DataType)], settings: &FormatSettings, ipc: Ipc) -> Result<Self> {
        let edge = Edge::of_arrow(header, settings, false)?;
        let (dictionaries, schema) = dictionaries(header, &edge, settings)?;
        Ok(Self {
            edge,
            dictionaries,
            schema,
            ipc,
        })
    }

    fn with_dictionaries(&mut self, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        if self.dictionaries.iter().all(Option::is_none) {
            return Ok(batch);
        }
        let columns = self.dictionaries.iter_mut().zip(batch.columns());
        let columns = columns.map(|(dictionary, column)| match dictionary {
            Some(dictionary) => dictionary.encode(column),
            None => Ok(Arc::clone(column)),
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
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
        let batch = self.with_dictionaries(batch).map_err(cannot_write)?;
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
