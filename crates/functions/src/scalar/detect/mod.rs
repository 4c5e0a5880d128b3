//! Functions that guess what a text is.

pub mod charset;
pub mod language;
