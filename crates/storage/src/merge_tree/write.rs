//! Writes the files of a part, its columns in parallel.

use std::fs::{self, File};
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::{concat, take};
use basalt_error::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

use super::encode::{ColumnEncoder, value_bytes};
use super::layout::{Layout, StoredColumn};
use super::manifest::sync_folder;
use super::metadata::{self, ColumnMetadata, GroupMetadata, PartMetadata};
use super::part::column_file;
use super::{GROUP_BYTES, GROUP_ROWS};

/// Rows of a part that is to be written.
pub(super) struct Content<'a> {
    pub(super) layout: &'a Layout,
    /// The columns' arrays, in their order.
    pub(super) columns: Vec<ArrayRef>,
    pub(super) partition: String,
}

/// The columns of some batches, each as one array, in another order if there is one.
pub(super) fn gathered(
    columns: &[Vec<ArrayRef>],
    order: Option<&UInt32Array>,
) -> Result<Vec<ArrayRef>> {
    in_parallel(columns.len(), |i| {
        let pieces: Vec<&dyn Array> = columns[i].iter().map(AsRef::as_ref).collect();
        let whole = match &columns[i][..] {
            [piece] => std::sync::Arc::clone(piece),
            _ => concat(&pieces).map_err(|e| Error::bug(e.to_string()))?,
        };
        match order {
            Some(order) => take(&whole, order, None).map_err(|e| Error::bug(e.to_string())),
            None => Ok(whole),
        }
    })
}

/// Writes all files of a part into a new folder, and has the system keep them.
pub(super) fn write_part(folder: &Path, content: &Content<'_>) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::from(e).within(folder.display()))?;
    let groups = groups(&content.columns);
    let columns = in_parallel(content.columns.len(), |i| {
        let column = (&content.layout.columns[i], &content.columns[i]);
        write_column(&folder.join(column_file(i)), column, &groups)
    })?;
    let group_rows = groups
        .windows(2)
        .map(|g| u32::try_from(g[1] - g[0]).unwrap_or(u32::MAX));
    let metadata = PartMetadata {
        partition: content.partition.clone(),
        group_rows: group_rows.collect(),
        columns,
    };
    let path = folder.join(metadata::FILE);
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&path)?;
        file.write_all(&metadata.to_bytes())?;
        file.sync_all()?;
        sync_folder(folder)
    };
    write().map_err(|e| Error::from(e).within(path.display()))
}

/// Where groups begin, and the end of the last: many rows, unless their values are large.
fn groups(columns: &[ArrayRef]) -> Vec<usize> {
    let num_rows = columns.first().map_or(0, |c| c.len());
    let mut starts = vec![0];
    let mut start = 0;
    while start < num_rows {
        let mut len = GROUP_ROWS.min(num_rows - start);
        let is_large = |len: usize| {
            let mut bytes = columns.iter().map(|c| value_bytes(&c.slice(start, len)));
            bytes.any(|bytes| bytes > GROUP_BYTES)
        };
        while len > 1 && is_large(len) {
            len = len.div_ceil(2);
        }
        start += len;
        starts.push(start);
    }
    starts
}

fn write_column(
    path: &Path,
    (column, array): (&StoredColumn, &ArrayRef),
    groups: &[usize],
) -> Result<ColumnMetadata> {
    let mut described = ColumnMetadata {
        name: column.name.clone(),
        data_type: column.data_type.to_string(),
        ..ColumnMetadata::default()
    };
    let write_error = |e: std::io::Error| Error::from(e).within(path.display());
    let mut file = File::create(path).map_err(write_error)?;
    let mut encoder = ColumnEncoder::new(column.codec);
    let mut offset = 0;
    let mut stored = Vec::new();
    for group in groups.windows(2) {
        stored.clear();
        let rows = array.slice(group[0], group[1] - group[0]);
        let encoded = encoder.encode(&rows, &column.data_type, &mut stored);
        let encoded = encoded.map_err(|e| e.within(format!("Column `{}`", column.name)))?;
        file.write_all(&stored).map_err(write_error)?;
        if described.groups.is_empty() {
            described.codec = encoded.chain;
        }
        described.decoded_bytes += encoded.decoded_bytes;
        described.groups.push(GroupMetadata {
            offset,
            num_bytes: stored.len() as u64,
            checksum: xxh3_64(&encoded.checksums),
            bounds: encoded.statistics.bounds,
            null_count: encoded.statistics.null_count,
        });
        offset += stored.len() as u64;
    }
    file.sync_all().map_err(write_error)?;
    Ok(described)
}

/// Calls `f` with 0, 1, … on all threads.
fn in_parallel<T: Send>(num: usize, f: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let num_threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(num));
    let work = || -> Result<()> {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= num {
                return Ok(());
            }
            let result = f(i)?;
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((i, result));
        }
    };
    thread::scope(|scope| {
        let others = 1..num_threads.min(num);
        let others: Vec<_> = others.map(|_| scope.spawn(work)).collect();
        let own = work();
        let joined = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.fold(own, Result::and)
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
