//! Defines [`RowLimit`]: settings that limit the rows of an operator, and what happens then.

use basalt_error::ErrorCode;

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
