//! Tells which group each row of a batch belongs to.

use basalt_error::{Error, ErrorCode, Result};

/// Which group each row of a batch belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// Group of each row; `None` if all rows are of group 0 (aggregation without keys).
    pub ids: Option<&'a [u32]>,
    /// Number of groups so far; every id is below it. States of new groups start empty.
    pub num_groups: usize,
    /// Number of rows of the batch, which `count()` cannot tell from its arguments.
    pub num_rows: usize,
}

impl Groups<'_> {
    /// The group of a row.
    #[inline]
    pub fn of_row(&self, row: usize) -> usize {
        self.ids.map_or(0, |ids| ids[row] as usize)
    }
}

/// The ids of groups, all below `num_groups`.
///
/// # Errors
/// `TOO_MANY_ROWS` if so many groups have no ids.
pub fn group_ids(groups: impl IntoIterator<Item = usize>, num_groups: usize) -> Result<Vec<u32>> {
    check_num_groups(num_groups)?;
    Ok(groups.into_iter().map(|group| group as u32).collect())
}

/// Whether so many groups can be told apart.
///
/// # Errors
/// `TOO_MANY_ROWS`
pub(crate) fn check_num_groups(num_groups: usize) -> Result<()> {
    if u32::try_from(num_groups).is_ok() {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::TOO_MANY_ROWS,
        format!(
            "Group by fewer different keys: an aggregate function has {num_groups} groups, more than {}",
            u32::MAX
        ),
    ))
}
