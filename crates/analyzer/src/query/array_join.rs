//! Plans ARRAY JOIN and the `arrayJoin` function.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::from::Source;
use super::join::{all_columns, default_where_null};
use super::{Analyzer, Outer};
use crate::expr::aliases::Aliases;
use crate::expr::call::array_element;
use crate::expr::{ArrayJoinCall, Resolver};
use crate::plan::{ConstantList, ListSource, StreamOperator, project, stream_node};
use crate::plan_error;
use crate::scope::{Scope, ScopeColumn};
use crate::subcolumn::has_part;
use crate::typed::{Typed, column};

impl Analyzer<'_> {
    /// `[LEFT] ARRAY JOIN a, b AS x`: a column under its own name becomes its element, an alias a
    /// column beside it.
    pub(crate) fn array_join(
        &self,
        source: Source,
        left: bool,
        exprs: &[ast::Expr],
        (outer, aliases): (&Outer, &Aliases<'_>),
    ) -> Result<Source> {
        let Source {
            plan, mut scope, ..
        } = source;
        let exprs = nested_columns(&scope, exprs)?;
        let arrays = self.resolve_arrays(&scope, &exprs, (outer, aliases))?;
        let mut projected: Vec<Expr> = plan
            .schema()
            .iter()
            .map(|(q, f)| Expr::from((q, f)))
            .collect();
        let (mut lists, mut outputs) = (Vec::new(), Vec::new());
        let mut elements = Vec::new();
        for (expr, typed, element) in arrays {
            lists.push(self.list_source(typed, &mut projected));
            let (name, replaced) = joined_name(&scope, expr)?;
            let internal = self.fresh(&name);
            outputs.push(self.fresh(&name));
            elements.push((internal.clone(), element.clone()));
            let mut columns = scope.columns.iter_mut();
            match columns.find(|c| replaced.as_ref() == Some(&c.internal)) {
                Some(c) => {
                    if c.array.is_none() {
                        c.array = Some(Box::new(c.clone()));
                    }
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
                    array: None,
                }),
            }
        }
        let mut shown = all_columns(&plan);
        let plan = match lists.iter().find_map(ListSource::column) {
            Some(_) => project(plan, projected)?,
            None => plan,
        };
        let unaligned = self.flag("enable_unaligned_array_join");
        shown.extend(shown_elements(&outputs, elements, left || unaligned)?);
        let operator = StreamOperator::ArrayJoin {
            place: exprs.first().and_then(|e| self.position(e.span)),
            left,
            unaligned,
            lists,
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
        (outer, aliases): (&Outer, &Aliases<'_>),
    ) -> Result<Vec<(&'e ast::Expr, Typed, DataType)>> {
        let no_aliases = Aliases::default();
        let resolver = Resolver::new(self, outer, scope, &no_aliases);
        // Aliases of the select list come after columns, and may be those of the elements.
        let with_aliases = Resolver::new(self, outer, scope, aliases);
        let resolve = |expr: &'e ast::Expr| {
            let typed = resolver.resolve(expr).or_else(|e| match e.code() {
                ErrorCode::UNKNOWN_IDENTIFIER => with_aliases.resolve(expr).map_err(|_| e),
                _ => Err(e),
            })?;
            let element = array_element(&typed.data_type).ok_or_else(|| {
                let message = format!(
                    "ARRAY JOIN requires an array or a map, not {}",
                    typed.data_type
                );
                self.placed(Error::new(ErrorCode::TYPE_MISMATCH, message), expr.span)
            })?;
            Ok((expr, typed, element))
        };
        exprs.iter().map(resolve).collect()
    }

    /// Where the lists of an operand are; those that are no constant become one more projected column.
    fn list_source(&self, typed: Typed, projected: &mut Vec<Expr>) -> ListSource {
        if let Some(list) = typed.constant
            && matches!(list.data_type(), ArrowType::List(_))
        {
            return ListSource::Constant(ConstantList::new(list));
        }
        let list = self.fresh("array");
        projected.push(typed.expr.alias(&list));
        ListSource::Column(list)
    }

    /// The calls one after another: an argument may use the column of a call inside it.
    pub(crate) fn apply_array_join_calls(
        &self,
        plan: LogicalPlan,
        calls: Vec<ArrayJoinCall>,
    ) -> Result<LogicalPlan> {
        let mut calls = calls.into_iter();
        calls.try_fold(plan, |plan, call| self.apply_array_join_call(plan, call))
    }

    /// `arrayJoin(x)`: its column stands behind the plan's.
    pub(crate) fn apply_array_join_call(
        &self,
        plan: LogicalPlan,
        call: ArrayJoinCall,
    ) -> Result<LogicalPlan> {
        let mut exprs: Vec<Expr> = plan
            .schema()
            .iter()
            .map(|(q, f)| Expr::from((q, f)))
            .collect();
        let list = self.list_source(call.argument, &mut exprs);
        let plan = match &list {
            ListSource::Column(_) => project(plan, exprs)?,
            ListSource::Constant(_) => plan,
        };
        let operator = StreamOperator::ArrayJoin {
            place: None,
            left: false,
            unaligned: false,
            lists: vec![list],
            outputs: vec![call.internal],
        };
        stream_node(plan, operator).map_err(plan_error)
    }
}

