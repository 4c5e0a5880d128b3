//! Describes ALTER TABLE.

use super::Span;
use super::administration::TokenStatement;
use super::create::{ColumnDef, Constraint, IndexDef, ProjectionDef, TtlItem};
use super::expr::Expr;
use super::select::{OrderItem, OutputOptions, Query, Setting};
use super::table::ObjectName;
use super::view::Refresh;

/// `ALTER TABLE t command, command, ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Alter {
    /// `ALTER DATABASE`: the table is a database.
    pub is_database: bool,
    /// The table.
    pub table: ObjectName,
    /// `ON CLUSTER`
    pub cluster: Option<String>,
    /// One or more commands.
    pub commands: Vec<AlterStep>,
    /// `FORMAT`, `SETTINGS`
    pub output: OutputOptions,
}

/// A command of ALTER TABLE in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterStep {
    /// What to do.
    pub command: AlterCommand,
    /// Where the name or expression stands that it is about.
    pub span: Span,
}

/// A command of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterCommand {
    /// `ADD COLUMN [IF NOT EXISTS] column [FIRST | AFTER name]`
    AddColumn {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The column.
        column: Box<ColumnDef>,
        /// Where to put it.
        position: Option<ColumnPosition>,
    },
    /// `DROP COLUMN [IF EXISTS] name`
    DropColumn {
        /// `IF EXISTS`
        if_exists: bool,
        /// The column.
        name: String,
    },
    /// `CLEAR COLUMN [IF EXISTS] name [IN PARTITION p]`
    ClearColumn {
        /// `IF EXISTS`
        if_exists: bool,
        /// The column.
        name: String,
        /// `IN PARTITION`
        partition: Option<Partition>,
    },
    /// `MODIFY COLUMN [IF EXISTS] column [FIRST | AFTER name]`, `ALTER COLUMN name TYPE ..`
    ModifyColumn {
        /// `IF EXISTS`
        if_exists: bool,
        /// The column.
        column: Box<ColumnDef>,
        /// `REMOVE property`: DEFAULT, COMMENT, CODEC, TTL, ..
        remove: Option<String>,
        /// Where to put it.
        position: Option<ColumnPosition>,
    },
    /// `RENAME COLUMN [IF EXISTS] a TO b`
    RenameColumn {
        /// `IF EXISTS`
        if_exists: bool,
        /// Old name.
        from: String,
        /// New name.
        to: String,
    },
    /// `COMMENT COLUMN [IF EXISTS] name 'text'`
    CommentColumn {
        /// `IF EXISTS`
        if_exists: bool,
        /// The column.
        name: String,
        /// The text.
        comment: Vec<u8>,
    },
    /// `MATERIALIZE COLUMN name [IN PARTITION p]`
    MaterializeColumn {
        /// The column.
        name: String,
        /// `IN PARTITION`
        partition: Option<Partition>,
    },
    /// `ADD INDEX [IF NOT EXISTS] index [FIRST | AFTER name]`
    AddIndex {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The index.
        index: Box<IndexDef>,
        /// Where to put it.
        position: Option<ColumnPosition>,
    },
    /// `ADD PROJECTION [IF NOT EXISTS] projection`
    AddProjection {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The projection.
        projection: Box<ProjectionDef>,
        /// Where to put it.
        position: Option<ColumnPosition>,
    },
    /// `ADD CONSTRAINT [IF NOT EXISTS] constraint`
    AddConstraint {
        /// `IF NOT EXISTS`
        if_not_exists: bool,
        /// The constraint.
        constraint: Box<Constraint>,
    },
    /// `DROP | CLEAR | MATERIALIZE INDEX | PROJECTION | CONSTRAINT name`
    Element {
        /// `DROP`, `CLEAR` or `MATERIALIZE`.
        action: ElementAction,
        /// What kind of element.
        kind: ElementKind,
        /// `IF EXISTS`
        if_exists: bool,
        /// Its name.
        name: String,
        /// `IN PARTITION`
        partition: Option<Partition>,
    },
    /// `UPDATE a = expr, .. [IN PARTITION p] WHERE condition`
    Update {
        /// Columns and their new values.
        assignments: Vec<(String, Expr)>,
        /// `IN PARTITION`
        partition: Option<Partition>,
        /// Which rows.
        where_: Expr,
    },
    /// `DELETE [IN PARTITION p] WHERE condition`
    Delete {
        /// `IN PARTITION`
        partition: Option<Partition>,
        /// Which rows.
        where_: Expr,
    },
    /// `MODIFY ORDER BY expr`
    ModifyOrderBy(Vec<OrderItem>),
    /// `MODIFY SAMPLE BY expr`
    ModifySampleBy(Expr),
    /// `REMOVE SAMPLE BY`
    RemoveSampleBy,
    /// `MODIFY TTL ..`
    ModifyTtl(Vec<TtlItem>),
    /// `REMOVE TTL`
    RemoveTtl,
    /// `MATERIALIZE TTL [IN PARTITION p]`
    MaterializeTtl(Option<Partition>),
    /// `MODIFY SETTING a = 1, ..`
    ModifySetting(Vec<Setting>),
    /// `RESET SETTING a, b`
    ResetSetting(Vec<String>),
    /// `MODIFY COMMENT 'text'`
    ModifyComment(Vec<u8>),
    /// `MODIFY QUERY SELECT ..` of a materialized view.
    ModifyQuery(Box<Query>),
    /// `DROP | DETACH | ATTACH | FORGET PARTITION | PART p`
    Partition {
        /// What to do.
        action: PartitionAction,
        /// With which partition.
        partition: Partition,
    },
    /// `ATTACH | REPLACE PARTITION p FROM t`
    PartitionFrom {
        /// `REPLACE` instead of `ATTACH`.
        replace: bool,
        /// Which partition.
        partition: Partition,
        /// Of which table.
        from: ObjectName,
    },
    /// `MOVE PARTITION | PART p TO DISK | VOLUME 'x' | TABLE t`
    MovePartition {
        /// Which partition.
        partition: Partition,
        /// Where to.
        to: MoveTarget,
    },
    /// `FREEZE | UNFREEZE [PARTITION p] [WITH NAME 'x']`
    Freeze {
        /// `UNFREEZE`
        unfreeze: bool,
        /// Which partition; `None`: all.
        partition: Option<Partition>,
        /// `WITH NAME`
        name: Option<Vec<u8>>,
    },
    /// `ADD | MODIFY | DROP | CLEAR | MATERIALIZE STATISTICS columns | ALL [TYPE types] [IN PARTITION p]`
    Statistics(Box<Statistics>),
    /// `MODIFY REFRESH ..`
    ModifyRefresh(Box<Refresh>),
    /// `MODIFY [DEFINER = user] [SQL SECURITY kind]`: the text behind MODIFY.
    ModifySecurity(String),
    /// `APPLY DELETED MASK`, `APPLY PATCHES`, `REWRITE PARTS`: the words, and `IN PARTITION`.
    Rewrite(String, Option<Partition>),
    /// `FETCH PARTITION | PART p FROM 'path'`
    Fetch(Partition, Vec<u8>),
    /// `MODIFY COLUMN name MODIFY SETTING a = 1, ..`
    ModifyColumnSetting(String, Vec<Setting>),
    /// `MODIFY COLUMN name RESET SETTING a, ..`
    ResetColumnSetting(String, Vec<String>),
    /// Anything else, as tokens.
    Tokens(TokenStatement),
}

