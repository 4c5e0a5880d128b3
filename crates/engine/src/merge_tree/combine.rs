//! Combines rows of the same key by aggregate functions: SummingMergeTree, AggregatingMergeTree.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::take;
use arrow::datatypes::{Decimal128Type, Decimal256Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::Context;
use basalt_functions::aggregate::{self, BoundAggregate, Groups};
use basalt_storage::Layout;
use basalt_storage::merge_tree::{Combine, KeyedRows, Purpose};
use basalt_types::{AggregateType, DataType};

/// Columns whose values of a key become one by an aggregate function.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    columns: Vec<usize>,
    bound: BoundAggregate,
    /// Whether a row goes if this, and all others that say so, are zero.
    is_sum: bool,
    is_nullable: bool,
}

impl Measure {
    /// The sum, in the type of the values.
    pub(crate) fn sum(column: usize, data_type: &DataType) -> Result<Self> {
        let types = std::slice::from_ref(data_type);
        Ok(Self {
            columns: vec![column],
            bound: aggregate::bind("sumWithOverflow", &[], types, &Context::default())?,
            is_sum: true,
            is_nullable: data_type.is_nullable(),
        })
    }

    /// The sums of a Nested: its first column has the keys, the others the values.
    pub(crate) fn sum_map(columns: Vec<usize>, layout: &Layout) -> Result<Self> {
        let types = columns.iter().map(|c| layout.columns[*c].data_type.clone());
        let types: Vec<DataType> = types.collect();
        let other_key = columns[1..].iter().find(|c| {
            let name = &layout.columns[**c].name;
            ["ID", "Key", "Type"].iter().any(|end| name.ends_with(end))
        });
        if let Some(key) = other_key {
            return Err(Error::not_implemented(format!(
                "SummingMergeTree with a second key of a map, {}",
                layout.columns[*key].name
            )));
        }
        Ok(Self {
            bound: aggregate::bind("sumMapWithOverflow", &[], &types, &Context::default())?,
            columns,
            is_sum: true,
            is_nullable: false,
        })
    }

    /// The values of a SimpleAggregateFunction.
    pub(crate) fn simple(column: usize, function: &str, data_type: &DataType) -> Result<Self> {
        let types = std::slice::from_ref(data_type);
        let name = format!("{function}SimpleState");
        let bound = aggregate::bind(&name, &[], types, &Context::default())?;
        if bound.return_type != *data_type {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Declare SimpleAggregateFunction({function}, {}): the function does not \
                     return {data_type}",
                    bound.return_type
                ),
            ));
        }
        Ok(Self {
            columns: vec![column],
            bound,
            is_sum: false,
            is_nullable: data_type.is_nullable(),
        })
    }

    /// The states of an AggregateFunction.
    pub(crate) fn states(
        column: usize,
        data_type: &DataType,
        state: &AggregateType,
    ) -> Result<Self> {
        let types = std::slice::from_ref(data_type);
        let name = format!("{}MergeState", state.name);
        Ok(Self {
            columns: vec![column],
            bound: aggregate::bind(&name, &[], types, &Context::default())?,
            is_sum: false,
            is_nullable: data_type.is_nullable(),
        })
    }

    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// One value of each of the columns for each key.
    fn combine(&self, rows: KeyedRows<'_>, groups: Groups<'_>) -> Result<Vec<ArrayRef>> {
        let args = self.columns.iter().map(|c| rows.column(*c).map(Arc::clone));
        let args = args.collect::<Result<Vec<_>>>()?;
        let mut states = (self.bound.factory)();
        states.update(&args, groups)?;
        let values = states.finish(0..groups.num_groups)?;
        match (&self.columns[..], values.as_struct_opt()) {
            ([_], _) => Ok(vec![values]),
            (_, Some(tuple)) => Ok(tuple.columns().to_vec()),
            _ => Err(Error::bug("sums of a map that are no tuple")),
        }
    }
}

/// Aggregates some columns; of the others the first value stays.
#[derive(Clone, Debug)]
pub(crate) struct Aggregating {
    measures: Vec<Measure>,
    needs: Vec<usize>,
}

