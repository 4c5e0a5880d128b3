//! Expressions of plans as people write them.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr_common::physical_expr::fmt_sql;

/// The expression as SQL: strings, which plans hold as bytes, stand in quotes.
pub fn sql_of(expr: &Arc<dyn PhysicalExpr>) -> String {
    let readable = Arc::clone(expr).transform_up(quoted).data();
    let readable = readable.unwrap_or_else(|_| Arc::clone(expr));
    fmt_sql(readable.as_ref()).to_string()
}

fn quoted(expr: Arc<dyn PhysicalExpr>) -> Result<Transformed<Arc<dyn PhysicalExpr>>> {
    let bytes = match expr.downcast_ref::<Literal>().map(Literal::value) {
        Some(ScalarValue::BinaryView(Some(bytes)) | ScalarValue::Binary(Some(bytes))) => bytes,
        _ => return Ok(Transformed::no(expr)),
    };
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace('\\', "\\\\").replace('\'', "\\'");
    let literal = Literal::new(ScalarValue::from(format!("'{text}'")));
    Ok(Transformed::yes(Arc::new(literal)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};

    use super::sql_of;

    #[test]
    fn strings_are_quoted() {
        let text = Literal::new(ScalarValue::BinaryView(Some(b"it's".to_vec())));
        let column = Column::new("s", 0);
        let expr: Arc<dyn PhysicalExpr> = Arc::new(BinaryExpr::new(
            Arc::new(column),
            Operator::Eq,
            Arc::new(text),
        ));
        assert_eq!(sql_of(&expr), "s = 'it\\'s'");
    }
}
