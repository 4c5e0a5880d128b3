//! Adds the plan's nodes that DataFusion does not have; `exec` runs them.

pub mod stream_node;

pub use stream_node::{
    AsofColumns, FillColumn, FillStep, Interpolated, RowBound, StreamNode, StreamOperator,
    stream_node,
};
