//! Computes typed expressions over columns, in code that is compiled while the query runs.
//!
//! | module | owns |
//! |---|---|
//! | [`ir`] | typed expressions: what can be computed |
//! | [`program`] | an optional filter, and what is computed from the rows that pass it |
//! | [`column`] | columns in memory, and results |
//! | [`calendar`] | functions of dates and times as nodes |
//! | [`interpret`] | runs a program row by row: the specification |
//! | `emit` | writes a program as the text of a function for LLVM |
//! | `llvm` | LLVM's library, loaded at run time; with [`compiled`] the only place with `unsafe` |
//! | [`compiled`] | programs in machine code |
//! | [`cache`] | compiled programs of all queries |
//! | [`background`] | the thread that compiles them, and the wait for it |
//! | `fuzzing` | random programs, compiled and interpreted, for tests and the fuzzer |
//!
//! ```text
//!  Program ──emit──▶ text ──llvm──▶ machine code ──▶ Compiled::run(columns)  ==  interpret(columns)
//! ```
//!
//! LLVM is not linked: without `libLLVM` on the machine nothing is compiled, and callers go on in their
//! other way; so they do in builds without the feature `llvm`. It knows nothing of Arrow, SQL or plans.

pub mod background;
pub mod cache;
pub mod calendar;
pub mod column;
pub mod compiled;
mod emit;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod interpret;
pub mod ir;
#[cfg(feature = "llvm")]
mod llvm;
#[cfg(not(feature = "llvm"))]
#[path = "no_llvm.rs"]
mod llvm;
pub mod program;
#[cfg(test)]
mod tests;

pub use cache::{CodeCache, Counters, Slot};
pub use column::{Column, MappedRows, Outcome, Values, WrongColumns};
pub use compiled::{CompileError, Compiled};
pub use interpret::interpret;
pub use ir::{BinaryOp, Graph, IllTyped, Node, NodeId, Type, UnaryOp};
pub use program::{Fold, Grouped, MAX_GROUPS, Output, Program};
