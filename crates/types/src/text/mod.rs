//! Reads and writes values as ClickHouse's text: numbers, times, addresses, escapes, columns.
//!
//! | module | owns |
//! |---|---|
//! | [`column`] | [`ColumnText`]: the values of one column as text, in any [`Style`] |
//! | `values` | those values, bound to their type |
//! | `options` | [`Style`], [`TextOptions`]: what shapes the text |
//! | [`cursor`] | [`Cursor`]: a place in a text that is read |
//! | [`escape`] | backslash escapes of TSV, SQL literals and JSON, both ways |
//! | [`nested`] | arrays, tuples and maps to text |
//! | [`number`] | integers, floats and decimals to text |
//! | [`parse_number`] | text to integers and booleans |
//! | [`parse_float`] | text to floats |
//! | [`parse_decimal`] | text to decimals |
//! | [`time`] | dates and times to text |
//! | [`parse_time`] | text to dates and times, in the fixed layouts |
//! | [`best_effort`] | text to times, whatever the layout |
//! | [`terminal`] | how many columns of a terminal a text takes |
//! | [`address`] | UUIDs and IP addresses, both ways |

pub mod address;
pub mod best_effort;
pub mod column;
pub mod cursor;
pub mod escape;
mod nested;
pub mod number;
mod options;
pub mod parse_decimal;
pub mod parse_float;
pub mod parse_number;
pub mod parse_time;
pub mod terminal;
pub mod time;
mod values;

pub use column::ColumnText;
pub use cursor::Cursor;
pub use number::{write_f32, write_f64, write_integer};
pub use options::{BoolWords, Indent, IndentUnit, JsonOptions, PrettyOptions, Style, TextOptions};
pub use parse_decimal::parse_decimal;
pub use parse_float::{parse_f32, parse_f64};
pub use parse_number::{parse_bool, parse_int};
pub use time::TimeOutput;
