//! Makes parts from rows.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::PART_ROWS;
use super::combine::{KeyedRows, Purpose};
use super::layout::{Effort, Layout};
use super::manifest::Manifest;
use super::merge::filtered;
use super::order::{boundaries, order_of, partition};
use super::packed_order::SortMemory;
use super::part::PartName;
use super::pieces::Pieces;
use super::sorted_column::{RowOrder, SortedColumn};
use super::table::MergeTree;
use super::write::{PartWriter, num_threads};
use super::writer::{MAX_WAITING_BYTES, Rows, Writer};
use super::written::Written;

/// Partitions that an insert may make parts of unless somebody says otherwise.
const MAX_PARTITIONS: usize = 100;

/// Parts before the one that is begun that need not be kept by the system yet. Who waits for the part just written has
/// the disk idle while the next is sorted, and the processor while that is written.
const MAX_UNSYNCED: usize = 8;

/// Columns of all these parts: files are open until they are synced, of which a process may have few.
const MAX_UNSYNCED_COLUMNS: usize = 200;

/// Rows on their way into a table; nobody sees them before [`Insert::finish`].
#[derive(Debug)]
pub struct Insert {
    table: Arc<MergeTree>,
    columns: Vec<Vec<ArrayRef>>,
    num_rows: usize,
    part_rows: usize,
    max_partitions: usize,
    /// The parts so far, in the order of their rows; those that the other thread still writes are none.
    written: Vec<Option<Written>>,
    writer: Option<Writer>,
    memory: SortMemory,
}

impl Insert {
    pub(super) fn new(table: &Arc<MergeTree>) -> Self {
        Self {
            table: Arc::clone(table),
            columns: vec![Vec::new(); table.layout().columns.len()],
            num_rows: 0,
            part_rows: PART_ROWS,
            max_partitions: MAX_PARTITIONS,
            written: Vec::new(),
            writer: None,
            memory: SortMemory::default(),
        }
    }

    /// Makes parts of so many partitions at most; 0 is no limit.
    #[must_use]
    pub fn of_partitions(mut self, max_partitions: usize) -> Self {
        self.max_partitions = max_partitions;
        self
    }

    /// Makes smaller parts.
    #[cfg(test)]
    pub(super) fn of_parts_of(mut self, num_rows: usize) -> Self {
        self.part_rows = num_rows;
        self
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
            let len = (batch.num_rows() - start).min(self.part_rows - self.num_rows);
            for (pieces, column) in self.columns.iter_mut().zip(batch.columns()) {
                pieces.push(column.slice(start, len));
            }
            self.num_rows += len;
            start += len;
            if self.num_rows == self.part_rows {
                self.begin_part()?;
            }
        }
        Ok(())
    }

    /// Makes all rows visible at once.
    ///
    /// # Errors
    /// If they cannot be written; then none of them is there.
    pub fn finish(mut self) -> Result<()> {
        self.write_rest()?;
        self.receive(true)?;
        let mut all = Written::new(&self.table);
        for part in self.written.drain(..) {
            let mut part = part.ok_or_else(|| Error::bug("a part of an insert is missing"))?;
            all.append(&mut part)?;
        }
        self.table.publish(all)
    }

    /// Writes the rows that are there: on the other thread, if few wait for it, else here.
    fn begin_part(&mut self) -> Result<()> {
        let columns = self.take_columns();
        let mut rows = Rows::new(self.written.len(), columns);
        let is_large = rows.bytes > MAX_WAITING_BYTES;
        self.receive(is_large)?;
        self.add_place()?;
        if !is_large {
            let writer = self.writer.get_or_insert_with(|| Writer::new(&self.table));
            match writer.begin(rows) {
                None => return Ok(()),
                Some(back) => rows = back,
            }
        }
        // Half of them, if the other thread has a part of its own.
        let is_shared = self.writer.as_ref().is_some_and(Writer::is_busy);
        self.write(&rows, num_threads().div_ceil(1 + usize::from(is_shared)))
    }

    fn take_columns(&mut self) -> Vec<Vec<ArrayRef>> {
        self.num_rows = 0;
        let num_columns = self.columns.len();
        std::mem::replace(&mut self.columns, vec![Vec::new(); num_columns])
    }

    /// Makes a place for one more part; waits until the system keeps those of long ago.
    fn add_place(&mut self) -> Result<()> {
        let num_columns = self.columns.len().max(1);
        let unsynced = (MAX_UNSYNCED_COLUMNS / num_columns).clamp(1, MAX_UNSYNCED);
        let long_ago = self.written.len().saturating_sub(unsynced);
        for part in self.written[..long_ago].iter_mut().flatten() {
            part.synced()?;
        }
        self.written.push(None);
        Ok(())
    }

    /// Writes what is left when there are no more rows, so that both threads are done at about the same time.
    fn write_rest(&mut self) -> Result<()> {
        let mut waiting = self
            .writer
            .as_mut()
            .map_or_else(Vec::new, Writer::take_back);
        let mut num_rows = self.num_rows;
        let mut last = self.take_columns();
        // Parts have rows in the order in which they came: only what comes right before the last rows is cut anew.
        while let Some(rows) = waiting.pop_if(|rows| rows.place + 1 == self.written.len()) {
            num_rows += rows.num_rows();
            self.written.pop();
            for (pieces, before) in last.iter_mut().zip(rows.columns) {
                pieces.splice(0..0, before);
            }
        }
        for rows in shares(num_rows, self.part_rows).windows(2) {
            let columns = last.iter().map(|pieces| cut(pieces, rows[0]..rows[1]));
            waiting.push(Rows::new(self.written.len(), columns.collect()));
            self.add_place()?;
        }
        if let (Some(writer), true) = (&mut self.writer, waiting.len() > 1) {
            writer.share(waiting);
        } else {
            for rows in waiting {
                self.write(&rows, num_threads())?;
            }
        }
        while let Some(rows) = self.writer.as_mut().and_then(Writer::take_next) {
            self.write(&rows, num_threads().div_ceil(2))?;
        }
        Ok(())
    }

    /// Writes a part here.
    fn write(&mut self, rows: &Rows, num_threads: usize) -> Result<()> {
        let threads_and_memory = (num_threads, &mut self.memory);
        let written = write_sorted(&self.table, &rows.columns, threads_and_memory)?;
        self.written[rows.place] = Some(written);
        self.check_partitions()
    }

    /// Takes the parts that the other thread has written; waits for all that it has if `waits`.
    fn receive(&mut self, waits: bool) -> Result<()> {
        while let Some((place, part)) = self.writer.as_mut().and_then(|writer| writer.end(waits)) {
            self.written[place] = Some(part?);
            self.check_partitions()?;
        }
        Ok(())
    }

    /// Refuses parts of too many partitions.
    fn check_partitions(&self) -> Result<()> {
        let partitions = self.written.iter().flatten().flat_map(Written::partitions);
        let mut ids: Vec<&str> = partitions.map(|p| p.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        if self.max_partitions > 0 && ids.len() > self.max_partitions {
            return Err(Error::new(
                ErrorCode::TOO_MANY_PARTS,
                format!(
                    "Use a coarser PARTITION BY, or raise max_partitions_per_insert_block: too many \
                     partitions for single INSERT block (more than {})",
                    self.max_partitions
                ),
            ));
        }
        Ok(())
    }
}

