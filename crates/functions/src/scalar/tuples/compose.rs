//! Composes bound functions into one: values computed from the elements of tuples.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use basalt_error::{Error, Result};
use basalt_types::{ColumnBuilder, DataType, TupleType};

use crate::scalar::arrays::lists::struct_of;
use crate::{Arg, BoundFunction, Call, Column, Context, Resolved, registry};

type Compute = Arc<dyn Fn(&[Column], usize) -> Result<Column> + Send + Sync>;

/// A value that is computed from a call's arguments.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) data_type: DataType,
    constant: Option<ArrayRef>,
    compute: Compute,
}

impl Node {
    /// Argument `idx` itself.
    pub(crate) fn argument(call: &Call<'_>, idx: usize) -> Self {
        Self {
            data_type: call.data_type(idx).clone(),
            constant: call.args[idx].constant.clone(),
            compute: Arc::new(move |columns, _| Ok(columns[idx].clone())),
        }
    }

    /// The elements of argument `idx`, a tuple.
    pub(crate) fn elements(call: &Call<'_>, idx: usize) -> Result<Vec<Self>> {
        let tuple = tuple_type(call, idx)?;
        let node = |(element, data_type): (usize, &DataType)| Self {
            data_type: data_type.clone(),
            constant: None,
            compute: Arc::new(move |columns, _| element_column(&columns[idx], element)),
        };
        Ok(tuple.types.iter().enumerate().map(node).collect())
    }

    /// A constant from its text.
    pub(crate) fn constant(data_type: DataType, text: &str) -> Result<Self> {
        let mut builder = ColumnBuilder::new(&data_type, 1)?;
        builder.append_text(text.as_bytes())?;
        let array = builder.finish()?;
        let column = Column::constant(Arc::clone(&array));
        Ok(Self {
            data_type,
            constant: Some(array),
            compute: Arc::new(move |_, _| Ok(column.clone())),
        })
    }

    /// The function `name` of other values.
    pub(crate) fn apply(name: &str, args: &[&Self], context: &Context) -> Result<Self> {
        let typed: Vec<Arg> = args
            .iter()
            .map(|a| Arg {
                data_type: a.data_type.clone(),
                constant: a.constant.clone(),
            })
            .collect();
        let bound = BoundFunction::bind(registry::get_scalar(name)?, &typed, context)?;
        let args: Vec<Compute> = args.iter().map(|a| Arc::clone(&a.compute)).collect();
        Ok(Self {
            data_type: bound.return_type.clone(),
            constant: None,
            compute: Arc::new(move |columns, num_rows| {
                let args = args.iter().map(|a| a(columns, num_rows));
                let args = args.collect::<Result<Vec<_>>>()?;
                let is_const = args.iter().all(|a| a.is_const);
                let array = bound.call(&args, if is_const { 1 } else { num_rows })?;
                Ok(Column { array, is_const })
            }),
        })
    }

    /// All values combined from left to right; of none 0.
    pub(crate) fn fold(name: &str, values: &[Self], context: &Context) -> Result<Self> {
        let Some((first, rest)) = values.split_first() else {
            return Self::constant(DataType::UInt8, "0");
        };
        let combine = |sum: Node, value: &Node| Self::apply(name, &[&sum, value], context);
        rest.iter().try_fold(first.clone(), combine)
    }

    /// The function of which this is the result.
    pub(crate) fn resolved(self) -> Result<Resolved> {
        let compute = self.compute;
        Resolved::new(self.data_type, move |columns, num_rows| {
            compute(columns, num_rows)?.expand(num_rows)
        })
    }

    /// The function whose result is the tuple of the values.
    pub(crate) fn tuple(values: Vec<Self>) -> Result<Resolved> {
        let tuple = DataType::tuple(values.iter().map(|v| v.data_type.clone()).collect());
        let physical = tuple.physical();
        Resolved::new(tuple, move |columns, num_rows| {
            let elements = values
                .iter()
                .map(|v| (v.compute)(columns, num_rows)?.expand(num_rows));
            struct_of(&physical, elements.collect::<Result<Vec<_>>>()?, num_rows)
        })
    }
}

/// The type of argument `idx`, which must be a tuple.
pub(crate) fn tuple_type<'a>(call: &Call<'a>, idx: usize) -> Result<&'a TupleType> {
    match call.data_type(idx) {
        DataType::Tuple(tuple) => Ok(tuple),
        _ => Err(call.illegal_type(idx)),
    }
}

/// The column of element `element` of a column of tuples.
pub(crate) fn element_column(column: &Column, element: usize) -> Result<Column> {
    let tuples = column.array.as_struct_opt();
    let tuples = tuples.ok_or_else(|| Error::bug("a tuple is a struct"))?;
    Ok(Column {
        array: Arc::clone(tuples.column(element)),
        is_const: column.is_const,
    })
}
