//! Reads the columns `n.a`, `n.b` of a Nested `n` as one array of tuples, behind ARRAY JOIN as one tuple.

use std::sync::Arc;

use basalt_error::Result;
use basalt_types::{DataType, TupleType};

use super::Resolver;
use crate::Typed;

impl Resolver<'_> {
    /// The columns of the Nested that `parts` name, zipped; `None` if no table has such.
    pub(super) fn nested(&self, parts: &[String]) -> Result<Option<Typed>> {
        let mut elements = self.scope.nested(parts);
        let is_joined = elements.iter().any(|(_, c)| c.is_joined_element());
        if is_joined {
            elements.retain(|(_, c)| c.is_joined_element());
        }
        if elements.is_empty() {
            return Ok(None);
        }
        let element_type = |data_type: &DataType| match data_type {
            DataType::Array(element) if !is_joined => (**element).clone(),
            other => other.clone(),
        };
        let types = elements.iter().map(|(_, c)| element_type(&c.data_type));
        let names = elements.iter().map(|(name, _)| (*name).to_owned());
        let tuple = DataType::Tuple(Arc::new(TupleType {
            types: types.collect(),
            names: names.collect(),
        }));
        let columns = elements.iter().map(|(_, column)| column.typed()).collect();
        let (zipped, wanted) = match is_joined {
            true => (self.call_by_name("tuple", columns)?, tuple),
            false => (
                self.call_by_name("arrayZip", columns)?,
                DataType::array(tuple),
            ),
        };
        zipped.cast_to(&wanted, self.analyzer).map(Some)
    }
}
