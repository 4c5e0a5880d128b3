//! Checks the expressions that columns of a table are computed by when they have no value:
//! DEFAULT, MATERIALIZED, ALIAS, EPHEMERAL.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::walk::Visitor;
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;
use datafusion::logical_expr::Expr;

use super::{Analyzer, Outer};
use crate::expr::Resolver;
use crate::expr::aggregate::has_aggregate;
use crate::expr::aliases::Aliases;
use crate::scope::{Scope, ScopeColumn};

/// A column as CREATE TABLE declares it.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredColumn<'a> {
    /// Name of the column.
    pub name: &'a str,
    /// Its type; without one it is that of the expression.
    pub data_type: Option<&'a DataType>,
    /// Its expression.
    pub default: Option<&'a ast::Expr>,
    /// Whether the expression is to be checked; that of an old column was.
    pub is_new: bool,
}

impl Analyzer<'_> {
    /// The types of a table's columns, once it is clear that their expressions can be computed and
    /// give values of them.
    ///
    /// # Errors
    /// `CYCLIC_ALIASES`, `THERE_IS_NO_DEFAULT_VALUE`, and what is wrong with an expression or its
    /// cast.
    pub fn types_of_columns(&self, columns: &[DeclaredColumn<'_>]) -> Result<Vec<DataType>> {
        for column in columns.iter().filter(|c| c.is_new) {
            if column
                .default
                .is_some_and(|d| matches!(d.kind, ExprKind::Lambda(_)))
            {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                    format!("A lambda is no value for column `{}`", column.name),
                ));
            }
            column.default.map_or(Ok(()), check_kind)?;
        }
        let mut types: Vec<Option<DataType>> =
            columns.iter().map(|c| c.data_type.cloned()).collect();
        for i in in_order(columns)? {
            let column = &columns[i];
            let Some(default) = column
                .default
                .filter(|_| column.is_new || types[i].is_none())
            else {
                continue;
            };
            let scope = self.scope_of(columns, &types);
            let (outer, aliases) = (Outer::default(), inner_aliases(columns)?);
            let typed = Resolver::new(self, &outer, &scope, &aliases).resolve(default)?;
            let at = |e| self.placed(e, default.span);
            if has_aggregate(&typed.expr) {
                return Err(at(Error::new(
                    ErrorCode::ILLEGAL_AGGREGATION,
                    format!(
                        "Aggregate function in the default of column `{}`",
                        column.name
                    ),
                )));
            }
            let is_null = *typed.data_type.base() == DataType::Nothing;
            match &types[i] {
                // NULL stands for the type's default.
                Some(_) if is_null => {}
                Some(data_type) => {
                    let cast = typed.cast_to(data_type, self);
                    let within =
                        |e: Error| e.within(format!("In the default of `{}`", column.name));
                    cast.map_err(|e| at(within(e)))?;
                }
                None => types[i] = Some(typed.data_type),
            }
        }
        let known = types.into_iter().zip(columns).map(|(data_type, column)| {
            data_type.ok_or_else(|| {
                Error::new(
                    ErrorCode::SYNTAX_ERROR,
                    format!("Column `{}` needs a type or a default", column.name),
                )
            })
        });
        known.collect()
    }

    /// What an expression over a table's columns is to plans that read them; it may be evaluated once for each row.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn expr_over(&self, columns: &[DeclaredColumn<'_>], expr: &ast::Expr) -> Result<Expr> {
        let types: Vec<_> = columns.iter().map(|c| c.data_type.cloned()).collect();
        let mut scope = self.scope_of(columns, &types);
        for column in &mut scope.columns {
            column.internal.clone_from(&column.name);
        }
        let (outer, aliases) = (Outer::default(), inner_aliases(columns)?);
        let typed = Resolver::new(self, &outer, &scope, &aliases).resolve(expr)?;
        Ok(typed.expr)
    }

    fn scope_of(&self, columns: &[DeclaredColumn<'_>], types: &[Option<DataType>]) -> Scope {
        let known = columns.iter().zip(types);
        let columns = known.filter_map(|(column, data_type)| {
            Some(ScopeColumn {
                qualifier: Vec::new(),
                name: column.name.to_owned(),
                internal: self.fresh(column.name),
                data_type: data_type.clone()?,
                hidden: false,
                merged: false,
                origin: None,
                array: None,
            })
        });
        Scope {
            columns: columns.collect(),
        }
    }
}

