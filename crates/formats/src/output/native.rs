//! Writes Native: blocks of columns, as servers send them to each other.
//!
//! A block is the numbers of columns and rows, then per column its name, its type and its data.
//! Arrays are their ends and the elements of all rows; a LowCardinality column is a dictionary and
//! the rows' positions in it.

use std::collections::HashMap;

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::binary::{BinaryColumn, Values, elements, write_string, write_varint};
use basalt_types::states::StateForms;

use super::{Statistics, Writer};
use crate::FormatSettings;

/// The one version of LowCardinality's serialization.
const DICTIONARY_VERSION: u64 = 1;

/// Says that the block brings its own dictionary and that it is to be used from now on.
const DICTIONARY_FLAGS: u64 = 0x600;

/// Says that each row of a Variant has the number of its type.
const DISCRIMINATORS_ONE_BY_ONE: u64 = 0;

/// Stands for each row of a type without values.
const NO_VALUE: u8 = b'0';

/// Writes blocks.
pub(super) struct NativeWriter {
    columns: Vec<(String, DataType)>,
    forms: StateForms,
}

impl NativeWriter {
    pub(super) fn new(columns: &[(String, DataType)], settings: &FormatSettings) -> Self {
        Self {
            columns: columns.to_vec(),
            forms: settings.state_forms,
        }
    }
}

impl Writer for NativeWriter {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        write_varint(self.columns.len() as u64, out);
        write_varint(batch.num_rows() as u64, out);
        for ((name, data_type), array) in self.columns.iter().zip(batch.columns()) {
            write_string(name.as_bytes(), out);
            write_string(type_name(data_type).as_bytes(), out);
            write_versions(data_type, out);
            let column = BinaryColumn::new(data_type, array, self.forms)?;
            write_rows(data_type, &column, 0..column.len(), out);
        }
        Ok(())
    }

    fn end(&mut self, _statistics: &Statistics, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}

/// Readers of the oldest protocol, which files are written in, know no zone of a `DateTime`.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::DateTime(_) => "DateTime".to_string(),
        other => other.to_string(),
    }
}

/// Writes what stands before the data: a version for each LowCardinality in the type.
fn write_versions(data_type: &DataType, out: &mut Vec<u8>) {
    match data_type {
        DataType::LowCardinality(_) => out.extend_from_slice(&DICTIONARY_VERSION.to_le_bytes()),
        DataType::Array(t) | DataType::Nullable(t) => write_versions(t, out),
        DataType::Tuple(tuple) => tuple.types.iter().for_each(|t| write_versions(t, out)),
        DataType::Variant(types) => {
            out.extend_from_slice(&DISCRIMINATORS_ONE_BY_ONE.to_le_bytes());
            types.iter().for_each(|t| write_versions(t, out));
        }
        DataType::Map(k, v) => {
            write_versions(k, out);
            write_versions(v, out);
        }
        _ => {}
    }
}

/// Writes the rows `rows` of a column.
fn write_rows(
    data_type: &DataType,
    column: &BinaryColumn,
    rows: std::ops::Range<usize>,
    out: &mut Vec<u8>,
) {
    if let DataType::LowCardinality(_) = data_type {
        return write_dictionary(data_type, column, rows, out);
    }
    if data_type.is_nullable() {
        out.extend(rows.clone().map(|row| u8::from(column.is_null(row))));
    }
    match (column.values(), data_type) {
        (Values::Array(offsets, items), DataType::Array(t)) => {
            let all = write_ends(offsets, rows, out);
            write_rows(t, items, all, out);
        }
        (Values::Map(offsets, entries), DataType::Map(k, v)) => {
            let all = write_ends(offsets, rows, out);
            write_rows(k, &entries[0], all.clone(), out);
            write_rows(v, &entries[1], all, out);
        }
        (Values::Tuple(columns), DataType::Tuple(tuple)) if !columns.is_empty() => {
            for (t, column) in tuple.types.iter().zip(columns) {
                write_rows(t, column, rows.clone(), out);
            }
        }
        (Values::Variant(alternatives), DataType::Variant(types)) => {
            out.extend_from_slice(alternatives.discriminators(rows.clone()));
            for (t, (column, rows)) in types.iter().zip(alternatives.parts(rows)) {
                write_rows(t, column, rows, out);
            }
        }
        (Values::Tuple(_) | Values::Nothing, _) => out.resize(out.len() + rows.len(), NO_VALUE),
        _ => rows.for_each(|row| column.write_or_default(row, out)),
    }
}

/// Writes where each array ends, counted from the first; returns the rows of all elements.
fn write_ends(
    offsets: &::arrow::buffer::OffsetBuffer<i32>,
    rows: std::ops::Range<usize>,
    out: &mut Vec<u8>,
) -> std::ops::Range<usize> {
    if rows.is_empty() {
        return 0..0;
    }
    let all = elements(offsets, rows.start).start..elements(offsets, rows.end - 1).end;
    for row in rows {
        let end = elements(offsets, row).end - all.start;
        out.extend_from_slice(&(end as u64).to_le_bytes());
    }
    all
}

fn write_dictionary(
    data_type: &DataType,
    column: &BinaryColumn,
    rows: std::ops::Range<usize>,
    out: &mut Vec<u8>,
) {
    if rows.is_empty() {
        return;
    }
    let mut default = Vec::new();
    match column.values() {
        Values::Fixed(_) | Values::Uuid(_) => {
            default.resize(data_type.fixed_size_bytes().unwrap_or(1), 0);
        }
        _ => default.push(0),
    }
    // Position 0 is NULL (if there may be one), the next one the default.
    let mut entries = default.clone();
    let mut len = 1_u64;
    if data_type.is_nullable() {
        entries.extend_from_slice(&default);
        len += 1;
    }
    let mut positions = HashMap::from([(default, len - 1)]);
    let mut value = Vec::new();
    let mut indexes = Vec::with_capacity(rows.len());
    for row in rows {
        if column.is_null(row) {
            indexes.push(0);
            continue;
        }
        value.clear();
        column.write_or_default(row, &mut value);
        let position = match positions.get(&value) {
            Some(position) => *position,
            None => {
                entries.extend_from_slice(&value);
                positions.insert(value.clone(), len);
                len += 1;
                len - 1
            }
        };
        indexes.push(position);
    }
    // Positions of 1, 2, 4 or 8 bytes are types 0 to 3.
    let index_type = [8_u64, 16, 32]
        .iter()
        .take_while(|bits| len > 1 << **bits)
        .count();
    out.extend_from_slice(&(DICTIONARY_FLAGS | index_type as u64).to_le_bytes());
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&entries);
    out.extend_from_slice(&(indexes.len() as u64).to_le_bytes());
    for index in indexes {
        out.extend_from_slice(&index.to_le_bytes()[..1 << index_type]);
    }
}
