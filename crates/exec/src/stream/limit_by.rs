//! Runs LIMIT BY: at most so many rows for each value of the keys.

use ahash::RandomState;
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, SortField};
use basalt_error::{Error, Result};
use hashbrown::HashMap;

use super::Step;
use super::stream_exec::positions;

/// The step of LIMIT BY.
pub(super) struct LimitByStep {
    keys: Vec<usize>,
    converter: RowConverter,
    seen: HashMap<Box<[u8]>, u64, RandomState>,
    offset: u64,
    end: u64,
}

impl LimitByStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        offset: u64,
        limit: u64,
    ) -> Result<Self> {
        let keys = positions(input, keys)?;
        let fields = keys
            .iter()
            .map(|k| SortField::new(input.field(*k).data_type().clone()));
        let converter = RowConverter::new(fields.collect()).map_err(bug)?;
        let seen = HashMap::with_hasher(RandomState::new());
        Ok(Self {
            keys,
            converter,
            seen,
            offset,
            end: offset.saturating_add(limit),
        })
    }
}

impl Step for LimitByStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut kept: Vec<u32> = Vec::new();
        let columns: Vec<_> = self
            .keys
            .iter()
            .map(|k| std::sync::Arc::clone(batch.column(*k)))
            .collect();
        if columns.is_empty() {
            return Err(Error::bug("LIMIT BY without keys"));
        }
        let rows = self.converter.convert_columns(&columns).map_err(bug)?;
        for (idx, row) in rows.iter().enumerate() {
            let count = match self.seen.get_mut(row.as_ref()) {
                Some(count) => count,
                None => self.seen.entry(Box::from(row.as_ref())).or_insert(0),
            };
            if (self.offset..self.end).contains(count) {
                kept.push(u32::try_from(idx).map_err(|_| Error::bug("batch of 2^32 rows"))?);
            }
            *count += 1;
        }
        if kept.len() == batch.num_rows() {
            return Ok(batch);
        }
        take_record_batch(&batch, &UInt32Array::from(kept)).map_err(bug)
    }
}

fn bug(e: arrow::error::ArrowError) -> Error {
    Error::bug(e.to_string())
}
