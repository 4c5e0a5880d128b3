//! Functions of maps.
//!
//! | module | owns |
//! |---|---|
//! | [`construct`] | `map` |
//! | [`parts`] | keys and values, entries with certain ones |
//! | [`combine`] | maps from arrays and from other maps |
//! | [`sum`] | `mapAdd`, `mapSubtract`, `mapPopulateSeries` |
//! | [`text`] | `extractKeyValuePairs` |

pub mod combine;
pub mod construct;
pub mod parts;
pub mod sum;
pub mod text;
