//! Reads the parts of a MergeTree table with FINAL: rows of the same key are combined while they are read.
//!
//! Threads take ranges of keys. A top-N by the first column of the key begins with the range that it wants most, and
//! leaves out those that it does not want any more.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use basalt_storage::merge_tree::{KeyPlace, MergedRows, key_places};
use basalt_storage::{Layout, MergeTree, Part};
use datafusion::logical_expr::Expr;

use super::merge_tree::{KeyExprs, Pruner, visible_schema};
use super::scan_exec::column_bytes;
use super::{BatchIter, MorselSource, ScanRequest, TableKind};
use crate::QueryControl;
use crate::sort::KeyBound;

/// The parts that a query sees, of a table that combines rows.
#[derive(Clone, Debug)]
pub struct FinalTable {
    schema: SchemaRef,
    table: Arc<MergeTree>,
    parts: Arc<Vec<Arc<Part>>>,
    keys: KeyExprs,
}

impl FinalTable {
    /// These parts of the table with such keys.
    pub fn new(table: Arc<MergeTree>, parts: Arc<Vec<Arc<Part>>>, keys: KeyExprs) -> Self {
        Self {
            schema: visible_schema(table.layout()),
            table,
            parts,
            keys,
        }
    }
}

impl FinalTable {
    /// For each part and each of its groups, whether rows may fulfil the filters, by what they say of the key:
    /// conditions on other columns would take away rows that replace others.
    fn can_match(&self, filters: &[Expr]) -> Arc<[Vec<bool>]> {
        let layout = self.table.layout();
        let is_key = |column: usize| layout.sorting_key.contains(&column);
        let pruner = Pruner::new(layout, &self.keys, filters);
        let parts = self.parts.iter();
        parts.map(|part| pruner.can_match(part, &is_key)).collect()
    }

    /// Rows of the groups that may match, before any are combined.
    fn num_rows(&self, can_match: &[Vec<bool>]) -> u64 {
        let of_part = |(part, can_match): (&Arc<Part>, &Vec<bool>)| {
            let rows = part.metadata().group_rows.iter().zip(can_match);
            let rows = rows.filter(|(_, can_match)| **can_match);
            rows.map(|(rows, _)| u64::from(*rows)).sum::<u64>()
        };
        self.parts.iter().zip(can_match).map(of_part).sum()
    }
}

impl TableKind for FinalTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.schema.project(&request.projection);
        let can_match = self.can_match(&request.filters);
        let parts = self.parts.iter();
        let num_rows: usize = parts.map(|part| part.metadata().num_rows()).sum();
        let num_ranges = (num_rows / RANGE_ROWS).clamp(1, MAX_RANGES);
        let places = match num_ranges {
            1 => Vec::new(),
            _ => key_places(self.table.layout(), &self.parts, num_ranges)?,
        };
        Ok(Arc::new(FinalSource {
            ranges: (0..places.len().saturating_sub(1).max(1)).collect(),
            places: places.into(),
            bound: None,
            projection: request.projection.as_slice().into(),
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            table: self.clone(),
            ids: ids(self.table.layout(), &request.projection),
            num_columns: request.projection.len(),
            num_rows_read: self.num_rows(&can_match),
            can_match,
            control: Arc::clone(&request.control),
        }))
    }

    fn uses_filters(&self) -> bool {
        true
    }
}

