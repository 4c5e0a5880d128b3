//! Compares tuples element by element, so that the rest of the engine sees what is asked of each column.

use std::sync::Arc;

use basalt_error::{Error, Result};
use basalt_types::DataType;
use datafusion::arrow::array::AsArray;
use datafusion::logical_expr::Expr;

use super::Resolver;
use crate::{Typed, udf};

impl Resolver<'_> {
    /// `(a, b) = (1, 2)` as `a = 1 AND b = 2`, and `!=` as `OR`; `None` unless both sides are written as tuples, or one
    /// is and the other is constant.
    pub(super) fn compared_by_elements(&self, name: &str, args: &[Typed]) -> Result<Option<Typed>> {
        let [a, b] = args else {
            return Ok(None);
        };
        let is_and = name == "equals";
        let is_known = (is_and || name == "notEquals")
            && (written(a) && (written(b) || b.constant.is_some())
                || a.constant.is_some() && written(b));
        if !is_known {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (elements(a)?, elements(b)?) else {
            return Ok(None);
        };
        if a.len() != b.len() || a.len() < 2 {
            return Ok(None);
        }
        let pairs = a.into_iter().zip(b);
        let compared = pairs.map(|(a, b)| self.comparison(name, vec![a, b]));
        let compared = compared.collect::<Result<_>>()?;
        self.logic(is_and, compared).map(Some)
    }
}

/// Whether it is a call of `tuple`.
fn written(typed: &Typed) -> bool {
    udf::function_name(&typed.expr) == Some("tuple")
}

/// The elements of a constant tuple, or of one that is written as such.
fn elements(tuple: &Typed) -> Result<Option<Vec<Typed>>> {
    let DataType::Tuple(types) = &tuple.data_type else {
        return Ok(None);
    };
    if let Some(value) = &tuple.constant {
        let value = value.as_struct_opt();
        let value = value.ok_or_else(|| Error::bug("a tuple that is no struct"))?;
        let elements = value.columns().iter().zip(&types.types);
        let elements = elements.map(|(v, of)| Typed::constant(Arc::clone(v), of.clone()));
        return elements.collect::<Result<_>>().map(Some);
    }
    let Expr::ScalarFunction(call) = &tuple.expr else {
        return Ok(None);
    };
    if !written(tuple) || call.args.len() != types.types.len() {
        return Ok(None);
    }
    let element = |(expr, of): (&Expr, &DataType)| match expr {
        Expr::Literal(value, _) => {
            let value = value.to_array().map_err(crate::plan_error)?;
            Typed::constant(value, of.clone())
        }
        _ => Ok(Typed::new(expr.clone(), of.clone())),
    };
    let elements = call.args.iter().zip(&types.types).map(element);
    elements.collect::<Result<_>>().map(Some)
}
