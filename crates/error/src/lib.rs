//! Errors with ClickHouse's numbers and names, and messages that put the hint first.
//!
//! | module | owns |
//! |---|---|
//! | [`code`] | the table of error codes: number and name |
//! | `count` | numbers with their nouns |
//! | [`near`] | the known words nearest to a misspelt one |
//! | [`error`] | [`Error`]: a code, a message, a position in the query |

#![forbid(unsafe_code)]

pub mod code;
mod count;
pub mod error;
pub mod near;

pub use code::ErrorCode;
pub use count::counted;
pub use error::{Error, Position, Result};
pub use near::{edit_distance, nearest};
