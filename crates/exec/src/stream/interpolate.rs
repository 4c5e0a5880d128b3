//! Runs INTERPOLATE: columns of inserted rows that are computed from the row before.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::{concat, interleave};
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::Interpolated;
use basalt_analyzer::plan_error;
use basalt_error::{Error, Result};
use datafusion::common::DFSchema;
use datafusion::execution::context::ExecutionProps;
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};

use super::bug;
use super::with_fill::Filled;

/// The columns of an INTERPOLATE.
pub(super) struct Interpolation {
    columns: Vec<(usize, Arc<dyn PhysicalExpr>)>,
    /// The row before the next one; defaults before the first.
    last: RecordBatch,
}

impl Interpolation {
    pub(super) fn try_new(
        input: &SchemaRef,
        interpolated: &[Interpolated],
        defaults: &[ArrayRef],
    ) -> Result<Self> {
        let schema = DFSchema::try_from(Arc::clone(input)).map_err(plan_error)?;
        let props = ExecutionProps::new();
        let mut columns = Vec::with_capacity(interpolated.len());
        for item in interpolated {
            let index = input
                .index_of(&item.name)
                .map_err(|e| Error::bug(e.to_string()))?;
            let value = create_physical_expr(&item.value, &schema, &props, &Default::default());
            columns.push((index, value.map_err(plan_error)?));
        }
        let last = RecordBatch::try_new(Arc::clone(input), defaults.to_vec()).map_err(bug)?;
        Ok(Self { columns, last })
    }

    /// The rows with the columns of inserted ones computed.
    pub(super) fn apply(&mut self, rows: RecordBatch, filled: &Filled) -> Result<RecordBatch> {
        if self.columns.is_empty() {
            return Ok(rows);
        }
        let mut computed: Vec<Vec<ArrayRef>> = vec![Vec::new(); self.columns.len()];
        let mut picks = Vec::with_capacity(filled.order.len());
        for (row, (source, _)) in filled.order.iter().enumerate() {
            let mut this = rows.slice(row, 1);
            if *source == 0 {
                picks.push((0, row));
            } else {
                picks.push((1, computed.first().map_or(0, Vec::len)));
                let mut columns = this.columns().to_vec();
                for ((index, value), column) in self.columns.iter().zip(&mut computed) {
                    let value = value.evaluate(&self.last).and_then(|v| v.into_array(1));
                    let value = value.map_err(plan_error)?;
                    columns[*index] = Arc::clone(&value);
                    column.push(value);
                }
                this = RecordBatch::try_new(rows.schema(), columns).map_err(bug)?;
            }
            self.last = this;
        }
        let mut columns = rows.columns().to_vec();
        for ((index, _), values) in self.columns.iter().zip(&computed) {
            let values: Vec<&dyn Array> = values.iter().map(AsRef::as_ref).collect();
            if !values.is_empty() {
                let values = concat(&values).map_err(bug)?;
                let sources: [&dyn Array; 2] = [&columns[*index], &values];
                columns[*index] = interleave(&sources, &picks).map_err(bug)?;
            }
        }
        RecordBatch::try_new(rows.schema(), columns).map_err(bug)
    }
}
