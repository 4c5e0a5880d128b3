//! Defines [`Style`] and [`TextOptions`]: what shapes the text of values.

use std::sync::Arc;

use super::time::TimeOutput;
use crate::Tz;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As `toString`: strings raw.
    Plain,
    /// As a field of TSV: strings with escapes, NULL as `\N`.
    Escaped,
    /// As an SQL literal and inside arrays: strings, times and addresses in single quotes.
    Quoted,
    /// As JSON.
    Json,
    /// As JSON over several lines: the JSON format and its kin.
    JsonLines(Indent),
    /// As [`Style::Plain`], but tuples with names as JSON over several lines: the Pretty formats.
    Pretty,
    /// What is inside a value of [`Style::Pretty`].
    PrettyQuoted,
    /// As XML text; parts of nested values are elements.
    Xml,
}

/// How deep a line of JSON begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indent {
    /// What stands `level` times at the start.
    pub unit: IndentUnit,
    /// Depth of the value's own line.
    pub level: u8,
}

/// What a level of JSON is indented by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndentUnit {
    /// The JSON formats.
    Tab,
    /// `PrettyJSONEachRow`.
    FourSpaces,
    /// Named tuples in the Pretty formats: one space per level and one more.
    Space,
}

/// What stands for true and false in a format's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoolWords {
    /// The text of true.
    pub on: Vec<u8>,
    /// The text of false.
    pub off: Vec<u8>,
}

impl BoolWords {
    /// The words, unless they are `true` and `false`.
    pub fn new(on: &str, off: &str) -> Option<Arc<Self>> {
        (on != "true" || off != "false").then(|| {
            Arc::new(Self {
                on: on.as_bytes().to_vec(),
                off: off.as_bytes().to_vec(),
            })
        })
    }

    /// What a field that is exactly one of the words means.
    pub fn value(&self, text: &[u8]) -> Option<bool> {
        if text == self.on {
            return Some(true);
        }
        (text == self.off).then_some(false)
    }
}

/// What shapes the text of values.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// Shows times of types without a time zone of their own.
    pub time_zone: Tz,
    /// How moments are written.
    pub time_output: TimeOutput,
    /// Whether decimals keep the zeros at the end of their fraction.
    pub decimal_trailing_zeros: bool,
    /// What Bools are where they are whole fields, not parts or JSON; `None`: `true` and `false`.
    pub bool_words: Option<Arc<BoolWords>>,
    /// What shapes [`Style::Json`].
    pub json: JsonOptions,
    /// What shapes [`Style::Pretty`].
    pub pretty: PrettyOptions,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            time_zone: Tz::UTC,
            time_output: TimeOutput::default(),
            decimal_trailing_zeros: false,
            bool_words: None,
            json: JsonOptions::default(),
            pretty: PrettyOptions::default(),
        }
    }
}

/// What shapes JSON; the defaults are ClickHouse's.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent settings of users"
)]
pub struct JsonOptions {
    /// 64-bit integers as strings.
    pub quote_64bit_integers: bool,
    /// `Float64` as strings.
    pub quote_64bit_floats: bool,
    /// inf and nan as strings instead of null.
    pub quote_denormals: bool,
    /// Decimals as strings.
    pub quote_decimals: bool,
    /// `/` as `\/`.
    pub escape_forward_slashes: bool,
    /// Tuples with names as objects.
    pub named_tuples_as_objects: bool,
    /// Maps as arrays of pairs.
    pub map_as_array_of_tuples: bool,
}

impl Default for JsonOptions {
    fn default() -> Self {
        Self {
            quote_64bit_integers: false,
            quote_64bit_floats: false,
            quote_denormals: false,
            quote_decimals: false,
            escape_forward_slashes: true,
            named_tuples_as_objects: true,
            map_as_array_of_tuples: false,
        }
    }
}

/// What shapes the values of tables on a terminal; the defaults are ClickHouse's.
#[derive(Clone, Copy, Debug)]
pub struct PrettyOptions {
    /// `NULL` instead of small letters that are no ASCII.
    pub ascii_null: bool,
    /// Tuples with names as JSON.
    pub named_tuples_as_json: bool,
}

impl Default for PrettyOptions {
    fn default() -> Self {
        Self {
            ascii_null: false,
            named_tuples_as_json: true,
        }
    }
}