/// A command about the statistics of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// `ADD`, `MODIFY`, `DROP`, `CLEAR` or `MATERIALIZE`.
    pub action: String,
    /// `IF EXISTS`, for ADD `IF NOT EXISTS`.
    pub is_lenient: bool,
    /// The columns; `None` for ALL.
    pub columns: Option<Vec<String>>,
    /// `TYPE`
    pub types: Vec<Expr>,
    /// `IN PARTITION`
    pub partition: Option<Partition>,
}

/// What is done with an element of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementAction {
    /// `DROP`
    Drop,
    /// `CLEAR`
    Clear,
    /// `MATERIALIZE`
    Materialize,
}

/// An element of a table that is no column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// `INDEX`
    Index,
    /// `PROJECTION`
    Projection,
    /// `CONSTRAINT`
    Constraint,
}

/// What is done with a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionAction {
    /// `DROP`
    Drop,
    /// `DETACH`
    Detach,
    /// `DROP DETACHED`
    DropDetached,
    /// `ATTACH`
    Attach,
    /// `FORGET`
    Forget,
}

/// Where a partition moves.
#[derive(Clone, Debug, PartialEq)]
pub enum MoveTarget {
    /// `TO DISK 'x'`
    Disk(Vec<u8>),
    /// `TO VOLUME 'x'`
    Volume(Vec<u8>),
    /// `TO TABLE t`
    Table(ObjectName),
    /// `TO SHARD 'path'`
    Shard(Vec<u8>),
}

/// Which partition or part.
#[derive(Clone, Debug, PartialEq)]
pub enum Partition {
    /// `PARTITION expr`
    Value(Expr),
    /// `PARTITION ID 'x'`
    Id(Vec<u8>),
    /// `PARTITION ALL`
    All,
    /// `PART 'x'`
    Part(Vec<u8>),
}

/// Where a new column stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPosition {
    /// `FIRST`
    First,
    /// `AFTER name`
    After(String, Span),
}
