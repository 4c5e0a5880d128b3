//! Prints a statement's tree as ClickHouse's EXPLAIN AST does.
//!
//! | module | owns |
//! |---|---|
//! | [`node`] | the printed tree |
//! | [`expr`] | expressions and types |
//! | [`query`] | SELECT |
//! | [`create`], [`alter`] | CREATE TABLE and VIEW, ALTER TABLE |
//! | [`statement`] | the other statements |

mod alter;
mod create;
mod expr;
mod node;
mod query;
mod statement;

use crate::ast::{Explain, Statement};

/// The tree of a statement, one node a line, children one space deeper, as `EXPLAIN AST` prints it.
pub fn explain_ast(statement: &Statement) -> String {
    statement::statement(statement).print()
}

/// The tree of the statement that an EXPLAIN explains, with the clauses that stand behind both.
pub fn explained_tree(explain: &Explain) -> String {
    let statement = explain.statement.as_deref().map(statement::statement);
    let tree = statement.map(|node| statement::with_output(node, &explain.output));
    tree.map(|node| node.print()).unwrap_or_default()
}
