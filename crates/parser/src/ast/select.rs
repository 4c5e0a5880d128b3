//! Describes queries: SELECT, its clauses, and set operations.

use super::Span;
use super::expr::{Expr, WindowSpec};
use super::table::FromElement;

/// A query: one SELECT or several joined by set operations.
///
/// ORDER BY and LIMIT belong to a [`Select`]: after `UNION ALL` they bind to the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// What it selects.
    pub body: SetExpr,
    /// `INTO OUTFILE`, `FORMAT`, and SETTINGS after FORMAT; all absent in a subquery.
    pub output: OutputOptions,
}

/// One SELECT, or a tree of them.
#[derive(Clone, Debug, PartialEq)]
pub enum SetExpr {
    /// `SELECT ..`
    Select(Box<Select>),
    /// `(..)`: set operations in parentheses. A single SELECT in parentheses is just `Select`.
    Nested(Box<SetExpr>),
    /// `a op b op c`, with one operator throughout, read from the left.
    Operation {
        /// The operator between all branches.
        operator: SetOperator,
        /// Two or more. A branch with another operator is an `Operation` again.
        branches: Vec<SetExpr>,
    },
}

/// A set operation. The `Default` ones are written without ALL or DISTINCT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// `UNION`: an error (558) unless `union_default_mode` says more.
    UnionDefault,
    /// `UNION ALL`
    UnionAll,
    /// `UNION DISTINCT`
    UnionDistinct,
    /// `EXCEPT`: keeps duplicates as ALL does, unless `except_default_mode` says more.
    ExceptDefault,
    /// `EXCEPT ALL`
    ExceptAll,
    /// `EXCEPT DISTINCT`
    ExceptDistinct,
    /// `INTERSECT`: keeps duplicates as ALL does, unless `intersect_default_mode` says more.
    IntersectDefault,
    /// `INTERSECT ALL`
    IntersectAll,
    /// `INTERSECT DISTINCT`
    IntersectDistinct,
}

/// One SELECT with its clauses in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Select {
    /// `WITH ..`
    pub with: Vec<WithItem>,
    /// `WITH RECURSIVE`
    pub recursive: bool,
    /// `DISTINCT`
    pub distinct: Distinct,
    /// What is selected; aliases are `ExprKind::Alias`. `TOP n` lands in `limit`.
    pub columns: Vec<Expr>,
    /// `FROM`, tables and joins in order; empty without FROM.
    pub from: Vec<FromElement>,
    /// `PREWHERE`
    pub prewhere: Option<Expr>,
    /// `WHERE`
    pub where_: Option<Expr>,
    /// `GROUP BY`
    pub group_by: Option<GroupBy>,
    /// `WITH TOTALS`
    pub with_totals: bool,
    /// `HAVING`
    pub having: Option<Expr>,
    /// `WINDOW w AS (..)`
    pub windows: Vec<NamedWindow>,
    /// `QUALIFY`
    pub qualify: Option<Expr>,
    /// `ORDER BY`
    pub order_by: Option<OrderBy>,
    /// `LIMIT .. BY ..`
    pub limit_by: Option<LimitBy>,
    /// `LIMIT n`, `TOP n`, `FETCH FIRST n ROWS`
    pub limit: Option<Expr>,
    /// `OFFSET n`, the first number of `LIMIT m, n`
    pub offset: Option<Expr>,
    /// `WITH TIES`
    pub with_ties: bool,
    /// `LIMIT .. AFTER .. UNTIL ..`
    pub limit_range: Option<Box<LimitRange>>,
    /// `SETTINGS`
    pub settings: Vec<Setting>,
    /// The whole SELECT.
    pub span: Span,
}

/// `AFTER condition [ALL] [UNTIL condition]` or `UNTIL condition`: the rows between two others.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitRange {
    /// `AFTER`: the row before the first one.
    pub after: Option<Expr>,
    /// `ALL`: a range begins after every such row.
    pub all: bool,
    /// `UNTIL`: the last row.
    pub until: Option<Expr>,
}

/// An item of WITH.
#[derive(Clone, Debug, PartialEq)]
pub enum WithItem {
    /// `expr AS name`: the expression is an [`Alias`](super::ExprKind::Alias), or has none at all.
    Expr(Expr),
    /// `name [(columns)] AS [MATERIALIZED] (SELECT ..)`
    Subquery {
        /// Name of the subquery.
        name: String,
        /// Names of its columns, if given.
        columns: Vec<String>,
        /// `AS MATERIALIZED`
        materialized: bool,
        /// The subquery.
        query: Box<Query>,
    },
}

/// `DISTINCT`; `DISTINCT ON (a)` arrives as `LIMIT 1 BY a`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distinct {
    /// Not written, or `SELECT ALL`.
    #[default]
    None,
    /// `DISTINCT`
    All,
}

