//! Knows the keys that stand for floats (see [`FloatOrder`]).
//!
//! Columns with values that are not their own keys are rare. Where there is none, the key is the
//! column itself, which need not be computed and can be read back from the words.

use arrow::array::{ArrayRef, RecordBatch};
use basalt_analyzer::FloatOrder;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr};

/// The column that a key stands for, if it stands for one.
pub(super) fn key_column(expr: &dyn PhysicalExpr) -> Option<&Column> {
    expr.downcast_ref::<Column>().or_else(|| float_column(expr))
}

fn float_column(expr: &dyn PhysicalExpr) -> Option<&Column> {
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    call.fun().inner().downcast_ref::<FloatOrder>()?;
    call.args().first()?.downcast_ref()
}

/// The values of a key, and whether they are other ones than those of the column it stands for.
pub(super) fn key_values(sort: &PhysicalSortExpr, batch: &RecordBatch) -> Result<(ArrayRef, bool)> {
    match float_column(sort.expr.as_ref()) {
        Some(column) => {
            let column = batch.column(column.index());
            Ok(if FloatOrder::changes(column) {
                (FloatOrder::keys(column)?, true)
            } else {
                (ArrayRef::clone(column), false)
            })
        }
        None => {
            let values = sort.expr.evaluate(batch)?.into_array(batch.num_rows())?;
            Ok((values, false))
        }
    }
}
