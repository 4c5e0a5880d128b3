//! The dialect's data types: their names, their Arrow arrays, their common supertypes.
//!
//! | module | owns |
//! |---|---|
//! | [`data_type`] | [`DataType`] and its predicates |
//! | `type_parameters` | [`EnumType`], [`TupleType`], [`AggregateType`], [`IntervalUnit`]: what types are made of |
//! | `type_name` | the printed name of a [`DataType`] |
//! | [`parse`] | a type's name to a [`DataType`] |
//! | [`physical`] | the Arrow type that holds a [`DataType`] inside the engine |
//! | [`builder`] | columns that grow value by value |
//! | [`arrow_edge`] | Arrow types of files and clients, to and from ours |
//! | [`supertype`] | the least type that holds several types' values |
//! | [`calendar`] | days, civil dates and time zones |
//! | [`binary`] | values in the binary form that RowBinary, Native and hashes of `Variant` share |
//! | [`text`] | values as text, out and in |
//! | [`variant`] | the arrays of `Variant` |
//! | [`value_bytes`] | the memory that values take |
//! | [`states`] | what formats must know of the bytes of states |

#![forbid(unsafe_code)]

pub mod arrow_edge;
pub mod binary;
pub mod builder;
pub mod calendar;
pub mod data_type;
pub mod parse;
pub mod physical;
pub mod states;
pub mod supertype;
pub mod text;
mod type_name;
mod type_parameters;
pub mod value_bytes;
pub mod variant;

pub use builder::ColumnBuilder;
pub use chrono_tz::{TZ_VARIANTS, Tz};
pub use data_type::DataType;
pub use parse::parse_data_type;
pub use supertype::{least_supertype, supertype_or_variant};
pub use type_parameters::{AggregateType, EnumType, IntervalUnit, TupleType};
pub use value_bytes::{array_bytes, values_bytes};