impl Aggregating {
    pub(crate) fn new(measures: Vec<Measure>) -> Self {
        let needed = measures.iter().filter(|m| m.is_sum);
        Self {
            needs: needed.flat_map(|m| m.columns.iter().copied()).collect(),
            measures,
        }
    }
}

impl Combine for Aggregating {
    fn needs(&self) -> &[usize] {
        &self.needs
    }

    fn needs_key(&self) -> bool {
        true
    }

    fn combine(&self, rows: KeyedRows<'_>) -> Result<Vec<ArrayRef>> {
        let mut ids = vec![0_u32; rows.num_rows];
        let mut group = 0;
        for (row, id) in (0_u32..).zip(ids.iter_mut()) {
            if rows.starts.get(group as usize + 1) == Some(&row) {
                group += 1;
            }
            *id = group;
        }
        let groups = Groups {
            ids: Some(&ids),
            num_groups: rows.starts.len(),
            num_rows: rows.num_rows,
        };
        let mut combined: Vec<Option<ArrayRef>> = vec![None; rows.columns.len()];
        for measure in &self.measures {
            let places = measure.columns.iter();
            let places = places.map(|c| rows.ids.iter().position(|id| id == c));
            let Some(places) = places.collect::<Option<Vec<_>>>() else {
                continue;
            };
            for (place, values) in places.into_iter().zip(measure.combine(rows, groups)?) {
                combined[place] = Some(with_digits_of(values, &rows.columns[place]));
            }
        }
        let firsts = UInt32Array::from(rows.starts.to_vec());
        let columns = combined.into_iter().zip(rows.columns);
        let columns = columns.map(|(combined, column)| match combined {
            Some(combined) => Ok(combined),
            None => take(column, &firsts, None).map_err(|e| Error::bug(e.to_string())),
        });
        columns.collect()
    }

    fn kept(&self, rows: KeyedRows<'_>, _purpose: Purpose) -> Result<Option<BooleanArray>> {
        // A state is never zero.
        let has_states = self.measures.iter().any(|m| !m.is_sum);
        if self.needs.is_empty() || has_states {
            return Ok(None);
        }
        let mut kept = BooleanBuffer::new_unset(rows.num_rows);
        for measure in self.measures.iter().filter(|m| m.is_sum) {
            for column in &measure.columns {
                kept = &kept | &is_not_zero(rows.column(*column)?, measure.is_nullable)?;
            }
        }
        Ok(Some(BooleanArray::new(kept, None)))
    }
}

/// Sums of decimals have the most digits of their width; in the table they have as many as the column.
fn with_digits_of(values: ArrayRef, column: &ArrayRef) -> ArrayRef {
    use arrow::datatypes::DataType::{Decimal128, Decimal256};
    match (values.data_type(), column.data_type()) {
        (Decimal128(..), digits @ Decimal128(..)) => {
            let values = values.as_primitive::<Decimal128Type>().clone();
            Arc::new(values.with_data_type(digits.clone()))
        }
        (Decimal256(..), digits @ Decimal256(..)) => {
            let values = values.as_primitive::<Decimal256Type>().clone();
            Arc::new(values.with_data_type(digits.clone()))
        }
        _ => values,
    }
}

/// Rows with another value than the type's default: a NULL is one, a zero that may be NULL is not.
fn is_not_zero(array: &ArrayRef, is_nullable: bool) -> Result<BooleanBuffer> {
    if is_nullable {
        let flags = array.nulls().map(|nulls| nulls.inner().clone());
        return Ok(flags.unwrap_or_else(|| BooleanBuffer::new_set(array.len())));
    }
    if let Some(lists) = array.as_list_opt::<i32>() {
        let offsets = lists.value_offsets();
        return Ok(BooleanBuffer::collect_bool(lists.len(), |i| {
            offsets[i] < offsets[i + 1]
        }));
    }
    let values = array.to_data();
    let width = array
        .data_type()
        .primitive_width()
        .or(match array.data_type() {
            arrow::datatypes::DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
            _ => None,
        });
    let width = width.ok_or_else(|| Error::bug(format!("sums of {}", array.data_type())))?;
    let bytes = &values.buffers()[0].as_slice()[values.offset() * width..];
    Ok(BooleanBuffer::collect_bool(array.len(), |i| {
        bytes[i * width..][..width].iter().any(|b| *b != 0)
    }))
}
