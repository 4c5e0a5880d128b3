//! Plans FROM: tables, views, table functions, subqueries, files, and their joins in order.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind, FromElement, TableSource};
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

use super::correlated::Domain;
use super::insert::cast_call;
use super::{Analyzer, Outer, Planned};
use crate::environment::{ConstantArg, Environment, TableColumn, TableEntry};
use crate::expr::Resolver;
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
        for element in &select.from {
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
                    self.join(left, right, join, (outer, aliases))?
                }
                (FromElement::Table { join: None, .. }, Some(_)) => {
                    return Err(Error::bug("table without join"));
                }
                (FromElement::ArrayJoin { left, exprs }, before) => {
                    let before = before.map_or_else(one_row, Ok)?;
                    self.array_join(before, *left, exprs, outer)?
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
        check_modifiers(table)?;
        let at = |e: Error| match self.position(table.span) {
            Some(position) => e.at(position),
            None => e,
        };
        let mut source = match &table.source {
            TableSource::Table(name) if table.final_ => self.final_table(name).map_err(at)?,
            TableSource::Table(name) => self.named_table(name, outer).map_err(at)?,
            TableSource::Function(function) => self.table_function(function, outer).map_err(at)?,
            TableSource::Subquery(query) => self.subquery_in_from(query, outer, domain)?,
            TableSource::File(path) => {
                let arg = ast::Expr::new(
                    ExprKind::Literal(ast::Literal::String(path.clone().into_bytes())),
                    table.span,
                );
                self.function_by_name("file", &[arg], outer).map_err(at)?
            }
        };
        if let Some(alias) = &table.alias {
            qualify(&mut source.scope, std::slice::from_ref(alias));
        }
        rename(&mut source.scope, &table.column_aliases)?;
        Ok(source)
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

    fn named_table(&self, name: &ast::ObjectName, outer: &Outer) -> Result<Source> {
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
        let entry = match self.environment.flag("final") {
            true => self.environment.final_table(name)?,
            false => None,
        };
        match entry {
            Some(entry) => self.qualified_entry(entry, name),
            None => self.qualified_entry(self.environment.table(name)?, name),
        }
    }

    /// `name FINAL`.
    fn final_table(&self, name: &ast::ObjectName) -> Result<Source> {
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

    fn entry(&self, entry: TableEntry, name: &str) -> Result<Source> {
        match entry {
            TableEntry::Table { provider, columns } => self.scan(name, provider, columns),
            TableEntry::View(query) => Ok(subquery_source(self.query(&query, &Outer::default())?)),
        }
    }

    fn scan(
        &self,
        name: &str,
        provider: Arc<dyn TableProvider>,
        columns: Vec<TableColumn>,
    ) -> Result<Source> {
        let reference = TableReference::bare(name);
        let scan = LogicalPlanBuilder::scan(reference.clone(), provider_as_source(provider), None);
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
            Some((c.name.as_str(), cast_call(expr, &c.data_type)))
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
                    let typed = resolver.resolve(expr)?.cast_to(&column.data_type, self)?;
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

    fn table_function(&self, function: &ast::TableFunction, outer: &Outer) -> Result<Source> {
        self.function_by_name(&function.name, &function.args, outer)
    }

    fn function_by_name(&self, name: &str, args: &[ast::Expr], outer: &Outer) -> Result<Source> {
        if name == "view" {
            let Some(ExprKind::Subquery(query)) = args.first().map(|a| &a.kind) else {
                return Err(Error::new(
                    ErrorCode::SYNTAX_ERROR,
                    "Table function view takes a query",
                ));
            };
            return Ok(subquery_source(self.query(query, outer)?));
        }
        if name == "viewExplain" {
            return self.explained(args);
        }
        let args = args
            .iter()
            .map(|a| match &a.kind {
                ExprKind::Function(_) if name == "loop" => called_table(a),
                _ => self.table_argument(a, outer),
            })
            .collect::<Result<Vec<_>>>()?;
        if let Ok(TableEntry::View(query)) = self.environment.table(&ast::ObjectName::bare(name)) {
            return self.view_with_parameters(&query, &args);
        }
        let entry = self.environment.table_function(name, &args)?;
        let mut source = self.entry(entry, name)?;
        if name == "merge" {
            // Where a row comes from can be asked for; `*` leaves it out.
            let columns = source.scope.columns.iter_mut();
            columns
                .filter(|c| matches!(c.name.as_str(), "_database" | "_table"))
                .for_each(|c| c.hidden = true);
        }
        qualify(&mut source.scope, &[name.to_owned()]);
        Ok(source)
    }

    /// `viewExplain('EXPLAIN …', 'settings', (SELECT …))`
    fn explained(&self, args: &[ast::Expr]) -> Result<Source> {
        let text = |e: &ast::Expr| {
            e.as_string()
                .map(|s| String::from_utf8_lossy(s).into_owned())
        };
        let wrong = || {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Table function viewExplain takes the words of EXPLAIN, its settings and a query",
            )
        };
        let (words, settings, query) = match args {
            [words] => (text(words), None, None),
            [words, settings, query] => (text(words), text(settings), Some(query)),
            _ => return Err(wrong()),
        };
        let nothing = ast::Query::new(ast::SetExpr::Select(Box::default()));
        let query = match query.map(|q| &q.kind) {
            Some(ExprKind::Subquery(query)) => query.as_ref(),
            Some(_) => return Err(wrong()),
            None => &nothing,
        };
        let words = words.ok_or_else(wrong)?;
        let settings = settings.unwrap_or_default();
        let entry = self.environment.explain(&words, &settings, query)?;
        self.entry(entry, "viewExplain")
    }

    /// The rows of a view whose query has parameters: `view(name = value, …)`.
    fn view_with_parameters(&self, query: &ast::Query, args: &[ConstantArg]) -> Result<Source> {
        let mut parameters = Vec::with_capacity(args.len());
        for arg in args {
            let name = arg.name.clone().ok_or_else(|| {
                Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    "Write name = value for a view's parameters",
                )
            })?;
            let value = crate::Typed::constant(Arc::clone(&arg.value), arg.data_type.clone())?;
            let text = value.cast_to(&basalt_types::DataType::String, self)?;
            let text = crate::expr::cast::constant_text(&text);
            parameters.push((name, text.unwrap_or_default()));
        }
        let before = self.parameters.replace(parameters);
        let planned = self.query(query, &Outer::default());
        self.parameters.replace(before);
        planned.map(subquery_source)
    }

    /// A constant; a bare word (`file(x.csv, CSV)`) is the string of its name.
    fn table_argument(&self, expr: &ast::Expr, outer: &Outer) -> Result<ConstantArg> {
        let (name, value) = match &expr.kind {
            ExprKind::Function(f) if f.name == "REGEXP" && f.args.len() == 1 => {
                (Some(f.name.clone()), &f.args[0])
            }
            ExprKind::Function(f) if f.name == "equals" && f.args.len() == 2 => {
                match &f.args[0].kind {
                    ExprKind::Identifier(parts) => (Some(parts.join(".")), &f.args[1]),
                    _ => (None, expr),
                }
            }
            _ => (None, expr),
        };
        let (scope, aliases) = (Scope::default(), Aliases::default());
        let typed = match &value.kind {
            ExprKind::Identifier(parts)
                if outer.expression(&parts[0]).is_none() && outer.alias(&parts[0]).is_none() =>
            {
                crate::expr::literal::string(parts.join(".").as_bytes())?
            }
            _ => Resolver::new(self, outer, &scope, &aliases).resolve(value)?,
        };
        let value = typed.constant.ok_or_else(|| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Arguments of a table function must be constant",
            )
        })?;
        Ok(ConstantArg {
            name,
            data_type: typed.data_type,
            value,
        })
    }
}

