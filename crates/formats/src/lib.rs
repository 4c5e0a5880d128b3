//! Reads and writes ClickHouse's formats: Arrow batches to bytes and back.
//!
//! | module | owns |
//! |---|---|
//! | [`registry`] | the table of formats, their names and file endings |
//! | [`detect`] | the format of bytes whose name does not tell it |
//! | [`settings`] | the table of settings that shape them |
//! | [`fixed_settings`] | settings that are known and change nothing |
//! | [`output`] | batches to bytes: [`output::output`] makes a [`output::RowSink`] |
//! | [`input`] | bytes to batches: [`input::input`] makes an [`input::BlockReader`] |
//! | [`parquet_types`] | the types of Parquet's columns, both ways |
//! | [`infer`] | names and types of columns from a sample of the bytes |

#![forbid(unsafe_code)]

mod detect;
mod fixed_settings;
pub mod infer;
pub mod input;
pub mod output;
pub mod parquet_types;
pub mod registry;
pub mod settings;

pub use detect::{FIRST_BYTES, from_first_bytes};
pub use infer::infer;
pub use input::{
    BlockReader, Conversion, Converter, Evaluator, Extras, count_rows, header_len, input,
    input_with, omitted_name, split_rows,
};
pub use output::{RowSink, Statistics, output, write_in_pieces};
pub use registry::{FORMATS, FormatEntry, from_file_extension, lookup};
pub use settings::FormatSettings;

/// Name and type of each column, in order.
pub type Columns = Vec<(String, basalt_types::DataType)>;
