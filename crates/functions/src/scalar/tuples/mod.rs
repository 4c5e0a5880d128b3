//! Functions of tuples.
//!
//! | module | owns |
//! |---|---|
//! | [`construct`] | `tuple`, `tupleElement` |
//! | `compose` | values computed from the elements of tuples by other functions |
//! | [`vector`] | arithmetic, norms and distances |
//! | [`structure`] | concatenation, names, flattening |

pub(crate) mod compose;
pub mod construct;
pub mod structure;
pub mod vector;
