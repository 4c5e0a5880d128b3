//! Takes rows from a part without writing its columns anew: it gets a mask, and its files stay.

use std::path::Path;

use arrow::buffer::BooleanBuffer;
use basalt_error::{Error, Result};

use super::index::{self, PartIndexes};
use super::kept_rows::KeptRows;
use super::metadata::{ColumnMetadata, PartMetadata};
use super::part::{Part, column_file};
use super::table::MergeTree;
use super::write::write_metadata;

impl MergeTree {
    /// Writes a part with the files of another and those of its rows that are `kept`, one mask for each group, or all of the
    /// group if none; false if no row is left, and nothing was written.
    pub(super) fn write_masked(
        &self,
        part: &Part,
        kept: &[Option<BooleanBuffer>],
        folder: &Path,
    ) -> Result<bool> {
        let before = part.metadata();
        let (groups, metadata) = masked(before, kept);
        if groups.is_empty() {
            return Ok(false);
        }
        let created = self.disk().create_folder(folder);
        created.map_err(|e| Error::from(e).within(folder.display()))?;
        let mut files: Vec<String> = (0..before.columns.len()).map(column_file).collect();
        let mut indexes = PartIndexes::default();
        if groups.len() < before.group_rows.len() {
            indexes = PartIndexes::read(self.disk(), part.folder()).only(&groups);
        } else if part.has_indexes() {
            files.push(index::FILE.to_owned());
        }
        for file in files {
            let (from, to) = (part.folder().join(&file), folder.join(&file));
            let linked = self.disk().link(&from, &to);
            linked.map_err(|e| Error::from(e).within(to.display()))?;
        }
        write_metadata(self.shared_disk(), folder, (&indexes, &metadata))?;
        Ok(true)
    }
}

/// The groups of which rows are left, and what a part of them tells of itself.
fn masked(before: &PartMetadata, kept: &[Option<BooleanBuffer>]) -> (Vec<usize>, PartMetadata) {
    let (mut groups, mut group_rows, mut masks) = (Vec::new(), Vec::new(), KeptRows::default());
    for (group, kept) in kept.iter().enumerate() {
        let narrowed = kept.as_ref().map(|kept| before.kept.narrowed(group, kept));
        let mask = narrowed.or_else(|| before.kept.of(group).cloned());
        let num_rows = match &mask {
            Some(mask) => mask.count_set_bits(),
            None => before.group_rows[group] as usize,
        };
        if num_rows == 0 {
            continue;
        }
        if let Some(mask) = mask.filter(|mask| mask.len() > num_rows) {
            masks.insert(groups.len(), mask);
        }
        groups.push(group);
        group_rows.push(u32::try_from(num_rows).unwrap_or(u32::MAX));
    }
    let columns = before.columns.iter();
    let metadata = PartMetadata {
        partition: before.partition.clone(),
        columns: columns.map(|c| only_groups(before, c, &groups)).collect(),
        group_rows,
        kept: masks,
    };
    (groups, metadata)
}

/// A column without the groups that are gone; their bytes stay in its file.
fn only_groups(before: &PartMetadata, column: &ColumnMetadata, groups: &[usize]) -> ColumnMetadata {
    let rows = |groups: &mut dyn Iterator<Item = usize>| {
        groups.map(|g| before.stored_rows(g) as u128).sum::<u128>()
    };
    let (left, all) = (
        rows(&mut groups.iter().copied()),
        rows(&mut (0..before.group_rows.len())),
    );
    let decoded_bytes = u128::from(column.decoded_bytes) * left / all.max(1);
    ColumnMetadata {
        name: column.name.clone(),
        data_type: column.data_type.clone(),
        codec: column.codec.clone(),
        decoded_bytes: u64::try_from(decoded_bytes).unwrap_or(column.decoded_bytes),
        groups: groups.iter().map(|g| column.groups[*g]).collect(),
        text_bounds: groups
            .iter()
            .map(|g| column.texts_of(*g).cloned())
            .collect(),
    }
}
