//! Functions that write bytes as text in other ways, and addresses.

pub mod base;
pub mod bits;
pub mod curve;
pub mod digits;
pub mod hex;
pub mod ip;
pub mod ip_range;
pub mod mac;
pub mod markup;
pub mod uuid;