/// Names that expressions give to parts of them, which other columns may use.
fn inner_aliases<'a>(columns: &[DeclaredColumn<'a>]) -> Result<Aliases<'a>> {
    let mut aliases = Aliases::default();
    for default in columns.iter().filter_map(|c| c.default) {
        aliases.walk(default)?;
    }
    Ok(aliases)
}

/// The columns, each behind those that its expression needs.
fn in_order(columns: &[DeclaredColumn<'_>]) -> Result<Vec<usize>> {
    let mut order = Vec::with_capacity(columns.len());
    let mut path = Vec::new();
    for i in 0..columns.len() {
        visit(columns, i, &mut path, &mut order)?;
    }
    Ok(order)
}

fn visit(
    columns: &[DeclaredColumn<'_>],
    i: usize,
    path: &mut Vec<usize>,
    order: &mut Vec<usize>,
) -> Result<()> {
    if order.contains(&i) {
        return Ok(());
    }
    if let Some(start) = path.iter().position(|p| *p == i) {
        let names = path[start..].iter().chain([&i]);
        let names: Vec<&str> = names.map(|p| columns[*p].name).collect();
        return Err(Error::new(
            ErrorCode::CYCLIC_ALIASES,
            format!(
                "Columns are computed from each other: {}",
                names.join(" -> ")
            ),
        ));
    }
    path.push(i);
    for name in columns[i].default.map(column_names).unwrap_or_default() {
        if let Some(needed) = columns.iter().position(|c| c.name == name) {
            visit(columns, needed, path, order)?;
        }
    }
    path.pop();
    order.push(i);
    Ok(())
}

/// The names that an expression has in it, except those of lambdas' parameters.
pub fn column_names(expr: &ast::Expr) -> Vec<String> {
    let mut names = Vec::new();
    collect(expr, &mut Vec::new(), &mut names);
    names
}

/// Whether an expression may use columns that [`column_names`] does not find: those of subqueries, of `*`, and
/// of functions that are the user's.
pub fn may_use_others(expr: &ast::Expr, is_users: &dyn Fn(&str) -> bool) -> bool {
    struct Others<'a>(bool, &'a dyn Fn(&str) -> bool);
    impl Visitor for Others<'_> {
        fn expr(&mut self, expr: &ast::Expr) -> bool {
            self.0 |= match &expr.kind {
                ExprKind::Matcher(_) | ExprKind::Subquery(_) => true,
                ExprKind::Function(function) => self.1(&function.name),
                _ => false,
            };
            !self.0
        }
    }
    let mut others = Others(false, is_users);
    expr.walk(&mut others);
    others.0
}

fn collect(expr: &ast::Expr, bound: &mut Vec<String>, names: &mut Vec<String>) {
    match &expr.kind {
        ExprKind::Identifier(parts) => {
            if parts.first().is_some_and(|first| !bound.contains(first)) {
                names.push(parts.join("."));
                names.extend(parts.first().filter(|_| parts.len() > 1).cloned());
            }
        }
        ExprKind::Array(items) | ExprKind::Tuple(items) => {
            items.iter().for_each(|i| collect(i, bound, names));
        }
        ExprKind::Function(f) => {
            let parts = f.params.iter().flatten().chain(&f.args);
            parts.for_each(|a| collect(a, bound, names));
        }
        ExprKind::Lambda(lambda) => {
            let num_bound = bound.len();
            bound.extend(lambda.params.iter().cloned());
            collect(&lambda.body, bound, names);
            bound.truncate(num_bound);
        }
        ExprKind::Alias { expr, .. } => collect(expr, bound, names),
        ExprKind::Literal(_)
        | ExprKind::Matcher(_)
        | ExprKind::Subquery(_)
        | ExprKind::QueryParameter(_)
        | ExprKind::ParameterName(_) => {}
    }
}

/// Refuses what has no value for one row.
fn check_kind(expr: &ast::Expr) -> Result<()> {
    let refused = |what: &str| {
        Err(Error::new(
            ErrorCode::THERE_IS_NO_DEFAULT_VALUE,
            format!("Remove it: {what} cannot stand in the default of a column"),
        ))
    };
    match &expr.kind {
        ExprKind::Subquery(_) => refused("a subquery"),
        ExprKind::Lambda(lambda) => check_kind(&lambda.body),
        ExprKind::Array(items) | ExprKind::Tuple(items) => items.iter().try_for_each(check_kind),
        ExprKind::Alias { expr, .. } => check_kind(expr),
        ExprKind::Function(f) if f.name == "arrayJoin" => refused("arrayJoin"),
        ExprKind::Function(f) => f.args.iter().try_for_each(check_kind),
        _ => Ok(()),
    }
}
