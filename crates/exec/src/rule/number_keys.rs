//! Lets GROUP BY work on the numbers of strings that tables on disk have with dictionaries.
//!
//! ```text
//! GroupByExec: keys=[Phone]               ProjectionExec: string_of(Phone)
//!   FilterExec: Phone <> ''        ->       GroupByExec: keys=[Phone], a UInt32
//!     ScanExec: Phone, UserID                 ScanExec: Phone as a number; rows that pass
//! ```
//!
//! Steps between may pass the column on, but not look at it. A condition on it goes into the scan, which can evaluate
//! it once for each different string.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};

use super::swapped;
use crate::codes::{NumberedKeys, StringNumbers, StringOf};
use crate::group_by::GroupByExec;
use crate::scan::ScanExec;

/// Bytes of all strings of a grouping that are numbered, at most: they do not go to temporary files.
const MAX_BYTES: usize = 64 << 20;

/// The share of the bytes from which on groups do go there that the strings may take.
const MAX_SHARE: usize = 8;

/// The rule that gives keys of GROUP BY as numbers.
#[derive(Debug)]
pub struct NumberKeys {
    keys: NumberedKeys,
    /// Bytes of the strings, unless they are numbered in any case.
    max_bytes: Option<usize>,
}

impl NumberKeys {
    /// Numbers `keys`; groups go to temporary files when they take `external_bytes`, if they do.
    pub fn new(keys: NumberedKeys, external_bytes: Option<usize>) -> Self {
        let most = external_bytes.map_or(MAX_BYTES, |bytes| MAX_BYTES.min(bytes / MAX_SHARE));
        Self {
            keys,
            max_bytes: (keys != NumberedKeys::Always).then_some(most),
        }
    }
}

impl PhysicalOptimizerRule for NumberKeys {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.keys == NumberedKeys::Never {
            return Ok(plan);
        }
        swapped(plan, |node| match node.downcast_ref::<GroupByExec>() {
            Some(group_by) => numbered(group_by, self.max_bytes),
            None => Ok(None),
        })
    }

    fn name(&self) -> &str {
        "NumberKeys"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The grouping by numbers of those keys that can be such, below a projection that gives their strings; none if
/// there are no such keys.
fn numbered(
    group_by: &GroupByExec,
    max_bytes: Option<usize>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let [input] = group_by.children()[..] else {
        return Ok(None);
    };
    let mut input = Arc::clone(input);
    let num_keys = group_by.grouping().keys.len();
    let max_bytes = max_bytes.map(|bytes| bytes / num_keys.max(1));
    let mut keys: Vec<Option<Arc<StringNumbers>>> = vec![None; num_keys];
    for (key, numbers) in keys.iter_mut().enumerate() {
        let Some(column) = key_column(group_by, key, &input) else {
            continue;
        };
        let given = Arc::default();
        if let Some(with_numbers) = below(&input, (column, &given), max_bytes)? {
            input = with_numbers;
            *numbers = Some(given);
        }
    }
    if keys.iter().all(Option::is_none) {
        return Ok(None);
    }
    let fields: Vec<FieldRef> = group_by.schema().fields().to_vec();
    let is_number = |place: usize| keys.get(place).is_some_and(Option::is_some);
    let by_numbers = group_by.with_numbers(input, is_number)?;
    let exprs = fields.into_iter().enumerate().map(|(place, field)| {
        let alias = field.name().clone();
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(&alias, place));
        let numbers = keys.get(place).and_then(Option::as_ref);
        let expr = match numbers {
            Some(numbers) => Arc::new(StringOf::new(column, Arc::clone(numbers), field)),
            None => column,
        };
        ProjectionExpr { expr, alias }
    });
    let strings = ProjectionExec::try_new(exprs, Arc::new(by_numbers))?;
    Ok(Some(Arc::new(strings)))
}

/// The input's column that a key is, if it has strings and nothing else looks at it.
fn key_column(group_by: &GroupByExec, key: usize, input: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    let grouping = group_by.grouping();
    let column = grouping.keys[key].downcast_ref::<Column>()?.index();
    let keys = grouping.keys.iter().enumerate();
    let others = keys.filter(|(other, _)| *other != key).map(|(_, e)| e);
    let args = grouping.aggregates.iter().flat_map(|a| &a.args);
    let is_usable = is_of_strings(input, column)
        && grouping.kept_keys.is_none()
        && !others.chain(args).any(|expr| looks_at(expr, column));
    is_usable.then_some(column)
}

