//! Tells what a scan has read.

use datafusion::physical_plan::ExecutionPlan;

use super::ScanExec;
use super::scan_exec::{MORSELS, SCANNED_BYTES, STORED_BYTES};
use crate::report::{Account, figures};

impl ScanExec {
    /// What it read, and what it could leave out.
    pub(crate) fn account(&self) -> Account {
        let metrics = self.metrics().unwrap_or_default();
        let sum = |name: &str| metrics.sum_by_name(name).map_or(0, |v| v.as_usize() as u64);
        let num_rows = metrics.output_rows().unwrap_or(0) as u64;
        let rows = figures::counted(num_rows, "row");
        let mut facts = vec![("Source", self.source().describe())];
        let names: Vec<_> = self
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect();
        facts.push(("Columns", names.join(", ")));
        if let Some(stored) = self.source().stored() {
            facts.push(("Files", stored.num_files.to_string()));
            let read = sum(MORSELS);
            let ruled_out = stored.num_ruled_out;
            let not_wanted = sum("row_groups_not_wanted");
            let known = sum("row_groups_known");
            let counted = sum("row_groups_counted");
            // All that are counted are one morsel.
            let not_read = not_wanted + known + counted.min(1);
            let mut groups = format!("{} read", read.saturating_sub(not_read));
            groups += &format!(", {ruled_out} ruled out by filters");
            if not_wanted > 0 {
                groups += &format!(", {not_wanted} by the rows that a LIMIT above has");
            }
            if known > 0 {
                groups += &format!(", of {known} the least and greatest values are known");
            }
            if counted > 0 {
                groups += &format!(", of {counted} it is known how many rows fulfil the condition");
            }
            facts.push(("Row groups", groups));
            facts.extend(filter_first(&sum));
            facts.extend(blocks(&sum));
            facts.push(("Stored bytes", figures::bytes(sum(STORED_BYTES))));
        } else {
            facts.push(("Morsels", sum(MORSELS).to_string()));
        }
        facts.push(("Bytes", figures::bytes(sum(SCANNED_BYTES))));
        Account {
            name: "Read".to_owned(),
            summary: rows,
            facts,
            ..Account::default()
        }
    }
}

/// Where the blocks of a table on disk came from.
fn blocks(sum: &dyn Fn(&str) -> u64) -> Option<(&'static str, String)> {
    let origins = [
        ("blocks_from_cache", "from the cache"),
        ("blocks_from_maps", "where they lie in mapped files"),
        ("blocks_from_files", "read and decoded"),
    ];
    let told = origins.map(|(name, origin)| (sum(name), origin));
    let told = told.iter().filter(|(num, _)| *num > 0);
    let told: Vec<String> = told
        .map(|(num, origin)| format!("{num} {origin}"))
        .collect();
    (!told.is_empty()).then(|| ("Blocks", told.join(", ")))
}

/// Row groups of which the columns of filters were read before the others.
fn filter_first(sum: &dyn Fn(&str) -> u64) -> Option<(&'static str, String)> {
    let num_late = sum("row_groups_late");
    let groups = figures::counted(num_late, "row group");
    let rows = figures::counted(sum("rows_filtered"), "row");
    let mut text = format!("in {groups}, {rows} left out");
    let num_filtered = sum("row_groups_filtered");
    if num_filtered > 0 {
        text += &format!("; of {num_filtered} no other column is read");
    }
    (num_late > 0).then_some(("Filter first", text))
}
