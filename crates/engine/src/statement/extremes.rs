//! Keeps the least and the greatest value of each column of a result, for the setting `extremes`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::compute::concat;
use arrow::datatypes::{
    DataType as ArrowType, Fields, Float32Type, Float64Type, Schema, SchemaRef,
};
use arrow::row::{OwnedRow, RowConverter, SortField};
use basalt_error::{Error, Result};
use basalt_types::{ColumnBuilder, DataType};

use super::result::Header;

/// The extremes of the rows so far.
pub(crate) struct Extremes {
    columns: Vec<ColumnExtremes>,
    schema: SchemaRef,
}

/// A value as its array of one row and as bytes that sort like it.
type Extreme = (OwnedRow, ArrayRef);

/// The extremes of a column; those of a tuple are its elements'.
enum ColumnExtremes {
    Whole {
        data_type: DataType,
        converter: RowConverter,
        /// Least and greatest value; NULL and NaN are none.
        bounds: Option<(Extreme, Extreme)>,
    },
    Elements(Fields, Vec<ColumnExtremes>),
}

fn bug(e: impl std::fmt::Display) -> Error {
    Error::bug(e.to_string())
}

impl Extremes {
    pub(crate) fn new(header: &Header) -> Result<Self> {
        let fields: Vec<_> = header.iter().map(|(n, t)| t.field(n)).collect();
        Ok(Self {
            columns: header
                .iter()
                .map(|(_, t)| ColumnExtremes::new(t))
                .collect::<Result<_>>()?,
            schema: Arc::new(Schema::new(fields)),
        })
    }

    /// Takes rows in.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut columns = self.columns.iter_mut().zip(batch.columns());
        columns.try_for_each(|(column, array)| column.add(array))
    }

    /// The two rows of least and greatest values.
    pub(crate) fn finish(self) -> Result<RecordBatch> {
        let arrays = self.columns.into_iter().map(ColumnExtremes::finish);
        RecordBatch::try_new(self.schema, arrays.collect::<Result<_>>()?).map_err(bug)
    }
}

impl ColumnExtremes {
    fn new(data_type: &DataType) -> Result<Self> {
        if let (DataType::Tuple(tuple), ArrowType::Struct(fields)) =
            (data_type, data_type.physical())
            && !fields.is_empty()
        {
            let elements = tuple.types.iter().map(Self::new);
            return Ok(Self::Elements(fields, elements.collect::<Result<_>>()?));
        }
        let sorted = SortField::new(data_type.physical());
        Ok(Self::Whole {
            data_type: data_type.clone(),
            converter: RowConverter::new(vec![sorted]).map_err(bug)?,
            bounds: None,
        })
    }

    fn add(&mut self, array: &ArrayRef) -> Result<()> {
        match self {
            Self::Whole {
                converter, bounds, ..
            } => {
                *bounds = widened(bounds.take(), converter, array)?;
                Ok(())
            }
            Self::Elements(_, elements) => {
                let arrays = array.as_struct().columns();
                let mut elements = elements.iter_mut().zip(arrays);
                elements.try_for_each(|(element, array)| element.add(array))
            }
        }
    }

    fn finish(self) -> Result<ArrayRef> {
        match self {
            Self::Whole {
                bounds: Some(((_, min), (_, max))),
                ..
            } => concat(&[min.as_ref(), max.as_ref()]).map_err(bug),
            Self::Whole { data_type, .. } => nothing(&data_type),
            Self::Elements(fields, elements) => {
                let arrays = elements.into_iter().map(Self::finish);
                let arrays = arrays.collect::<Result<_>>()?;
                let tuples = StructArray::try_new(fields, arrays, None).map_err(bug)?;
                Ok(Arc::new(tuples))
            }
        }
    }
}

/// The bounds of the values so far and those of the array.
fn widened(
    bounds: Option<(Extreme, Extreme)>,
    converter: &RowConverter,
    array: &ArrayRef,
) -> Result<Option<(Extreme, Extreme)>> {
    let rows = converter.convert_columns(&[Arc::clone(array)]);
    let rows = rows.map_err(bug)?;
    let counts = (0..array.len()).filter(|i| array.is_valid(*i) && !is_nan(array, *i));
    let counts: Vec<usize> = counts.collect();
    let least = counts.iter().min_by_key(|i| rows.row(**i));
    let greatest = counts.iter().max_by_key(|i| rows.row(**i));
    let (Some(least), Some(greatest)) = (least, greatest) else {
        return Ok(bounds);
    };
    let value = |i: usize| (rows.row(i).owned(), array.slice(i, 1));
    let (least, greatest) = (value(*least), value(*greatest));
    Ok(Some(match bounds {
        None => (least, greatest),
        Some((min, max)) => (
            if least.0 < min.0 { least } else { min },
            if greatest.0 > max.0 { greatest } else { max },
        ),
    }))
}

/// What stands for the extremes of no values: NULL, NaN or the default.
fn nothing(data_type: &DataType) -> Result<ArrayRef> {
    let mut none = ColumnBuilder::new(data_type, 2)?;
    for _ in 0..2 {
        if data_type.is_float() && !data_type.is_nullable() {
            none.append_text(b"nan")?;
        } else {
            none.append_default();
        }
    }
    none.finish()
}

fn is_nan(array: &ArrayRef, i: usize) -> bool {
    match array.data_type() {
        ArrowType::Float32 => array.as_primitive::<Float32Type>().value(i).is_nan(),
        ArrowType::Float64 => array.as_primitive::<Float64Type>().value(i).is_nan(),
        _ => false,
    }
}
