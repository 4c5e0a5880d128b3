//! Plans correlated subqueries: computed once for all values of the outer columns that they use,
//! then joined to the rows around them.
//!
//! The distinct values are the *domain*. The subquery's FROM is crossed with it, and from there on
//! its columns are columns like any others: keys of every GROUP BY, columns of every result. What
//! the optimizer makes of a cross join with an equality above it is a plain join.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, OrderBy};
use basalt_types::DataType;
use datafusion::common::JoinType;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Operator, binary_expr, lit};

use super::from::Source;
use super::items::Item;
use super::join::all_columns;
use super::order_by::{distinct, first_of_each};
use super::select::Clauses;
use super::{Analyzer, OutputColumn, Planned, default_array};
use crate::expr::Resolver;
use crate::expr::aggregate::has_aggregate;
use crate::plan::{filter, project};
use crate::scope::{Scope, ScopeColumn};
use crate::typed::column;
use crate::{Typed, plan_error};

/// How the internal names of correlated subqueries' values begin.
pub(crate) const PREFIX: &str = "\0subquery";

/// How the names of a subquery's columns begin that tell which outer values a row belongs to.
const MARK: &str = "\0domain";

/// The values of outer columns that a subquery is computed for.
#[derive(Debug)]
pub(crate) struct Domain {
    plan: LogicalPlan,
    columns: Vec<ScopeColumn>,
}

impl Domain {
    /// Each row of a subquery's FROM with each value.
    pub(crate) fn crossed(&self, source: Source, select: &ast::Select) -> Result<Source> {
        let has_fill = matches!(&select.order_by, Some(OrderBy::Items { items, .. })
            if items.iter().any(|i| i.with_fill.is_some()));
        let mut settings = select.settings.iter();
        let has_row_settings = settings.any(|s| ["limit", "offset"].contains(&s.name.as_str()));
        for (is_there, clause) in [
            (select.with_totals, "WITH TOTALS"),
            (select.with_ties, "WITH TIES"),
            (has_fill, "WITH FILL"),
            (has_row_settings, "SETTINGS limit or offset"),
        ] {
            if is_there {
                return Err(Error::not_implemented(format!(
                    "{clause} in a correlated subquery"
                )));
            }
        }
        let plan = LogicalPlanBuilder::from(source.plan)
            .cross_join(self.plan.clone())
            .and_then(|b| b.build());
        let mut plan = plan.map_err(plan_error)?;
        let (marked, mut columns): (Vec<_>, Vec<_>) = source
            .scope
            .columns
            .into_iter()
            .partition(|c| c.name.starts_with(MARK));
        for inner in marked {
            let index = inner.name.trim_start_matches(MARK).parse::<usize>();
            let own = index.ok().and_then(|i| self.columns.get(i));
            let own = own.ok_or_else(|| Error::bug("mark of a domain"))?;
            let same = binary_expr(
                column(&inner.internal),
                Operator::IsNotDistinctFrom,
                column(&own.internal),
            );
            plan = filter(plan, same)?;
        }
        columns.extend(self.columns.iter().cloned());
        Ok(Source {
            plan,
            scope: Scope { columns },
            totals: None,
        })
    }

    /// The same values under other names, for a subquery in FROM.
    pub(crate) fn renamed(&self, analyzer: &Analyzer<'_>) -> Result<Self> {
        analyzer.domain(&self.plan, &self.columns)
    }

    /// Marks the last columns of a subquery in FROM as the values that its rows belong to.
    pub(crate) fn mark(&self, scope: &mut Scope) {
        let first = scope.columns.len().saturating_sub(self.columns.len());
        for (i, column) in scope.columns.iter_mut().skip(first).enumerate() {
            column.name = format!("{MARK}{i}");
            column.hidden = true;
        }
    }

    /// The values as columns of the subquery's result.
    pub(crate) fn items(&self) -> impl Iterator<Item = Item> {
        self.columns.iter().map(|c| Item {
            name: c.name.clone(),
            typed: c.typed(),
            span: ast::Span::default(),
        })
    }

    pub(crate) fn exprs(&self) -> impl Iterator<Item = Expr> {
        self.columns.iter().map(|c| c.typed().expr)
    }
}

/// A correlated subquery's value, to be joined to the rows around it.
#[derive(Clone, Debug)]
pub(crate) struct CorrelatedSubquery {
    /// The outer columns, as expressions over the rows.
    pub(crate) outer_keys: Vec<Expr>,
    /// One row for each of the domain's values that has one.
    plan: LogicalPlan,
    keys: Vec<String>,
    /// The value as an expression over the joined rows, and its name from there on.
    value: Expr,
    internal: String,
}

impl CorrelatedSubquery {
    /// The rows with the value as one more column.
    pub(crate) fn joined_to(self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let mut exprs = all_columns(&plan);
        exprs.push(self.value.alias(&self.internal));
        let on = self.outer_keys.into_iter().zip(&self.keys);
        let on = on.map(|(o, k)| binary_expr(o, Operator::IsNotDistinctFrom, column(k)));
        let joined = LogicalPlanBuilder::from(plan)
            .join_on(self.plan, JoinType::Left, on)
            .and_then(|b| b.build());
        project(joined.map_err(plan_error)?, exprs)
    }

