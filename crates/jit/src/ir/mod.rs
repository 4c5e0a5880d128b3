//! Defines typed expressions over columns: what can be interpreted and compiled.
//!
//! A [`Graph`] holds the nodes of all expressions of a program. A node is made by a method that checks
//! its types, refers only to nodes made before it, and is the same node if it is made twice: what
//! expressions have in common is computed once.
//!
//! **Nothing here can fail or trap.** Integers wrap, divisors are constants that are neither 0 nor -1, all bits may
//! be shifted out, and floats become integers by cutting off and keeping to the range (NaN is 0).
//!
//! **NULL.** A node is NULL if one of its arguments is, except that AND, OR and `if` have the logic
//! of SQL. What the value under a NULL is, nobody may ask.
//!
//! | file | owns |
//! |---|---|
//! | `data_type.rs` | the types of values |
//! | `operator.rs` | what is done with values |
//! | `graph.rs` | nodes, and how they are made |

mod data_type;
mod graph;
mod operator;

pub use data_type::Type;
pub(crate) use graph::ill_typed;
pub use graph::{Graph, IllTyped, Node, NodeId};
pub use operator::{BinaryOp, UnaryOp};
