//! Writes groups and rows to temporary files when memory runs short, and merges them again.
//!
//! A task whose groups pass the limit splits them by the hash of their keys and appends each
//! partition to a file; so it does with rows that are in no group yet. Then it goes on with an
//! empty table. In the end the partitions are read one after the other. One that is too big again is
//! split by further bits of the hash.
//!
//! | module | owns |
//! |---|---|
//! | [`block`] | keys with states or arguments, as a block and back |
//! | [`spiller`] | what one task has written, by partition |
//! | [`spilled`] | the partitions of all tasks, merged one by one |

mod block;
mod spilled;
mod spiller;

pub(super) use crate::spill::{Budget, Share, SpillFile};
pub(super) use spilled::Spilled;
pub(super) use spiller::Spiller;
