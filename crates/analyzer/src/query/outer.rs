//! Holds what a query sees of the queries around it: names of WITH, and columns that make it
//! correlated.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, WithItem};
use datafusion::catalog::TableProvider;

use super::correlated::Domain;
use crate::TableColumn;
use crate::scope::{Scope, ScopeColumn};

/// A chain of items, the innermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer {
    chain: Option<Rc<Node>>,
    /// The values of outer columns that the next SELECT is to be computed for.
    domain: Option<Rc<Domain>>,
}

/// The columns of the queries around that a subquery has asked for.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) columns: Vec<ScopeColumn>,
    /// Whether one was asked for again, by a query that having it does not help.
    pub(crate) again: bool,
}

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
    /// The columns of the query around a subquery of an expression.
    Columns {
        scope: Scope,
        wanted: Rc<RefCell<Wanted>>,
    },
    /// What the query around a subquery of an expression calls its expressions.
    Aliases {
        exprs: Rc<HashMap<String, ast::Expr>>,
        /// Those that the subquery is a part of.
        open: Vec<String>,
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
    ///
    /// # Errors
    /// `MULTIPLE_EXPRESSIONS_FOR_ALIAS` if two subqueries have the same name.
    pub(crate) fn with_items(&self, select: &ast::Select) -> Result<Self> {
        let mut chain = self.clone();
        for (i, item) in select.with.iter().enumerate() {
            let is_same = |name: &str| {
                let is_named =
                    |w: &WithItem| matches!(w, WithItem::Subquery { name: n, .. } if n == name);
                select.with[..i].iter().any(is_named)
            };
            if let WithItem::Subquery { name, .. } = item
                && is_same(name)
            {
                return Err(Error::new(
                    ErrorCode::MULTIPLE_EXPRESSIONS_FOR_ALIAS,
                    format!("Name it differently: WITH has two subqueries {name}"),
                ));
            }
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
            chain = chain.with(item);
        }
        Ok(chain)
    }

    fn with(&self, item: Item) -> Self {
        let parent = Outer {
            chain: self.chain.clone(),
            domain: None,
        };
        Outer {
            chain: Some(Rc::new(Node { parent, item })),
            domain: self.domain.clone(),
        }
    }

    /// The chain for a subquery inside an expression over `scope`, and what it will ask for there.
    pub(crate) fn with_columns(&self, scope: &Scope) -> (Self, Rc<RefCell<Wanted>>) {
        let wanted = Rc::<RefCell<Wanted>>::default();
        let item = Item::Columns {
            scope: scope.clone(),
            wanted: Rc::clone(&wanted),
        };
        (self.with(item), wanted)
    }

    /// The chain with the aliases of the query around; those that are `open` are not seen.
    pub(crate) fn with_aliases(
        &self,
        exprs: Rc<HashMap<String, ast::Expr>>,
        open: Vec<String>,
    ) -> Self {
        self.with(Item::Aliases { exprs, open })
    }

    /// The expression that a query around calls so.
    pub(crate) fn alias(&self, wanted: &str) -> Option<&ast::Expr> {
        self.nodes().find_map(|node| match &node.item {
            Item::Aliases { exprs, open } if !open.iter().any(|name| name == wanted) => {
                exprs.get(wanted)
            }
            _ => None,
        })
    }

    /// The chain for a query that is computed for all values of outer columns.
    pub(crate) fn with_domain(&self, domain: Domain) -> Self {
        Outer {
            chain: self.chain.clone(),
            domain: Some(Rc::new(domain)),
        }
    }

    /// Parts the domain from the chain, for the SELECT that is computed for it.
    pub(crate) fn take_domain(&mut self) -> Option<Rc<Domain>> {
        self.domain.take()
    }

    /// Notes that a query around has the column, so that the subquery is planned anew with it.
    pub(crate) fn want_column(&self, parts: &[String]) {
        for node in self.nodes() {
            if let Item::Columns { scope, wanted } = &node.item
                && let Ok(Some((column, _))) = scope.find(parts)
            {
                let mut wanted = wanted.borrow_mut();
                if wanted.columns.iter().any(|c| c.internal == column.internal) {
                    wanted.again = true;
                } else {
                    wanted.columns.push(column.clone());
                }
                return;
            }
        }
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
        self.with(item)
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
        std::iter::successors(self.chain.as_deref(), |n| n.parent.chain.as_deref())
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
