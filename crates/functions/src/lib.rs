//! The dialect's scalar, higher-order and aggregate functions.
//!
//! A function is an entry of a declarative table (`FUNCTIONS` in each family's module): name,
//! aliases, description, and how it resolves types. Resolving gives a loop over whole columns.
//!
//! | module | owns |
//! |---|---|
//! | [`call`] | [`Call`]: a function's arguments while its types are resolved, and checks of them |
//! | [`characters`] | [`Characters`]: whether all strings of a column are ASCII or UTF-8 |
//! | [`column`] | [`Column`]: an argument at run time, constant or not, and typed views of it |
//! | [`fails`] | [`Fails`]: for which values a function reports an error |
//! | [`function`] | [`ScalarFunction`], [`BoundFunction`]: NULL and LowCardinality handling |
//! | [`registry`] | finding functions by name, with suggestions |
//! | [`interrupt`] | whether the query of a call may go on |
//! | [`monotone`] | [`Monotone`]: which calls keep the order of an argument |
//! | [`memory`] | what one call may take |
//! | [`steady`] | which calls no setting and no time zone changes |
//! | [`scalar`] | the scalar functions, one folder or file per family |
//! | [`variant`] | functions over each type of a `Variant` |
//! | `window` | sixteen bytes of a value as a number |
//! | [`higher_order`] | functions that take a lambda |
//! | [`aggregate`] | the aggregate functions and their combinators |

#![forbid(unsafe_code)]

pub mod aggregate;
pub mod call;
pub mod characters;
pub mod column;
pub mod fails;
pub mod function;
pub mod higher_order;
pub mod interrupt;
mod memory;
mod monotone;
pub mod registry;
pub mod scalar;
mod steady;
mod variant;
mod window;

pub use call::{Arg, Call, Context, SettingKind, SettingValues};
pub use characters::Characters;
pub use column::{Column, StringColumn};
pub use fails::Fails;
pub use function::{BoundFunction, Dictionaries, Eval, Nulls, Purity, Resolved, ScalarFunction};
pub use interrupt::Interrupt;
pub use monotone::Monotone;
