//! Reads the parts of a MergeTree table: a morsel is a group of rows that filters cannot rule out.
//!
//! | module | owns |
//! |---|---|
//! | [`counting`] | how many rows fulfil a comparison |
//! | [`pruning`] | which groups filters can match |
//! | [`shared`] | what the threads of a scan know |
//! | [`source`] | a scan: morsels and how they are read |
//! | [`stages`] | filters, the cheapest first |
//! | [`strings`] | where numbers in the place of strings save work |

mod counting;
mod pruning;
mod shared;
mod source;
mod stages;
mod strings;

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use basalt_error::Result;
use basalt_storage::{Layout, MergeTree, Part};
use datafusion::logical_expr::Expr;

pub(super) use self::pruning::group_can_match;
use self::source::MergeTreeSource;
use super::{MorselSource, ScanRequest, TableKind};

/// The parts that a query sees.
#[derive(Clone, Debug)]
pub struct MergeTreeTable {
    schema: SchemaRef,
    /// Keeps the folder, should the table be dropped meanwhile.
    table: Arc<MergeTree>,
    parts: Arc<Vec<Arc<Part>>>,
    is_cached: bool,
}

impl MergeTreeTable {
    /// These parts of the table, of which decoded columns are kept if `is_cached`.
    pub fn new(table: Arc<MergeTree>, parts: Arc<Vec<Arc<Part>>>, is_cached: bool) -> Self {
        Self {
            schema: visible_schema(table.layout()),
            table,
            parts,
            is_cached,
        }
    }

    fn num_groups(&self) -> usize {
        let groups = |part: &Arc<Part>| part.metadata().group_rows.len();
        self.parts.iter().map(groups).sum()
    }
}

/// The groups of a part of a table with such a layout for which all filters over its columns may hold.
pub fn matching_groups(layout: &Layout, part: &Part, filters: &[Expr]) -> Vec<usize> {
    let schema = visible_schema(layout);
    let groups = 0..part.metadata().group_rows.len();
    let can_match = |group: &usize| group_can_match(&schema, (part, *group), filters, &|_| true);
    groups.filter(can_match).collect()
}

/// Fields of the columns that queries see.
pub(super) fn visible_schema(layout: &Layout) -> SchemaRef {
    let visible = layout.columns.iter().take(layout.num_visible);
    let fields: Vec<_> = visible.map(|c| c.data_type.field(&c.name)).collect();
    Arc::new(Schema::new(fields))
}

impl TableKind for MergeTreeTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let mut morsels = Vec::new();
        for part in self.parts.iter() {
            for group in 0..part.metadata().group_rows.len() {
                let place = (part.as_ref(), group);
                if group_can_match(&self.schema, place, &request.filters, &|_| true) {
                    morsels.push((Arc::clone(part), group));
                }
            }
        }
        Ok(Arc::new(MergeTreeSource::new(self, request, morsels)?))
    }

    fn uses_filters(&self) -> bool {
        true
    }
}
