//! The aggregate functions: what one is, how it resolves, and its states of all groups.
//!
//! An [`Aggregator`] holds the states of **all** groups of one aggregate in one thread and is fed
//! whole batches: `update` for rows, `merge` for states of other threads. Operators call it
//! through nothing else, so every function runs in every operator.
//!
//! | module | owns |
//! |---|---|
//! | `call` | [`AggregateCall`] and the checks of its arguments and parameters |
//! | `binding` | names with combinators, NULL rules |
//! | `combinators` | `-If`, `-Array`, `-State`, … |
//! | `groups` | [`Groups`]: which group each row is of |
//! | `rows` | walking the rows of a batch with their groups |
//! | `values` | dispatch on primitive types |
//! | `grouped` | functions whose state is a Rust value a group |
//! | `row_log` | functions that keep all rows and compute at the end |
//! | `byte_keys` | floats by groups that are bytes |
//! | `float_sum` | sums of floats in which the order of the rows does not show |
//! | `paced` | rows in pieces, so that states are looked at before they are too large |
//! | `slots`, `byte_arena` | one value of any type a group |
//! | `byte_order` | the order of strings that begin alike |
//! | [`collected`] | functions over all rows of a group, computed at the end |
//! | [`keyed`] | values apart for each key inside a group: `sumMap`, `-Map` |
//! | [`distinct_set`] | the distinct keys of all groups in one hash table |
//! | [`row_keys`] | numbers of up to 128 bits for the rows of some columns |
//! | [`of_inner`] | methods that a function leaves to the one that it is made of |
//! | [`defaults`] | arrays of a type's default value |
//! | the others | a family of functions each, with its table `FUNCTIONS` |

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, Result};
use basalt_types::DataType;

use crate::{Arg, Context};

mod any;
mod arg_extreme;
mod average;
mod binding;
pub(crate) mod bitmap;
mod bits;
mod byte_arena;
mod byte_keys;
mod byte_order;
mod call;
mod collect;
mod collected;
mod combinators;
mod count;
mod defaults;
mod distinct_set;
mod extreme;
mod extreme_bytes;
mod float_sum;
mod grouped;
mod groups;
mod keyed;
mod of_inner;
mod paced;
mod quantile;
mod row_keys;
mod row_log;
mod rows;
mod series;
mod shape;
mod slots;
mod statistics;
mod sum;
mod top_k;
mod uniq;
mod values;

pub use call::AggregateCall;
pub(crate) use combinators::has_open_states;
pub use combinators::{null_for_empty, state_form};
pub use groups::{Groups, group_ids};
pub(crate) use statistics::distributions;
pub use uniq::{DistinctWords, rows_without_null};

/// The states of all groups of one aggregate function, in one thread.
pub trait Aggregator: fmt::Debug + Send {
    /// Adds the rows of a batch; `args` are physical arrays of the bound types.
    ///
    /// # Errors
    /// What the function reports for these values.
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()>;

    /// Adds the rows of a batch, of which row `i` belongs to group `keys[i]`; false, and nothing is
    /// added, if this function has no faster way for such groups than [`Aggregator::update`].
    ///
    /// # Errors
    /// As [`Aggregator::update`].
    fn update_bytes(&mut self, _args: &[ArrayRef], _keys: &[u8]) -> Result<bool> {
        Ok(false)
    }

    /// Adds states that [`Aggregator::states`] of another instance gave, one a row.
    ///
    /// # Errors
    /// `INCORRECT_DATA` for states that are damaged.
    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()>;

    /// Results of the groups in `range`, in their order; groups beyond those ever fed are empty.
    ///
    /// # Errors
    /// What the function reports for its states.
    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef>;

    /// States of the groups in `range`, as arrays of [`BoundAggregate::state_types`].
    ///
    /// # Errors
    /// What the function reports for its states.
    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>>;

    /// Memory held, in bytes.
    fn size_bytes(&self) -> usize;

    /// Memory that results or states take for a while besides what is held, in bytes: what the
    /// rows of all groups need when they are put in order.
    fn ordering_bytes(&self) -> usize {
        0
    }

    /// Whether the states of some groups are made without looking at those of all others.
    fn exports_parts(&self) -> bool {
        true
    }

    /// Whether [`Aggregator::finish`] costs little and may come again, so that groups can be put in the order
    /// of their results before others are made of them.
    fn finishes_again(&self) -> bool {
        false
    }
}

/// What an aggregate function does with NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateNulls {
    /// Rows with a NULL argument are skipped; a group without rows gives NULL if an argument is
    /// Nullable (`sum`, `min`, `avg`).
    Skip,
    /// Rows with a NULL argument are skipped; the result is never NULL (`count`, `uniq`,
    /// `groupArray`).
    SkipNotNull,
    /// The function sees NULLs.
    Own,
}

/// What a call of an aggregate function is if, by its type, an argument is NULL in all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlyNulls {
    /// NULL, whatever the other arguments are.
    Null,
    /// 0, if the call is right but for the type: it counts values.
    Zero,
    /// An error of the type, if the call is right but for it.
    Refused,
    /// An error of the type, whatever else is wrong.
    RefusedFirst,
}

