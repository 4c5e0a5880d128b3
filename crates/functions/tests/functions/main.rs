//! Calls functions by their names and compares with answers of ClickHouse; and tests what functions are made of.
//!
//! These tests reach every function. Here the crate is compiled for them once; as unit tests of the
//! library they would have all of it compiled a second time.

mod aggregate;
mod arrays;
mod core;
mod dates;
mod detect;
mod encoding;
mod hash;
mod higher_order;
mod introspection;
mod json;
mod limits;
mod maps;
mod monotone;
mod random;
mod registry;
mod search;
mod strings;
mod strings_testing;
mod testing;
mod tuples;
mod url;
