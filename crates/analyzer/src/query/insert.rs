//! Plans what an INSERT stores: given columns cast, the others by their defaults.

use std::collections::HashMap;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::logical_expr::LogicalPlan;

use super::from::{Source, subquery_source};
use super::{Analyzer, Outer, Planned};
use crate::Typed;
use crate::expr::Resolver;
use crate::expr::aliases::Aliases;
use crate::plan::project;

/// A column that an INSERT fills.
#[derive(Clone, Copy, Debug)]
pub struct TargetColumn<'a> {
    /// Name of the column.
    pub name: &'a str,
    /// Type of the column.
    pub data_type: &'a DataType,
    /// Its DEFAULT or MATERIALIZED expression; the type's default without one.
    pub default: Option<&'a ast::Expr>,
}

/// `CAST(expr, 'type')`: what other columns' expressions mean by a column that is computed.
pub(crate) fn cast_call(expr: &ast::Expr, data_type: &DataType) -> ast::Expr {
    let literal = ast::Literal::String(data_type.to_string().into_bytes());
    let literal = ast::Expr::new(ast::ExprKind::Literal(literal), expr.span);
    let call = ast::Function::call("CAST".to_owned(), vec![expr.clone(), literal]);
    ast::Expr::new(ast::ExprKind::Function(Box::new(call)), expr.span)
}

impl Analyzer<'_> {
    /// The plan of the stored columns, in the order of `targets`, from the rows of `source`, whose
    /// columns are those named `given`.
    ///
    /// # Errors
    /// `NUMBER_OF_COLUMNS_DOESNT_MATCH`, and what casts and defaults report.
    pub fn for_insert(
        &self,
        source: Planned,
        given: &[String],
        targets: &[TargetColumn<'_>],
    ) -> Result<LogicalPlan> {
        if source.columns.len() != given.len() {
            return Err(Error::new(
                ErrorCode::NUMBER_OF_COLUMNS_DOESNT_MATCH,
                format!(
                    "Number of columns doesn't match: the INSERT has {}, its source gives {}",
                    given.len(),
                    source.columns.len()
                ),
            ));
        }
        let mut source = subquery_source(source);
        for (column, name) in source.scope.columns.iter_mut().zip(given) {
            column.name.clone_from(name);
        }
        let source = self.converted(source, targets)?;
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(given.len());
        for (i, name) in given.iter().enumerate() {
            places.entry(name).or_insert(i);
        }
        let missing = targets.iter().filter(|t| !places.contains_key(t.name));
        let defaults: Vec<(&str, ast::Expr)> = missing
            .filter_map(|t| Some((t.name, cast_call(t.default?, t.data_type))))
            .collect();
        let mut aliases = Aliases::default();
        for (name, default) in &defaults {
            aliases.add(name, default)?;
        }
        let outer = Outer::default();
        let resolver = Resolver::new(self, &outer, &source.scope, &aliases);
        let mut exprs = Vec::with_capacity(targets.len());
        for target in targets {
            let position = places.get(target.name);
            let typed = match (position, target.default) {
                (Some(i), _) => {
                    self.null_as_default(source.scope.columns[*i].typed(), target, &resolver)?
                }
                (None, Some(default)) => resolver.resolve(default)?,
                (None, None) => self.type_default(target.data_type)?,
            };
            let cast = self.stored(typed, target)?;
            exprs.push(cast.expr.alias(self.fresh(target.name)));
        }
        project(source.plan, exprs)
    }

    /// The given columns in the types that they are stored in, which defaults are computed from.
    fn converted(&self, source: Source, targets: &[TargetColumn<'_>]) -> Result<Source> {
        let (outer, aliases) = (Outer::default(), Aliases::default());
        let mut scope = source.scope.clone();
        let mut exprs = Vec::with_capacity(scope.columns.len());
        {
            let resolver = Resolver::new(self, &outer, &source.scope, &aliases);
            let by_name: HashMap<&str, &TargetColumn<'_>> =
                targets.iter().rev().map(|t| (t.name, t)).collect();
            for column in &mut scope.columns {
                let mut typed = column.typed();
                if let Some(target) = by_name.get(column.name.as_str()).copied()
                    && target.default.is_none()
                {
                    typed = self.null_as_default(typed, target, &resolver)?;
                    typed = self.stored(typed, target)?;
                }
                column.internal = self.fresh(&column.name);
                column.data_type = typed.data_type;
                exprs.push(typed.expr.alias(&column.internal));
            }
        }
        Ok(Source {
            plan: project(source.plan, exprs)?,
            scope,
            totals: None,
        })
    }

    fn stored(&self, typed: Typed, target: &TargetColumn<'_>) -> Result<Typed> {
        typed
            .cast_to(target.data_type, self)
            .map_err(|e| e.within(format!("While converting column `{}`", target.name)))
    }

    /// A NULL for a column that holds none becomes the column's default, by the setting.
    fn null_as_default(
        &self,
        typed: Typed,
        target: &TargetColumn<'_>,
        resolver: &Resolver<'_>,
    ) -> Result<Typed> {
        let fill = typed.data_type.is_nullable()
            && !target.data_type.is_nullable()
            && self.flag("insert_null_as_default");
        if !fill {
            return Ok(typed);
        }
        let default = match target.default {
            Some(default) => resolver.resolve(default)?,
            None => self.type_default(target.data_type)?,
        };
        if *typed.data_type.base() == DataType::Nothing {
            return Ok(default);
        }
        let nullable = target.data_type.clone().to_nullable();
        let value = typed.cast_to(&nullable, self)?;
        resolver.call_by_name(
            "ifNull",
            vec![value, default.cast_to(target.data_type, self)?],
        )
    }

    fn type_default(&self, data_type: &DataType) -> Result<Typed> {
        let mut builder = basalt_types::ColumnBuilder::new(data_type, 1)?;
        builder.append_type_default();
        Typed::constant(builder.finish()?, data_type.clone())
    }
}
