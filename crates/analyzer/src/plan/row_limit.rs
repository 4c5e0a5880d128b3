//! Defines [`SizeLimit`]: what settings limit the rows of an operator to, and what happens then.

use std::fmt;

use basalt_error::{Error, ErrorCode};

/// What an overflow mode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum KeyOverflow {
    /// An error.
    Throw,
    /// No further row.
    Break,
    /// Only further rows of keys that came before.
    Any,
}

/// How much an operator may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub struct SizeLimit {
    /// What is limited.
    pub of: RowLimit,
    /// Rows that are allowed; 0 is no limit.
    pub rows: u64,
    /// Bytes that are allowed, as ClickHouse would hold them; 0 is no limit.
    pub bytes: u64,
    /// What happens beyond.
    pub overflow: KeyOverflow,
}

impl SizeLimit {
    /// Whether so much is more than allowed.
    pub fn is_passed(&self, rows: u64, bytes: u64) -> bool {
        let passes = |size, limit| limit > 0 && size > limit;
        passes(rows, self.rows) || passes(bytes, self.bytes)
    }

    /// The error of an operator with so much.
    pub fn error(&self, rows: u64, bytes: u64) -> Error {
        let (name, what, has, allowed) = match self.rows > 0 && rows > self.rows {
            true => (self.of.name(), "rows", rows, self.rows),
            false => {
                let name = self.of.name_of_bytes().unwrap_or_default();
                (name, "bytes", bytes, self.bytes)
            }
        };
        let text = format!(
            "Raise {name} or work on fewer {what}: there are at least {has}, allowed are {allowed}"
        );
        Error::new(self.of.code(), text)
    }
}

impl fmt::Display for SizeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = (self.rows > 0).then(|| format!("{}, {}", self.rows, self.of.name()));
        let bytes = (self.bytes > 0)
            .then_some(self.of.name_of_bytes())
            .flatten();
        let bytes = bytes.map(|name| format!("{}, {name}", self.bytes));
        let limits: Vec<String> = rows.into_iter().chain(bytes).collect();
        f.write_str(&limits.join(", "))
    }
}

/// A setting that limits the rows of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum RowLimit {
    /// `max_rows_in_distinct`
    Distinct,
    /// `max_rows_in_join`
    Join,
    /// `max_rows_to_group_by`
    GroupBy,
    /// `max_rows_in_set`
    Set,
    /// `max_rows_to_sort`
    Sort,
}

impl RowLimit {
    /// Name of the setting.
    pub fn name(self) -> &'static str {
        match self {
            RowLimit::Distinct => "max_rows_in_distinct",
            RowLimit::Join => "max_rows_in_join",
            RowLimit::GroupBy => "max_rows_to_group_by",
            RowLimit::Set => "max_rows_in_set",
            RowLimit::Sort => "max_rows_to_sort",
        }
    }

    /// Name of the setting that limits their bytes, if there is one.
    pub fn name_of_bytes(self) -> Option<&'static str> {
        match self {
            RowLimit::Distinct => Some("max_bytes_in_distinct"),
            RowLimit::Join => Some("max_bytes_in_join"),
            RowLimit::GroupBy => None,
            RowLimit::Set => Some("max_bytes_in_set"),
            RowLimit::Sort => Some("max_bytes_to_sort"),
        }
    }

    /// Name of the setting that says what happens at the limit.
    pub fn overflow_mode(self) -> &'static str {
        match self {
            RowLimit::Distinct => "distinct_overflow_mode",
            RowLimit::Join => "join_overflow_mode",
            RowLimit::GroupBy => "group_by_overflow_mode",
            RowLimit::Set => "set_overflow_mode",
            RowLimit::Sort => "sort_overflow_mode",
        }
    }

    /// The code of the error.
    pub fn code(self) -> ErrorCode {
        match self {
            RowLimit::Distinct | RowLimit::Join | RowLimit::Set => {
                ErrorCode::SET_SIZE_LIMIT_EXCEEDED
            }
            RowLimit::GroupBy => ErrorCode::TOO_MANY_ROWS,
            RowLimit::Sort => ErrorCode::TOO_MANY_ROWS_OR_BYTES,
        }
    }
}
