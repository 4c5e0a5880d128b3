//! Defines [`RowBound`]: the numbers of LIMIT and OFFSET, and the rows between them.

use std::fmt;

/// A number of rows in LIMIT or OFFSET.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum RowBound {
    /// So many from the start.
    Rows(u64),
    /// So many from the end.
    FromEnd(u64),
    /// A share of all rows, rounded up: a number between 0 and 1, as text of `f64`.
    Share(String),
}

impl fmt::Display for RowBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowBound::Rows(n) => write!(f, "{n}"),
            RowBound::FromEnd(n) => write!(f, "-{n}"),
            RowBound::Share(text) => f.write_str(text),
        }
    }
}

impl RowBound {
    /// Of so many rows the first that an OFFSET and a LIMIT leave, and the one behind the last.
    pub fn range(offset: &Self, limit: &Self, num_rows: u64) -> (u64, u64) {
        let (mut start, mut end) = (0, num_rows);
        match offset {
            RowBound::Rows(n) => start = (*n).min(num_rows),
            RowBound::FromEnd(n) => end = num_rows.saturating_sub(*n),
            RowBound::Share(_) => start = offset.share_of(num_rows),
        }
        match limit {
            RowBound::Rows(n) => end = end.min(start.saturating_add(*n)),
            RowBound::FromEnd(n) => start = start.max(end.saturating_sub(*n)),
            RowBound::Share(_) => end = end.min(start.saturating_add(limit.share_of(num_rows))),
        }
        (start, end.max(start))
    }

    /// How many of so many rows it is, the end or the start.
    pub fn share_of(&self, num_rows: u64) -> u64 {
        match self {
            RowBound::Rows(n) | RowBound::FromEnd(n) => *n,
            RowBound::Share(text) => {
                let share = text.parse::<f64>().unwrap_or(0.0);
                (num_rows as f64 * share).ceil() as u64
            }
        }
    }
}
