//! What the step of window functions computes: their frames and the columns they read.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::AggregateUDF;

/// Window functions over the same partitions in the same order; columns are named as in the input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Window {
    /// Rows with the same values of these are a partition.
    pub partition: Vec<String>,
    /// The order within a partition, most significant first.
    pub order: Vec<WindowOrder>,
    /// The functions; each gives a column behind those of the input.
    pub functions: Vec<WindowColumn>,
}

impl Window {
    /// Whether it is over all rows in the order in which they come.
    pub fn takes_rows_as_they_come(&self) -> bool {
        self.partition.is_empty() && self.order.is_empty()
    }
}

/// A sort key of a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct WindowOrder {
    /// Name of the column.
    pub name: String,
    /// Whether it is sorted downwards.
    pub descending: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
}

/// A window function and its column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct WindowColumn {
    /// What is computed.
    pub function: WindowFunction,
    /// Over which rows.
    pub frame: Frame,
    /// Columns of the arguments.
    pub args: Vec<String>,
    /// Name of the result.
    pub output: String,
    /// Type of the result.
    pub arrow: ArrowType,
}

/// A function over a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum WindowFunction {
    /// An aggregate function over the frame: one of ours, wrapped.
    Aggregate(Arc<AggregateUDF>),
    /// `row_number()`
    RowNumber,
    /// `rank()`
    Rank,
    /// `dense_rank()`
    DenseRank,
    /// `percent_rank()`
    PercentRank,
    /// `cume_dist()`
    CumeDist,
    /// `ntile(n)`
    Ntile(u64),
    /// `lag(x, offset, default)` and its kin: a row above or below, the default outside the frame.
    Offset {
        /// Whether it looks down.
        lead: bool,
    },
    /// `nth_value(x, n, default)`: row `n` of the frame.
    NthValue,
    /// `nonNegativeDerivative(metric, time)` times this many seconds.
    NonNegativeDerivative {
        /// The unit of the result in ticks of the time column.
        ticks: u64,
    },
}

/// The rows that a window function sees from the current one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct Frame {
    /// What offsets count.
    pub unit: Unit,
    /// The first row.
    pub start: Bound,
    /// The last row.
    pub end: Bound,
}

impl Frame {
    /// All rows of the partition.
    pub const WHOLE: Frame = Frame {
        unit: Unit::Rows,
        start: Bound::UnboundedPreceding,
        end: Bound::UnboundedFollowing,
    };
}

/// What the offsets of a frame count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum Unit {
    /// Rows.
    Rows,
    /// Runs of rows that are equal in the order.
    Groups,
    /// Distances in the column of that name: the only sort key, absent without offsets.
    Range(Option<String>),
}

/// Where a frame starts or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum Bound {
    /// The partition's first row.
    UnboundedPreceding,
    /// So many before the current row.
    Preceding(u64),
    /// The current row.
    CurrentRow,
    /// So many behind the current row.
    Following(u64),
    /// The partition's last row.
    UnboundedFollowing,
}
