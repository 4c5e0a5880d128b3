//! The numbers of distinct values: exact, sampled, by HyperLogLog.
//!
//! The approximate ones hash and estimate as ClickHouse does, so that their results are the same.

use super::AggregateFunction;

mod approximate;
mod bias;
mod exact;
mod hashes;
mod hyper_log_log;
mod row_bytes;
mod sampled;
mod values;

pub use values::{DistinctWords, rows_without_null};

pub(super) use hashes::{mix32, mix64};

/// `uniqExact`.
pub(super) const EXACT: &[AggregateFunction] = exact::FUNCTIONS;
/// `uniq` and the others.
pub(super) const APPROXIMATE: &[AggregateFunction] = approximate::FUNCTIONS;