    fn is_used_by(&self, expr: &Expr) -> bool {
        let columns = expr.column_refs();
        columns.iter().any(|c| c.name == self.internal)
    }

    /// Whether an aggregate function of the expression has the value in its arguments.
    fn is_aggregated_by(&self, expr: &Expr) -> bool {
        use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
        let mut found = false;
        let walked = expr.apply(|e| {
            if matches!(e, Expr::AggregateFunction(_)) {
                found |= self.is_used_by(e);
                return Ok(TreeNodeRecursion::Jump);
            }
            Ok(TreeNodeRecursion::Continue)
        });
        walked.is_ok() && found
    }
}

/// Joins the values that are needed before GROUP BY, and leaves the others to the clauses.
pub(crate) fn with_subqueries(
    mut plan: LogicalPlan,
    subqueries: Vec<CorrelatedSubquery>,
    (conditions, keys): (&[Expr], Option<&[Typed]>),
    clauses: &mut Clauses,
) -> Result<LogicalPlan> {
    let is_grouped = keys.is_some() || clauses.exprs_mut().any(|e| has_aggregate(e));
    for subquery in subqueries {
        let mut keys = keys.unwrap_or_default().iter().map(|k| &k.expr);
        let early = !is_grouped
            || conditions.iter().any(|c| subquery.is_used_by(c))
            || keys.any(|k| subquery.is_used_by(k))
            || clauses.exprs_mut().any(|e| subquery.is_aggregated_by(e));
        if early {
            plan = subquery.joined_to(plan)?;
        } else {
            clauses.late_subqueries.push(subquery);
        }
    }
    Ok(plan)
}

impl Analyzer<'_> {
    /// The values of some columns of the rows.
    pub(crate) fn domain(&self, rows: &LogicalPlan, columns: &[ScopeColumn]) -> Result<Domain> {
        let renamed: Vec<ScopeColumn> = columns
            .iter()
            .map(|c| ScopeColumn {
                internal: self.fresh(&c.name),
                hidden: true,
                ..c.clone()
            })
            .collect();
        let exprs = columns.iter().zip(&renamed);
        let exprs = exprs.map(|(c, r)| column(&c.internal).alias(&r.internal));
        Ok(Domain {
            plan: distinct(project(rows.clone(), exprs.collect())?)?,
            columns: renamed,
        })
    }
}

impl Resolver<'_> {
    /// The value of a correlated scalar subquery: NULL (or a default) where it has no row.
    pub(crate) fn correlated_scalar(
        &self,
        planned: Planned,
        columns: Vec<ScopeColumn>,
    ) -> Result<Typed> {
        let (values, keys) = planned
            .columns
            .split_at(planned.columns.len().saturating_sub(columns.len()));
        let [value] = values else {
            return Err(Error::new(
                ErrorCode::NUMBER_OF_COLUMNS_DOESNT_MATCH,
                format!(
                    "A correlated subquery must have one column, but it has {}: make them a tuple",
                    values.len()
                ),
            ));
        };
        let data_type = value.data_type.clone().to_nullable();
        let mut expr = column(&value.internal);
        if !data_type.is_nullable() {
            let default = Typed::constant(default_array(&data_type)?, data_type.clone())?;
            expr = or_else(expr, default.expr);
        }
        let keys: Vec<String> = keys.iter().map(|k| k.internal.clone()).collect();
        let plan = first_of_each(planned.plan, &keys)?;
        self.add_correlated((plan, keys, columns), expr, data_type)
    }

    /// Whether a correlated subquery has rows.
    pub(crate) fn correlated_exists(
        &self,
        planned: Planned,
        columns: Vec<ScopeColumn>,
    ) -> Result<Typed> {
        let first = planned.columns.len().saturating_sub(columns.len());
        let keys: &[OutputColumn] = planned.columns.get(first..).unwrap_or_default();
        let keys: Vec<String> = keys.iter().map(|k| k.internal.clone()).collect();
        let only_keys = project(planned.plan, keys.iter().map(|k| column(k)).collect())?;
        let found = self.analyzer.fresh("found");
        let mut exprs: Vec<Expr> = keys.iter().map(|k| column(k)).collect();
        exprs.push(lit(1_u8).alias(&found));
        let plan = project(distinct(only_keys)?, exprs)?;
        let value = or_else(column(&found), lit(0_u8));
        self.add_correlated((plan, keys, columns), value, DataType::UInt8)
    }

    fn add_correlated(
        &self,
        (plan, keys, columns): (LogicalPlan, Vec<String>, Vec<ScopeColumn>),
        value: Expr,
        data_type: DataType,
    ) -> Result<Typed> {
        let internal = self.analyzer.fresh(PREFIX);
        self.correlated.borrow_mut().push(CorrelatedSubquery {
            outer_keys: columns.iter().map(|c| column(&c.internal)).collect(),
            plan,
            keys,
            value,
            internal: internal.clone(),
        });
        Ok(Typed::column(&internal, data_type))
    }
}

fn or_else(expr: Expr, other: Expr) -> Expr {
    let is_null = Box::new(expr.clone().is_null());
    Expr::Case(Case::new(
        None,
        vec![(is_null, Box::new(other))],
        Some(Box::new(expr)),
    ))
}
