//! Writes RowBinary: the values of each row one after another; and RawBLOB.

use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, Result};
use basalt_types::DataType;
use basalt_types::binary::{BinaryColumn, write_string, write_varint};
use basalt_types::states::StateForms;

use super::{Statistics, Writer};
use crate::FormatSettings;
use crate::registry::Header;

/// Writes rows.
pub(super) struct RowBinaryWriter {
    columns: Vec<(String, DataType)>,
    header: Header,
    forms: StateForms,
    /// Leaves out lengths and NULL marks: RawBLOB.
    is_raw: bool,
}

impl RowBinaryWriter {
    pub(super) fn new(
        columns: &[(String, DataType)],
        header: Header,
        settings: &FormatSettings,
    ) -> Self {
        Self {
            columns: columns.to_vec(),
            header,
            forms: settings.state_forms,
            is_raw: false,
        }
    }

    /// RawBLOB: the values' bytes and nothing else.
    pub(super) fn raw(columns: &[(String, DataType)]) -> Self {
        Self {
            columns: columns.to_vec(),
            header: Header::None,
            forms: |_| None,
            is_raw: true,
        }
    }
}

impl Writer for RowBinaryWriter {
    fn is_by_rows(&self) -> bool {
        true
    }

    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.header >= Header::Names {
            write_varint(self.columns.len() as u64, out);
            self.columns
                .iter()
                .for_each(|(name, _)| write_string(name.as_bytes(), out));
        }
        if self.header == Header::NamesAndTypes {
            self.columns
                .iter()
                .for_each(|(_, t)| write_string(t.to_string().as_bytes(), out));
        }
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let bad = self.columns.iter().find(|(_, t)| !has_raw_bytes(t));
        if let Some((_, t)) = bad.filter(|_| self.is_raw && batch.num_rows() > 0) {
            return Err(Error::not_implemented(format!(
                "RawBLOB of values of type {t}, which are not bytes in a row,"
            )));
        }
        let columns = self.columns.iter().zip(batch.columns());
        let columns = columns
            .map(|((_, t), array)| BinaryColumn::new(t, array, self.forms))
            .collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            for column in &columns {
                if self.is_raw {
                    column.write_bytes(row, out);
                } else {
                    column.write(row, out);
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, _statistics: &Statistics, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
}

/// Whether the values of a type are bytes in a row, which RawBLOB writes.
fn has_raw_bytes(data_type: &DataType) -> bool {
    match data_type.base() {
        DataType::Array(item) => {
            let is_nested = matches!(item.base(), DataType::Array(_) | DataType::String);
            !is_nested && !item.is_nullable() && has_raw_bytes(item)
        }
        DataType::Tuple(_) | DataType::Map(..) | DataType::Variant(_) => false,
        _ => true,
    }
}
