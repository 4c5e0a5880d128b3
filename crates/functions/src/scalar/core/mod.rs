//! Arithmetic, comparison, logic, rounding, mathematics, conditions, casts: what SQL itself needs.
//!
//! | module | owns |
//! |---|---|
//! | [`num`] | the primitives that hold numbers |
//! | [`numeric`] | loops over columns of numbers, widened to the type that is computed in |
//! | [`decimals`] | decimal columns as ticks |
//! | [`defaults`] | the default values of types |
//! | [`arithmetic`] | `+ - * / %` and kin, also on dates, decimals, tuples, arrays |
//! | [`comparison`] | `= < >` and kin over any two types |
//! | [`cast`] | every conversion |
//! | [`logic`] | `and`, `or`, `xor`, `not` |
//! | [`conditional`] | `if`, `coalesce`, `greatest` and kin |
//! | [`bits`], `bit_strings` | bits of integers and of strings |
//! | [`rounding`] | rounding to digits and classes |
//! | [`math`] | elementary functions, error and gamma function |
//! | [`primes`], [`width_bucket`], [`middle`] | prime numbers, buckets, means and bounds of values |
//! | [`variants`] | what is in a `Variant` |
//! | [`type_functions`] | types, NULLs, pass-through |
//! | [`decimal_functions`] | `multiplyDecimal`, `divideDecimal` |
//! | [`first_non_default`] | `firstNonDefault` |
//! | [`mixed_extreme`] | `greatest` and `least` of UInt64 and signed integers |

pub mod arithmetic;
mod bit_strings;
pub mod bits;
pub mod cast;
pub mod comparison;
pub mod conditional;
pub mod decimal_functions;
pub(crate) mod decimals;
pub(crate) mod defaults;
pub mod first_non_default;
pub mod logic;
pub mod math;
pub mod middle;
mod mixed_extreme;
pub(crate) mod num;
pub(crate) mod numeric;
pub mod primes;
pub mod rounding;
pub mod type_functions;
pub mod variants;
pub mod width_bucket;

pub use decimals::halves_of;
