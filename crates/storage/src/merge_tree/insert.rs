//! Makes parts from rows, and parts from parts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::PART_ROWS;
use super::order::{Partition, boundaries, order_of, partition};
use super::part::{Part, PartName};
use super::table::MergeTree;
use super::write::{Content, gathered, write_part};

/// Partitions that an insert may make parts of.
const MAX_PARTITIONS: usize = 100;

/// Begins the names of folders of parts that are not complete.
const TEMPORARY: &str = "tmp_";

/// Rows on their way into a table; nobody sees them before [`Insert::finish`].
#[derive(Debug)]
pub struct Insert<'t> {
    table: &'t MergeTree,
    columns: Vec<Vec<ArrayRef>>,
    num_rows: usize,
    written: Written,
}

/// Parts that are written and not yet the table's; gone with it unless they are taken.
#[derive(Debug, Default)]
pub(super) struct Written {
    folders: Vec<(PathBuf, Partition)>,
}

impl Drop for Written {
    fn drop(&mut self) {
        for (folder, _) in &self.folders {
            // What is left is removed when the table is opened to write.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

impl<'t> Insert<'t> {
    pub(super) fn new(table: &'t MergeTree) -> Self {
        Self {
            table,
            columns: vec![Vec::new(); table.layout().columns.len()],
            num_rows: 0,
            written: Written::default(),
        }
    }

    /// Adds rows: the table's columns, and behind them what is calculated for its keys.
    ///
    /// # Errors
    /// If a part cannot be written.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_columns() != self.columns.len() {
            return Err(Error::bug("rows with other columns than the table"));
        }
        let mut start = 0;
        while start < batch.num_rows() {
            let len = (batch.num_rows() - start).min(PART_ROWS - self.num_rows);
            for (pieces, column) in self.columns.iter_mut().zip(batch.columns()) {
                pieces.push(column.slice(start, len));
            }
            self.num_rows += len;
            start += len;
            if self.num_rows == PART_ROWS {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Makes all rows visible at once.
    ///
    /// # Errors
    /// If they cannot be written; then none of them is there.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.table.publish(std::mem::take(&mut self.written))
    }

    fn flush(&mut self) -> Result<()> {
        if self.num_rows == 0 {
            return Ok(());
        }
        self.num_rows = 0;
        let num_columns = self.columns.len();
        let columns = std::mem::replace(&mut self.columns, vec![Vec::new(); num_columns]);
        write_sorted(self.table, &columns, &mut self.written)?;
        let mut ids: Vec<&str> = self
            .written
            .folders
            .iter()
            .map(|f| f.1.id.as_str())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() > MAX_PARTITIONS {
            return Err(Error::new(
                ErrorCode::TOO_MANY_PARTS,
                format!(
                    "Use a coarser PARTITION BY: too many partitions for single INSERT block \
                     (more than {MAX_PARTITIONS})"
                ),
            ));
        }
        Ok(())
    }
}

/// Sorts rows, and writes a part for each partition.
fn write_sorted(table: &MergeTree, columns: &[Vec<ArrayRef>], written: &mut Written) -> Result<()> {
    let layout = table.layout();
    let by_key = |key: &[usize]| -> Result<Vec<ArrayRef>> {
        let columns: Vec<_> = key.iter().map(|c| columns[*c].clone()).collect();
        gathered(&columns, None)
    };
    let mut key = by_key(&layout.partition_key)?;
    key.extend(by_key(&layout.sorting_key)?);
    let order = order_of(&key)?;
    let sorted = gathered(columns, order.indices.as_ref())?;
    let num_rows = sorted.first().map_or(0, |c| c.len());
    let pick = |c: &usize| Arc::clone(&sorted[*c]);
    let partition_columns: Vec<ArrayRef> = layout.partition_key.iter().map(pick).collect();
    let types = layout
        .partition_key
        .iter()
        .map(|c| &layout.columns[*c].data_type);
    let typed: Vec<(ArrayRef, &DataType)> = partition_columns
        .iter()
        .map(Arc::clone)
        .zip(types)
        .collect();
    for run in boundaries(&partition_columns, num_rows)?.windows(2) {
        let rows = |c: &ArrayRef| c.slice(run[0], run[1] - run[0]);
        let partition = partition(&typed, run[0])?;
        let folder = table
            .folder()
            .join(format!("{TEMPORARY}{}", table.next_number()));
        // Listed before it is written, so that it goes if that fails.
        written.folders.push((folder.clone(), partition.clone()));
        let content = Content {
            layout,
            columns: sorted.iter().map(rows).collect(),
            partition: partition.text,
        };
        write_part(&folder, &content)?;
    }
    Ok(())
}

impl MergeTree {
    /// Begins an insert.
    ///
    /// # Errors
    /// If the list of parts is damaged.
    pub fn insert(&self) -> Result<Insert<'_>> {
        // What others left behind goes now, not when there is something of this insert.
        self.parts()?;
        Ok(Insert::new(self))
    }

    /// Gives written parts their names and adds them to the list.
    fn publish(&self, mut written: Written) -> Result<()> {
        if written.folders.is_empty() {
            return Ok(());
        }
        self.change(|manifest| {
            let mut added = Vec::new();
            for (folder, partition) in std::mem::take(&mut written.folders) {
                manifest.last_block += 1;
                let name = PartName {
                    partition_id: partition.id,
                    min_block: manifest.last_block,
                    max_block: manifest.last_block,
                    level: 0,
                };
                added.push((folder, name));
            }
            Ok((added, Vec::new()))
        })
    }

    /// Merges the parts of each partition into one; `rewrites` also those that are alone.
    ///
    /// # Errors
    /// If a part is damaged or the new one cannot be written; then the old ones stay.
    pub fn merge(&self, rewrites: bool) -> Result<()> {
        let _merging = self.merging();
        let mut by_partition: BTreeMap<String, Vec<Arc<Part>>> = BTreeMap::new();
        for part in self.parts()?.iter() {
            let id = part.partition_id().to_owned();
            by_partition.entry(id).or_default().push(Arc::clone(part));
        }
        for parts in by_partition.into_values() {
            if parts.len() > 1 || (rewrites && parts[0].level() == 0) {
                self.merge_parts(&parts)?;
            }
        }
        Ok(())
    }

    fn merge_parts(&self, parts: &[Arc<Part>]) -> Result<()> {
        let mut columns = vec![Vec::new(); self.layout().columns.len()];
        for part in parts {
            for (i, pieces) in columns.iter_mut().enumerate() {
                for group in 0..part.metadata().group_rows.len() {
                    pieces.push(part.read(i, group)?);
                }
            }
        }
        let mut written = Written::default();
        write_sorted(self, &columns, &mut written)?;
        let names: Vec<&PartName> = parts.iter().map(|p| p.name_parts()).collect();
        let max = |f: fn(&PartName) -> u64| names.iter().map(|n| f(n)).max().unwrap_or(0);
        let name = PartName {
            partition_id: names[0].partition_id.clone(),
            min_block: names.iter().map(|n| n.min_block).min().unwrap_or(0),
            max_block: max(|n| n.max_block),
            level: names.iter().map(|n| n.level).max().unwrap_or(0) + 1,
        };
        self.change(|_| {
            let [(folder, _)] = &written.folders[..] else {
                return Err(Error::bug("a partition became several"));
            };
            let added = vec![(folder.clone(), name.clone())];
            written.folders.clear();
            Ok((added, names.iter().map(|n| (*n).clone()).collect()))
        })
    }
}
