//! What all threads of a scan know: how groups are best read, and what was counted.

use std::sync::atomic::{AtomicU64, Ordering};

use basalt_storage::merge_tree::Origin;

use crate::scan::late::Ways;

/// What all threads of the scan know.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) ways: Ways,
    pub(super) groups_late: AtomicU64,
    pub(super) groups_filtered: AtomicU64,
    pub(super) groups_known: AtomicU64,
    pub(super) groups_counted: AtomicU64,
    pub(super) groups_not_wanted: AtomicU64,
    pub(super) rows_filtered: AtomicU64,
    /// Groups of columns, by where they came from.
    from_cache: AtomicU64,
    from_maps: AtomicU64,
    from_files: AtomicU64,
}

impl Shared {
    pub(super) fn count(&self, origin: Origin) {
        let counter = match origin {
            Origin::Cache => &self.from_cache,
            Origin::Mapped => &self.from_maps,
            Origin::File => &self.from_files,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// What was counted, with the names of metrics.
    pub(super) fn counters(&self) -> Vec<(&'static str, u64)> {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("row_groups_late", value(&self.groups_late)),
            ("row_groups_filtered", value(&self.groups_filtered)),
            ("row_groups_not_wanted", value(&self.groups_not_wanted)),
            ("row_groups_known", value(&self.groups_known)),
            ("row_groups_counted", value(&self.groups_counted)),
            ("rows_filtered", value(&self.rows_filtered)),
            ("blocks_from_cache", value(&self.from_cache)),
            ("blocks_from_maps", value(&self.from_maps)),
            ("blocks_from_files", value(&self.from_files)),
        ]
    }
}
