//! The combinators: suffixes that change what an aggregate function is fed or gives.
//!
//! Each binds the function in front of it to the types that it feeds, and wraps its states.

use basalt_error::Result;

use super::{AggregateCall, BoundAggregate};

mod arg_best;
mod array;
mod condition;
pub(super) mod distinct;
mod for_each;
pub(super) mod map;
mod null_for_empty;
pub(super) mod nullable;
mod resample;
pub(super) mod state;
mod state_bytes;
mod state_form;
mod state_layout;

pub(super) use array::used_values;
pub use null_for_empty::null_for_empty;
pub(crate) use state::has_open_states;
pub(super) use state::in_two_steps;
pub use state_form::state_form;

/// A suffix of a function's name and what it does.
pub(super) struct Combinator {
    /// The suffix.
    pub(super) suffix: &'static str,
    /// Whether it may follow itself.
    pub(super) nests: bool,
    /// Binds a call whose name is the one in front of the suffix, with the types of the whole.
    pub(super) bind: fn(&AggregateCall<'_>) -> Result<BoundAggregate>,
}

/// Every combinator; of two that end alike the longer one comes first.
pub(super) const ALL: &[Combinator] = &[
    Combinator {
        suffix: "SimpleState",
        nests: false,
        bind: state::bind_simple_state,
    },
    Combinator {
        suffix: "OrDefault",
        nests: true,
        bind: nullable::bind_or_default,
    },
    Combinator {
        suffix: "Resample",
        nests: false,
        bind: resample::bind,
    },
    Combinator {
        suffix: "Distinct",
        nests: false,
        bind: distinct::bind,
    },
    Combinator {
        suffix: "ForEach",
        nests: true,
        bind: for_each::bind,
    },
    Combinator {
        suffix: "ArgMin",
        nests: false,
        bind: arg_best::bind_min,
    },
    Combinator {
        suffix: "ArgMax",
        nests: false,
        bind: arg_best::bind_max,
    },
    Combinator {
        suffix: "OrNull",
        nests: true,
        bind: nullable::bind_or_null,
    },
    Combinator {
        suffix: "Array",
        nests: true,
        bind: array::bind,
    },
    Combinator {
        suffix: "State",
        nests: false,
        bind: state::bind_state,
    },
    Combinator {
        suffix: "Merge",
        nests: false,
        bind: state::bind_merge,
    },
    Combinator {
        suffix: "Map",
        nests: true,
        bind: map::bind,
    },
    Combinator {
        suffix: "If",
        nests: false,
        bind: condition::bind,
    },
];

/// What combinators add to names.
pub(super) fn suffixes() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|combinator| combinator.suffix)
}
