//! Writes the rows of `INSERT INTO FUNCTION file('…{_partition_id}…') PARTITION BY`: those of each value into a file of its own.
//!
//! Files are written at once, one encoder for each, and take their places when all rows are there. No
//! file is held open, and what waits for the end of a file counts as memory of the query.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow::array::{Array, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast;

use super::insert_file::{FileTarget, FileWriter};
use super::result::Header;
use crate::memory::KeptRows;
use crate::session::RunningQuery;
use crate::table_function::compression::Method;

/// What stands for the value in the path.
const WILDCARD: &str = "{_partition_id}";

/// Files by the value of their rows.
pub(super) struct PartitionedWriter<'a> {
    query: &'a RunningQuery<'a>,
    header: &'a Header,
    target: &'a FileTarget,
    /// Bytes that each encoder takes.
    encoder_bytes: usize,
    kept: KeptRows,
    kept_bytes: usize,
    writers: HashMap<Vec<u8>, FileWriter>,
    buffer: Vec<u8>,
}

/// The expression whose text names a row's file.
pub(super) fn partition_id(partition_by: &ast::Expr) -> ast::Expr {
    ast::Expr::call("toString", vec![partition_by.clone()]).at(partition_by.span)
}

impl<'a> PartitionedWriter<'a> {
    pub(super) fn new(
        query: &'a RunningQuery<'a>,
        header: &'a Header,
        target: &'a FileTarget,
    ) -> Result<Self> {
        if !target.path.contains(WILDCARD) {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Put {WILDCARD} into the path {}: PARTITION BY writes a file for each value",
                    target.path
                ),
            ));
        }
        let method = Method::of(&target.path, target.method.as_deref())?;
        Ok(Self {
            query,
            header,
            target,
            encoder_bytes: method.encoder_bytes(),
            kept: query.execution.kept_rows(),
            kept_bytes: 0,
            writers: HashMap::new(),
            buffer: Vec::new(),
        })
    }

    /// Writes rows whose last column tells their files.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let bug = || Error::bug("the partition's value is the last column");
        let last = batch.num_columns().checked_sub(1).ok_or_else(bug)?;
        let ids = batch.column(last).as_binary_view_opt().ok_or_else(bug)?;
        let columns: Vec<usize> = (0..last).collect();
        let rows = batch
            .project(&columns)
            .map_err(|e| Error::bug(e.to_string()))?;
        let mut rows_of: HashMap<&[u8], Vec<u32>> = HashMap::new();
        for row in 0..ids.len() {
            if ids.is_null(row) {
                return Err(Error::not_implemented(
                    "Use ifNull: a NULL in PARTITION BY of INSERT",
                ));
            }
            // A batch has at most 65 505 rows.
            rows_of.entry(ids.value(row)).or_default().push(row as u32);
        }
        for (id, of_id) in rows_of {
            let part = if of_id.len() == rows.num_rows() {
                rows.clone()
            } else {
                take_record_batch(&rows, &UInt32Array::from(of_id))
                    .map_err(|e| Error::bug(e.to_string()))?
            };
            self.write_part(id, &part)?;
        }
        Ok(())
    }

    fn write_part(&mut self, id: &[u8], rows: &RecordBatch) -> Result<()> {
        let writer = match self.writers.entry(id.to_vec()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let path = path(&self.target.path, id)?;
                self.kept_bytes += self.encoder_bytes;
                self.kept.set(self.kept_bytes)?;
                let target = FileTarget {
                    path,
                    ..self.target.clone()
                };
                entry.insert(FileWriter::new(self.query, self.header, &target)?)
            }
        };
        let before = writer.kept_bytes();
        writer.write(rows, &mut self.buffer)?;
        self.kept_bytes = (self.kept_bytes + writer.kept_bytes()).saturating_sub(before);
        self.kept.set(self.kept_bytes)
    }

    /// Puts the files in their places.
    pub(super) fn finish(self) -> Result<()> {
        let mut files = Vec::with_capacity(self.writers.len());
        for writer in self.writers.into_values() {
            files.extend(writer.finish()?);
        }
        for file in files {
            file.commit()?;
        }
        Ok(())
    }
}

/// The file of a value.
///
/// # Errors
/// `CANNOT_PARSE_TEXT` if it is no path, a pattern of several, or leads out of the folder that the
/// statement names.
fn path(pattern: &str, id: &[u8]) -> Result<String> {
    let illegal = |found: String| {
        Error::new(
            ErrorCode::CANNOT_PARSE_TEXT,
            format!("Change what PARTITION BY gives: {found} in a partition's name"),
        )
    };
    let id = std::str::from_utf8(id).map_err(|_| illegal("bytes that are no UTF-8".to_owned()))?;
    let path = pattern.replace(WILDCARD, id);
    let is_illegal = |c: &char| c.is_ascii_control() && *c != '\x7f' || "{}*?".contains(*c);
    if let Some(c) = path.chars().find(is_illegal) {
        return Err(illegal(format!("illegal character {c:?}")));
    }
    let ups = |path: &str| path.split('/').filter(|part| *part == "..").count();
    if ups(&path) > ups(pattern) {
        return Err(illegal(format!("'..' of {id:?}")));
    }
    Ok(path)
}
