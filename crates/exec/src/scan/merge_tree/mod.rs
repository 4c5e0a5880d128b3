//! Reads the parts of a MergeTree table: a morsel is a group of rows that filters cannot rule out.
//!
//! | module | owns |
//! |---|---|
//! | [`constants`] | constants of conditions beside bounds |
//! | [`counting`] | how many rows fulfil a comparison |
//! | [`operands`] | bounds of what conditions compare that is no column |
//! | [`pruning`] | which groups filters can match |
//! | [`shared`] | what the threads of a scan know |
//! | [`source`] | a scan: morsels and how they are read |
//! | [`stages`] | filters, the cheapest first |
//! | [`strings`] | where numbers in the place of strings save work |

mod constants;
mod counting;
mod operands;
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

pub use self::operands::KeyExprs;
pub(super) use self::pruning::Pruner;
use self::source::MergeTreeSource;
use super::sets::without_sets;
use super::{MorselSource, ScanRequest, TableKind};

/// The parts that a query sees.
#[derive(Clone, Debug)]
pub struct MergeTreeTable {
    schema: SchemaRef,
    /// Keeps the folder, should the table be dropped meanwhile.
    table: Arc<MergeTree>,
    parts: Arc<Vec<Arc<Part>>>,
    keys: KeyExprs,
    is_cached: bool,
}

impl MergeTreeTable {
    /// These parts of the table with such keys; decoded columns are kept if `is_cached`.
    pub fn new(
        table: Arc<MergeTree>,
        parts: Arc<Vec<Arc<Part>>>,
        keys: KeyExprs,
        is_cached: bool,
    ) -> Self {
        Self {
            schema: visible_schema(table.layout()),
            table,
            parts,
            keys,
            is_cached,
        }
    }

    fn num_groups(&self) -> usize {
        let groups = |part: &Arc<Part>| part.metadata().group_rows.len();
        self.parts.iter().map(groups).sum()
    }
}

/// The groups of a part of a table with such a layout and keys for which all filters may hold.
pub fn matching_groups(
    (layout, keys): (&Layout, &KeyExprs),
    part: &Part,
    filters: &[Expr],
) -> Vec<usize> {
    let filters: Vec<Expr> = filters.iter().map(without_sets).collect();
    let can_match = Pruner::new(layout, keys, &filters).can_match(part, &|_| true);
    let groups = can_match.into_iter().enumerate();
    groups
        .filter_map(|(group, can)| can.then_some(group))
        .collect()
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
        let pruner = Pruner::new(self.table.layout(), &self.keys, &request.filters);
        for part in self.parts.iter() {
            let can_match = pruner.can_match(part, &|_| true).into_iter();
            let groups = can_match.enumerate().filter(|(_, can)| *can);
            morsels.extend(groups.map(|(group, _)| (Arc::clone(part), group)));
        }
        Ok(Arc::new(MergeTreeSource::new(self, request, morsels)?))
    }

    fn uses_filters(&self) -> bool {
        true
    }
}
