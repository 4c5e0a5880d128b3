//! Generates the tables of the demo and the benchmarks as Parquet files.
//!
//! A table depends on its kind, its number of rows and the seed, never on the number of threads:
//! every row group is made from a seed of its own and written in its turn.
//!
//! | module | owns |
//! |---|---|
//! | [`kind`] | [`Kind`]: the tables by name, with description and columns |
//! | [`generate`](mod@generate) | [`generate()`]: row groups in parallel, in order into one file |
//! | `column` | a table as a list of columns, each a function of a row; rows to Arrow arrays |
//! | `random` | the random numbers, and the distributions drawn from them |
//! | `words` | words of eight languages, and phrases made of them |
//! | `hits` | ClickBench's 105 columns: sites, users, visits, pages |
//! | `trips` | taxi trips |
//! | `bench` | the plain tables that the benchmarks read |

#![forbid(unsafe_code)]

mod bench;
mod column;
pub mod generate;
mod hits;
pub mod kind;
mod random;
mod trips;
mod words;

pub use generate::{Recipe, generate};
pub use kind::Kind;