/// `GROUP BY`
#[derive(Clone, Debug, PartialEq)]
pub enum GroupBy {
    /// `GROUP BY ALL`, also with ROLLUP or CUBE.
    All(GroupByKind),
    /// `GROUP BY a, b`, also with ROLLUP or CUBE in either spelling.
    Exprs {
        /// Plain, ROLLUP or CUBE.
        kind: GroupByKind,
        /// The keys.
        exprs: Vec<Expr>,
    },
    /// `GROUPING SETS ((a), (a, b), ())`
    GroupingSets(Vec<Vec<Expr>>),
}

impl GroupBy {
    /// Whether rows are grouped by several sets of keys.
    pub fn has_sets(&self) -> bool {
        match self {
            Self::All(kind) | Self::Exprs { kind, .. } => *kind != GroupByKind::Plain,
            Self::GroupingSets(_) => true,
        }
    }
}

/// Which sets of keys GROUP BY uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupByKind {
    /// All keys together.
    Plain,
    /// All, all but the last, and so on to none.
    Rollup,
    /// All subsets.
    Cube,
}

/// `name AS (window)` of WINDOW.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedWindow {
    /// Its name.
    pub name: String,
    /// Its definition.
    pub spec: WindowSpec,
}

/// `ORDER BY`
#[derive(Clone, Debug, PartialEq)]
pub enum OrderBy {
    /// `ORDER BY ALL`; the item's expression is the identifier `all`.
    All(Box<OrderItem>),
    /// `ORDER BY a, b [INTERPOLATE ..]`
    Items {
        /// Keys, most significant first.
        items: Vec<OrderItem>,
        /// `INTERPOLATE`: `Some` and empty means all columns.
        interpolate: Option<Vec<InterpolateItem>>,
    },
}

/// A key of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    /// The key.
    pub expr: Expr,
    /// `DESC`
    pub descending: bool,
    /// `NULLS FIRST` (true), `NULLS LAST` (false); `None`: last, in both directions.
    pub nulls_first: Option<bool>,
    /// `COLLATE 'locale'`
    pub collate: Option<String>,
    /// `WITH FILL`
    pub with_fill: Option<Box<WithFill>>,
}

/// `WITH FILL FROM a TO b STEP c STALENESS d`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WithFill {
    /// `FROM`
    pub from: Option<Expr>,
    /// `TO`
    pub to: Option<Expr>,
    /// `STEP`
    pub step: Option<Expr>,
    /// `STALENESS`
    pub staleness: Option<Expr>,
}

/// `column [AS expr]` of INTERPOLATE.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpolateItem {
    /// Column to fill.
    pub column: String,
    /// Its value; `None` only in trees that were not parsed: the column itself.
    pub expr: Option<Expr>,
}

/// `LIMIT [offset,] n BY exprs`
#[derive(Clone, Debug, PartialEq)]
pub struct LimitBy {
    /// Rows to give per group.
    pub limit: Expr,
    /// Rows to skip per group.
    pub offset: Option<Expr>,
    /// The group's key; empty for `BY ALL`.
    pub by: Vec<Expr>,
    /// `BY ALL`
    pub all: bool,
}

/// `name = value`
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Name of the setting.
    pub name: String,
    /// A constant (also array, tuple, `map(..)` function); `None` for `DEFAULT`.
    pub value: Option<Expr>,
    /// Only the name stands there: the value is `true`.
    pub is_flag: bool,
    /// Where it stands.
    pub span: Span,
}

/// What follows a whole query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputOptions {
    /// `INTO OUTFILE`
    pub into_outfile: Option<Box<IntoOutfile>>,
    /// `FORMAT name`
    pub format: Option<String>,
    /// Where the format's name stands.
    pub format_span: Span,
    /// SETTINGS after FORMAT, or of a statement that is no SELECT.
    pub settings: Vec<Setting>,
}

/// `INTO OUTFILE 'file' [TRUNCATE | APPEND] [AND STDOUT] [COMPRESSION 'x' [LEVEL n]]`
#[derive(Clone, Debug, PartialEq)]
pub struct IntoOutfile {
    /// Name of the file.
    pub path: Expr,
    /// `TRUNCATE`
    pub truncate: bool,
    /// `APPEND`
    pub append: bool,
    /// `AND STDOUT`
    pub and_stdout: bool,
    /// `COMPRESSION 'method'`
    pub compression: Option<Expr>,
    /// `LEVEL n`
    pub level: Option<Expr>,
}

impl Query {
    /// A query without output options.
    pub fn new(body: SetExpr) -> Query {
        Query {
            body,
            output: OutputOptions::default(),
        }
    }

    /// The only SELECT, unless there are set operations.
    pub fn as_select(&self) -> Option<&Select> {
        match &self.body {
            SetExpr::Select(s) => Some(s),
            _ => None,
        }
    }
}
