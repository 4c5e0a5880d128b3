//! Adds the plan's nodes that DataFusion does not have; `exec` runs them.
//!
//! | module | owns |
//! |---|---|
//! | `stream_node` | [`StreamNode`]: a step over a stream of rows, as a node |
//! | `stream_operator` | [`StreamOperator`]: what such a step does |
//! | `rows_before` | functions that depend on the rows before |
//! | `row_limit` | settings that limit rows |
//! | `size_in_clickhouse` | bytes of rows and of tables, as limits count them |
//! | `row_bound` | the numbers of LIMIT and OFFSET |
//! | `fill` | what WITH FILL inserts |
//! | `list_source` | the lists of ARRAY JOIN |
//! | `shared` | rows that several plans read |
//! | `window` | window functions and their frames |
//! | `build` | projections, filters and aggregations of any width |
//! | `layers` | shared parts of long expressions, computed once |
//! | `prune` | columns that nobody reads |

mod build;
mod fill;
mod layers;
mod list_source;
mod prune;
mod row_bound;
mod row_limit;
mod rows_before;
mod shared;
mod size_in_clickhouse;
mod stream_node;
mod stream_operator;
mod window;

pub use build::limited_rows;
pub(crate) use build::{aggregate, filter, project};
pub use fill::{FillColumn, FillDefault, FillStep, Interpolated};
pub use list_source::{ConstantList, ListSource};
pub use prune::{is_wide, pruned};
pub use row_bound::RowBound;
pub use row_limit::{KeyOverflow, RowLimit, SizeLimit};
pub use rows_before::is_of_rows_before;
pub use shared::SharedRows;
pub use size_in_clickhouse::{batch_bytes, table_bytes, text_bytes};
pub use stream_node::{StreamNode, stream_node};
pub use stream_operator::{AsofColumns, StreamOperator};
pub use window::{Bound, Frame, Unit, Window, WindowColumn, WindowFunction, WindowOrder};
