//! Describes parsed statements: plain enums and structs with public fields, made to be matched on.
//!
//! | module | owns |
//! |---|---|
//! | [`expr`] | [`Expr`] and all that can stand in an expression |
//! | [`literal`] | [`Literal`] |
//! | [`select`] | [`Query`], set operations, [`Select`] and its clauses |
//! | [`table`] | what stands in FROM: [`FromElement`], [`Join`], [`TableExpr`] |
//! | [`data_type`] | [`DataType`]: the name and arguments of a type as written |
//! | [`statement`] | [`Statement`] and the small statements |
//! | [`show`] | SHOW, DESCRIBE, EXISTS, EXPLAIN |
//! | [`administration`] | OPTIMIZE, CHECK, SYSTEM, KILL, and what is kept as text |
//! | [`create`], [`view`] | CREATE TABLE, DATABASE, INDEX, FUNCTION; CREATE VIEW |
//! | [`insert`] | INSERT |
//! | [`alter`] | ALTER TABLE |
//! | [`build`] | expressions that no text spells |
//! | [`walk`] | visits to all parts of a query |
//!
//! Two trees are equal (`==`) when they mean the same text: spans never count.

pub mod administration;
pub mod alter;
mod build;
pub mod create;
pub mod data_type;
pub mod expr;
pub mod insert;
pub mod literal;
pub mod select;
pub mod show;
pub mod statement;
pub mod table;
pub mod view;
pub mod walk;

pub use administration::{Check, Kill, Optimize, SystemCommand, TokenStatement};
pub use alter::{
    Alter, AlterCommand, AlterStep, ColumnPosition, ElementAction, ElementKind, MoveTarget,
    Partition, PartitionAction, Statistics,
};
pub use create::{
    ColumnDef, ColumnDefault, Constraint, ConstraintKind, CreateDatabase, CreateFunction,
    CreateIndex, CreateTable, DefaultKind, Engine, IndexDef, ProjectionBody, ProjectionDef,
    Storage, TableOverride, TableSchema, TtlAction, TtlItem,
};
pub use data_type::{DataType, TypeArg};
pub use expr::{
    ColumnMatcher, ColumnTransformer, Expr, ExprKind, FrameBound, FrameUnit, Function,
    FunctionForm, Lambda, MatcherPattern, NamePart, NullsAction, QueryParameter, WindowFrame,
    WindowRef, WindowSpec,
};
pub use insert::{Insert, InsertSource, InsertTarget};
pub use literal::{FloatLiteral, Literal};
pub use select::{
    Distinct, GroupBy, GroupByKind, InterpolateItem, IntoOutfile, LimitBy, LimitRange, NamedWindow,
    OrderBy, OrderItem, OutputOptions, Query, Select, SetExpr, SetOperator, Setting, WithFill,
    WithItem,
};
pub use show::{Describe, Exists, Explain, ExplainKind, Show, ShowFilter, ShowKind};
pub use statement::{DropStatement, ObjectKind, Rename, RenamePair, Statement, Truncate, Use};
pub(crate) use table::takes_bare_query;
pub use table::{
    FromElement, Join, JoinConstraint, JoinKind, JoinLocality, JoinStrictness, ObjectName, Ratio,
    Sample, TableExpr, TableFunction, TableSource, format_argument,
};
pub use view::{CreateView, Refresh, ViewKind};

/// A range of bytes of the query's text, `start..end`, and whether parentheses stood around it.
///
/// All spans are equal to each other, so that trees compare by meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
    /// An expression that had parentheses of its own: the formatter keeps them.
    pub parenthesised: bool,
}

impl Span {
    /// The span from the beginning of `self` to the end of `other`.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end,
            parenthesised: false,
        }
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}
