//! Functions of strings, and the shapes of loops that other families of byte functions share.

pub mod bar;
pub mod case;
pub mod charset;
pub mod concat;
pub mod distance;
pub mod format;
pub mod length;
pub mod natural;
pub mod ngrams;
pub mod normalize;
pub mod output;
pub mod pad;
pub mod parse_time_delta;
pub mod parts;
pub mod printf;
mod printf_number;
pub mod readable;
pub mod replace;
pub mod reverse;
pub mod shapes;
pub mod split;
pub mod substring;
pub mod time_delta;
pub mod tokens;
pub mod trim;
pub mod utf8;
pub mod visible_width;
