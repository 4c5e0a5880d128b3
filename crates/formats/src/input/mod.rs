//! Reads the bytes of a format as batches.
//!
//! | module | formats |
//! |---|---|
//! | [`rows`] | the loop over rows that all row formats share: buffer, blocks, errors |
//! | [`split`] | where a large text can be cut so that parts are read in parallel |
//! | [`fields`] | which field of a row goes to which column |
//! | [`tsv`], [`csv`] | TabSeparated, CSV |
//! | [`json`] | one JSON value to one column |
//! | [`json_text`], [`json_skip`] | the text of JSON: strings, numbers; values that nobody asked for |
//! | [`json_rows`] | JSONEachRow, JSONObjectEachRow, JSONCompactEachRow, JSONAsString |
//! | [`json_document`] | JSON, JSONCompact |
//! | [`json_columns`] | JSONColumns, JSONCompactColumns, JSONColumnsWithMetadata |
//! | [`lines`] | TSKV, LineAsString, RawBLOB |
//! | [`custom`], [`regexp`] | CustomSeparated, Regexp |
//! | [`rule`] | fields by an escaping rule, of which these two consist |
//! | [`values`] | Values |
//! | [`binary`] | values in binary, for RowBinary and Native |
//! | [`row_binary`], [`native`] | RowBinary, Native |
//! | [`native_bytes`], [`native_columns`] | bytes and columns of a Native block |
//! | [`arrow`], [`arrow_messages`] | Arrow, ArrowStream, Parquet |
//! | [`arrow_strings`] | strings of Arrow schemas as bytes |
//! | [`limited`] | sources that end where a query holds too much |

mod arrow;
mod arrow_messages;
mod arrow_strings;
mod binary;
pub(crate) mod csv;
pub(crate) mod custom;
pub(crate) mod fields;
mod json;
mod json_columns;
pub(crate) mod json_document;
pub(crate) mod json_rows;
mod json_skip;
pub(crate) mod json_text;
mod limited;
mod lines;
pub(crate) mod native;
pub(crate) mod native_bytes;
mod native_columns;
pub(crate) mod regexp;
pub(crate) mod row_binary;
mod rows;
pub(crate) mod rule;
mod split;
pub(crate) mod tsv;
mod values;

use std::io::BufRead;
use std::sync::Arc;

use ::arrow::array::{ArrayRef, AsArray, BinaryViewArray, UInt8Array};
use ::arrow::datatypes::{Fields, Schema, SchemaRef};
use ::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::states::{StateForms, states_as_strings};

pub(crate) use arrow::schema as arrow_schema;
pub use split::{Part, count_rows, header_len, split_rows};

use crate::registry::{FormatEntry, Kind, lookup};
use crate::{Columns, FormatSettings};

/// Where bytes come from.
pub type Source = Box<dyn BufRead + Send>;

/// Gives the rows of a source, block by block.
pub trait BlockReader: Send {
    /// The next rows, at most as many as a block has; `None` at the end.
    ///
    /// # Errors
    /// ClickHouse's code for what is wrong with the bytes, with the row's number.
    fn next_block(&mut self) -> Result<Option<RecordBatch>>;

    /// Tells, before the first block, how much stands before the source's bytes in what they are a
    /// part of: errors name positions in the whole.
    fn stands_behind(&mut self, _num_rows: u64, _num_bytes: u64) {}

    /// Tells, before the first block, that the source's bytes begin with a header of this length: rows
    /// behind it may look like more of it.
    fn begins_with_header(&mut self, _len: usize) {}
}

/// Computes what stands in `VALUES` and is no literal.
pub trait Evaluator: Send {
    /// The value of `expression` as an array of one row, physical array of `data_type`.
    ///
    /// # Errors
    /// If the expression does not parse or has no value of the type.
    fn evaluate(&mut self, expression: &str, data_type: &DataType) -> Result<ArrayRef>;
}

/// Makes the reader of the format `name` for columns of these names and types.
///
/// # Errors
/// `UNKNOWN_FORMAT`, `FORMAT_IS_NOT_SUITABLE_FOR_INPUT` for one that is only written.
pub fn input(
    name: &str,
    columns: &[(String, DataType)],
    settings: &FormatSettings,
    source: Source,
) -> Result<Box<dyn BlockReader>> {
    input_with(name, columns, settings, source, Extras::default())
}

/// A conversion of whole columns.
pub type Conversion = Box<dyn Fn(&ArrayRef) -> Result<ArrayRef>>;

/// Finds the conversion from one type to another: as CAST has it, where the caller knows CAST.
pub type Converter = Arc<dyn Fn(&DataType, &DataType) -> Result<Conversion> + Send + Sync>;

/// What a reader may have beside its columns.
#[derive(Default)]
pub struct Extras {
    /// Computes expressions in `VALUES`.
    pub evaluator: Option<Box<dyn Evaluator>>,
    /// Converts columns of formats that have types of their own.
    pub converter: Option<Converter>,
    /// Columns of which the batches tell, in `UInt8` columns behind all others, where rows have no value
    /// of their own.
    pub tracked: Vec<usize>,
    /// Only rows are counted: values are not looked at, where the format shows where rows end, and
    /// batches may have no columns.
    pub only_counts: bool,
}

