//! Runs window functions over sorted rows.
//!
//! | module | owns |
//! |---|---|
//! | [`step`] | the step: collects the rows, adds the functions' columns |
//! | [`frames`] | partitions, equal rows, and the frame of each row |
//! | [`rows`] | functions of a row's place: `rank`, `lag`, `nth_value` |
//! | [`aggregate`] | aggregate functions over frames |
//! | [`moving`] | those that move: fed anew, or from a tree |
//! | [`tree`] | a tree of states over the rows |

mod aggregate;
mod frames;
mod moving;
mod rows;
mod step;
mod tree;

pub(crate) use step::WindowStep;
