//! Feeds states in pieces of batches, and looks in between whether the query holds too much.
//!
//! A batch of 65 409 rows may leave hundreds of megabytes in the states of its groups, which nobody would
//! look at before its end. Pieces have as many rows as left about a megabyte before; a batch of numbers is
//! one piece.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use basalt_error::Result;

use super::{Aggregator, BoundAggregate, Groups};
use crate::{Context, memory};

/// Bytes that a piece should leave in the states.
const PIECE_BYTES: usize = 1 << 20;

/// Elements of arrays in a piece, at most, but for those of one row.
const PIECE_ELEMENTS: usize = 1 << 18;

/// Rows of the first piece.
const FIRST_ROWS: usize = 1 << 10;

/// Rows of a piece, at least.
const LEAST_ROWS: usize = 16;

/// The aggregate in pieces, if the query has a limit of memory.
pub(super) fn paced(bound: BoundAggregate, context: &Context) -> BoundAggregate {
    if !memory::is_limited(context) {
        return bound;
    }
    let make = Arc::clone(&bound.factory);
    let factory = move || -> Box<dyn Aggregator> {
        Box::new(Paced {
            states: make(),
            num_rows: FIRST_ROWS,
        })
    };
    BoundAggregate {
        factory: Arc::new(factory),
        ..bound
    }
}

#[derive(Debug)]
struct Paced {
    states: Box<dyn Aggregator>,
    /// Rows of the next piece.
    num_rows: usize,
}

/// Rows that have together no more elements of arrays than a piece should.
fn rows_of_elements(columns: &[ArrayRef], num_rows: usize) -> usize {
    let lists = columns.iter().filter_map(|c| c.as_list_opt::<i32>());
    let elements = lists.map(|list| {
        let offsets = list.value_offsets();
        offsets[offsets.len() - 1].abs_diff(offsets[0]) as usize
    });
    match elements.max() {
        Some(elements) if elements > PIECE_ELEMENTS => {
            (num_rows.saturating_mul(PIECE_ELEMENTS) / elements).max(1)
        }
        _ => usize::MAX,
    }
}

type Add = fn(&mut dyn Aggregator, &[ArrayRef], Groups<'_>) -> Result<()>;

impl Paced {
    fn add(&mut self, columns: &[ArrayRef], groups: Groups<'_>, add: Add) -> Result<()> {
        let most_rows = self
            .num_rows
            .min(rows_of_elements(columns, groups.num_rows));
        if groups.num_rows <= most_rows {
            return self.add_piece(columns, groups, add);
        }
        let mut start = 0;
        while start < groups.num_rows {
            let most_rows = most_rows.min(self.num_rows);
            let end = groups.num_rows.min(start.saturating_add(most_rows));
            let pieces = columns
                .iter()
                .map(|column| column.slice(start, end - start));
            let pieces: Vec<ArrayRef> = pieces.collect();
            let groups = Groups {
                ids: groups.ids.map(|ids| &ids[start..end]),
                num_rows: end - start,
                ..groups
            };
            self.add_piece(&pieces, groups, add)?;
            start = end;
        }
        Ok(())
    }

    fn add_piece(&mut self, columns: &[ArrayRef], groups: Groups<'_>, add: Add) -> Result<()> {
        let before = basalt_profile::thread_bytes();
        add(self.states.as_mut(), columns, groups)?;
        let grown = basalt_profile::thread_bytes().wrapping_sub(before);
        self.keep_pace(groups.num_rows, usize::try_from(grown).unwrap_or(0));
        basalt_profile::check_limit()
    }

    /// Chooses the rows of the next piece by what the last one left.
    fn keep_pace(&mut self, num_rows: usize, num_bytes: usize) {
        if num_bytes > PIECE_BYTES {
            let rows = num_rows.saturating_mul(PIECE_BYTES) / num_bytes;
            self.num_rows = rows.max(LEAST_ROWS);
        } else if num_rows >= self.num_rows {
            self.num_rows = self.num_rows.saturating_mul(2);
        }
    }
}

impl Aggregator for Paced {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.add(args, groups, |states, args, groups| {
            states.update(args, groups)
        })
    }

    fn update_bytes(&mut self, args: &[ArrayRef], keys: &[u8]) -> Result<bool> {
        self.states.update_bytes(args, keys)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.add(states, groups, |states, columns, groups| {
            states.merge(columns, groups)
        })
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.states.finish(range)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.states.states(range)
    }

    fn size_bytes(&self) -> usize {
        self.states.size_bytes()
    }

    fn ordering_bytes(&self) -> usize {
        self.states.ordering_bytes()
    }

    fn exports_parts(&self) -> bool {
        self.states.exports_parts()
    }
}