/// Name of the column that says in which rows the column `name` has no value of its own.
pub fn omitted_name(name: &str) -> String {
    format!("omitted {name}")
}

/// Same as [`input`], with more than columns.
///
/// # Errors
/// As [`input`].
pub fn input_with(
    name: &str,
    columns: &[(String, DataType)],
    settings: &FormatSettings,
    source: Source,
    extras: Extras,
) -> Result<Box<dyn BlockReader>> {
    let format = lookup(name)?;
    let source: Source = Box::new(limited::Limited(source));
    let evaluator = extras.evaluator;
    let mut target = Target::new(columns, settings).tracking(extras.tracked);
    target.converter = extras.converter;
    // Where a row of RowBinary ends, its values tell.
    target.only_counts = extras.only_counts && !matches!(format.kind, Kind::RowBinary(_));
    Ok(match format.kind {
        Kind::TabSeparated(header) => {
            by_rows(tsv::TsvRows::new(&target, header, false), target, source)?
        }
        Kind::TabSeparatedRaw(header) => {
            by_rows(tsv::TsvRows::new(&target, header, true), target, source)?
        }
        Kind::Csv(header) => by_rows(csv::CsvRows::new(&target, header), target, source)?,
        Kind::JsonEachRow { strings, .. } => {
            by_rows(json_rows::ObjectRows::new(&target, strings), target, source)?
        }
        Kind::JsonCompactEachRow { header, strings } => by_rows(
            json_rows::ArrayRows::new(&target, header, strings),
            target,
            source,
        )?,
        Kind::Json { compact, .. } if format.is_input => {
            let rows = json_document::DocumentRows::new(&target, compact);
            by_rows(rows, target, source)?
        }
        Kind::JsonObjectEachRow => by_rows(json_rows::MemberRows::new(&target), target, source)?,
        Kind::JsonColumns { compact, metadata } => {
            let layout = match (compact, metadata) {
                (_, true) => json_columns::Layout::Document,
                (true, false) => json_columns::Layout::ByPosition,
                (false, false) => json_columns::Layout::Named,
            };
            Box::new(json_columns::ColumnsReader::new(target, source, layout)?)
        }
        Kind::JsonAsString => by_rows(json_rows::StringRows::new(&target)?, target, source)?,
        Kind::CustomSeparated(header) => {
            by_rows(custom::CustomRows::new(&target, header)?, target, source)?
        }
        Kind::Regexp => by_rows(regexp::RegexpRows::new(&target)?, target, source)?,
        Kind::Tskv => by_rows(lines::TskvRows::new(&target), target, source)?,
        Kind::LineAsString => by_rows(lines::LineRows::new(&target)?, target, source)?,
        Kind::RawBlob => Box::new(lines::BlobReader::new(target, source)?),
        Kind::Values => by_rows(values::ValueRows::new(&target, evaluator), target, source)?,
        Kind::RowBinary(header) => {
            by_rows(row_binary::BinaryRows::new(&target, header), target, source)?
        }
        Kind::Native => Box::new(native::NativeReader::new(target, source)),
        Kind::Arrow => Box::new(arrow::file(target, source)?),
        Kind::ArrowStream => Box::new(arrow::stream(target, source)?),
        Kind::Parquet => Box::new(arrow::parquet(target, source)?),
        Kind::One => Box::new(lines::OneReader::new(target)),
        _ => return Err(not_read(format)),
    })
}

/// The error for a format that is only written.
fn not_read(format: &FormatEntry) -> Error {
    let hint = match format.kind {
        Kind::Template => "Use CustomSeparated or Regexp: ",
        _ => "",
    };
    Error::new(
        ErrorCode::FORMAT_IS_NOT_SUITABLE_FOR_INPUT,
        format!("{hint}Format {} is not suitable for input", format.name),
    )
}

/// Checks that states are whole ones, where they tell where they end. No bytes are the state of no
/// rows: a value that was left out.
fn whole_states(data_type: &DataType, array: ArrayRef, forms: StateForms) -> Result<ArrayRef> {
    let DataType::AggregateFunction(function) = data_type else {
        return Ok(array);
    };
    let Some(form) = forms(function) else {
        return Ok(array);
    };
    let states = array.as_binary_view();
    let is_whole = |state: &[u8]| form.len_of(state) == Some(state.len());
    if states.iter().flatten().all(is_whole) {
        return Ok(array);
    }
    let empty = form.empty()?;
    let whole = states.iter().flatten().map(|state| match state {
        b"" => Ok(empty.as_slice()),
        state if is_whole(state) => Ok(state),
        _ => Err(Error::new(
            ErrorCode::CANNOT_READ_ALL_DATA,
            format!("Cannot read all data: the bytes are no state of {data_type}"),
        )),
    });
    let whole: Vec<&[u8]> = whole.collect::<Result<_>>()?;
    Ok(Arc::new(BinaryViewArray::from(whole)))
}