/// The columns of a query, and behind them what combining needs: at least one, which has the rows.
fn ids(layout: &Layout, projection: &[usize]) -> Vec<usize> {
    let mut ids = projection.to_vec();
    let needs = layout
        .combine
        .iter()
        .flat_map(|c| c.needs().iter().copied());
    for id in needs {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.is_empty() {
        ids.push(layout.sorting_key.first().copied().unwrap_or(0));
    }
    ids
}

/// Rows of a range, about, before they are combined.
const RANGE_ROWS: usize = 1 << 18;

/// Ranges of a scan at most.
const MAX_RANGES: usize = 256;

/// A scan of a [`FinalTable`].
#[derive(Clone, Debug)]
struct FinalSource {
    schema: SchemaRef,
    /// The columns of the table that are read.
    projection: Arc<[usize]>,
    /// Range `i` begins at place `i` and ends before the next one, the last at the end; none if there is but one.
    places: Arc<[KeyPlace]>,
    /// The ranges in the order in which they are read.
    ranges: Vec<usize>,
    /// What a top-N wants, by the first column of the key.
    bound: Option<Arc<KeyBound>>,
    table: FinalTable,
    ids: Vec<usize>,
    /// How many of the columns the query wants.
    num_columns: usize,
    /// For each part and each of its groups, whether rows may fulfil the conditions on the key.
    can_match: Arc<[Vec<bool>]>,
    /// Rows of these groups.
    num_rows_read: u64,
    control: Arc<QueryControl>,
}

impl MorselSource for FinalSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.ranges.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let range = self.ranges[morsel];
        if !self.wants(range) {
            return Ok(Box::new(std::iter::empty()));
        }
        if !self.control.may_read(self.share_of_rows(morsel))? {
            return Ok(Box::new(std::iter::empty()));
        }
        let layout = self.table.table.layout();
        let is_wanted = |part: &Part, group: usize| {
            let mut parts = self.table.parts.iter();
            let place = parts.position(|known| std::ptr::eq(known.as_ref(), part));
            place.is_none_or(|place| self.can_match[place][group])
        };
        let last = self.places.len().saturating_sub(2);
        let start = self.places.get(range);
        let end = self.places.get(range + 1).filter(|_| range < last);
        let parts = (self.table.parts.as_slice(), &is_wanted as _);
        let rows = MergedRows::for_query(layout, parts, self.ids.clone(), (start, end))?;
        Ok(Box::new(FinalRows {
            rows,
            schema: Arc::clone(&self.schema),
            num_columns: self.num_columns,
            control: Arc::clone(&self.control),
        }))
    }

    fn with_bound(&self, bound: &Arc<KeyBound>) -> Option<Arc<dyn MorselSource>> {
        if bound.texts().is_some() {
            return None;
        }
        let column = self.projection.get(bound.column())?;
        if self.table.table.layout().sorting_key.first() != Some(column) {
            return None;
        }
        let mut bounded = self.clone();
        bounded.bound = Some(Arc::clone(bound));
        bounded
            .ranges
            .sort_by_key(|range| self.nearest(*range, bound));
        Some(Arc::new(bounded))
    }

    fn num_rows(&self) -> Option<usize> {
        let parts = self.table.parts.iter();
        Some(parts.map(|p| p.metadata().num_rows()).sum())
    }

    fn describe(&self) -> String {
        format!("MergeTree FINAL, {} parts", self.table.parts.len())
    }
}

impl FinalSource {
    /// The part of the rows that counts as that of one range: where ranges begin in a part is known when they are read.
    fn share_of_rows(&self, morsel: usize) -> u64 {
        let num_ranges = self.ranges.len() as u64;
        let begin = |range: u64| self.num_rows_read * range / num_ranges;
        begin(morsel as u64 + 1) - begin(morsel as u64)
    }

    /// Whether a top-N may want rows of a range.
    fn wants(&self, range: usize) -> bool {
        let Some(bound) = &self.bound else {
            return true;
        };
        let nearest = self.nearest(range, bound);
        nearest.is_none_or(|place| bound.wants(place))
    }

    /// The first place in a top-N's order that a row of a range may have.
    fn nearest(&self, range: usize, bound: &KeyBound) -> Option<u64> {
        let (least, greatest) = (self.places.get(range)?, self.places.get(range + 1)?);
        let may_have_nulls = self.schema.field(bound.column()).is_nullable();
        bound.nearest_in((least.first()?, greatest.first()?), may_have_nulls)
    }
}

struct FinalRows {
    rows: MergedRows,
    schema: SchemaRef,
    num_columns: usize,
    control: Arc<QueryControl>,
}

impl FinalRows {
    fn batch(&self, mut columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        let num_rows = columns.first().map_or(0, |c| c.len());
        columns.truncate(self.num_columns);
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|e| Error::bug(e.to_string()))
    }
}

impl Iterator for FinalRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let columns = self.rows.next_rows().transpose()?;
        Some(columns.and_then(|columns| {
            let num_bytes: usize = columns.iter().map(column_bytes).sum();
            self.control.count_limited(num_bytes as u64)?;
            self.batch(columns)
        }))
    }
}
