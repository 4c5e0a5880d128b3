//! `uniqExactIf(x, c)` as `uniqExact(if(c, x, NULL))`: operators count different values by groups and values
//! together, which they do for whole functions and not for what a combinator makes of them.
//!
//! Both leave out a row whose condition is false or NULL, and one whose value is NULL.

use basalt_error::Result;
use basalt_parser::ast;
use basalt_types::DataType;

use super::Resolver;
use crate::Typed;

impl Resolver<'_> {
    /// The call `f` of the type `return_type` without its combinator; none if it is of another function, or
    /// counts values of a type that has no NULL.
    pub(super) fn distinct_with_condition(
        &self,
        f: &ast::Function,
        return_type: &DataType,
    ) -> Result<Option<Typed>> {
        let [value, condition] = f.args.as_slice() else {
            return Ok(None);
        };
        let is_plain = f.params.is_none() && f.over.is_none() && *return_type == DataType::UInt64;
        if !is_plain || self.implementation_name(f)? != "uniqExactIf" {
            return Ok(None);
        }
        let data_type = self.resolve(value)?.data_type;
        if !matches!(data_type, DataType::Nullable(_)) && !data_type.can_be_nullable() {
            return Ok(None);
        }
        let null = ast::Expr::literal(ast::Literal::Null).at(value.span);
        let call = |name: &str, args| ast::Expr::call(name, args).at(value.span);
        let kept = call("if", vec![condition.clone(), value.clone(), null]);
        self.resolve(&call("uniqExact", vec![kept])).map(Some)
    }
}
