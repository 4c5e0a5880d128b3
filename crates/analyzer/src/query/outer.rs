//! Holds the names that WITH gives to subqueries and expressions, for the queries below it.

use std::rc::Rc;

use basalt_parser::ast::{self, WithItem};

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
