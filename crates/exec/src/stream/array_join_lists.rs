//! Says where ARRAY JOIN has its lists from, and what of its input stays as it is.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use basalt_analyzer::plan::{ConstantList, ListSource, StreamOperator};
use basalt_analyzer::udf::gives_copies;
use datafusion::common::{ScalarValue, internal_err};
use datafusion::error::Result;
use datafusion::physical_expr::equivalence::ProjectionMapping;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};

/// Where the lists of the rows are.
pub(super) enum Lists {
    /// In a column of the input.
    Column(usize),
    /// One for all rows, in an array of one row.
    Constant(ListArray),
}

impl Lists {
    pub(super) fn array<'a>(&'a self, batch: &'a RecordBatch) -> &'a ListArray {
        match self {
            Self::Column(column) => batch.column(*column).as_list::<i32>(),
            Self::Constant(list) => list,
        }
    }

    /// The row of [`Lists::array`] that a row of the batch has.
    pub(super) fn row(&self, row: usize) -> usize {
        match self {
            Self::Column(_) => row,
            Self::Constant(_) => 0,
        }
    }
}

/// Lists without elements, of the type of `list`.
pub(super) fn empty_lists(list: &ListArray, num_rows: usize) -> ListArray {
    let field = match list.data_type() {
        DataType::List(field) => Arc::clone(field),
        other => Arc::new(Field::new_list_field(other.clone(), true)),
    };
    let offsets = OffsetBuffer::new_zeroed(num_rows);
    ListArray::new(field, offsets, list.values().slice(0, 0), None)
}

/// The column of a list's elements.
pub(super) fn element_field(input: &SchemaRef, list: &ListSource, name: &str) -> Result<FieldRef> {
    let list_type = match list {
        ListSource::Column(name) => input.field_with_name(name)?.data_type(),
        ListSource::Constant(list) => list.array().data_type(),
    };
    match list_type {
        DataType::List(item) => Ok(Arc::new(Field::new(name, item.data_type().clone(), true))),
        _ => internal_err!("{list} is no list"),
    }
}

/// The columns that come out as they go in: all but the lists, which come out empty.
pub(super) fn kept_columns(input: &SchemaRef, lists: &[ListSource]) -> ProjectionMapping {
    let is_list = |name: &String| lists.iter().any(|list| list.column() == Some(name));
    let fields = input.fields().iter().enumerate();
    let kept = fields.filter(|(_, field)| !is_list(field.name()));
    let kept = kept.map(|(i, field)| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), i));
        (Arc::clone(&column), vec![(column, i)].into())
    });
    kept.collect()
}

/// ARRAY JOIN with the lists that its input computes as constants, as of a column of a subquery: as columns
/// they would be copied for each row.
pub(super) fn with_constant_lists(
    input: Arc<dyn ExecutionPlan>,
    mut operator: StreamOperator,
) -> Result<(Arc<dyn ExecutionPlan>, StreamOperator)> {
    let (Some(projection), StreamOperator::ArrayJoin { lists, .. }) =
        (input.downcast_ref::<ProjectionExec>(), &mut operator)
    else {
        return Ok((input, operator));
    };
    let mut exprs: Vec<ProjectionExpr> = projection.expr().to_vec();
    let mut has_constants = false;
    for list in lists {
        let column = exprs.iter_mut().find(|e| list.column() == Some(&e.alias));
        let Some(column) = column else {
            continue;
        };
        let Some(array) = constant_list(&column.expr, projection.input())? else {
            continue;
        };
        let empty = ScalarValue::List(Arc::new(empty_lists(&array, 1)));
        column.expr = Arc::new(Literal::new(empty));
        *list = ListSource::Constant(ConstantList::new(array));
        has_constants = true;
    }
    if !has_constants {
        return Ok((input, operator));
    }
    let input = ProjectionExec::try_new(exprs, Arc::clone(projection.input()))?;
    Ok((Arc::new(input) as Arc<dyn ExecutionPlan>, operator))
}

/// The list that an expression over the rows of `input` is in all of them.
fn constant_list(
    expr: &Arc<dyn PhysicalExpr>,
    input: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<ListArray>>> {
    if let Some(column) = expr.downcast_ref::<Column>() {
        let below = input.downcast_ref::<ProjectionExec>();
        return match below.and_then(|p| Some((p, p.expr().get(column.index())?))) {
            Some((projection, below)) => constant_list(&below.expr, projection.input()),
            None => Ok(None),
        };
    }
    let value = if let Some(literal) = expr.downcast_ref::<Literal>() {
        literal.value().clone()
    } else if let Some(call) = expr.downcast_ref::<ScalarFunctionExpr>()
        && gives_copies(call.fun())
        && let [constant] = call.args()
    {
        let no_columns = Arc::new(Schema::empty());
        let one_row = RecordBatchOptions::new().with_row_count(Some(1));
        let row = RecordBatch::try_new_with_options(no_columns, Vec::new(), &one_row)?;
        let array = constant.evaluate(&row)?.into_array(1)?;
        return Ok(array
            .as_list_opt::<i32>()
            .map(|list| Arc::new(list.clone())));
    } else {
        return Ok(None);
    };
    Ok(match value {
        ScalarValue::List(array) => Some(array),
        _ => None,
    })
}

/// The column that stands for one of lists.
pub(super) fn empty_column(column: &ArrayRef, num_rows: usize) -> ArrayRef {
    Arc::new(empty_lists(column.as_list(), num_rows))
}
