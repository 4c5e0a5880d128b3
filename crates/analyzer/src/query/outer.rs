//! Holds the names that WITH gives to subqueries and expressions, for the queries below it.

use std::rc::Rc;
use std::sync::Arc;

use basalt_parser::ast::{self, WithItem};
use datafusion::catalog::TableProvider;

use crate::TableColumn;

/// A chain of WITH items, the innermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer(Option<Rc<Node>>);

#[derive(Debug)]
struct Node {
    parent: Outer,
    item: Item,
}

#[derive(Debug)]
enum Item {
    Subquery {
        name: String,
        columns: Vec<String>,
        query: ast::Query,
        recursive: bool,
    },
    Expression {
        name: String,
        expr: ast::Expr,
    },
    /// What a recursive subquery reads under its own name.
    WorkTable {
        name: String,
        table: WorkTable,
    },
}

/// The rows of the round before, in a recursive subquery.
#[derive(Clone, Debug)]
pub(crate) struct WorkTable {
    /// Name of the rows in the plan.
    pub(crate) plan_name: String,
    pub(crate) provider: Arc<dyn TableProvider>,
    pub(crate) columns: Vec<TableColumn>,
}

/// A subquery of WITH.
pub(crate) struct WithSubquery<'a> {
    pub(crate) query: &'a ast::Query,
    pub(crate) columns: &'a [String],
    pub(crate) recursive: bool,
    /// The names that it sees itself.
    pub(crate) outer: &'a Outer,
}

impl Outer {
    /// The chain with the items of a SELECT's WITH in front.
    pub(crate) fn with_items(&self, select: &ast::Select) -> Self {
        let mut chain = self.clone();
        for item in &select.with {
            let item = match item {
                WithItem::Subquery {
                    name,
                    columns,
                    query,
                    ..
                } => Item::Subquery {
                    name: name.clone(),
                    columns: columns.clone(),
                    query: query.as_ref().clone(),
                    recursive: select.recursive,
                },
                WithItem::Expr(expr) => match &expr.kind {
                    ast::ExprKind::Alias { expr, name } => Item::Expression {
                        name: name.clone(),
                        expr: expr.as_ref().clone(),
                    },
                    _ => continue,
                },
            };
            chain = Outer(Some(Rc::new(Node {
                parent: chain,
                item,
            })));
        }
        chain
    }

    /// The chain with a recursive subquery's own name in front.
    pub(crate) fn with_work_table(
        &self,
        name: &str,
        plan_name: &str,
        provider: Arc<dyn TableProvider>,
        columns: Vec<TableColumn>,
    ) -> Self {
        let table = WorkTable {
            plan_name: plan_name.to_owned(),
            provider,
            columns,
        };
        let item = Item::WorkTable {
            name: name.to_owned(),
            table,
        };
        Outer(Some(Rc::new(Node {
            parent: self.clone(),
            item,
        })))
    }

    /// The work table of that name, unless a subquery inside hides it.
    pub(crate) fn work_table(&self, wanted: &str) -> Option<&WorkTable> {
        self.nodes().find_map(|node| match &node.item {
            Item::WorkTable { name, table } if name == wanted => Some(Some(table)),
            Item::Subquery { name, .. } if name == wanted => Some(None),
            _ => None,
        })?
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::successors(self.0.as_deref(), |n| n.parent.0.as_deref())
    }

    /// The subquery of that name.
    pub(crate) fn subquery(&self, wanted: &str) -> Option<WithSubquery<'_>> {
        self.nodes().find_map(|node| match &node.item {
            Item::Subquery {
                name,
                columns,
                query,
                recursive,
            } if name == wanted => Some(WithSubquery {
                query,
                columns,
                recursive: *recursive,
                outer: &node.parent,
            }),
            _ => None,
        })
    }

    /// The expression of that name.
    pub(crate) fn expression(&self, wanted: &str) -> Option<&ast::Expr> {
        self.nodes().find_map(|node| match &node.item {
            Item::Expression { name, expr } if name == wanted => Some(expr),
            _ => None,
        })
    }
}
