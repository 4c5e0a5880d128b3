//! Checks the files of a table: reads all values and compares checksums.

use std::sync::Arc;

use basalt_error::Result;

use super::table::MmapTable;

/// What was found of a file.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its name within the table's folder.
    pub file: String,
    /// What is wrong with it.
    pub error: Option<String>,
}

impl MmapTable {
    /// Reads all columns and compares their checksums; `check` says again and again whether to go on.
    ///
    /// # Errors
    /// If the log cannot be read, so that nobody knows what should be there, or if `check` says so.
    pub fn checked(self: &Arc<Self>, check: &dyn Fn() -> Result<()>) -> Result<Vec<Checked>> {
        let snapshot = self.snapshot()?;
        if snapshot.num_batches() == 0 {
            return Ok(Vec::new());
        }
        let found = |column| {
            let found = snapshot.check(column, check);
            check()?;
            Ok(Checked {
                file: snapshot.file(column),
                error: found.err().map(|e| e.message().to_owned()),
            })
        };
        (0..self.schema().fields().len()).map(found).collect()
    }
}
