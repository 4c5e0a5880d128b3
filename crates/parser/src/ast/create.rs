//! Describes CREATE TABLE, DATABASE, INDEX and FUNCTION.

use super::Span;
use super::data_type::DataType;
use super::expr::{Expr, Lambda};
use super::select::{OrderItem, OutputOptions, Query, Select, Setting};
use super::table::{ObjectName, TableFunction};

/// `CREATE | ATTACH | REPLACE [TEMPORARY] TABLE ..`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// `ATTACH` instead of `CREATE`.
    pub attach: bool,
    /// `CREATE OR REPLACE`
    pub or_replace: bool,
    /// `REPLACE TABLE` without CREATE: the table must exist.
    pub replace_only: bool,
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The table's name.
    pub name: ObjectName,
    /// `UUID '..'`
    pub uuid: Option<String>,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// `FROM 'path'` of ATTACH.
    pub attach_from: Option<String>,
    /// Columns, indices, constraints, projections; `None` without the parentheses.
    pub schema: Option<TableSchema>,
    /// `AS other_table`: takes its columns.
    pub as_table: Option<ObjectName>,
    /// `CLONE AS other_table`: takes columns and rows (the name is in `as_table`).
    pub clone_as: bool,
    /// `AS function(..)`
    pub as_function: Option<TableFunction>,
    /// Engine and its clauses.
    pub storage: Storage,
    /// `EMPTY AS SELECT`: no rows are inserted.
    pub empty: bool,
    /// `AS SELECT ..`
    pub query: Option<Box<Query>>,
    /// `COMMENT`
    pub comment: Option<Vec<u8>>,
    /// `FORMAT`, `SETTINGS` of the statement.
    pub output: OutputOptions,
}

/// What stands between the parentheses of CREATE TABLE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableSchema {
    /// Columns.
    pub columns: Vec<ColumnDef>,
    /// `INDEX`
    pub indexes: Vec<IndexDef>,
    /// `CONSTRAINT`
    pub constraints: Vec<Constraint>,
    /// `PROJECTION`
    pub projections: Vec<ProjectionDef>,
}

/// A column's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    /// Name, dots included (`n.a`).
    pub name: String,
    /// Type; `None` where DEFAULT or the query gives it.
    pub data_type: Option<DataType>,
    /// `NULL` (true), `NOT NULL` (false).
    pub nullable: Option<bool>,
    /// `DEFAULT`, `MATERIALIZED`, `ALIAS`, `EPHEMERAL`
    pub default: Option<ColumnDefault>,
    /// `AUTO_INCREMENT`
    pub auto_increment: bool,
    /// `COMMENT`
    pub comment: Option<Vec<u8>>,
    /// `CODEC(..)`: each is an identifier or function.
    pub codec: Option<Vec<Expr>>,
    /// `STATISTICS(..)`
    pub statistics: Option<Vec<Expr>>,
    /// `TTL`
    pub ttl: Option<Expr>,
    /// `COLLATE`
    pub collate: Option<String>,
    /// `SETTINGS (..)`
    pub settings: Vec<Setting>,
    /// Where it stands.
    pub span: Span,
}

/// A column's default.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefault {
    /// Which kind.
    pub kind: DefaultKind,
    /// The value; `None` only for `EPHEMERAL` alone.
    pub expr: Option<Expr>,
}

/// The kind of a column's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultKind {
    /// `DEFAULT`
    Default,
    /// `MATERIALIZED`
    Materialized,
    /// `ALIAS`
    Alias,
    /// `EPHEMERAL`
    Ephemeral,
}

/// `INDEX name expr TYPE type GRANULARITY n`
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDef {
    /// Its name.
    pub name: String,
    /// What it indexes.
    pub expr: Expr,
    /// Its type: an identifier or function.
    pub index_type: Expr,
    /// Granules per entry; 1 if not written.
    pub granularity: u64,
}

/// `CONSTRAINT name CHECK | ASSUME expr`
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name.
    pub name: String,
    /// CHECK or ASSUME.
    pub kind: ConstraintKind,
    /// What must hold.
    pub expr: Expr,
}

/// The kind of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// `CHECK`
    Check,
    /// `ASSUME`
    Assume,
}

/// What a projection holds.
#[derive(Clone, Debug, PartialEq)]
pub enum ProjectionBody {
    /// `(SELECT .. GROUP BY .. ORDER BY ..)`, without FROM.
    Query(Box<Select>),
    /// `INDEX expr TYPE type`
    Index {
        /// The expression.
        expr: Expr,
        /// `TYPE`: an identifier or a call.
        index_type: Expr,
    },
}

/// `PROJECTION name (SELECT ..)`, `PROJECTION name INDEX ..`
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionDef {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub body: ProjectionBody,
    /// `WITH SETTINGS (..)`
    pub settings: Vec<Setting>,
}

