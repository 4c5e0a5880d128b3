//! Plans FROM: tables, views, table functions, subqueries, files, and their joins in order.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, FromElement, TableSource};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};

use super::correlated::Domain;
use super::join::check_table_names;
use super::{Analyzer, Outer, Planned};
use crate::expr::aliases::Aliases;
use crate::plan::project;
use crate::plan_error;
use crate::scope::{Scope, ScopeColumn};

/// A plan with the columns that expressions can name.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) plan: LogicalPlan,
    pub(crate) scope: Scope,
    /// The totals of a subquery, with the same columns.
    pub(crate) totals: Option<LogicalPlan>,
}

impl Analyzer<'_> {
    /// PREWHERE is for tables that can read some columns before others: files, and tables on disk.
    pub(super) fn check_prewhere(&self, select: &ast::Select) -> Result<()> {
        let from_file = select.from.iter().any(|e| match e {
            FromElement::Table { table, .. } => match &table.source {
                TableSource::File(_) => true,
                TableSource::Table(name) => self.environment.has_prewhere(name),
                TableSource::Function(f) => f.name == "file",
                _ => false,
            },
            FromElement::ArrayJoin { .. } => false,
        });
        match &select.prewhere {
            Some(prewhere) if !from_file => Err(self.placed(
                Error::new(
                    ErrorCode::ILLEGAL_PREWHERE,
                    "Write WHERE: PREWHERE is only for files and MergeTree tables",
                ),
                prewhere.span,
            )),
            _ => Ok(()),
        }
    }

    /// Plans the FROM clause; without one there is one row without columns.
    pub(crate) fn from(
        &self,
        select: &ast::Select,
        (outer, domain): (&Outer, Option<&Domain>),
        aliases: &Aliases<'_>,
    ) -> Result<Source> {
        // Only where each row of a subquery in FROM belongs to one of its outer values.
        let domain = domain.filter(|_| has_only_inner_joins(select));
        let is_table = |e: &&FromElement| matches!(e, FromElement::Table { .. });
        let is_one_join = select.from.iter().filter(is_table).count() <= 2;
        let table_of = |table: &ast::TableExpr| {
            let mut source = self.table(table, outer, domain)?;
            if !is_one_join {
                source.scope.set_origin(&table.source);
            }
            Ok::<_, Error>(source)
        };
        let mut source: Option<Source> = None;
        for (position, element) in select.from.iter().enumerate() {
            source = Some(match (element, source) {
                (FromElement::Table { table, .. }, None) => table_of(table)?,
                (
                    FromElement::Table {
                        join: Some(join),
                        table,
                    },
                    Some(left),
                ) => {
                    let right = table_of(table)?;
                    if table.alias.is_some() {
                        check_table_names(&left.scope, &right.scope)?;
                    }
                    if join.kind != ast::JoinKind::Paste {
                        self.check_aliases(
                            position.checked_sub(1).map(|i| &select.from[i]),
                            table,
                        )?;
                    }
                    self.join(left, right, join, (outer, aliases))?
                }
                (FromElement::Table { join: None, .. }, Some(_)) => {
                    return Err(Error::bug("table without join"));
                }
                (FromElement::ArrayJoin { left, exprs }, before) => {
                    let before = before.map_or_else(one_row, Ok)?;
                    self.array_join(before, *left, exprs, (outer, aliases))?
                }
            });
        }
        source.map_or_else(one_row, Ok)
    }

    fn table(
        &self,
        table: &ast::TableExpr,
        outer: &Outer,
        domain: Option<&Domain>,
    ) -> Result<Source> {
        let at = |e: Error| self.placed(e, table.span);
        check_modifiers(table).map_err(at)?;
        // What goes wrong in the rows of a view does so at its name.
        let _entered = self.enter(table.span);
        let mut source = match &table.source {
            TableSource::Table(name) if table.final_ => self.final_table(name).map_err(at)?,
            TableSource::Table(name) => self.named_table(name, outer).map_err(at)?,
            TableSource::Function(function) => self.table_function(function, outer).map_err(at)?,
            TableSource::Subquery(query) => {
                self.subquery_in_from(query, outer, domain).map_err(at)?
            }
            TableSource::File(path) => {
                let arg = ast::Expr::string(path).at(table.span);
                let file = self.function_by_name("file", &[arg], outer);
                // Where no file is meant, a table is.
                let file = file.map_err(|e| match e.code() {
                    ErrorCode::CANNOT_STAT => Error::new(ErrorCode::UNKNOWN_TABLE, e.message()),
                    _ => e,
                });
                file.map_err(at)?
            }
        };
        if let Some(alias) = &table.alias {
            qualify(&mut source.scope, std::slice::from_ref(alias));
        }
        // As in ClickHouse, names for columns of a table or a table function mean nothing.
        if matches!(table.source, TableSource::Subquery(_)) {
            rename(&mut source.scope, &table.column_aliases).map_err(at)?;
        }
        Ok(source)
    }

    /// Subqueries and table functions that are joined need a name.
    fn check_aliases(&self, before: Option<&FromElement>, right: &ast::TableExpr) -> Result<()> {
        if !self.flag("joined_subquery_requires_alias") {
            return Ok(());
        }
        // Behind ARRAY JOIN and other joins stands no table of its own.
        let left = match before {
            Some(FromElement::Table { join: None, table }) => Some(table.as_ref()),
            _ => None,
        };
        let nameless = left.into_iter().chain([right]).find(|table| {
            table.alias.is_none()
                && match &table.source {
                    TableSource::Subquery(_) => true,
                    TableSource::Function(f) => !self.is_view(&f.name),
                    TableSource::Table(_) | TableSource::File(_) => false,
                }
        });
        let Some(table) = nameless else {
            return Ok(());
        };
        let e = Error::new(
            ErrorCode::ALIAS_REQUIRED,
            "Give it a name with AS: a subquery or table function that is joined needs an alias \
             (or set joined_subquery_requires_alias = 0)",
        );
        Err(self.placed(e, table.span))
    }

    /// A subquery in FROM; in a correlated query it may itself be correlated.
    fn subquery_in_from(
        &self,
        query: &ast::Query,
        outer: &Outer,
        domain: Option<&Domain>,
    ) -> Result<Source> {
        let planned = self.query(query, outer);
        let (Err(e), Some(domain)) = (&planned, domain) else {
            return planned.map(subquery_source);
        };
        if e.code() != ErrorCode::UNKNOWN_IDENTIFIER {
            return planned.map(subquery_source);
        }
        let inner = outer.with_domain(domain.renamed(self)?);
        let mut source = subquery_source(self.query(query, &inner)?);
        domain.mark(&mut source.scope);
        Ok(source)
    }
}

