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
    /// Reads all columns and compares their checksums.
    ///
    /// # Errors
    /// If the log cannot be read, so that nobody knows what should be there.
    pub fn checked(self: &Arc<Self>) -> Result<Vec<Checked>> {
        let snapshot = self.snapshot()?;
        if snapshot.num_batches() == 0 {
            return Ok(Vec::new());
        }
        let check = |column| Checked {
            file: snapshot.file(column),
            error: snapshot.check(column).err().map(|e| e.message().to_owned()),
        };
        let num_columns = self.schema().fields().len();
        Ok((0..num_columns).map(check).collect())
    }
}
