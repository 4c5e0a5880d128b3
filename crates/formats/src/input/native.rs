//! Reads Native: blocks of columns.

use ::arrow::array::{Array, ArrayRef};
use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::states::StateForms;

use super::binary::{check_len, convert};
use super::native_bytes::Bytes;
use super::native_columns::{damaged, read_rows, read_versions};
use super::{BlockReader, Source, Target};

/// Reads blocks.
pub(super) struct NativeReader {
    target: Target,
    bytes: Bytes,
}

/// A block's columns as the file has them.
pub(crate) type Block = (usize, Vec<(String, DataType, ArrayRef)>);

/// Reads one block; `None` at the end.
pub(crate) fn read_block(bytes: &mut Bytes, forms: StateForms) -> Result<Option<Block>> {
    if bytes.is_at_end()? {
        return Ok(None);
    }
    let num_columns = check_len(bytes.varint()?)?;
    let num_rows = check_len(bytes.varint()?)?;
    if num_columns == 0 && num_rows > 0 {
        return Err(damaged(format!("{num_rows} rows of no columns")));
    }
    let mut columns = Vec::new();
    for _ in 0..num_columns {
        let name = String::from_utf8_lossy(&bytes.string()?).into_owned();
        let type_name = bytes.string()?;
        let data_type = basalt_types::parse_data_type(&String::from_utf8_lossy(&type_name))?;
        let array = if num_rows == 0 {
            ::arrow::array::new_empty_array(&data_type.physical())
        } else {
            read_versions(&data_type, bytes)?;
            read_rows(&data_type, num_rows, bytes, forms)?
        };
        columns.push((name, data_type, array));
    }
    Ok(Some((num_rows, columns)))
}

impl NativeReader {
    pub(super) fn new(target: Target, source: Source) -> Self {
        Self {
            target,
            bytes: Bytes::new(source),
        }
    }
}

impl BlockReader for NativeReader {
    fn next_block(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some((rows, found)) =
                read_block(&mut self.bytes, self.target.settings.state_forms)?
            else {
                return Ok(None);
            };
            if rows > 0 {
                let found: Vec<_> = found.into_iter().collect();
                return arrange(&self.target, &found, rows).map(Some);
            }
        }
    }
}

/// Brings a file's columns into the order and types of the target; missing ones are defaults.
pub(super) fn arrange(
    target: &Target,
    found: &[(String, DataType, ArrayRef)],
    rows: usize,
) -> Result<RecordBatch> {
    let column = |(name, to): &(String, DataType)| {
        let exact = found.iter().find(|(n, ..)| n == name);
        let any_case = || found.iter().find(|(n, ..)| n.eq_ignore_ascii_case(name));
        if let Some((_, from, array)) = exact.or_else(any_case) {
            return convert(array, from, to, target)
                .map_err(|e| Error::new(e.code(), format!("Column `{name}`: {}", e.message())));
        }
        let mut defaults = ColumnBuilder::new(to, rows)?;
        (0..rows).for_each(|_| defaults.append_default());
        defaults.finish()
    };
    let columns = target.columns.iter().map(column).collect::<Result<_>>()?;
    let omitted = |i: &usize| match target.columns.get(*i) {
        Some((name, to)) => omitted_rows(found, name, to, rows),
        None => Vec::new(),
    };
    let omitted: Vec<Vec<usize>> = target.tracked.iter().map(omitted).collect();
    target.with_flags(columns, &omitted, rows)
}

/// Rows without a value of their own: all if the file has no such column, else NULLs where the
/// column holds none.
fn omitted_rows(
    found: &[(String, DataType, ArrayRef)],
    name: &str,
    to: &DataType,
    rows: usize,
) -> Vec<usize> {
    match found.iter().find(|(n, ..)| n.eq_ignore_ascii_case(name)) {
        Some((_, _, array)) if !to.is_nullable() => {
            (0..rows).filter(|row| array.is_null(*row)).collect()
        }
        Some(_) => Vec::new(),
        None => (0..rows).collect(),
    }
}
