//! The setting `extremes`: the least and the greatest value of each column of a result.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::Schema;
use basalt_error::{Error, Result};
use basalt_functions::Context;
use basalt_functions::aggregate::{Aggregator, Groups, bind};
use basalt_types::{ColumnBuilder, DataType};

use super::result::Header;

/// The extremes of the rows so far.
pub(crate) struct Extremes {
    columns: Vec<Column>,
    seen_rows: bool,
}

struct Column {
    data_type: DataType,
    /// The aggregates `min` and `max`; absent for types that have no order.
    pair: Option<[Box<dyn Aggregator>; 2]>,
}

impl Extremes {
    /// No rows of a result with this header yet.
    pub(crate) fn new(header: &Header, context: &Context) -> Self {
        let columns = header.iter().map(|(_, data_type)| {
            let of = |name| bind(name, &[], std::slice::from_ref(data_type), context);
            let ordered = !matches!(
                data_type.base(),
                DataType::Map(..) | DataType::Tuple(_) | DataType::Nothing
            );
            let pair = of("min").ok().zip(of("max").ok()).filter(|_| ordered);
            Column {
                data_type: data_type.clone(),
                pair: pair.map(|(min, max)| [(min.factory)(), (max.factory)()]),
            }
        });
        Self {
            columns: columns.collect(),
            seen_rows: false,
        }
    }

    /// Adds rows of the result.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.seen_rows |= batch.num_rows() > 0;
        let groups = Groups {
            ids: None,
            num_groups: 1,
            num_rows: batch.num_rows(),
        };
        for (column, values) in self.columns.iter_mut().zip(batch.columns()) {
            for states in column.pair.iter_mut().flatten() {
                states.update(std::slice::from_ref(values), groups)?;
            }
        }
        Ok(())
    }

    /// The two rows, if there were any.
    pub(crate) fn rows(&mut self) -> Result<Option<RecordBatch>> {
        if !self.seen_rows {
            return Ok(None);
        }
        let bug = |e: arrow::error::ArrowError| Error::bug(e.to_string());
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (i, column) in self.columns.iter_mut().enumerate() {
            let values: ArrayRef = match &mut column.pair {
                Some([min, max]) => {
                    let (min, max) = (min.finish(0..1)?, max.finish(0..1)?);
                    let both: [&dyn Array; 2] = [&min, &max];
                    concat(&both).map_err(bug)?
                }
                None => {
                    let mut builder = ColumnBuilder::new(&column.data_type, 2)?;
                    builder.append_default();
                    builder.append_default();
                    builder.finish()?
                }
            };
            fields.push(column.data_type.field(i.to_string()));
            arrays.push(values);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .map(Some)
            .map_err(bug)
    }
}
