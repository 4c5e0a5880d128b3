//! Sorts rows: keys packed into integers, split by their highest bits, each part sorted by a task.
//!
//! ```text
//! inputs ─▶ collect ─▶ ranges ─▶ layout ─▶ pack ─▶ split ─▶ parts ─▶ sort, gather ─▶ batches in order
//!           a task each                    a task each             tasks, a few parts ahead
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`ordinal`] | values as unsigned integers in their order |
//! | [`range`] | what the values of a key have in common |
//! | [`step`] | what all differences of values are multiples of |
//! | [`layout`] | which bits of a word hold what |
//! | [`word`], [`pack`] | words of 64 or 128 bits, made of rows and read back |
//! | [`carried`] | narrow columns in words, so that no row is looked up |
//! | [`radix`] | splitting and sorting words |
//! | [`words`] | words of all tasks, and what they are split into |
//! | [`rows`] | the input in memory |
//! | [`float_key`] | keys that stand for floats |
//! | [`nested_key`] | arrays, tuples and the like as bytes in their order |
//! | [`direction`], [`in_order`], [`reversed`] | rows that are in order already |
//! | [`ranks`] | strings as numbers in their order |
//! | [`key_counts`] | rows that are nothing but their keys: counted |
//! | [`repeated`] | values that are written as often as they occur |
//! | [`nearly`], [`nearly_sample`] | words that are in order but for a few |
//! | [`job`] | one run: the choice of the way, and the way |
//! | [`top`], [`bound`] | the first rows without the others |
//! | [`key_bound`], [`text_bound`] | what a scan may leave out of them |
//! | [`codes`], [`dictionary`] | keys as small numbers |
//! | [`counting`] | few different keys: counted, then rows written to their places |
//! | [`written`] | columns that are written run by run |
//! | [`counted_rows`] | the result's batches, made of what tasks have written |
//! | [`external`] | sorted runs in temporary files, and their merge |
//! | [`parts`] | the work that is left once words are split |
//! | [`emit`] | rows of a part in order, equal words told apart |
//! | [`ties`] | rows told apart whose words are equal |
//! | [`account`] | what a run notes, and what is told of it |
//! | [`sort_exec`] | the operator in a plan |
//! | [`options`] | what may be forced about a sort |
//!
//! Where memory is short, sorted runs go to temporary files, are cut by keys, and each range of keys is merged by
//! a task.

mod account;
mod bound;
mod carried;
mod codes;
mod counted_rows;
mod counting;
mod dictionary;
mod direction;
mod emit;
mod external;
mod float_key;
mod in_order;
mod job;
mod key_bound;
mod key_counts;
mod layout;
mod nearly;
mod nearly_sample;
mod nested_key;
mod options;
mod ordinal;
mod pack;
mod parts;
mod radix;
mod range;
mod ranks;
mod repeated;
mod reversed;
mod rows;
mod sort_exec;
mod step;
mod text_bound;
mod ties;
mod top;
mod word;
mod words;
mod written;

pub(crate) use float_key::{has_changed_keys, key_column};
pub(crate) use key_bound::FirstRows;
pub use key_bound::KeyBound;
pub use options::{Options, Strategy};
pub use sort_exec::{Limit, SortRowsExec};
