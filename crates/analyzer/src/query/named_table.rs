//! Plans what a name in FROM means: a subquery of WITH, a table, a view.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, FromElement, TableSource};
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};

use super::from::{Source, qualify, rename, subquery_source};
use super::{Analyzer, Outer, Planned};
use crate::environment::{TableColumn, TableEntry};
use crate::expr::Resolver;
use crate::expr::aliases::Aliases;
use crate::plan::project;
use crate::plan_error;
use crate::scope::{Scope, ScopeColumn};

impl Analyzer<'_> {
    /// A name whose parts may be identifier parameters: `{database:Identifier}.{table:Identifier}`.
    fn without_parameters(&self, name: &ast::ObjectName) -> Result<ast::ObjectName> {
        let value = |parameter: &str| {
            self.environment.parameter(parameter).ok_or_else(|| {
                Error::new(
                    ErrorCode::UNKNOWN_QUERY_PARAMETER,
                    format!("Substitution `{parameter}` is not set"),
                )
            })
        };
        let mut name = name.clone();
        if std::mem::take(&mut name.name_is_parameter) {
            name.name = value(&name.name)?;
        }
        if std::mem::take(&mut name.database_is_parameter) {
            name.database = name.database.as_deref().map(value).transpose()?;
        }
        Ok(name)
    }

    pub(super) fn named_table(&self, name: &ast::ObjectName, outer: &Outer) -> Result<Source> {
        let name = &self.without_parameters(name)?;
        if name.database.is_none()
            && let Some(table) = outer.work_table(&name.name)
        {
            let provider = Arc::clone(&table.provider);
            let mut source = self.scan(&table.plan_name, provider, table.columns.clone())?;
            qualify(&mut source.scope, std::slice::from_ref(&name.name));
            return Ok(source);
        }
        if name.database.is_none()
            && let Some(with) = outer.subquery(&name.name)
        {
            let mut source = if with.recursive && mentions_itself(with.query, &name.name) {
                self.recursive_table(&with, &name.name)?
            } else {
                subquery_source(self.query(with.query, with.outer)?)
            };
            rename(&mut source.scope, with.columns)?;
            qualify(&mut source.scope, std::slice::from_ref(&name.name));
            return Ok(source);
        }
        let entry = match self.flag("final") {
            true => self.environment.final_table(name)?,
            false => None,
        };
        match entry {
            Some(entry) => self.qualified_entry(entry, name),
            None => {
                let entry = self.environment.table(name, self.settings().own())?;
                self.qualified_entry(entry, name)
            }
        }
    }

    /// `name FINAL`.
    pub(super) fn final_table(&self, name: &ast::ObjectName) -> Result<Source> {
        let name = &self.without_parameters(name)?;
        match self.environment.final_table(name)? {
            Some(entry) => self.qualified_entry(entry, name),
            None => Err(Error::new(
                ErrorCode::ILLEGAL_FINAL,
                "Remove FINAL: only tables that merge rows (ReplacingMergeTree and the like) have it",
            )),
        }
    }

    fn qualified_entry(&self, entry: TableEntry, name: &ast::ObjectName) -> Result<Source> {
        let current = &self.environment.context().database;
        let database = name.database.as_ref().unwrap_or(current).clone();
        let mut source = self.entry(entry, &name.name)?;
        qualify(&mut source.scope, &[database, name.name.clone()]);
        Ok(source)
    }

    /// `SELECT * FROM name`.
    pub(crate) fn whole_table(&self, name: &ast::ObjectName, outer: &Outer) -> Result<Planned> {
        let source = self.named_table(name, outer)?;
        let shown = source
            .scope
            .columns
            .into_iter()
            .filter(ScopeColumn::is_shown);
        let columns: Vec<super::OutputColumn> = shown
            .map(|c| super::OutputColumn {
                name: c.name,
                internal: c.internal,
                data_type: c.data_type,
            })
            .collect();
        let exprs = columns.iter().map(|c| crate::typed::column(&c.internal));
        let plan = project(source.plan, exprs.collect())?;
        Ok(Planned {
            plan,
            columns,
            totals: None,
        })
    }

    pub(super) fn entry(&self, entry: TableEntry, name: &str) -> Result<Source> {
        match entry {
            TableEntry::Table { provider, columns } => self.scan(name, provider, columns),
            TableEntry::View(query) => Ok(subquery_source(self.view(&query)?)),
        }
    }

    /// The query of a view, in its place.
    pub(super) fn view(&self, query: &ast::Query) -> Result<Planned> {
        let plan = || self.query(query, &Outer::default());
        self.elsewhere(|| self.with_named(query, plan))
    }

    /// The columns of a table that are in sight, and the places of those among them that are stored.
    fn columns_in_sight(&self, columns: Vec<TableColumn>) -> (Vec<TableColumn>, Vec<usize>) {
        let is_named = self.named.borrow().among(&columns, self.environment);
        let stored = columns
            .iter()
            .zip(&is_named)
            .filter(|(c, _)| c.alias.is_none());
        let places = stored.enumerate().filter(|(_, (_, is_named))| **is_named);
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        let num_columns = columns.len();
        let columns = columns.into_iter().zip(is_named);
        let columns = columns.filter(|(_, is_named)| *is_named);
        let mut columns: Vec<TableColumn> = columns.map(|(column, _)| column).collect();
        if columns.len() < num_columns {
            self.are_left_out.set(true);
        }
        // Where `*` shows them, those that are computed stand behind the others.
        columns.sort_by_key(|column| column.alias.is_some());
        (columns, places)
    }

    fn scan(
        &self,
        name: &str,
        provider: Arc<dyn TableProvider>,
        columns: Vec<TableColumn>,
    ) -> Result<Source> {
        let num_columns = columns.len();
        let (columns, places) = self.columns_in_sight(columns);
        let places = (columns.len() < num_columns).then_some(places);
        let reference = TableReference::bare(name);
        let provider = provider_as_source(provider);
        let scan = LogicalPlanBuilder::scan(reference.clone(), provider, places);
        let mut scope = Scope::default();
        let mut exprs = Vec::with_capacity(columns.len());
        for column in &columns {
            let internal = self.fresh(&column.name);
            if column.alias.is_none() {
                let stored = Column::new(Some(reference.clone()), column.name.clone());
                exprs.push(Expr::Column(stored).alias(&internal));
            }
            scope.columns.push(ScopeColumn {
                qualifier: Vec::new(),
                name: column.name.clone(),
                internal,
                data_type: column.data_type.clone(),
                hidden: column.hidden,
                merged: false,
                origin: None,
                array: None,
            });
        }
        let scan = scan.and_then(|b| b.build()).map_err(plan_error)?;
        let plan = project(scan, exprs)?;
        self.computed_columns(
            Source {
                plan,
                scope,
                totals: None,
            },
            &columns,
        )
    }

    /// Adds the ALIAS columns of a table, which are computed from the others.
    fn computed_columns(&self, source: Source, columns: &[TableColumn]) -> Result<Source> {
        if columns.iter().all(|c| c.alias.is_none()) {
            return Ok(source);
        }
        let mut exprs: Vec<Expr> = Vec::new();
        let computed = columns.iter().filter_map(|c| {
            let expr = c.alias.as_ref()?;
            Some((c.name.as_str(), expr.clone().cast(&c.data_type)))
        });
        let computed: Vec<(&str, ast::Expr)> = computed.collect();
        let (outer, mut aliases) = (Outer::default(), Aliases::default());
        for (name, expr) in &computed {
            aliases.add(name, expr)?;
        }
        let mut stored = source.scope.clone();
        let computed: Vec<bool> = columns.iter().map(|c| c.alias.is_some()).collect();
        let mut index = 0;
        stored.columns.retain(|_| {
            index += 1;
            !computed[index - 1]
        });
        let resolver = Resolver::new(self, &outer, &stored, &aliases);
        for (column, in_scope) in columns.iter().zip(&source.scope.columns) {
            exprs.push(match &column.alias {
                None => crate::typed::column(&in_scope.internal),
                Some(expr) => {
                    let typed = self.elsewhere(|| resolver.resolve(expr))?;
                    let typed = typed.cast_to(&column.data_type, self)?;
                    typed.expr.alias(&in_scope.internal)
                }
            });
        }
        Ok(Source {
            plan: project(source.plan, exprs)?,
            scope: source.scope,
            totals: None,
        })
    }
}

fn mentions_itself(query: &ast::Query, name: &str) -> bool {
    fn in_set(set: &ast::SetExpr, name: &str) -> bool {
        match set {
            ast::SetExpr::Select(select) => select.from.iter().any(|e| match e {
                FromElement::Table { table, .. } => match &table.source {
                    TableSource::Table(t) => t.database.is_none() && t.name == name,
                    TableSource::Subquery(q) => in_set(&q.body, name),
                    _ => false,
                },
                FromElement::ArrayJoin { .. } => false,
            }),
            ast::SetExpr::Nested(inner) => in_set(inner, name),
            ast::SetExpr::Operation { branches, .. } => branches.iter().any(|b| in_set(b, name)),
        }
    }
    in_set(&query.body, name)
}
