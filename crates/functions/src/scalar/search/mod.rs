//! Searching in strings: patterns, regular expressions, substrings, tokens.

pub mod extract;
pub mod fold;
pub mod like;
pub mod matching;
pub mod multi;
pub mod position;
pub mod regexp;
pub mod replace;
pub mod token;

#[cfg(test)]
mod tests;
