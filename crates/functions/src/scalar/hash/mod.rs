//! Hash functions, bit by bit those of ClickHouse.

pub mod buckets;
pub mod city;
pub mod columns;
pub mod digests;
pub mod farm;
pub mod fixed;
pub mod functions;
pub mod hmac;
pub mod ints;
pub mod keccak;
pub mod md4;
pub mod metro;
pub mod murmur;
pub mod sip;
pub mod sip_functions;
pub mod spark;
pub mod wy;
