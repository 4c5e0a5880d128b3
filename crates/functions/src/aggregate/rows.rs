//! Walks the rows of a batch that an aggregate function counts, with the group of each.

use arrow::array::{Array, ArrayRef};
use arrow::buffer::NullBuffer;
use basalt_error::{Error, Result};
use basalt_kernels::Bitmap;

use super::Groups;

/// The rows of a batch whose arguments are all valid.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a> {
    /// Group of each row; `None` if all are of group 0.
    pub(crate) ids: Option<&'a [u32]>,
    /// Rows to take; `None` if all.
    pub(crate) valid: Option<NullBuffer>,
    /// Number of rows, valid or not.
    pub(crate) len: usize,
}

impl<'a> Rows<'a> {
    /// The rows in which none of `args` is NULL.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if there are more or fewer rows than group ids.
    pub(crate) fn new(args: &[ArrayRef], groups: Groups<'a>) -> Result<Self> {
        let mut valid: Option<NullBuffer> = None;
        for arg in args {
            if let Some(nulls) = arg.logical_nulls().filter(|n| n.null_count() > 0) {
                valid = NullBuffer::union(valid.as_ref(), Some(&nulls));
            }
        }
        Self::checked(args, groups, valid)
    }

    /// All rows, whatever is NULL in them.
    ///
    /// # Errors
    /// As [`Rows::new`].
    pub(crate) fn all(args: &[ArrayRef], groups: Groups<'a>) -> Result<Self> {
        Self::checked(args, groups, None)
    }

    fn checked(args: &[ArrayRef], groups: Groups<'a>, valid: Option<NullBuffer>) -> Result<Self> {
        let len = groups.num_rows;
        if args.iter().any(|a| a.len() != len) || groups.ids.is_some_and(|ids| ids.len() != len) {
            return Err(Error::bug("rows and group ids differ in number"));
        }
        let ids = groups.ids;
        Ok(Self { ids, valid, len })
    }

    /// Number of rows taken.
    pub(crate) fn num_valid(&self) -> usize {
        self.len - self.valid.as_ref().map_or(0, NullBuffer::null_count)
    }

    /// Which rows to take, for kernels; `None` if all.
    pub(crate) fn validity(&self) -> Option<Bitmap<'_>> {
        let bits = self.valid.as_ref()?.inner();
        Bitmap::try_new(bits.values(), bits.offset(), bits.len())
    }

    /// Calls `f(row, group)` for each row taken, in order.
    ///
    /// Compiled for each `f`: of loops with `for`, unlike iterators' `for_each`, that is only the body.
    #[inline]
    pub(crate) fn for_each(&self, mut f: impl FnMut(usize, usize)) {
        match (self.ids, &self.valid) {
            (None, None) => {
                for row in 0..self.len {
                    f(row, 0);
                }
            }
            (None, Some(valid)) => {
                for row in valid.valid_indices() {
                    f(row, 0);
                }
            }
            (Some(ids), None) => {
                for (row, id) in ids.iter().enumerate() {
                    f(row, *id as usize);
                }
            }
            (Some(ids), Some(valid)) => {
                for row in valid.valid_indices() {
                    f(row, ids[row] as usize);
                }
            }
        }
    }

    /// Calls `f(row, group)` for each row taken until it fails.
    ///
    /// # Errors
    /// What `f` reports.
    #[inline]
    pub(crate) fn try_for_each(&self, mut f: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        let group = |row: usize| self.ids.map_or(0, |ids| ids[row] as usize);
        match &self.valid {
            None => {
                for row in 0..self.len {
                    f(row, group(row))?;
                }
            }
            Some(valid) => {
                for row in valid.valid_indices() {
                    f(row, group(row))?;
                }
            }
        }
        Ok(())
    }

    /// The rows taken, in order, whatever their groups are.
    pub(crate) fn valid_rows(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.valid.is_none().then_some(0..self.len);
        let some = self.valid.iter().flat_map(NullBuffer::valid_indices);
        all.into_iter().flatten().chain(some)
    }
}
