//! Plans ARRAY JOIN and the `arrayJoin` function.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::from::Source;
use super::join::{all_columns, default_where_null};
use super::{Analyzer, Outer};
use crate::expr::aliases::Aliases;
use crate::expr::call::array_element;
use crate::expr::{ArrayJoinCall, Resolver};
use crate::plan::{StreamOperator, project, stream_node};
use crate::plan_error;
use crate::scope::{Scope, ScopeColumn};
use crate::typed::{Typed, column};

impl Analyzer<'_> {
    /// `[LEFT] ARRAY JOIN a, b AS x`: a column under its own name becomes its element, an alias a
    /// column beside it.
    pub(crate) fn array_join(
        &self,
        source: Source,
        left: bool,
        exprs: &[ast::Expr],
        outer: &Outer,
    ) -> Result<Source> {
        let Source {
            plan, mut scope, ..
        } = source;
        let exprs = nested_columns(&scope, exprs);
        let arrays = self.resolve_arrays(&scope, &exprs, outer)?;
        let mut projected: Vec<Expr> = plan
            .schema()
            .iter()
            .map(|(q, f)| Expr::from((q, f)))
            .collect();
        let (mut columns, mut outputs) = (Vec::new(), Vec::new());
        let mut elements = Vec::new();
        for (expr, typed, element) in arrays {
            let list = self.fresh("array");
            projected.push(typed.expr.alias(&list));
            columns.push(list);
            let name = match (&expr.kind, expr.alias()) {
                (_, Some(alias)) => alias.to_owned(),
                (ExprKind::Identifier(parts), None) => parts.last().cloned().unwrap_or_default(),
                _ => basalt_parser::column_name(expr),
            };
            let internal = self.fresh(&name);
            outputs.push(self.fresh(&name));
            elements.push((internal.clone(), element.clone()));
            let replaced = expr
                .alias()
                .is_none()
                .then(|| scope.columns.iter_mut().find(|c| c.name == name));
            match replaced.flatten() {
                Some(c) => {
                    c.internal = internal;
                    c.data_type = element;
                }
                None => scope.columns.push(ScopeColumn {
                    qualifier: Vec::new(),
                    name,
                    internal,
                    data_type: element,
                    hidden: true,
                    merged: false,
                    origin: None,
                }),
            }
        }
        let plan = project(plan, projected)?;
        let mut shown = all_columns(&plan);
        shown.extend(shown_elements(&outputs, elements, left)?);
        let operator = StreamOperator::ArrayJoin {
            left,
            columns,
            outputs,
        };
        let plan = project(stream_node(plan, operator).map_err(plan_error)?, shown)?;
        Ok(Source {
            plan,
            scope,
            totals: None,
        })
    }

    /// Each expression as written, resolved, and the type of its elements.
    fn resolve_arrays<'e>(
        &self,
        scope: &Scope,
        exprs: &'e [ast::Expr],
        outer: &Outer,
    ) -> Result<Vec<(&'e ast::Expr, Typed, DataType)>> {
        let aliases = Aliases::default();
        let resolver = Resolver::new(self, outer, scope, &aliases);
        let resolve = |expr: &'e ast::Expr| {
            let typed = resolver.resolve(expr)?;
            let element = array_element(&typed.data_type).ok_or_else(|| {
                let message = format!(
                    "ARRAY JOIN requires an array or a map, not {}",
                    typed.data_type
                );
                Error::new(ErrorCode::TYPE_MISMATCH, message)
            })?;
            Ok((expr, typed, element))
        };
        exprs.iter().map(resolve).collect()
    }

    /// `arrayJoin(x)`: its column stands behind the plan's.
    pub(crate) fn apply_array_join_call(
        &self,
        plan: LogicalPlan,
        call: ArrayJoinCall,
    ) -> Result<LogicalPlan> {
        let list = self.fresh("array");
        let mut exprs: Vec<Expr> = plan
            .schema()
            .iter()
            .map(|(q, f)| Expr::from((q, f)))
            .collect();
        exprs.push(call.argument.expr.alias(&list));
        let plan = project(plan, exprs)?;
        let operator = StreamOperator::ArrayJoin {
            left: false,
            columns: vec![list],
            outputs: vec![call.internal],
        };
        stream_node(plan, operator).map_err(plan_error)
    }
}

/// The elements under the names and with the types that the scope has for them; with `left`, the
/// NULL of an empty array is the type's default.
fn shown_elements(
    outputs: &[String],
    elements: Vec<(String, DataType)>,
    left: bool,
) -> Result<Vec<Expr>> {
    let shown = outputs
        .iter()
        .zip(elements)
        .map(|(output, (name, element))| {
            let mut expr = column(output);
            if left && !element.is_nullable() {
                expr = default_where_null(expr, &element)?;
            }
            Ok(expr.alias(name))
        });
    shown.collect()
}

/// The expressions with each name of a Nested (`n`, where there are `n.a` and `n.b`) as its columns.
fn nested_columns(scope: &Scope, exprs: &[ast::Expr]) -> Vec<ast::Expr> {
    let mut all = Vec::with_capacity(exprs.len());
    for expr in exprs {
        let ExprKind::Identifier(parts) = &expr.unaliased().kind else {
            all.push(expr.clone());
            continue;
        };
        let prefix = format!("{}.", parts.join("."));
        let shown = expr
            .alias()
            .map_or_else(|| prefix.clone(), |alias| format!("{alias}."));
        let is_column = scope.columns.iter().any(|c| c.name == parts.join("."));
        let elements = scope
            .columns
            .iter()
            .filter_map(|c| c.name.strip_prefix(&prefix));
        let elements: Vec<&str> = if is_column {
            Vec::new()
        } else {
            elements.collect()
        };
        for element in &elements {
            let column = ast::Expr::column(format!("{prefix}{element}")).at(expr.span);
            let name = format!("{shown}{element}");
            let kind = ExprKind::Alias {
                expr: Box::new(column.clone()),
                name,
            };
            all.push(if shown == prefix {
                column
            } else {
                ast::Expr::new(kind, expr.span)
            });
        }
        if elements.is_empty() {
            all.push(expr.clone());
        }
    }
    all
}
