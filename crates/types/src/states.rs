//! What formats must know of the bytes of aggregate functions' states.

use std::fmt::Debug;
use std::sync::Arc;

use basalt_error::Result;

use crate::{AggregateType, DataType, TupleType};

/// The bytes of a function's states, which tell themselves where they end.
pub trait StateForm: Debug + Send + Sync {
    /// Bytes of the state that `bytes` begin with; `None` if they end within it.
    fn len_of(&self, bytes: &[u8]) -> Option<usize>;

    /// The state of no rows.
    ///
    /// # Errors
    /// What the function finds wrong with its arguments.
    fn empty(&self) -> Result<Vec<u8>>;
}

/// Finds the form of a function's states; `None` if their end cannot be found in them.
pub type StateForms = fn(&AggregateType) -> Option<Arc<dyn StateForm>>;

/// The type with `String` in place of states: both are bytes of any number.
pub fn states_as_strings(data_type: &DataType) -> DataType {
    let part = |t: &DataType| Arc::new(states_as_strings(t));
    match data_type {
        DataType::AggregateFunction(_) => DataType::String,
        DataType::Array(t) => DataType::Array(part(t)),
        DataType::Map(k, v) => DataType::Map(part(k), part(v)),
        DataType::Tuple(tuple) => DataType::Tuple(Arc::new(TupleType {
            types: tuple.types.iter().map(states_as_strings).collect(),
            names: tuple.names.clone(),
        })),
        other => other.clone(),
    }
}