fn has_only_inner_joins(select: &ast::Select) -> bool {
    select.from.iter().all(|e| match e {
        FromElement::Table {
            join: Some(join), ..
        } => {
            matches!(
                join.kind,
                ast::JoinKind::Inner | ast::JoinKind::Cross | ast::JoinKind::Comma
            ) && matches!(
                join.strictness,
                ast::JoinStrictness::Unspecified | ast::JoinStrictness::All
            )
        }
        _ => true,
    })
}

/// FINAL and SAMPLE are for tables that merge rows or keep them sampled.
fn check_modifiers(table: &ast::TableExpr) -> Result<()> {
    let is_subquery = matches!(table.source, TableSource::Subquery(_));
    let is_table = matches!(table.source, TableSource::Table(_));
    if table.stream {
        return Err(Error::not_implemented("STREAM"));
    }
    match (table.final_, &table.sample) {
        (true, _) | (_, Some(_)) if is_subquery => Err(Error::new(
            ErrorCode::UNSUPPORTED_METHOD,
            "Remove FINAL and SAMPLE: a subquery has neither",
        )),
        (true, _) if !is_table => Err(Error::new(
            ErrorCode::ILLEGAL_FINAL,
            "Remove FINAL: only tables that merge rows (ReplacingMergeTree and the like) have it",
        )),
        (_, Some(_)) => Err(Error::new(
            ErrorCode::SAMPLING_NOT_SUPPORTED,
            "Remove SAMPLE: only MergeTree tables with a sampling key have it",
        )),
        _ => Ok(()),
    }
}

/// The column of a SELECT without FROM, which reads `system.one`.
const DUMMY: &str = "dummy_of_one";

fn one_row() -> Result<Source> {
    let zero = crate::expr::literal::unsigned(0)?;
    let empty = LogicalPlanBuilder::empty(true)
        .build()
        .map_err(plan_error)?;
    let plan = project(empty, vec![zero.expr.alias(DUMMY)])?;
    let dummy = ScopeColumn {
        qualifier: vec!["system".to_owned(), "one".to_owned()],
        name: "dummy".to_owned(),
        internal: DUMMY.to_owned(),
        data_type: zero.data_type,
        hidden: false,
        merged: false,
        origin: None,
        array: None,
    };
    Ok(Source {
        plan,
        scope: Scope {
            columns: vec![dummy],
        },
        totals: None,
    })
}

/// A planned subquery as a table without a name.
pub(crate) fn subquery_source(planned: Planned) -> Source {
    let column = |c: super::OutputColumn| ScopeColumn {
        qualifier: Vec::new(),
        name: c.name,
        internal: c.internal,
        data_type: c.data_type,
        hidden: false,
        merged: false,
        origin: None,
        array: None,
    };
    let columns = planned.columns.into_iter().map(column).collect();
    Source {
        plan: planned.plan,
        scope: Scope { columns },
        totals: planned.totals,
    }
}

pub(super) fn qualify(scope: &mut Scope, qualifier: &[String]) {
    for column in &mut scope.columns {
        column.qualifier = qualifier.to_vec();
    }
}

/// Gives the shown columns other names.
pub(super) fn rename(scope: &mut Scope, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let num_shown = scope.columns.iter().filter(|c| !c.hidden).count();
    if names.len() != num_shown {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("{} column aliases for {} columns", names.len(), num_shown),
        ));
    }
    if let Some(twice) = names
        .iter()
        .enumerate()
        .find(|(i, n)| names[..*i].contains(n))
    {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Name columns differently: the alias {} is there twice",
                twice.1
            ),
        ));
    }
    for (column, name) in scope.columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    Ok(())
}
