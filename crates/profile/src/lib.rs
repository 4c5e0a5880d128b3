//! Knows what each query uses. So far that is memory, counted allocation by allocation.
//!
//! Operators count what they know that they keep, and are wrong where a library below them keeps more:
//! batches that wait in an exchange, strings that share a buffer, tables of a join. What the allocator
//! gives out is the sum of all that, so it is what a limit of memory is compared with in the end.
//!
//! | module | owns |
//! |---|---|
//! | [`account`] | what each query holds, and which query a thread works for |
//! | [`counting`] | the allocator that tells the accounts |
//! | [`disowned`] | memory that is in no query's account |
//! | [`freed`] | memory that was freed, for the next query |
//! | [`resident`] | what the process really uses |
//! | [`room`] | buffers that ask before they grow |
//! | [`task`] | futures that work for a query on whatever thread |

#![deny(unsafe_op_in_unsafe_fn)]

pub mod account;
pub mod counting;
pub mod disowned;
mod freed;
pub mod resident;
pub mod room;
pub mod task;

pub use account::{Account, Entered, check_limit, check_room, room_bytes, thread_bytes};
pub use counting::Counting;
pub use disowned::Disowned;
pub use freed::{Busy, keep_freed_memory};
pub use resident::resident_bytes;
pub use room::{read_behind, reserve};
pub use task::Accounted;
