//! Counts the rows of a group for which a comparison with a constant holds, by what the part knows of them.

use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::datatypes::SchemaRef;
use basalt_storage::Part;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_expr::utils::reassign_expr_columns;

use super::constants::{can_hold, integer, integers};
use super::stages::{ReadColumn, Stages};

/// A condition whose rows are counted.
#[derive(Debug)]
pub(super) struct Counting {
    /// Evaluates it where it is not known.
    stages: Stages,
    /// The column of the table, and the constant that it is compared with.
    comparison: (usize, Operator, ScalarValue),
}

impl Counting {
    /// The rows of `predicate`, whose columns have the names of the table's; none if it is no comparison of a column
    /// with a constant of its type.
    pub(super) fn new(predicate: &Arc<dyn PhysicalExpr>, table: &SchemaRef) -> Option<Self> {
        let predicate = reassign_expr_columns(Arc::clone(predicate), table).ok()?;
        Some(Self {
            comparison: comparison(&predicate, table)?,
            stages: Stages::new(&predicate, table)?,
        })
    }

    /// How many of a group's rows fulfil the condition, if the part knows it.
    pub(super) fn known(&self, (part, group): (&Part, usize)) -> Option<usize> {
        let (column, op, value) = &self.comparison;
        if !part.metadata().is_whole(group) {
            return None;
        }
        let known = &part.metadata().columns[*column].groups[group];
        let num_values = part.metadata().group_rows[group].checked_sub(known.null_count)?;
        let zeros = known.zero_count.filter(|_| is_zero(value));
        // Of damaged numbers nothing is known.
        let zeros = zeros.filter(|zeros| *zeros <= num_values);
        let num = match (op, zeros) {
            (Operator::Eq, Some(zeros)) => zeros,
            (Operator::NotEq, Some(zeros)) => num_values - zeros,
            _ => {
                let bounds = integers(&value.data_type(), known.bounds?)?;
                let value = integer(&value.data_type(), value)?;
                if !can_hold(bounds, *op, value)? {
                    0
                } else if !can_hold(bounds, op.negate()?, value)? {
                    num_values
                } else {
                    return None;
                }
            }
        };
        usize::try_from(num).ok()
    }

    /// Which of a group's rows fulfil the condition.
    pub(super) fn evaluated(
        &self,
        num_rows: usize,
        group: &mut dyn ReadColumn,
    ) -> basalt_error::Result<Option<BooleanArray>> {
        let (passing, is_known) = self.stages.passing(num_rows, None, group)?;
        Ok(is_known.then_some(passing))
    }
}

fn comparison(
    predicate: &Arc<dyn PhysicalExpr>,
    table: &SchemaRef,
) -> Option<(usize, Operator, ScalarValue)> {
    let binary = predicate.downcast_ref::<BinaryExpr>()?;
    let column = |side: &Arc<dyn PhysicalExpr>| Some(side.downcast_ref::<Column>()?.index());
    let value = |side: &Arc<dyn PhysicalExpr>| {
        let literal = side.downcast_ref::<Literal>()?;
        Some(literal.value().clone())
    };
    let (column, op, value) = match (column(binary.left()), column(binary.right())) {
        (Some(column), None) => (column, *binary.op(), value(binary.right())?),
        (None, Some(column)) => (column, binary.op().swap()?, value(binary.left())?),
        _ => return None,
    };
    let is_of_type = *table.field(column).data_type() == value.data_type();
    is_of_type.then_some((column, op, value))
}

/// Whether a constant is 0 or empty.
fn is_zero(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::BinaryView(Some(bytes)) => bytes.is_empty(),
        ScalarValue::Float32(Some(number)) => *number == 0.0,
        ScalarValue::Float64(Some(number)) => *number == 0.0,
        _ => integer(&value.data_type(), value) == Some(0),
    }
}
