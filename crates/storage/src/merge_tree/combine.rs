//! Makes one row of the rows that have the same key: what engines other than MergeTree do in merges.

use std::fmt::Debug;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use arrow::compute::take;
use arrow::row::{RowConverter, SortField};
use basalt_error::{Error, Result};

/// For whom rows are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For a new part.
    Write,
    /// For a query with FINAL.
    Read,
}

/// Some columns of rows that are in the order of the sorting key.
#[derive(Clone, Copy, Debug)]
pub struct KeyedRows<'a> {
    /// Which columns of the table.
    pub ids: &'a [usize],
    /// Their values.
    pub columns: &'a [ArrayRef],
    /// The first row of each key.
    pub starts: &'a [u32],
    /// Number of rows.
    pub num_rows: usize,
}

impl KeyedRows<'_> {
    /// The values of a column of the table.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if it is none of the columns.
    pub fn column(&self, id: usize) -> Result<&ArrayRef> {
        let place = self.ids.iter().position(|i| *i == id);
        let place = place.ok_or_else(|| Error::bug("a column that was not asked for"))?;
        Ok(&self.columns[place])
    }
}

/// How rows of the same key become one.
pub trait Combine: Debug + Send + Sync {
    /// Columns that it needs whatever is read, beside the sorting key.
    fn needs(&self) -> &[usize];

    /// Whether rows of a table without sorting key stay as they are, instead of having all the same key.
    fn needs_key(&self) -> bool;

    /// One row for each key. Called again on its own results: what comes in several pieces must not
    /// make a difference.
    ///
    /// # Errors
    /// What the values report.
    fn combine(&self, rows: KeyedRows<'_>) -> Result<Vec<ArrayRef>>;

    /// Which of the rows stay when there is one for each key; all of them if none.
    ///
    /// # Errors
    /// What the values report.
    fn kept(&self, rows: KeyedRows<'_>, purpose: Purpose) -> Result<Option<BooleanArray>>;
}

/// ReplacingMergeTree: the row of the greatest version stays, and the last of those.
#[derive(Clone, Debug)]
pub struct Replacing {
    version: Option<usize>,
    is_deleted: Option<usize>,
    needs: Vec<usize>,
}

impl Replacing {
    /// With the columns of the version and of the flag of removed rows.
    pub fn new(version: Option<usize>, is_deleted: Option<usize>) -> Self {
        Self {
            version,
            is_deleted,
            needs: version.into_iter().chain(is_deleted).collect(),
        }
    }

    /// The row that stays of each key.
    fn winners(&self, rows: &KeyedRows<'_>) -> Result<Vec<u32>> {
        let end = u32::try_from(rows.num_rows).map_err(|_| Error::bug("too many rows"))?;
        let ends = rows.starts.iter().skip(1).copied().chain([end]);
        let Some(version) = self.version else {
            return Ok(ends.map(|end| end - 1).collect());
        };
        let version = rows.column(version)?;
        let field = SortField::new(version.data_type().clone());
        let versions = RowConverter::new(vec![field])
            .and_then(|c| c.convert_columns(std::slice::from_ref(version)))
            .map_err(|e| Error::bug(e.to_string()))?;
        let winner = |(start, end): (&u32, u32)| {
            let mut best = *start;
            for row in start + 1..end {
                if versions.row(row as usize) >= versions.row(best as usize) {
                    best = row;
                }
            }
            best
        };
        Ok(rows.starts.iter().zip(ends).map(winner).collect())
    }
}

impl Combine for Replacing {
    fn needs(&self) -> &[usize] {
        &self.needs
    }

    fn needs_key(&self) -> bool {
        false
    }

    fn combine(&self, rows: KeyedRows<'_>) -> Result<Vec<ArrayRef>> {
        let winners = UInt32Array::from(self.winners(&rows)?);
        let taken = rows.columns.iter().map(|c| take(c, &winners, None));
        let taken = taken.collect::<std::result::Result<_, _>>();
        taken.map_err(|e| Error::bug(e.to_string()))
    }

    fn kept(&self, rows: KeyedRows<'_>, purpose: Purpose) -> Result<Option<BooleanArray>> {
        let Some(is_deleted) = self.is_deleted.filter(|_| purpose == Purpose::Read) else {
            return Ok(None);
        };
        let flags = rows.column(is_deleted)?;
        let flags = flags
            .as_primitive_opt::<arrow::datatypes::UInt8Type>()
            .ok_or_else(|| Error::bug(format!("a flag of {}", flags.data_type())))?;
        Ok(Some(flags.values().iter().map(|f| Some(*f == 0)).collect()))
    }
}
