//! Offers anything that can make a [`MorselSource`] to DataFusion as a table.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use basalt_analyzer::into_plan_error;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, internal_datafusion_err};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_plan::ExecutionPlan;

use super::sets::without_sets;
use super::{MorselSource, ScanExec, ScanRequest};
use crate::QueryControl;

/// What a kind of table does for a scan.
pub trait TableKind: fmt::Debug + Send + Sync + 'static {
    /// Fields of the stored columns.
    fn schema(&self) -> SchemaRef;

    /// The rows of a scan.
    ///
    /// # Errors
    /// What opening the table reports.
    fn source(&self, request: &ScanRequest) -> basalt_error::Result<Arc<dyn MorselSource>>;

    /// Whether conditions help to read less.
    fn uses_filters(&self) -> bool {
        false
    }
}

/// A table of some kind.
#[derive(Debug)]
pub struct SourceTable<K>(pub K);

impl<K: TableKind> SourceTable<K> {
    /// The filters as one expression over the fields, if there is one for these.
    fn condition(&self, state: &dyn Session, filters: &[Expr]) -> Option<Arc<dyn PhysicalExpr>> {
        let schema = DFSchema::try_from(self.0.schema().as_ref().clone()).ok()?;
        // One by one: types are looked up at each level of a chain, for all that is below it.
        let each = filters.iter().cloned();
        let each = each.map(|filter| state.create_physical_expr(filter, &schema));
        let each = each.collect::<Result<Vec<_>>>().ok()?;
        (!each.is_empty()).then(|| conjunction(each))
    }
}

#[async_trait]
impl<K: TableKind> TableProvider for SourceTable<K> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let control = state
            .config()
            .get_extension::<QueryControl>()
            .ok_or_else(|| internal_datafusion_err!("a query without control"))?;
        let num_threads = state.config().target_partitions();
        let all = || (0..self.schema().fields().len()).collect();
        let condition = self
            .0
            .uses_filters()
            .then(|| self.condition(state, filters));
        let request = ScanRequest {
            condition: condition.flatten(),
            projection: projection.cloned().unwrap_or_else(all),
            filters: filters.iter().map(without_sets).collect(),
            limit,
            num_threads,
            batch_rows: state.config().batch_size().max(1),
            control: Arc::clone(&control),
        };
        let source = self.0.source(&request).map_err(into_plan_error)?;
        Ok(Arc::new(ScanExec::new(source, control, num_threads, limit)))
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let answer = if self.0.uses_filters() {
            TableProviderFilterPushDown::Inexact
        } else {
            TableProviderFilterPushDown::Unsupported
        };
        Ok(vec![answer; filters.len()])
    }
}
