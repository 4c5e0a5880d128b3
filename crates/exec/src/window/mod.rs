//! Runs window functions over sorted rows.
//!
//! | module | owns |
//! |---|---|
//! | [`step`] | the step: collects the rows, adds the functions' columns |
//! | [`frames`] | partitions, equal rows, and the frame of each row |
//! | [`rows`] | functions of a row's place: `rank`, `lag`, `nth_value` |
//! | [`aggregate`] | aggregate functions over frames |
//! | [`tree`] | their states over long frames that move at both ends |

mod aggregate;
mod frames;
mod rows;
mod step;
mod tree;

pub(crate) use step::WindowStep;
