//! Tells which rows of a row group filters can match, by the page index: the least and greatest
//! values of each page.

use basalt_types::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, RowSelection};

use super::bounds::{Bounds, ColumnSource};
use crate::scan::condition::Condition;

/// The rows of pages that can fulfil all filters; `None` if nothing is known.
pub(super) fn rows_that_can_match(
    filters: &[Expr],
    file: &ArrowReaderMetadata,
    group: usize,
    source: &ColumnSource<'_>,
) -> Option<RowSelection> {
    let pages = Pages {
        file,
        group,
        source,
    };
    let selections = filters.iter().filter_map(|f| pages.select(f));
    selections.reduce(|a, b| a.intersection(&b))
}

struct Pages<'a> {
    file: &'a ArrowReaderMetadata,
    group: usize,
    source: &'a ColumnSource<'a>,
}

impl Pages<'_> {
    /// The rows that can fulfil a filter; `None` for all of them.
    fn select(&self, filter: &Expr) -> Option<RowSelection> {
        match Condition::of(filter) {
            Condition::And(a, b) => match (self.select(a), self.select(b)) {
                (Some(a), Some(b)) => Some(a.intersection(&b)),
                (one, other) => one.or(other),
            },
            Condition::Or(a, b) => Some(self.select(a)?.union(&self.select(b)?)),
            Condition::Compare(operand, op, values) => {
                self.compare(&operand.try_as_col()?.name, op, &values)
            }
            Condition::CompareNumber(..) | Condition::Begins(..) | Condition::Unknown => None,
        }
    }

    fn compare(&self, column: &str, op: Operator, values: &[&ScalarValue]) -> Option<RowSelection> {
        let (index, data_type): (usize, DataType) = (self.source)(column)?;
        let metadata = self.file.metadata();
        let (values_index, places) = (metadata.column_index()?, metadata.offset_index()?);
        let schema = self.file.parquet_schema();
        let leaf = (0..schema.num_columns()).find(|i| schema.get_column_root_idx(*i) == index)?;
        let starts: Vec<usize> = places
            .get(self.group)?
            .get(leaf)?
            .page_locations()
            .iter()
            .map(|page| usize::try_from(page.first_row_index).ok())
            .collect::<Option<_>>()?;
        let bounds = Bounds::read(self.file, (index, &data_type), |converter| {
            let groups = || [&self.group];
            let min = converter.data_page_mins(values_index, places, groups())?;
            Ok((
                min,
                converter.data_page_maxes(values_index, places, groups())?,
            ))
        })?;
        let can_hold = bounds.can_hold_any(op, values)?;
        if can_hold.len() != starts.len() {
            return None;
        }
        let num_rows = usize::try_from(metadata.row_group(self.group).num_rows()).ok()?;
        let ends = starts.iter().skip(1).copied().chain([num_rows]);
        let ranges = starts.iter().copied().zip(ends).zip(can_hold);
        let kept = ranges.filter(|(_, can_hold)| *can_hold);
        let kept = kept.map(|((start, end), _)| start..end);
        Some(RowSelection::from_consecutive_ranges(kept, num_rows))
    }
}
