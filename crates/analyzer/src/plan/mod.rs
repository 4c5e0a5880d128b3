//! Adds the plan's nodes that DataFusion does not have; `exec` runs them.

mod build;
mod layers;
mod list_source;
mod prune;
mod shared;
mod stream_node;
mod window;

pub(crate) use build::{aggregate, filter, project};
pub use list_source::{ConstantList, ListSource};
pub use prune::{is_wide, pruned};
pub use shared::SharedRows;
pub use stream_node::{
    AsofColumns, FillColumn, FillDefault, FillStep, Interpolated, KeyOverflow, RowBound, RowLimit,
    StreamNode, StreamOperator, stream_node,
};
pub use window::{Bound, Frame, Unit, Window, WindowColumn, WindowFunction, WindowOrder};
