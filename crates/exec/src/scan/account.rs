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
            let ruled_out = stored.num_row_groups - self.source().num_morsels();
            let groups = format!("{read} read, {ruled_out} ruled out by filters");
            facts.push(("Row groups", groups));
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
