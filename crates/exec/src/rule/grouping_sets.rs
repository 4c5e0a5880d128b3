//! Groups by several sets of keys as by one, over rows that are there once for each set.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::Schema;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::PhysicalGroupBy;

use crate::group_by::{GroupByExec, Grouping, SetRowsExec};

/// Makes the operator of a grouping over the rows of an input.
type MakeGrouping<'a> = &'a dyn Fn(Arc<dyn ExecutionPlan>, Grouping) -> Result<GroupByExec>;

/// The grouping by `sets` of rows of `input`.
///
/// If one of the sets has all keys, its groups are made first, and the others from these: they are fewer
/// than the rows.
pub(super) fn by_sets(
    input: &Arc<dyn ExecutionPlan>,
    sets: &PhysicalGroupBy,
    grouping: Grouping,
    make: MakeGrouping<'_>,
) -> Result<GroupByExec> {
    let has_all_keys = |set: &Vec<bool>| !set.is_empty() && set.iter().all(|left_out| !left_out);
    let is_staged = sets.groups().len() > 1 && sets.groups().iter().any(has_all_keys);
    if !is_staged {
        let (rows, grouping) = over_set_rows(input, sets, grouping)?;
        return make(rows, grouping);
    }
    let keys = PhysicalGroupBy::new_single(sets.expr().to_vec());
    let keys = keys.group_schema(&input.schema())?;
    let second = grouping.second_stage();
    let groups: Arc<dyn ExecutionPlan> =
        Arc::new(make(Arc::clone(input), grouping.first_stage(&keys))?);
    let columns = second.keys.iter().zip(sets.expr());
    let columns = columns.map(|(column, (_, name))| (Arc::clone(column), name.clone()));
    let nulls = sets.null_expr().to_vec();
    let sets = PhysicalGroupBy::new(columns.collect(), nulls, sets.groups().to_vec(), true);
    let (rows, grouping) = over_set_rows(&groups, &sets, second)?;
    make(rows, grouping)
}

/// The rows to group and the grouping over them, for one whose keys and aggregates are over `input`.
fn over_set_rows(
    input: &Arc<dyn ExecutionPlan>,
    sets: &PhysicalGroupBy,
    mut grouping: Grouping,
) -> Result<(Arc<dyn ExecutionPlan>, Grouping)> {
    let num_keys = sets.expr().len() + 1;
    let mut args: Vec<Arc<dyn PhysicalExpr>> = Vec::new();
    for arg in grouping.aggregates.iter_mut().flat_map(|a| &mut a.args) {
        if !arg.is::<Literal>() {
            let place = position(&mut args, arg);
            *arg = Arc::new(Column::new(&format!("arg{place}"), num_keys + place));
        }
    }
    let rows = SetRowsExec::try_new(Arc::clone(input), Arc::new(sets.clone()), args.into())?;
    let schema = rows.schema();
    let key = |i| -> Arc<dyn PhysicalExpr> { Arc::new(Column::new(schema.field(i).name(), i)) };
    grouping.keys = (0..num_keys).map(key).collect();
    grouping.kept_keys = empty_sets(sets, &schema)?;
    Ok((Arc::new(rows), grouping))
}

fn position(args: &mut Vec<Arc<dyn PhysicalExpr>>, arg: &Arc<dyn PhysicalExpr>) -> usize {
    args.iter()
        .position(|known| known == arg)
        .unwrap_or_else(|| {
            args.push(Arc::clone(arg));
            args.len() - 1
        })
}

/// The keys of the sets without keys, which have a group over no rows, too: NULL, and the sets' numbers. The
/// latter have a bit for each key left out, and above these how many equal sets came before.
fn empty_sets(sets: &PhysicalGroupBy, schema: &Schema) -> Result<Option<Vec<ArrayRef>>> {
    let is_empty = |set: &&Vec<bool>| set.iter().all(|left_out| *left_out);
    let num_empty = sets.groups().iter().filter(is_empty).count();
    if num_empty == 0 {
        return Ok(None);
    }
    let num_keys = sets.expr().len();
    let all_left_out = (1_u64 << num_keys) - 1;
    let numbers = (0..num_empty as u64).map(|i| i << num_keys | all_left_out);
    let numbers: ArrayRef = Arc::new(UInt64Array::from_iter_values(numbers));
    let null = |i| new_null_array(schema.field(i).data_type(), num_empty);
    let mut keys: Vec<ArrayRef> = (0..num_keys).map(null).collect();
    keys.push(cast(&numbers, schema.field(num_keys).data_type())?);
    Ok(Some(keys))
}
