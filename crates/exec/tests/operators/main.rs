//! Runs operators, and plans with the rule that puts them there, against DataFusion's and arrow's.
//!
//! These tests reach every operator. Here the crate is compiled for them once; as unit tests of the
//! library they would have all of it compiled a second time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod group_by;
mod rule;
mod sort;
