//! Functions that give random values.

pub mod distributions;
pub mod numbers;
pub mod source;
pub mod strings;