/// The name of an operand's elements, and the column that they replace: without an alias a column itself.
fn joined_name(scope: &Scope, expr: &ast::Expr) -> Result<(String, Option<String>)> {
    let parts = match (&expr.kind, expr.alias()) {
        (_, Some(alias)) => return Ok((alias.to_owned(), None)),
        (ExprKind::Identifier(parts), None) => parts,
        _ => return Ok((basalt_parser::column_name(expr), None)),
    };
    Ok(match scope.find(parts)? {
        Some((column, taken)) if taken == parts.len() => {
            (column.name.clone(), Some(column.internal.clone()))
        }
        Some((column, taken)) => {
            let inside = parts[taken..].iter().map(String::as_str);
            let names: Vec<&str> = std::iter::once(column.name.as_str())
                .chain(inside)
                .collect();
            (names.join("."), None)
        }
        None => (parts.last().cloned().unwrap_or_default(), None),
    })
}

/// The elements under the names and with the types that the scope has for them; if some
/// are missing, their NULL is the type's default.
fn shown_elements(
    outputs: &[String],
    elements: Vec<(String, DataType)>,
    has_missing: bool,
) -> Result<Vec<Expr>> {
    let shown = outputs
        .iter()
        .zip(elements)
        .map(|(output, (name, element))| {
            let mut expr = column(output);
            if has_missing && !element.is_nullable() {
                expr = default_where_null(expr, &element)?;
            }
            Ok(expr.alias(name))
        });
    shown.collect()
}

/// The expressions with each name of a Nested (`n`, where there are `n.a` and `n.b`) as its columns.
fn nested_columns(scope: &Scope, exprs: &[ast::Expr]) -> Result<Vec<ast::Expr>> {
    let mut all = Vec::with_capacity(exprs.len());
    for expr in exprs {
        let elements = match &expr.unaliased().kind {
            ExprKind::Identifier(parts) => match scope.find(parts)? {
                Some((column, taken)) if has_part(&column.data_type, &parts[taken..]) => Vec::new(),
                _ => scope.nested(parts),
            },
            _ => Vec::new(),
        };
        if elements.is_empty() {
            all.push(expr.clone());
        }
        all.extend(elements.into_iter().map(|(element, column)| {
            let parts = column.qualifier.iter().chain([&column.name]);
            let kind = ExprKind::Identifier(parts.cloned().collect());
            let column = ast::Expr::new(kind, expr.span);
            match expr.alias() {
                Some(alias) => {
                    let kind = ExprKind::Alias {
                        expr: Box::new(column),
                        name: format!("{alias}.{element}"),
                    };
                    ast::Expr::new(kind, expr.span)
                }
                None => column,
            }
        }));
    }
    Ok(all)
}
