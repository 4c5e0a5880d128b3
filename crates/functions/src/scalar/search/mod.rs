//! Searching in strings: patterns, regular expressions, substrings, tokens.

pub mod backtrack;
pub mod containing;
pub mod extract;
pub mod fold;
pub mod like;
pub mod matching;
mod may_contain;
pub mod multi;
pub mod on_value;
pub mod phrase;
pub mod position;
pub mod regexp;
pub mod regexp_position;
pub mod replace;
pub mod token;
