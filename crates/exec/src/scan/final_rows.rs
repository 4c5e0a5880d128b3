//! Reads the parts of a MergeTree table with FINAL: rows of the same key are combined while they are read.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use basalt_storage::merge_tree::MergedRows;
use basalt_storage::{Layout, MergeTree, Part};
use datafusion::logical_expr::Expr;

use super::merge_tree::{group_can_match, visible_schema};
use super::{BatchIter, MorselSource, ScanRequest, TableKind};

/// The parts that a query sees, of a table that combines rows.
#[derive(Clone, Debug)]
pub struct FinalTable {
    schema: SchemaRef,
    table: Arc<MergeTree>,
    parts: Arc<Vec<Arc<Part>>>,
}

impl FinalTable {
    /// These parts of the table.
    pub fn new(table: Arc<MergeTree>, parts: Arc<Vec<Arc<Part>>>) -> Self {
        Self {
            schema: visible_schema(table.layout()),
            table,
            parts,
        }
    }
}

impl TableKind for FinalTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.schema.project(&request.projection);
        Ok(Arc::new(FinalSource {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            table: self.clone(),
            ids: ids(self.table.layout(), &request.projection),
            num_columns: request.projection.len(),
            filters: request.filters.clone(),
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

/// A scan of a [`FinalTable`]: one morsel, as each row may depend on any part.
#[derive(Debug)]
struct FinalSource {
    schema: SchemaRef,
    table: FinalTable,
    ids: Vec<usize>,
    /// How many of the columns the query wants.
    num_columns: usize,
    filters: Vec<Expr>,
}

impl MorselSource for FinalSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        1
    }

    fn open(&self, _morsel: usize) -> Result<BatchIter> {
        let layout = self.table.table.layout();
        // Conditions on other columns would take away rows that replace others.
        let is_key = |column: usize| layout.sorting_key.contains(&column);
        let is_wanted = |part: &Part, group: usize| {
            group_can_match(&self.table.schema, (part, group), &self.filters, &is_key)
        };
        let rows = MergedRows::for_query(layout, &self.table.parts, self.ids.clone(), &is_wanted)?;
        Ok(Box::new(FinalRows {
            rows,
            schema: Arc::clone(&self.schema),
            num_columns: self.num_columns,
        }))
    }

    fn num_rows(&self) -> Option<usize> {
        let parts = self.table.parts.iter();
        Some(parts.map(|p| p.metadata().num_rows()).sum())
    }

    fn describe(&self) -> String {
        format!("MergeTree FINAL, {} parts", self.table.parts.len())
    }
}

struct FinalRows {
    rows: MergedRows,
    schema: SchemaRef,
    num_columns: usize,
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
        Some(columns.and_then(|columns| self.batch(columns)))
    }
}
