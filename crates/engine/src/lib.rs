//! The engine: databases, sessions, statements.
//!
//! Whoever wants to see the whole road of a query opens [`session`].
//!
//! | module | owns |
//! |---|---|
//! | [`database`] | [`Database`]: the catalog and the threads that all sessions share |
//! | [`catalog`] | databases, tables, views |
//! | [`definitions`] | databases, tables and views kept in a folder |
//! | [`merge_tree`] | MergeTree tables beside their definitions |
//! | `store` | folders of tables, and when they go |
//! | [`on_disk`] | what all tables with folders of their own have in common |
//! | `machine` | the memory that the process may have |
//! | `insert_queue` | small inserts that are written together |
//! | `joins` | how joins of a query run |
//! | [`session`] | [`Session::run`]: a statement from its text to its output |
//! | [`settings`] | the table of settings and a session's values |
//! | [`environment`] | what the analyzer asks the engine for |
//! | [`constants`] | constants that take long, on threads of their own |
//! | [`execution`] | running plans: DataFusion's state, partitions, limits |
//! | [`sending`] | batches on their way from a partition to the reader |
//! | [`memory`] | how much memory a query takes |
//! | [`names`] | what a user may want to type |
//! | [`observation`] | what the plans of a query did |
//! | [`rows_before_limit`] | how many rows came to a LIMIT |
//! | [`statement`] | each kind of statement |
//! | [`table_function`] | `numbers`, `file`, `values` and the other table functions |
//! | [`system`] | the tables of the database `system` |
//! | [`workers`] | the threads that all sessions share |

#![forbid(unsafe_code)]

pub mod catalog;
mod constants;
pub mod database;
pub mod definitions;
pub mod environment;
pub mod execution;
mod insert_queue;
mod joins;
mod machine;
pub mod memory;
pub mod merge_tree;
mod names;
mod observation;
pub mod on_disk;
mod rows_before_limit;
mod sending;
pub mod session;
pub mod settings;
pub mod statement;
mod store;
pub mod system;
pub mod table_function;
mod workers;

pub use basalt_exec::QueryControl;
pub use database::Database;
pub use names::Names;
pub use session::{Io, Session, Summary};
pub use statement::gives_rows;

/// To be called by who ends the process while queries may run: removes their temporary files and those that they
/// have not finished, and waits for machine code that is being made.
pub fn prepare_exit() {
    statement::remove_unfinished();
    basalt_exec::remove_temporary_files();
    basalt_exec::compile::stop();
}
