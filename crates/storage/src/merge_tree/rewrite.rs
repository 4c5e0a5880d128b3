//! Writes parts anew with other values or columns; files of columns that stay are shared by links.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::buffer::BooleanBuffer;
use basalt_error::{Error, Result};
use basalt_profile::Account;

use super::index::PartIndexes;
use super::layout::Effort;
use super::merge::filtered;
use super::metadata::{ColumnMetadata, PartMetadata};
use super::order::Partition;
use super::part::{Part, PartName, column_file};
use super::table::{DETACHED, MergeTree};
use super::write::{ColumnWriter, PartWriter, in_parallel, num_threads, write_metadata};
use super::written::Written;

/// Where a column's values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnSource {
    /// A column of the part, as it is.
    Same(usize),
    /// They are new.
    New,
}

/// What becomes of a part.
pub enum PartChange<'a> {
    /// It stays.
    Keep,
    /// Its files stay; of each group the rows are left for which the bit is set, or all.
    Mask(Vec<Option<BooleanBuffer>>),
    /// Of each group the rows stay for which the flag is set.
    Filter(Box<dyn FnMut(usize) -> Result<BooleanArray> + 'a>),
    /// Some columns get other values: `ColumnSource` for each column, and the new ones' values for a group.
    Columns(Vec<ColumnSource>, NewValues<'a>),
}

/// The values of the new columns for a group of rows.
pub type NewValues<'a> = Box<dyn FnMut(usize) -> Result<Vec<ArrayRef>> + 'a>;

impl MergeTree {
    /// Changes the rows of all parts, or of those of a partition, at once. Rows that are inserted meanwhile
    /// are not changed. Gives the number of the change and of changed parts.
    ///
    /// # Errors
    /// If a part cannot be read or written, and what `change` reports; then nothing is changed.
    pub fn mutate<'a>(
        &self,
        partition: Option<&str>,
        change: &mut dyn FnMut(&Arc<Part>) -> Result<PartChange<'a>>,
    ) -> Result<(u64, usize)> {
        let _merging = self.merging();
        let mut number = 0;
        self.change(|manifest| {
            manifest.last_block += 1;
            number = manifest.last_block;
            Ok((Vec::new(), Vec::new()))
        })?;
        let mut written = Written::new(self);
        let (mut names, mut removed) = (Vec::new(), Vec::new());
        let parts = self.parts()?;
        let is_meant = |part: &&Arc<Part>| {
            let (_, last) = part.block_numbers();
            last < number && partition.is_none_or(|partition| partition == part.partition_id())
        };
        for part in parts.iter().filter(is_meant) {
            let name = PartName {
                mutation: Some(number),
                ..part.name_parts().clone()
            };
            let change = change(part)?;
            if matches!(change, PartChange::Keep) {
                continue;
            }
            let _running = self.merges().listed(
                std::slice::from_ref(part),
                &name.to_string(),
                self.folder(),
                true,
            );
            let has_rows = self.write_changed(part, change, &mut written)?;
            if has_rows {
                names.push(name);
            }
            removed.push(part.name_parts().clone());
        }
        let num_changed = removed.len();
        if num_changed > 0 {
            self.change(|_| {
                let folders = written.take().into_iter().map(|(folder, _)| folder);
                Ok((folders.zip(names).collect(), removed))
            })?;
        }
        Ok((number, num_changed))
    }

    /// Writes a changed part of this table; false if it has no rows, and nothing was written.
    fn write_changed(
        &self,
        part: &Arc<Part>,
        change: PartChange<'_>,
        written: &mut Written,
    ) -> Result<bool> {
        match change {
            PartChange::Keep => Ok(false),
            PartChange::Mask(kept) => {
                let folder = self.new_folder();
                written.add(folder.clone(), partition_of_part(part));
                let has_rows = self.write_masked(part, &kept, &folder)?;
                if !has_rows {
                    written.discard_last();
                }
                Ok(has_rows)
            }
            PartChange::Columns(sources, values) => {
                let folder = self.new_folder();
                written.add(folder.clone(), partition_of_part(part));
                self.write_columns(part, &sources, values, &folder)?;
                Ok(true)
            }
            PartChange::Filter(mut kept) => {
                let folder = self.new_folder();
                written.add(folder.clone(), partition_of_part(part));
                let mut writer =
                    PartWriter::create(self, &folder, (num_threads(), Effort::Thorough))?;
                let num_columns = self.layout().columns.len();
                for group in 0..part.metadata().group_rows.len() {
                    let kept = kept(group)?;
                    let columns = in_parallel(num_columns, num_threads(), |column| {
                        filtered(&[part.read(column, group)?], &kept)
                    })?;
                    writer.push(&columns.concat())?;
                }
                if writer.num_rows() == 0 {
                    drop(writer);
                    written.discard_last();
                    return Ok(false);
                }
                writer.finish(part.metadata().partition.clone())?.sync()?;
                Ok(true)
            }
        }
    }

    /// Writes a part of this table's columns, each from another part's or new.
    fn write_columns(
        &self,
        part: &Part,
        sources: &[ColumnSource],
        mut values: NewValues<'_>,
        folder: &Path,
    ) -> Result<()> {
        let created = self.disk().create_folder(folder);
        created.map_err(|e| Error::from(e).within(folder.display()))?;
        let layout = self.layout();
        let writers = self.column_files(part, sources, folder)?;
        let places: Vec<usize> = writers.iter().map(|(place, _)| *place).collect();
        let mut indexes = PartIndexes::new(layout);
        let new = written_behind(writers, |write| {
            for group in 0..part.metadata().group_rows.len() {
                let new = match places.is_empty() {
                    true => Vec::new(),
                    false => values(group)?,
                };
                let num_rows = part.metadata().group_rows[group] as usize;
                if new.iter().any(|values| values.len() != num_rows) {
                    return Err(Error::bug("a change with another number of rows"));
                }
                indexes.push(layout, &mut |column| match sources[column] {
                    ColumnSource::Same(from) => part.read(from, group),
                    ColumnSource::New => {
                        let place = places.iter().position(|i| *i == column);
                        let values = place.and_then(|place| new.get(place));
                        values
                            .map(Arc::clone)
                            .ok_or_else(|| Error::bug("an index of a column that is not there"))
                    }
                })?;
                let kept = &part.metadata().kept;
                let stored = new.iter().map(|values| kept.spread(group, values));
                if !write(stored.collect::<Result<_>>()?) {
                    break;
                }
            }
            Ok(())
        })?;
        let columns = sources.iter().enumerate().map(|(i, source)| match source {
            ColumnSource::Same(from) => Ok(ColumnMetadata {
                name: layout.columns[i].name.clone(),
                data_type: layout.columns[i].data_type.to_string(),
                ..part.metadata().columns[*from].clone()
            }),
            ColumnSource::New => {
                let found = new.iter().find(|(place, _)| *place == i);
                let found = found.map(|(_, described)| described.clone());
                found.ok_or_else(|| Error::bug("a column that was not written"))
            }
        });
        let metadata = PartMetadata {
            partition: part.metadata().partition.clone(),
            group_rows: part.metadata().group_rows.clone(),
            columns: columns.collect::<Result<_>>()?,
            kept: part.metadata().kept.clone(),
        };
        write_metadata(self.shared_disk(), folder, (&indexes, &metadata))
    }

    /// Links the files of columns that stay, and begins those of new ones.
    fn column_files(
        &self,
        part: &Part,
        sources: &[ColumnSource],
        folder: &Path,
    ) -> Result<Vec<(usize, ColumnWriter)>> {
        let layout = self.layout();
        let mut writers: Vec<(usize, ColumnWriter)> = Vec::new();
        for (i, source) in sources.iter().enumerate() {
            let path = folder.join(column_file(i));
            match source {
                ColumnSource::New => {
                    let writer = ColumnWriter::create(
                        self.disk(),
                        path,
                        &layout.columns[i],
                        Effort::Thorough,
                    )?;
                    writers.push((i, writer));
                }
                ColumnSource::Same(from) => {
                    let linked = self
                        .disk()
                        .link(&part.folder().join(column_file(*from)), &path);
                    linked.map_err(|e| Error::from(e).within(path.display()))?;
                }
            }
        }
        Ok(writers)
    }

    /// Takes the rows of a table with other columns, to which nothing is added from then on.
    ///
    /// # Errors
    /// As [`MergeTree::mutate`]; then the other table goes on.
    pub fn take_over<'a>(
        &self,
        other: &MergeTree,
        sources: &[ColumnSource],
        values: &mut dyn FnMut(&Arc<Part>) -> NewValues<'a>,
    ) -> Result<()> {
        // What others left behind goes now, not when there is something of this change.
        self.parts()?;
        let _merging = other.merging();
        let parts = other.seal()?;
        let mut take = || -> Result<()> {
            let mut written = Written::new(self);
            let mut names = Vec::new();
            for part in parts.iter() {
                let folder = self.new_folder();
                written.add(folder.clone(), partition_of_part(part));
                self.write_columns(part, sources, values(part), &folder)?;
                names.push(part.name_parts().clone());
            }
            self.take_over_detached(other, sources, values)?;
            let last = other.last_block()?;
            self.change(|manifest| {
                manifest.last_block = last + 1;
                let folders = written.take().into_iter().map(|(folder, _)| folder);
                Ok((folders.zip(names).collect(), Vec::new()))
            })
        };
        take().inspect_err(|_| other.unseal())
    }
}

