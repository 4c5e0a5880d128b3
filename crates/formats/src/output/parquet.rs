//! Writes Apache Parquet.

use std::sync::Arc;

use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::arrow_edge::{EdgeTypes, FileFormat};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::arrow::{Edge, cannot_write};
use super::{Statistics, Writer};
use crate::{FormatSettings, parquet_types};

/// Writes row groups as they fill and the footer at the end.
pub(super) struct ParquetWriter {
    edge: Edge,
    /// Taken by the end.
    writer: Option<ArrowWriter<Vec<u8>>>,
}

fn compression(name: &str) -> Result<Compression> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "none" | "uncompressed" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        "zstd" => Compression::ZSTD(ZstdLevel::default()),
        "lz4" | "lz4_raw" => Compression::LZ4_RAW,
        "gzip" => Compression::GZIP(GzipLevel::default()),
        "brotli" => Compression::BROTLI(BrotliLevel::default()),
        other => {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Use zstd, snappy, lz4, gzip, brotli or none: Parquet has no compression '{other}'"
                ),
            ));
        }
    })
}

fn properties(settings: &FormatSettings) -> Result<WriterProperties> {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).max(1);
    let index = if settings.output_format_parquet_write_page_index {
        EnabledStatistics::Page
    } else {
        EnabledStatistics::Chunk
    };
    let compression = compression(&settings.output_format_parquet_compression_method)?;
    let rows = size(settings.output_format_parquet_row_group_size);
    let bytes = size(settings.output_format_parquet_row_group_size_bytes);
    let dictionary = settings.output_format_parquet_max_dictionary_size;
    Ok(WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(rows))
        .set_max_row_group_bytes(Some(bytes))
        .set_data_page_size_limit(size(settings.output_format_parquet_data_page_size))
        .set_write_batch_size(size(settings.output_format_parquet_batch_size))
        .set_dictionary_enabled(dictionary > 0)
        .set_dictionary_page_size_limit(size(dictionary))
        .set_statistics_enabled(index)
        .set_offset_index_disabled(!settings.output_format_parquet_write_page_index)
        .set_bloom_filter_enabled(settings.output_format_parquet_write_bloom_filter)
        .build())
}

impl ParquetWriter {
    pub(super) fn new(header: &[(String, DataType)], settings: &FormatSettings) -> Result<Self> {
        let edge = EdgeTypes {
            format: FileFormat::Parquet {
                times_are_numbers: settings.output_format_parquet_datetime_as_uint32,
                enums_are_names: settings.output_format_parquet_enum_as_byte_array,
            },
            // Bytes that the file calls text: nothing checks them, as in ClickHouse.
            strings_are_utf8: false,
            fixed_strings_are_fixed: settings
                .output_format_parquet_fixed_string_as_fixed_byte_array,
            dates_are_numbers: settings.output_format_parquet_date_as_uint16,
        };
        let edge = Edge::new(header, edge)?;
        // Without Arrow's schema, all readers see the same types.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(settings)?)
            .with_skip_arrow_metadata(true)
            .with_parquet_schema(parquet_types::descriptor(
                &edge.schema,
                header,
                settings.output_format_parquet_string_as_string,
            )?);
        let schema = Arc::clone(&edge.schema);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), schema, options);
        Ok(Self {
            edge,
            writer: Some(writer.map_err(cannot_write)?),
        })
    }

    fn writer(&mut self) -> Result<&mut ArrowWriter<Vec<u8>>> {
        self.writer
            .as_mut()
            .ok_or_else(|| Error::bug("a Parquet file that has ended"))
    }
}

impl Writer for ParquetWriter {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let batch = self.edge.convert(batch)?;
        let writer = self.writer()?;
        writer.write(&batch).map_err(cannot_write)?;
        out.append(writer.inner_mut());
        Ok(())
    }

    fn end(&mut self, _statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        let writer = self.writer.take();
        let writer = writer.ok_or_else(|| Error::bug("a Parquet file that has ended"))?;
        out.append(&mut writer.into_inner().map_err(cannot_write)?);
        Ok(())
    }

    fn kept_bytes(&self) -> usize {
        self.writer.as_ref().map_or(0, ArrowWriter::memory_size)
    }
}