/// `ENGINE = ..` and the clauses around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Storage {
    /// `ENGINE`
    pub engine: Option<Engine>,
    /// `PARTITION BY`
    pub partition_by: Option<Expr>,
    /// `PRIMARY KEY`, also when it stands among or after the columns.
    pub primary_key: Option<Expr>,
    /// `ORDER BY`: the items of the parentheses, or one item. `tuple()` and `()` are one item.
    pub order_by: Option<Vec<OrderItem>>,
    /// `UNIQUE KEY`
    pub unique_key: Option<Expr>,
    /// `SAMPLE BY`
    pub sample_by: Option<Expr>,
    /// `TTL`
    pub ttl: Vec<TtlItem>,
    /// `SETTINGS` of the engine.
    pub settings: Vec<Setting>,
}

/// `expr [DELETE | TO DISK 'x' | TO VOLUME 'x' | RECOMPRESS CODEC(..) | GROUP BY .. SET ..] [WHERE ..]`
#[derive(Clone, Debug, PartialEq)]
pub struct TtlItem {
    /// When.
    pub expr: Expr,
    /// What happens then.
    pub action: TtlAction,
    /// To which rows.
    pub where_: Option<Expr>,
}

/// What a TTL does.
#[derive(Clone, Debug, PartialEq)]
pub enum TtlAction {
    /// `DELETE`, or nothing written.
    Delete,
    /// `TO DISK`
    ToDisk {
        /// Name of the disk.
        name: String,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `TO VOLUME`
    ToVolume {
        /// Name of the volume.
        name: String,
        /// `IF EXISTS`
        if_exists: bool,
    },
    /// `RECOMPRESS CODEC(..)`
    Recompress(Vec<Expr>),
    /// `GROUP BY keys SET a = expr`
    GroupBy {
        /// Keys.
        keys: Vec<Expr>,
        /// `SET`
        set: Vec<(String, Expr)>,
    },
}

/// An engine's name and arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// Arguments; `None` without parentheses or with empty ones.
    pub args: Option<Vec<Expr>>,
    /// Where the name stands.
    pub span: Span,
}

/// `CREATE | ATTACH DATABASE ..`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDatabase {
    /// `ATTACH` instead of `CREATE`.
    pub attach: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The database; only `name` is set.
    pub name: ObjectName,
    /// `UUID '..'`
    pub uuid: Option<String>,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// `ENGINE` with its SETTINGS.
    pub storage: Storage,
    /// `TABLE OVERRIDE`
    pub table_overrides: Vec<TableOverride>,
    /// `COMMENT`
    pub comment: Option<Vec<u8>>,
    /// `FORMAT`, `SETTINGS` of the statement.
    pub output: OutputOptions,
}

/// `TABLE OVERRIDE name ([COLUMNS (..)] clauses of an engine)`
#[derive(Clone, Debug, PartialEq)]
pub struct TableOverride {
    /// The table.
    pub name: String,
    /// `COLUMNS (..)`
    pub schema: Option<TableSchema>,
    /// `ORDER BY` and the like.
    pub storage: Storage,
}

/// `CREATE [UNIQUE] INDEX [IF NOT EXISTS] name ON table expr [TYPE type] [GRANULARITY n]`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// `UNIQUE`
    pub unique: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// Name of the index.
    pub name: String,
    /// Its table.
    pub table: ObjectName,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// What is indexed.
    pub expr: Expr,
    /// `TYPE`
    pub index_type: Option<Expr>,
    /// `GRANULARITY`
    pub granularity: u64,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// `CREATE [OR REPLACE] FUNCTION [IF NOT EXISTS] name AS (x) -> body`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateFunction {
    /// `OR REPLACE`
    pub or_replace: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// Its name.
    pub name: String,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// What it does.
    pub lambda: Lambda,
    /// Where the name is.
    pub span: Span,
}

impl ColumnDef {
    /// A column with nothing but a name.
    pub fn named(name: impl Into<String>) -> ColumnDef {
        ColumnDef {
            name: name.into(),
            data_type: None,
            nullable: None,
            default: None,
            auto_increment: false,
            comment: None,
            codec: None,
            statistics: None,
            ttl: None,
            collate: None,
            settings: Vec::new(),
            span: Span::default(),
        }
    }
}

impl TableSchema {
    /// The names of the columns, if nothing else is written.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        let others = self.indexes.len() + self.constraints.len() + self.projections.len();
        let name = |column: &ColumnDef| {
            let bare = ColumnDef {
                span: column.span,
                ..ColumnDef::named(column.name.clone())
            };
            (*column == bare).then(|| column.name.clone())
        };
        let names: Option<Vec<String>> = self.columns.iter().map(name).collect();
        names.filter(|names| others == 0 && !names.is_empty())
    }
}