impl MergeTree {
    /// Takes the detached parts of another table, so that they can be attached to this one: they are nobody's, and must not go
    /// with its folder. What cannot be written anew, because it is damaged or its values do not convert, stays what it is.
    fn take_over_detached<'a>(
        &self,
        other: &MergeTree,
        sources: &[ColumnSource],
        values: &mut dyn FnMut(&Arc<Part>) -> NewValues<'a>,
    ) -> Result<()> {
        let (from, to) = (other.folder().join(DETACHED), self.folder().join(DETACHED));
        for text in other.detached_parts()? {
            let name = PartName::parse(&text);
            let part = name.and_then(|name| other.open_part(&from, &name).ok());
            let (from, to) = (from.join(&text), to.join(&text));
            let written = part.map(Arc::new).is_some_and(|part| {
                let written = self.write_columns(&part, sources, values(&part), &to);
                written.is_ok()
            });
            if !written {
                self.copy_files(&from, &to)?;
            }
        }
        Ok(())
    }

    /// Links the files of a folder into another, whatever is there.
    fn copy_files(&self, from: &Path, to: &Path) -> Result<()> {
        let copy = || -> std::io::Result<()> {
            let _ = self.disk().remove_folder(to);
            self.disk().create_folder(to)?;
            for file in self.disk().list(from)?.iter().filter(|e| !e.is_folder) {
                self.disk()
                    .link(&from.join(&file.name), &to.join(&file.name))?;
            }
            self.disk().sync_folder(to)
        };
        copy().map_err(|e| Error::from(e).within(to.display()))
    }
}

