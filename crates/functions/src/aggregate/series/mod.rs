//! Functions of the rows of a group in their order: windows, events, intervals, differences.

use super::AggregateFunction;

mod arrays;
mod decayed;
mod events;
mod frequencies;
mod funnel;
mod intervals;
mod pattern;
mod sample;
mod text;

/// All tables of this folder.
pub(super) const TABLES: [&[AggregateFunction]; 8] = [
    arrays::FUNCTIONS,
    decayed::FUNCTIONS,
    events::FUNCTIONS,
    frequencies::FUNCTIONS,
    funnel::FUNCTIONS,
    intervals::FUNCTIONS,
    sample::FUNCTIONS,
    text::FUNCTIONS,
];
