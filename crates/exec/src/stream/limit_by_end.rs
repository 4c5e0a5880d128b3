//! Runs LIMIT BY that counts from the end: all rows of a key must be known.

use std::sync::Arc;

use ahash::RandomState;
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::RowBound;
use basalt_error::{Error, Result};
use hashbrown::HashMap;

use super::key_rows::KeyRows;
use super::{Step, bug};

/// The step of such a LIMIT BY.
pub(super) struct LimitByEndStep {
    schema: SchemaRef,
    keys: KeyRows,
    groups: HashMap<Box<[u8]>, usize, RandomState>,
    /// Rows of each group so far.
    num_rows: Vec<u64>,
    /// The batches, and for each row its group and its place in there.
    batches: Vec<(RecordBatch, Vec<(usize, u64)>)>,
    offset: RowBound,
    limit: RowBound,
}

impl LimitByEndStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        offset: &RowBound,
        limit: &RowBound,
    ) -> Result<Self> {
        Ok(Self {
            schema: Arc::clone(input),
            keys: KeyRows::try_new(input, keys)?,
            groups: HashMap::with_hasher(RandomState::new()),
            num_rows: Vec::new(),
            batches: Vec::new(),
            offset: offset.clone(),
            limit: limit.clone(),
        })
    }
}

impl Step for LimitByEndStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let keys = self.keys.arrays(&batch);
        if keys.is_empty() {
            return Err(Error::bug("LIMIT BY without keys"));
        }
        let rows = self.keys.convert(&keys)?;
        let mut places = Vec::with_capacity(batch.num_rows());
        for row in &rows {
            let group = match self.groups.get(row.as_ref()) {
                Some(group) => *group,
                None => {
                    let group = self.num_rows.len();
                    self.groups.insert(Box::from(row.as_ref()), group);
                    self.num_rows.push(0);
                    group
                }
            };
            places.push((group, self.num_rows[group]));
            self.num_rows[group] += 1;
        }
        self.batches.push((batch, places));
        Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let range = |n: &u64| RowBound::range(&self.offset, &self.limit, *n);
        let ranges: Vec<(u64, u64)> = self.num_rows.iter().map(range).collect();
        let mut kept = Vec::with_capacity(self.batches.len());
        for (batch, places) in self.batches.drain(..) {
            let mut rows: Vec<u32> = Vec::new();
            for (row, (group, place)) in (0..).zip(places) {
                let (start, end) = ranges[group];
                if (start..end).contains(&place) {
                    rows.push(row);
                }
            }
            kept.push(take_record_batch(&batch, &UInt32Array::from(rows)).map_err(bug)?);
        }
        arrow::compute::concat_batches(&self.schema, &kept)
            .map_err(bug)
            .map(Some)
    }
}