fn is_of_strings(plan: &Arc<dyn ExecutionPlan>, column: usize) -> bool {
    *plan.schema().field(column).data_type() == DataType::BinaryView
}

fn looks_at(expr: &Arc<dyn PhysicalExpr>, column: usize) -> bool {
    collect_columns(expr).iter().any(|c| c.index() == column)
}

/// The plan with numbers in a column; none if it cannot have them or they would not pay.
fn below(
    node: &Arc<dyn ExecutionPlan>,
    (column, numbers): (usize, &Arc<StringNumbers>),
    max_bytes: Option<usize>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(scan) = node.downcast_ref::<ScanExec>() {
        let scan = scan.numbered(column, numbers, max_bytes);
        return Ok(scan.map(|scan| Arc::new(scan) as _));
    }
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        return below_filter((node, filter), (column, numbers), max_bytes);
    }
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        let Some(column) = passed_on(projection, column) else {
            return Ok(None);
        };
        let Some(input) = below(projection.input(), (column, numbers), max_bytes)? else {
            return Ok(None);
        };
        // Given another input, it would keep its types.
        let projection = ProjectionExec::try_new(projection.expr().to_vec(), input)?;
        return Ok(Some(Arc::new(projection)));
    }
    match node.children()[..] {
        [input] if passes_all(node) => over(node, below(input, (column, numbers), max_bytes)?),
        _ => Ok(None),
    }
}

/// Whether a step hands on rows as they are.
fn passes_all(node: &Arc<dyn ExecutionPlan>) -> bool {
    let exchange = node.downcast_ref::<RepartitionExec>();
    let is_dealt = |exchange: &RepartitionExec| {
        matches!(exchange.partitioning(), Partitioning::RoundRobinBatch(_))
    };
    let coalesce = node.downcast_ref::<CoalescePartitionsExec>();
    node.is::<CooperativeExec>()
        || exchange.is_some_and(is_dealt)
        || coalesce.is_some_and(|coalesce| coalesce.fetch().is_none())
}

/// A step over another input, if there is one.
fn over(
    node: &Arc<dyn ExecutionPlan>,
    input: Option<Arc<dyn ExecutionPlan>>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let with_input = |input| replace_children_if_necessary(Arc::clone(node), vec![input]);
    input.map(with_input).transpose()
}

/// The input's column that a projection gives as its column, if no other one is computed from it.
fn passed_on(projection: &ProjectionExec, column: usize) -> Option<usize> {
    let exprs = projection.expr();
    let passed = exprs.get(column)?.expr.downcast_ref::<Column>()?.index();
    let mut others = exprs.iter().enumerate().filter(|(i, _)| *i != column);
    let is_alone = !others.any(|(_, other)| looks_at(&other.expr, passed));
    is_alone.then_some(passed)
}

/// As [`below`]; a filter that looks at the column goes into the scan.
fn below_filter(
    (node, filter): (&Arc<dyn ExecutionPlan>, &FilterExec),
    (column, numbers): (usize, &Arc<StringNumbers>),
    max_bytes: Option<usize>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if filter.fetch().is_some() {
        return Ok(None);
    }
    let input = filter.input();
    let all: Vec<usize> = (0..input.schema().fields().len()).collect();
    let columns = filter.projection().as_deref().unwrap_or(&all);
    let Some(passed) = columns.get(column).copied() else {
        return Ok(None);
    };
    if !looks_at(filter.predicate(), passed) {
        return over(node, below(input, (passed, numbers), max_bytes)?);
    }
    let numbered = |scan: &ScanExec| {
        let filtered = scan.filtered(filter.predicate(), columns)?;
        filtered.numbered(column, numbers, max_bytes)
    };
    scan_below(input, &numbered)
}

/// The plan with another scan, if that exists and all steps above the scan pass on what it has.
fn scan_below(
    node: &Arc<dyn ExecutionPlan>,
    other: &dyn Fn(&ScanExec) -> Option<ScanExec>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(scan) = node.downcast_ref::<ScanExec>() {
        return Ok(other(scan).map(|scan| Arc::new(scan) as _));
    }
    match node.children()[..] {
        [input] if passes_all(node) => over(node, scan_below(input, other)?),
        _ => Ok(None),
    }
}
