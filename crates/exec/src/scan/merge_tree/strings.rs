//! Tells whether strings are stored so that their numbers are worth more than they, and which rows a condition
//! picks where no step above the scan evaluates it again.

use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{filter_record_batch, prep_null_mask_filter};
use arrow::datatypes::{SchemaRef, UInt16Type};
use basalt_analyzer::lazy_logic::made_lazy;
use basalt_analyzer::plan_error;
use basalt_error::{Error, Result};
use basalt_storage::merge_tree::flat;
use basalt_types::DataType;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};

use super::source::Group;
use super::stages::{ReadColumn, scattered};

/// Rows for each different string of a group, at least: numbering a string costs about as much as grouping
/// some rows by theirs.
const ROWS_PER_STRING: usize = 8;

/// The same of columns that are declared to have few.
const ROWS_PER_DECLARED: usize = 2;

/// Bytes that the numbered strings may take if all groups have others: they do not go to temporary files.
const MAX_BYTES: usize = 64 << 20;

/// Whether a column's groups have few different strings: the first and the middle one speak for all.
pub(super) fn has_few_strings(
    groups: &[Group],
    (column, data_type): (usize, &DataType),
    is_cached: bool,
) -> bool {
    let least = match data_type {
        DataType::LowCardinality(_) => ROWS_PER_DECLARED,
        _ => ROWS_PER_STRING,
    };
    let has_few = |(part, group): &Group| {
        let read = part.read_encoded((column, *group), is_cached).ok();
        let strings = read.as_ref()?.0.as_dictionary_opt::<UInt16Type>()?;
        let values = strings.values();
        let bytes =
            values.as_binary_view_opt()?.total_bytes_len() + size_of::<u128>() * values.len();
        let is_few = values.len() * least <= strings.len();
        (is_few && bytes.saturating_mul(groups.len()) <= MAX_BYTES).then_some(())
    };
    let sample = [groups.first(), groups.get(groups.len() / 2)];
    !groups.is_empty()
        && sample
            .into_iter()
            .flatten()
            .all(|group| has_few(group).is_some())
}

/// Which of the rows in `among` fulfil a condition over the fields of `all`.
///
/// # Errors
/// What evaluating the condition reports.
pub(super) fn passing_rows(
    (condition, all): (&Arc<dyn PhysicalExpr>, &SchemaRef),
    among: &BooleanArray,
    group: &mut dyn ReadColumn,
) -> Result<BooleanArray> {
    let bug = |e: arrow::error::ArrowError| Error::bug(e.to_string());
    let mut needed: Vec<usize> = collect_columns(condition)
        .iter()
        .map(|c| c.index())
        .collect();
    needed.sort_unstable();
    let schema = Arc::new(all.project(&needed).map_err(bug)?);
    let condition = reassign_expr_columns(Arc::clone(condition), &schema).map_err(plan_error)?;
    let lazy = made_lazy(&condition).map_err(plan_error)?;
    let columns = needed.iter().map(|c| flat(&group.column(*c)?));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(among.len()));
    let batch = RecordBatch::try_new_with_options(schema, columns, &options).map_err(bug)?;
    // Rows that no top-N wants any more are not looked at: they may be what an error is about.
    let batch = filter_record_batch(&batch, among).map_err(bug)?;
    let found = lazy.unwrap_or(condition).evaluate(&batch);
    let found = found.and_then(|found| found.into_array(batch.num_rows()));
    let found = found.map_err(plan_error)?;
    let found = found.as_boolean_opt();
    let found = found.ok_or_else(|| Error::bug("a condition that is no Bool"))?;
    let found = prep_null_mask_filter(found);
    Ok(scattered(&found, among))
}
