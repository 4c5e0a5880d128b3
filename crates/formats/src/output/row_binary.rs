//! Writes RowBinary: the values of each row one after another; and RawBLOB.

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::states::StateForms;

use super::binary::{BinaryColumn, write_string, write_varint};
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
