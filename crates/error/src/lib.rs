//! Errors with ClickHouse's numbers and names, and messages that put the hint first.
//!
//! | module | owns |
//! |---|---|
//! | [`code`] | the table of error codes: number and name |
//! | [`error`] | [`Error`]: a code, a message, a position in the query |

#![forbid(unsafe_code)]

pub mod code;
pub mod error;

pub use code::ErrorCode;
pub use error::{Error, Position, Result};