/// The reader of a format that consists of rows.
fn by_rows<R: rows::RowParser + 'static>(
    parser: R,
    target: Target,
    source: Source,
) -> Result<Box<dyn BlockReader>> {
    Ok(Box::new(rows::RowReader::new(parser, target, source)?))
}

/// Values that the columns of a batch have room for before there are any: a table of thousands of
/// columns would take gigabytes for one row.
const MAX_ROOM: usize = 1 << 22;

/// Bytes of the memory that a query may still take, for each value that there is room for: a value takes
/// up to 16, of one block of many.
const ROOM_BYTES: usize = 256;

/// What UTF-8 files of some programs begin with.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The columns that a reader fills.
pub(crate) struct Target {
    pub(crate) columns: Columns,
    pub(crate) settings: FormatSettings,
    schema: SchemaRef,
    /// Columns of which is told where rows have no value of their own.
    tracked: Vec<usize>,
    converter: Option<Converter>,
    only_counts: bool,
    /// Length of the header, if it is known before it is read.
    header_len: Option<usize>,
}

impl Target {
    pub(crate) fn new(columns: &[(String, DataType)], settings: &FormatSettings) -> Self {
        let fields: Fields = columns.iter().map(|(name, t)| t.field(name)).collect();
        Self {
            columns: columns.to_vec(),
            settings: settings.clone(),
            schema: Arc::new(Schema::new(fields)),
            tracked: Vec::new(),
            converter: None,
            only_counts: false,
            header_len: None,
        }
    }

    /// Whether a row that begins at `position` may belong to the header.
    pub(crate) fn may_have_header_behind(&self, position: usize) -> bool {
        self.header_len.is_none_or(|len| position < len)
    }

    fn tracking(mut self, tracked: Vec<usize>) -> Self {
        let tracked_columns = tracked.iter().filter_map(|i| self.columns.get(*i));
        let flags = tracked_columns.map(|(n, _)| DataType::UInt8.field(omitted_name(n)));
        let fields = self.schema.fields().iter().map(Arc::clone).chain(flags);
        self.schema = Arc::new(Schema::new(fields.collect::<Fields>()));
        self.tracked = tracked;
        self
    }

    /// Position of the column `name`, in another case if no other way.
    pub(crate) fn position(&self, name: &[u8]) -> Option<usize> {
        let exact = self.columns.iter().position(|(n, _)| n.as_bytes() == name);
        exact.or_else(|| {
            self.columns
                .iter()
                .position(|(n, _)| n.as_bytes().eq_ignore_ascii_case(name))
        })
    }

    /// Empty builders of all columns, with room for that many rows unless the columns are many.
    pub(crate) fn builders(&self, capacity: usize) -> Result<Vec<ColumnBuilder>> {
        let most = (basalt_profile::room_bytes() / ROOM_BYTES).min(MAX_ROOM);
        let capacity = capacity.min(most / self.columns.len().max(1));
        let options = self.settings.read_options();
        let builder = |(_, t): &(String, DataType)| {
            ColumnBuilder::with_options(&states_as_strings(t), capacity, &options)
        };
        let mut builders: Vec<ColumnBuilder> =
            self.columns.iter().map(builder).collect::<Result<_>>()?;
        let tracks = self.settings.input_format_defaults_for_omitted_fields;
        for i in self.tracked.iter().filter(|_| tracks) {
            builders.get_mut(*i).map(ColumnBuilder::track_omitted);
        }
        Ok(builders)
    }

    /// The batch of what builders hold.
    pub(crate) fn finish(
        &self,
        mut builders: Vec<ColumnBuilder>,
        num_rows: usize,
    ) -> Result<RecordBatch> {
        let omitted = self.tracked.iter().map(|i| {
            let rows = builders.get_mut(*i).map(ColumnBuilder::take_omitted);
            rows.unwrap_or_default()
        });
        let omitted: Vec<Vec<usize>> = omitted.collect();
        let arrays = builders.into_iter().zip(&self.columns);
        let arrays = arrays.map(|(builder, (name, data_type))| {
            let array = builder.finish()?;
            whole_states(data_type, array, self.settings.state_forms)
                .map_err(|e| Error::new(e.code(), format!("{}: column `{name}`", e.message())))
        });
        self.with_flags(arrays.collect::<Result<_>>()?, &omitted, num_rows)
    }

    /// The batch of full columns, with flags of the omitted rows of the tracked ones.
    pub(crate) fn with_flags(
        &self,
        mut columns: Vec<ArrayRef>,
        omitted: &[Vec<usize>],
        num_rows: usize,
    ) -> Result<RecordBatch> {
        for rows in omitted {
            let mut flags = vec![0u8; num_rows];
            for row in rows {
                flags[*row] = 1;
            }
            columns.push(Arc::new(UInt8Array::from(flags)));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|e| Error::bug(e.to_string()))
    }

    /// The only column, for formats that give one String.
    pub(crate) fn only_string(&self, format: &str) -> Result<()> {
        match self.columns.as_slice() {
            [(_, t)] if t.is_string() => Ok(()),
            _ => Err(Error::new(
                ErrorCode::INCORRECT_QUERY,
                format!("Format {format} gives one column of type String"),
            )),
        }
    }
}
