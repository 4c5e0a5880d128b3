//! Offers what is known of the file that a row comes from: `_path`, `_file`, `_size`, `_time`,
//! `_row_number`.

use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow::array::{ArrayRef, BinaryViewArray, Int64Array, UInt32Array, UInt64Array};
use basalt_types::DataType;

/// A fact of a file, as a column that `*` does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFact {
    /// Where it lies, from the root on.
    Path,
    /// Its name.
    File,
    /// Its bytes.
    Size,
    /// When it was last changed.
    Time,
    /// Number of the row in it, from 0.
    RowNumber,
}

impl FileFact {
    /// Every fact.
    const ALL: [FileFact; 5] = [
        FileFact::Path,
        FileFact::File,
        FileFact::Size,
        FileFact::Time,
        FileFact::RowNumber,
    ];

    /// The facts whose names no column of the files has.
    pub fn beside(columns: &[(String, DataType)]) -> Vec<Self> {
        let is_free = |fact: &FileFact| columns.iter().all(|(n, _)| n != fact.name());
        Self::ALL.into_iter().filter(is_free).collect()
    }

    /// Name of the column.
    pub fn name(self) -> &'static str {
        match self {
            FileFact::Path => "_path",
            FileFact::File => "_file",
            FileFact::Size => "_size",
            FileFact::Time => "_time",
            FileFact::RowNumber => "_row_number",
        }
    }

    /// Type of the column.
    pub fn data_type(self) -> DataType {
        match self {
            FileFact::Path | FileFact::File => DataType::LowCardinality(Arc::new(DataType::String)),
            FileFact::Size => DataType::UInt64.to_nullable(),
            FileFact::Time => DataType::DateTime(None).to_nullable(),
            FileFact::RowNumber => DataType::Int64.to_nullable(),
        }
    }

    /// The fact of a file for rows from `first_row` on; NULL where the system does not tell.
    pub fn array(self, path: &Path, first_row: u64, num_rows: usize) -> ArrayRef {
        let text = |text: &[u8]| -> ArrayRef {
            Arc::new(BinaryViewArray::from_iter_values(std::iter::repeat_n(
                text, num_rows,
            )))
        };
        let metadata = || std::fs::metadata(path).ok();
        match self {
            FileFact::Path => {
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
                text(whole.as_os_str().as_encoded_bytes())
            }
            FileFact::File => text(path.file_name().map_or(b"", |n| n.as_encoded_bytes())),
            FileFact::Size => {
                let size = metadata().map(|m| m.len());
                Arc::new(UInt64Array::from(vec![size; num_rows]))
            }
            FileFact::RowNumber => {
                let numbers = (first_row..).map(|n| n as i64).take(num_rows);
                Arc::new(Int64Array::from_iter_values(numbers))
            }
            FileFact::Time => {
                let changed = metadata().and_then(|m| m.modified().ok());
                let since = changed.and_then(|t| t.duration_since(UNIX_EPOCH).ok());
                let seconds = since.and_then(|d| u32::try_from(d.as_secs()).ok());
                Arc::new(UInt32Array::from(vec![seconds; num_rows]))
            }
        }
    }
}
