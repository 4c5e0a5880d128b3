//! Reads rows in parallel: a source offers morsels, each thread takes the next one.
//!
//! | module | owns |
//! |---|---|
//! | [`morsel`] | [`MorselSource`], what every kind of table implements |
//! | [`scan_exec`] | the operator over a source |
//! | [`account`] | what the operator tells of its run |
//! | [`provider`] | a source as DataFusion's table |
//! | [`numbers`] | `numbers`, `zeros`, `system.numbers` |
//! | [`primes`] | `primes`, `system.primes` |
//! | [`batches`] | batches in memory |
//! | [`mapped`] | mapped files |
//! | [`repeated`] | `loop` |
//! | [`merge_tree`] | parts on disk |
//! | [`final_rows`] | parts on disk with FINAL |
//! | [`late`] | whether to read the columns of filters first |
//! | [`condition`] | conditions beside least and greatest values |
//! | [`sets`] | sets of many values and of tuples as conditions that bounds tell something about |
//! | [`parquet`] | Parquet files |
//! | [`file_fact`] | `_path` and the other facts of the file that a row comes from |

mod account;
pub mod batches;
mod condition;
pub mod file_fact;
pub mod final_rows;
mod late;
pub mod mapped;
pub mod merge_tree;
pub mod morsel;
pub mod numbers;
pub mod parquet;
pub mod primes;
pub mod provider;
pub mod repeated;
pub mod scan_exec;
mod sets;

pub use batches::BatchesTable;
pub use file_fact::FileFact;
pub use final_rows::FinalTable;
pub use mapped::MappedTable;
pub use merge_tree::MergeTreeTable;
pub use morsel::{BatchIter, MorselSource, ScanRequest, Stored};
pub use numbers::{NumbersKind, NumbersTable};
pub use parquet::ParquetTable;
pub use primes::PrimesTable;
pub use provider::{SourceTable, TableKind};
pub use repeated::RepeatedTable;
pub use scan_exec::ScanExec;
