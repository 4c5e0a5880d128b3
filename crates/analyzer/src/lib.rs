//! Turns the dialect's syntax tree into DataFusion's logical plan.
//!
//! Names and aliases are resolved, every cast is explicit, and what the analyzer does not know is
//! an error, never ignored. One file per construct.
//!
//! | module | owns |
//! |---|---|
//! | [`environment`] | what the analyzer asks the engine for: tables, settings, subqueries |
//! | [`query`] | SELECT and its clauses, set operations: the shape of the plan |
//! | [`constants`] | constants that take long |
//! | [`expr`] | expressions: identifiers, functions, casts, IN, lambdas, aggregates, windows |
//! | [`lazy_logic`] | AND and OR that keep what may fail from rows that are decided |
//! | `query_settings` | the settings of the statement, or of a subquery that has its own |
//! | `place` | where in the text an expression stands, for errors |
//! | [`scope`] | columns in sight, and finding them by name |
//! | `subcolumn` | the parts that values of a type have: `tuple.element`, `array.size0` |
//! | [`plan`] | the plan's nodes that DataFusion does not have |
//! | `tolerant` | hints of functions that go on where one met a value it cannot take |
//! | [`typed`] | an expression with its type and constant |
//! | [`udf`], [`udaf`], [`udwf`] | the dialect's functions as DataFusion's |

#![forbid(unsafe_code)]

pub mod constants;
pub mod environment;
pub mod expr;
pub mod lazy_logic;
mod place;
pub mod plan;
pub mod query;
mod query_settings;
pub mod scope;
mod subcolumn;
mod tolerant;
pub mod typed;
pub mod udaf;
pub mod udf;
pub mod udwf;

pub use environment::{ConstantArg, Environment, TableColumn, TableEntry};
pub use expr::cast::cast;
pub use query::defaults::{DeclaredColumn, column_names, may_use_others};
pub use query::insert::{TargetColumn, given_name, given_or_default};
pub use query::{Analyzer, FloatOrder, OutputColumn, Planned};
pub use query_settings::QuerySettings;
pub use typed::{Typed, into_plan_error, plan_error};