/// Where rows are cut into as many parts as they need, and the end of the last: parts of one size if there are as many
/// for one thread as for the other, else full ones.
fn shares(num_rows: usize, part_rows: usize) -> Vec<usize> {
    let num_parts = num_rows.div_ceil(part_rows);
    let ends = (0..=num_parts).map(|part| match num_parts.is_multiple_of(2) {
        true => num_rows * part / num_parts.max(1),
        false => num_rows.min(part_rows * part),
    });
    ends.collect()
}

/// Some rows of a column that is in pieces.
fn cut(pieces: &[ArrayRef], rows: Range<usize>) -> Vec<ArrayRef> {
    let mut end = 0;
    let cut = pieces.iter().filter_map(|piece| {
        let start = end;
        end += piece.len();
        let first = rows.start.max(start);
        let len = rows.end.min(end).saturating_sub(first);
        (len > 0).then(|| piece.slice(first - start, len))
    });
    cut.collect()
}

/// Sorts rows, and writes a part for each partition.
pub(super) fn write_sorted(
    table: &MergeTree,
    columns: &[Vec<ArrayRef>],
    (num_threads, memory): (usize, &mut SortMemory),
) -> Result<Written> {
    let mut written = Written::new(table);
    let layout = table.layout();
    let key = layout.partition_key.iter().chain(&layout.sorting_key);
    let key: Vec<&[ArrayRef]> = key.map(|c| &columns[*c][..]).collect();
    let order = order_of(&key, memory)?;
    let mut known = vec![None; columns.len()];
    let key_columns = layout.partition_key.iter().chain(&layout.sorting_key);
    for (column, key) in key_columns.zip(order.keys) {
        known[*column] = key;
    }
    let pieces = Pieces::new(columns.iter().take(1).flatten().map(|piece| piece.len()));
    let row_order = RowOrder {
        permutation: &order.permutation,
        pieces: &pieces,
    };
    let mut sorted = SortedColumn::all(columns, &known, row_order, num_threads)?;
    // What is looked at more than once is put in order once.
    let indexed = layout.indexes.iter().map(|index| &index.column);
    for column in layout.partition_key.iter().chain(indexed) {
        sorted[*column] = sorted[*column].values()?.into();
    }
    let num_rows = pieces.num_rows();
    let pick = |c: &usize| sorted[*c].values();
    let partition_columns = layout.partition_key.iter().map(pick);
    let partition_columns = partition_columns.collect::<Result<Vec<ArrayRef>>>()?;
    let types = layout
        .partition_key
        .iter()
        .map(|c| &layout.columns[*c].data_type);
    let typed: Vec<(ArrayRef, &DataType)> = partition_columns
        .iter()
        .map(Arc::clone)
        .zip(types)
        .collect();
    let starts = boundaries(&partition_columns, num_rows)?;
    // Parts are numbered in the order in which the rows name their partitions.
    let first_row = |run: &&[usize]| match order.permutation.rows() {
        Some(rows) => rows.values()[run[0]..run[1]].iter().min().copied(),
        None => u32::try_from(run[0]).ok(),
    };
    let mut runs: Vec<&[usize]> = starts.windows(2).collect();
    if runs.len() > 1 {
        runs.sort_by_cached_key(first_row);
    }
    for run in runs {
        let partition = partition(&typed, run[0])?;
        let rows = sorted.iter().map(|column| column.slice(run[0]..run[1]));
        let rows = combined(layout, rows.collect())?;
        if rows.first().is_none_or(|column| column.len() == 0) {
            continue;
        }
        let folder = table.new_folder();
        let text = partition.text.clone();
        // Listed before it is written, so that it goes if that fails.
        written.add(folder.clone(), partition);
        let mut part = PartWriter::create(table, &folder, (num_threads, Effort::Quick))?;
        part.push_sorted(&rows)?;
        written.sync_later(part.finish(text)?)?;
    }
    Ok(written)
}