/// The call of a table function as an argument: its text, by the name FUNCTION.
fn called_table(call: &ast::Expr) -> Result<ConstantArg> {
    let text = crate::expr::literal::string(basalt_parser::format_expr(call).as_bytes())?;
    let value = text
        .constant
        .ok_or_else(|| Error::bug("a literal is constant"))?;
    Ok(ConstantArg {
        name: Some("FUNCTION".to_owned()),
        data_type: text.data_type,
        value,
    })
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

/// PREWHERE is for tables that can read some columns before others: files, and tables on disk.
pub(super) fn check_prewhere(environment: &dyn Environment, select: &ast::Select) -> Result<()> {
    let from_file = select.from.iter().any(|e| match e {
        FromElement::Table { table, .. } => match &table.source {
            TableSource::File(_) => true,
            TableSource::Table(name) => environment.has_prewhere(name),
            TableSource::Function(f) => f.name == "file",
            _ => false,
        },
        FromElement::ArrayJoin { .. } => false,
    });
    if select.prewhere.is_none() || from_file {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::ILLEGAL_PREWHERE,
        "Write WHERE: PREWHERE is only for files and MergeTree tables",
    ))
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
    };
    let columns = planned.columns.into_iter().map(column).collect();
    Source {
        plan: planned.plan,
        scope: Scope { columns },
        totals: planned.totals,
    }
}

fn qualify(scope: &mut Scope, qualifier: &[String]) {
    for column in &mut scope.columns {
        column.qualifier = qualifier.to_vec();
    }
}

fn rename(scope: &mut Scope, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let num_shown = scope.columns.iter().filter(|c| !c.hidden).count();
    if names.len() != num_shown {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "{} column aliases for {} columns",
                names.len(),
                scope.columns.len()
            ),
        ));
    }
    for (column, name) in scope.columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    Ok(())
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
