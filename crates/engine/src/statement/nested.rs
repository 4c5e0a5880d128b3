//! Checks that the arrays of a Nested, which are columns `n.a`, `n.b`, are equally long in each row.

use std::collections::HashMap;

use arrow::array::{AsArray, RecordBatch};
use arrow::buffer::OffsetBuffer;
use basalt_analyzer::TargetColumn;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

/// The columns of a table whose arrays belong together.
pub(super) struct NestedColumns {
    /// For each Nested the places and names of its columns, at least two.
    groups: Vec<Vec<(usize, String)>>,
}

impl NestedColumns {
    pub(super) fn of(columns: &[TargetColumn<'_>]) -> Self {
        let mut place_of: HashMap<&str, usize> = HashMap::new();
        let mut groups: Vec<Vec<(usize, String)>> = Vec::new();
        for (idx, column) in columns.iter().enumerate() {
            if let (Some((nested, _)), DataType::Array(_)) =
                (column.name.split_once('.'), column.data_type)
            {
                let place = *place_of.entry(nested).or_insert(groups.len());
                if place == groups.len() {
                    groups.push(Vec::new());
                }
                groups[place].push((idx, column.name.to_owned()));
            }
        }
        groups.retain(|group| group.len() > 1);
        Self { groups }
    }

    /// Whether the rows of a batch may be stored.
    ///
    /// # Errors
    /// `SIZES_OF_ARRAYS_DONT_MATCH`
    pub(super) fn check(&self, batch: &RecordBatch) -> Result<()> {
        for group in &self.groups {
            let mut first: Option<(&OffsetBuffer<i32>, &str)> = None;
            for (idx, name) in group {
                let Some(list) = batch.column(*idx).as_list_opt::<i32>() else {
                    return Err(Error::bug("an array is a list"));
                };
                let Some((offsets, other)) = first else {
                    first = Some((list.offsets(), name));
                    continue;
                };
                if !offsets.lengths().eq(list.offsets().lengths()) {
                    return Err(Error::new(
                        ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                        format!(
                            "Give arrays of equal lengths in each row: `{other}` and `{name}` are \
                             columns of one Nested"
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}
