//! Functions of URLs.

pub mod components;
pub mod escaping;
pub mod hosts;
pub mod parameters;
pub mod parts;
