//! What operators need to go on in temporary files when memory runs short.
//!
//! | module | owns |
//! |---|---|
//! | [`budget`] | the memory that tasks may hold together |
//! | [`file`] | a temporary file of compressed blocks |
//! | [`plan_files`] | files for DataFusion's operators |
//! | [`compact`] | arrays without bytes that a block need not hold |

mod budget;
mod compact;
mod file;
mod plan_files;

pub(crate) use budget::{Budget, Share, spilled};
pub(crate) use compact::{compact, compacted};
pub(crate) use file::SpillFile;
pub use plan_files::PlanFiles;
