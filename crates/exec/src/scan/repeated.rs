//! Gives the same batches again and again.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, ErrorCode, Result};

use super::{BatchIter, MorselSource, ScanRequest, TableKind};

/// The table function `loop`: rows without end.
#[derive(Clone, Debug)]
pub struct RepeatedTable {
    /// Fields of the batches.
    pub schema: SchemaRef,
    /// The rows of one turn.
    pub batches: Arc<Vec<RecordBatch>>,
}

impl TableKind for RepeatedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let project = |b: &RecordBatch| {
            let projected = b.project(&request.projection);
            projected.map_err(|e| Error::bug(e.to_string()))
        };
        let batches = self
            .batches
            .iter()
            .filter(|b| b.num_rows() > 0)
            .map(project);
        let schema = self.schema.project(&request.projection);
        Ok(Arc::new(RepeatedSource(Self {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            batches: Arc::new(batches.collect::<Result<_>>()?),
        })))
    }
}

/// A scan of a [`RepeatedTable`], in one morsel without end.
#[derive(Debug)]
struct RepeatedSource(RepeatedTable);

impl MorselSource for RepeatedSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0.schema)
    }

    fn num_morsels(&self) -> usize {
        1
    }

    fn open(&self, _morsel: usize) -> Result<BatchIter> {
        let batches = Arc::clone(&self.0.batches);
        if batches.is_empty() {
            return Err(Error::new(
                ErrorCode::TOO_MANY_RETRIES_TO_FETCH_PARTS,
                "The table of loop has no rows that could be repeated",
            ));
        }
        let turns = (0..batches.len()).cycle();
        Ok(Box::new(turns.map(move |i| Ok(batches[i].clone()))))
    }

    fn num_rows(&self) -> Option<usize> {
        None
    }

    fn keeps_batches(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        format!("{} batches again and again", self.0.batches.len())
    }
}