/// The entry of an aggregate function.
#[derive(Debug)]
pub struct AggregateFunction {
    /// Name as users write it.
    pub name: &'static str,
    /// Other names for the same function.
    pub aliases: &'static [&'static str],
    /// Whether the name is found in any case.
    pub case_insensitive: bool,
    /// What it does with NULL.
    pub nulls: AggregateNulls,
    /// What it makes of arguments that are nothing but NULL, unless it sees NULLs itself.
    pub only_nulls: OnlyNulls,
    /// Most parameters that it takes in the first brackets.
    pub max_params: usize,
    /// How to call it.
    pub syntax: &'static str,
    /// What it returns, in one sentence.
    pub description: &'static str,
    /// Checks types and parameters and gives the result's type and the states' maker.
    pub resolve: fn(&AggregateCall<'_>) -> Result<BoundAggregate>,
}

impl AggregateFunction {
    /// What most entries have: case-sensitive, skips NULLs, no parameters. Use as `..BASE`.
    pub const BASE: AggregateFunction = AggregateFunction {
        name: "",
        aliases: &[],
        case_insensitive: false,
        nulls: AggregateNulls::Skip,
        only_nulls: OnlyNulls::Null,
        max_params: 0,
        syntax: "",
        description: "",
        resolve: |call| {
            Err(Error::bug(format!(
                "aggregate function {} does not resolve",
                call.name
            )))
        },
    };
}

/// Makes the empty states of an aggregate, once per thread.
pub type AggregatorFactory = Arc<dyn Fn() -> Box<dyn Aggregator> + Send + Sync>;

/// An aggregate function bound to types, combinators and parameters.
#[derive(Clone)]
pub struct BoundAggregate {
    /// Name with combinators and parameters, for plans.
    pub name: String,
    /// Type of the result.
    pub return_type: DataType,
    /// Arrow types of the columns of [`Aggregator::states`].
    pub state_types: Vec<ArrowType>,
    /// What the function is, for operators that have a shorter way for the simplest ones.
    pub shortcut: Option<Shortcut>,
    /// Whether rows with a NULL argument count for nothing.
    pub skips_nulls: bool,
    /// Makes the states.
    pub factory: AggregatorFactory,
}

/// Aggregates that operators may compute without an [`Aggregator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// Number of rows, no argument.
    CountAll,
    /// Wrapping sum of one integer argument that is not Nullable, to 64 bits.
    SumInteger,
    /// Number of distinct values, which are told apart by [`DistinctWords`] of so many bits.
    UniqExact {
        /// 32, 64 or 128.
        bits: u32,
    },
}

impl fmt::Debug for BoundAggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.name, self.return_type)
    }
}

/// Every aggregate function, without combinators.
pub fn all() -> impl Iterator<Item = &'static AggregateFunction> {
    let tables = FAMILIES.iter().flat_map(|tables| tables.iter());
    tables.flat_map(|table| table.iter())
}

/// The name of every aggregate function with every combinator behind it.
pub fn all_combined_names() -> impl Iterator<Item = String> {
    all().flat_map(|f| combinators::suffixes().map(move |suffix| format!("{}{suffix}", f.name)))
}

/// The tables of all families.
const FAMILIES: &[&[&[AggregateFunction]]] = &[
    SINGLE_TABLES,
    &series::TABLES,
    &shape::TABLES,
    &statistics::TESTS,
];

/// The tables of families that have one.
const SINGLE_TABLES: &[&[AggregateFunction]] = &[
    any::FUNCTIONS,
    arg_extreme::FUNCTIONS,
    average::FUNCTIONS,
    collect::FUNCTIONS,
    count::FUNCTIONS,
    extreme::FUNCTIONS,
    combinators::map::FUNCTIONS,
    quantile::FUNCTIONS,
    sum::FUNCTIONS,
    top_k::FUNCTIONS,
    statistics::BIVARIATE,
    statistics::UNIVARIATE,
    statistics::MATRICES,
    uniq::EXACT,
    uniq::APPROXIMATE,
    bitmap::FUNCTIONS,
    bits::FUNCTIONS,
];

/// Whether `name`, with any combinators behind it, is an aggregate function.
pub fn is_aggregate(name: &str) -> bool {
    binding::is_known(name)
}

/// Binds the aggregate function `name` (with its combinators) to parameters and argument types.
///
/// # Errors
/// `UNKNOWN_FUNCTION`, and what the function finds wrong with its arguments.
pub fn bind(
    name: &str,
    params: &[Arg],
    types: &[DataType],
    context: &Context,
) -> Result<BoundAggregate> {
    let bound = binding::bind(&AggregateCall {
        name,
        params,
        types,
        context,
    })?;
    Ok(paced::paced(bound, context))
}

/// An aggregate in two steps: one that gives packed states as strings, one that takes them.
///
/// # Errors
/// `LOGICAL_ERROR` if the states cannot be packed.
pub fn in_two_steps(bound: &BoundAggregate) -> Result<(BoundAggregate, BoundAggregate)> {
    combinators::in_two_steps(bound)
}

/// The value of an aggregate over each row for itself.
///
/// # Errors
/// What the function reports for these values.
pub fn of_each_row(bound: &BoundAggregate, args: &[ArrayRef], num_rows: usize) -> Result<ArrayRef> {
    let ids = group_ids(0..num_rows, num_rows)?;
    let groups = Groups {
        ids: Some(&ids),
        num_groups: num_rows,
        num_rows,
    };
    let mut states = (bound.factory)();
    states.update(args, groups)?;
    states.finish(0..num_rows)
}
