//! Loops over slices, each in several forms that give the same answer at different speed.
//!
//! | module | owns |
//! |---|---|
//! | [`bitmap`] | [`Bitmap`]: which rows have a value |
//! | [`append`] | values behind those of a vector |
//! | [`average`] | sum and count of values by keys of eight bits |
//! | [`c_math`] | functions of the C library |
//! | [`seen`] | which bytes occur |
//! | [`sum`] | sums of floating-point numbers |
//! | [`compare`] | comparisons into bits |
//! | [`counting`] | rows in the order of small codes |
//! | [`filter`] | the values of selected rows behind those of a vector |
//! | [`fold`] | folding a slice in a fixed order of lanes |
//! | [`grouped`] | folding values into the states of their groups |
//! | [`divide`] | quotients and remainders by one divisor, without division |
//! | [`twofold`] | sums of floats in which the order of the rows does not show |
//! | [`widest`] | a loop compiled for several levels, of which the widest runs |
//! | [`isa`] | whether wide instructions may be called; registers from arrays |
//! | [`level`] | how wide a kernel may work now |
//! | [`radix_sort`] | words sorted digit by digit |
//! | [`prefetch`] | memory ahead of its use |
//! | [`masks`] | zeros for the values of rows that have none |
//!
//! A folder holds one kernel: `mod.rs` lists its forms, `scalar.rs` specifies the result, and files
//! named after instructions hold what needs them. A form needs a [`SimdLevel`]; the lists of
//! available forms leave out what the processor lacks or the setting forbids.
//!
//! There are no files for NEON: every aarch64 processor has it, so the compiler uses it for the
//! portable forms, and nothing beyond that was measured yet. `make check` compiles them for it.
//!
//! [`SimdLevel`]: basalt_adapt::SimdLevel

pub mod append;
pub mod average;
pub mod bitmap;
pub mod c_math;
pub mod compare;
pub mod counting;
pub mod divide;
pub mod filter;
pub mod fold;
pub mod grouped;
#[cfg(target_arch = "x86_64")]
mod isa;
mod level;
mod masks;
pub mod prefetch;
pub mod radix_sort;
pub mod seen;
pub mod sum;
pub mod twofold;
pub mod widest;

pub use bitmap::Bitmap;