/// Has a thread of its own write what `give` hands over, the values of each column for a group of rows, while the next
/// are made; `give` is told when nothing more is taken. What was written.
fn written_behind(
    mut writers: Vec<(usize, ColumnWriter)>,
    give: impl FnOnce(&mut dyn FnMut(Vec<ArrayRef>) -> bool) -> Result<()>,
) -> Result<Vec<(usize, ColumnMetadata)>> {
    let (groups, waiting) = sync_channel::<Vec<ArrayRef>>(1);
    let account = Account::current();
    thread::scope(|scope| {
        let writing = scope.spawn(move || -> Result<Vec<(usize, ColumnMetadata)>> {
            let _entered = account.enter();
            for group in waiting {
                for ((_, writer), values) in writers.iter_mut().zip(&group) {
                    writer.push(values)?;
                }
            }
            let finished =
                |(place, writer): &mut (usize, ColumnWriter)| Ok((*place, writer.finish()?));
            writers.iter_mut().map(finished).collect()
        });
        let given = give(&mut |group| groups.send(group).is_ok());
        drop(groups);
        match writing.join() {
            Ok(written) => given.and(written),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn partition_of_part(part: &Part) -> Partition {
    Partition {
        text: part.metadata().partition.clone(),
        id: part.partition_id().to_owned(),
    }
}
