//! Reads the TTL of a table: when its rows expire.

use basalt_analyzer::column_names;
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{Expr, Literal, TtlAction, TtlItem};
use basalt_storage::Layout;
use basalt_types::DataType;

/// When a row expires by each of the items; rows that an item's WHERE leaves out do not.
pub(super) fn exprs(items: &[TtlItem]) -> Result<Vec<Expr>> {
    items.iter().map(expr).collect()
}

fn expr(item: &TtlItem) -> Result<Expr> {
    if item.action != TtlAction::Delete {
        return Err(Error::not_implemented("TTL that does not delete"));
    }
    if column_names(&item.expr).is_empty() {
        let text = basalt_parser::format_expr(&item.expr);
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Name a column: TTL expression {text} does not depend on any of the table's"),
        ));
    }
    let Some(condition) = &item.where_ else {
        return Ok(item.expr.clone());
    };
    let time = Expr::call("toDateTime", vec![item.expr.clone()]);
    let never = Expr::call("toDateTime", vec![Expr::literal(Literal::UInt(0))]);
    let condition = condition.clone().or_false();
    Ok(Expr::call("if", vec![condition, time, never]))
}

/// Refuses what is no time.
pub(super) fn check(layout: &Layout, columns: &[usize]) -> Result<()> {
    for column in columns {
        let data_type = &layout.columns[*column].data_type;
        match data_type {
            DataType::Date | DataType::DateTime(_) => {}
            DataType::Date32 | DataType::DateTime64(..) => {
                return Err(Error::not_implemented(format!(
                    "TTL of type {data_type} (toDateTime makes one that is)"
                )));
            }
            _ => {
                return Err(Error::new(
                    ErrorCode::BAD_TTL_EXPRESSION,
                    format!("TTL expression must be a Date or DateTime, but is {data_type}"),
                ));
            }
        }
    }
    Ok(())
}
