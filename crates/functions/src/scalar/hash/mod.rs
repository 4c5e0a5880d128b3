//! Hash functions, bit by bit those of ClickHouse.

pub mod city;
pub mod columns;
pub mod digests;
pub mod farm;
pub mod fixed;
pub mod functions;
pub mod ints;
pub mod metro;
pub mod murmur;
pub mod sip;
pub mod sip_functions;

#[cfg(test)]
mod tests;