/// Sorted rows as a merge would leave them: an insert need not bring what the next merge takes away.
fn combined<'a>(layout: &Layout, rows: Vec<SortedColumn<'a>>) -> Result<Vec<SortedColumn<'a>>> {
    let Some(combine) = layout.combining() else {
        return Ok(rows);
    };
    let rows = rows.iter().map(SortedColumn::values);
    let rows = rows.collect::<Result<Vec<ArrayRef>>>()?;
    let num_rows = rows.first().map_or(0, |c| c.len());
    let keys: Vec<ArrayRef> = layout
        .sorting_key
        .iter()
        .map(|c| Arc::clone(&rows[*c]))
        .collect();
    let mut starts = boundaries(&keys, num_rows)?;
    starts.pop();
    let starts = starts.into_iter().map(u32::try_from);
    let starts = starts.collect::<std::result::Result<Vec<_>, _>>();
    let starts = starts.map_err(|_| Error::bug("too many rows for a part"))?;
    let ids: Vec<usize> = (0..rows.len()).collect();
    let rows = match starts.len() < num_rows {
        true => combine.combine(KeyedRows {
            ids: &ids,
            columns: &rows,
            starts: &starts,
            num_rows,
        })?,
        false => rows,
    };
    let num_rows = starts.len();
    let starts: Vec<u32> = (0..).take(num_rows).collect();
    let one_each = KeyedRows {
        ids: &ids,
        columns: &rows,
        starts: &starts,
        num_rows,
    };
    let rows = match combine.kept(one_each, Purpose::Write)? {
        Some(kept) => filtered(&rows, &kept)?,
        None => rows,
    };
    Ok(rows.into_iter().map(SortedColumn::from).collect())
}

impl MergeTree {
    /// Begins an insert; waits if there are many parts to merge.
    ///
    /// # Errors
    /// If the list of parts is damaged; `TOO_MANY_PARTS`.
    pub fn insert(self: &Arc<Self>) -> Result<Insert> {
        // What others left behind goes now, not when there is something of this insert.
        self.parts()?;
        self.wait_for_merges()?;
        Ok(Insert::new(self))
    }

    /// Gives written parts their names and adds them to the list.
    pub(super) fn publish(&self, written: Written) -> Result<()> {
        self.publish_with(written, &mut |_| Ok(()))
    }

    /// The same; `before` is given the list just before they are added.
    pub(super) fn publish_with(
        &self,
        mut written: Written,
        before: &mut dyn FnMut(&mut Manifest) -> Result<()>,
    ) -> Result<()> {
        written.synced()?;
        if written.is_empty() {
            return Ok(());
        }
        // Rows that an insert has combined are as good as merged.
        let level = u32::from(self.layout().combining().is_some());
        self.change(|manifest| {
            let mut added = Vec::new();
            before(manifest)?;
            for (folder, partition) in written.take() {
                manifest.last_block += 1;
                let name = PartName {
                    partition_id: partition.id,
                    min_block: manifest.last_block,
                    max_block: manifest.last_block,
                    level,
                    mutation: None,
                };
                added.push((folder, name));
            }
            Ok((added, Vec::new()))
        })?;
        self.wake_merges();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn rows_make_as_many_parts_as_they_need() {
        assert_eq!(shares(0, 10), [0]);
        assert_eq!(shares(7, 10), [0, 7]);
        assert_eq!(shares(10, 10), [0, 10]);
        assert_eq!(shares(15, 10), [0, 7, 15]);
        assert_eq!(shares(20, 10), [0, 10, 20]);
        assert_eq!(shares(23, 10), [0, 10, 20, 23]);
        assert_eq!(shares(31, 10), [0, 7, 15, 23, 31]);
    }
}
