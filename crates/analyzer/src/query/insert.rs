//! Plans what an INSERT stores: given columns cast, the others by their defaults.

use std::collections::HashMap;

use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::omitted_name;
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::logical_expr::LogicalPlan;

use super::from::{Source, subquery_source};
use super::{Analyzer, Outer, Planned};
use crate::Typed;
use crate::expr::Resolver;
use crate::expr::aggregate::has_aggregate;
use crate::expr::aliases::Aliases;
use crate::plan::project;
use crate::scope::ScopeColumn;
use crate::udf::with_purpose;

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

/// Name of a column as it was given, where its rows may get the default instead.
pub fn given_name(name: &str) -> String {
    format!("given {name}")
}

/// The value of a column: the default where it was omitted, else what was given.
pub fn given_or_default(name: &str, default: &ast::Expr, data_type: &DataType) -> ast::Expr {
    let span = default.span;
    let column = |name| ast::Expr::column(name).at(span);
    let omitted = column(omitted_name(name));
    let given = column(given_name(name)).cast(data_type);
    let default = default.clone().cast(data_type);
    ast::Expr::call("if", vec![omitted, default, given]).at(span)
}

/// The columns that are computed, in part or as a whole, with their expressions; those that are given in
/// part go from `places`.
fn computed<'t>(
    targets: &[TargetColumn<'t>],
    places: &mut HashMap<&str, usize>,
    source: &mut Source,
) -> Vec<(&'t str, ast::Expr)> {
    let mut computed = Vec::new();
    for target in targets {
        let Some(default) = target.default else {
            // Others may be computed from it, though it is not given.
            if !places.contains_key(target.name) {
                let name = ast::Expr::string(&target.data_type.to_string());
                let value = ast::Expr::call("defaultValueOfTypeName", vec![name]);
                computed.push((target.name, value));
            }
            continue;
        };
        let is_told = places.contains_key(omitted_name(target.name).as_str());
        match places.get(target.name).copied() {
            None => computed.push((target.name, default.clone().cast(target.data_type))),
            Some(i) if is_told => {
                source.scope.columns[i].name = given_name(target.name);
                let value = given_or_default(target.name, default, target.data_type);
                computed.push((target.name, value));
                places.remove(target.name);
            }
            Some(_) => {}
        }
    }
    computed
}

/// A given column of the same Nested, whose arrays are as long as those of `target` must be.
fn sibling(target: &TargetColumn<'_>, source: &Source) -> Option<Typed> {
    let (nested, _) = target.name.split_once('.')?;
    let is_sibling = |column: &&ScopeColumn| {
        let is_array = matches!(column.data_type, DataType::Array(_));
        is_array
            && column
                .name
                .split_once('.')
                .is_some_and(|(n, _)| n == nested)
    };
    if !matches!(target.data_type, DataType::Array(_)) {
        return None;
    }
    let column = source.scope.columns.iter().find(is_sibling)?;
    Some(column.typed())
}

impl Analyzer<'_> {
    /// The plan of the stored columns, in the order of `targets`, from the rows of `source`, whose
    /// columns are those named `given`. A column by the name of [`omitted_name`] says where another
    /// has no value of its own. Defaults may be computed from the columns `passing`, too, which are not
    /// stored.
    ///
    /// # Errors
    /// `NUMBER_OF_COLUMNS_DOESNT_MATCH`, and what casts and defaults report.
    pub fn for_insert(
        &self,
        source: Planned,
        given: &[String],
        (targets, passing): (&[TargetColumn<'_>], &[TargetColumn<'_>]),
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
        // Defaults were written where the table was made.
        self.elsewhere(|| self.insert_plan(source, given, (targets, passing)))
    }

    fn insert_plan(
        &self,
        source: Planned,
        given: &[String],
        (targets, passing): (&[TargetColumn<'_>], &[TargetColumn<'_>]),
    ) -> Result<LogicalPlan> {
        let mut source = subquery_source(source);
        for (column, name) in source.scope.columns.iter_mut().zip(given) {
            column.name.clone_from(name);
        }
        let all = [targets, passing].concat();
        let mut source = self.converted(source, &all)?;
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(given.len());
        for (i, name) in given.iter().enumerate() {
            places.entry(name).or_insert(i);
        }
        let defaults = computed(&all, &mut places, &mut source);
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
                (None, Some(default)) => {
                    let of_target = defaults.iter().find(|(name, _)| *name == target.name);
                    let value = resolver.resolve(of_target.map_or(default, |(_, value)| value));
                    let value = value?;
                    if has_aggregate(&value.expr) {
                        return Err(Error::new(
                            ErrorCode::ILLEGAL_AGGREGATION,
                            "An aggregate function is found in an expression over single rows",
                        ));
                    }
                    value
                }
                (None, None) => match sibling(target, &source) {
                    Some(sibling) => {
                        let empty = self.type_default(target.data_type)?;
                        let length = resolver.call_by_name("length", vec![sibling])?;
                        resolver.call_by_name("arrayResize", vec![empty, length])?
                    }
                    None => self.type_default(target.data_type)?,
                },
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
        let purpose = format!("While converting column `{}`", target.name);
        let is_converted = typed.data_type != *target.data_type;
        let mut stored = typed
            .cast_to(target.data_type, self)
            .map_err(|e| e.within(&purpose))?;
        if is_converted {
            stored.expr = with_purpose(stored.expr, purpose);
        }
        Ok(stored)
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
