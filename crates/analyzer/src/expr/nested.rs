//! Reads the columns `n.a`, `n.b` of a Nested `n` as one array of tuples.

use std::sync::Arc;

use basalt_error::Result;
use basalt_types::{DataType, TupleType};

use super::Resolver;
use crate::Typed;
use crate::scope::ScopeColumn;

impl Resolver<'_> {
    /// The arrays of the Nested that `parts` name, zipped; `None` if no table has such.
    pub(super) fn nested(&self, parts: &[String]) -> Result<Option<Typed>> {
        let columns = self.scope.columns.iter();
        let longest = columns.map(|c| c.qualifier.len()).max().unwrap_or(0);
        for taken in 0..parts.len().min(longest + 1) {
            let (qualifier, name) = parts.split_at(taken);
            let prefix = format!("{}.", name.join("."));
            let elements = self.elements_of_nested(qualifier, &prefix);
            if elements.is_empty() {
                continue;
            }
            let names = elements.iter().map(|(name, _)| (*name).to_owned());
            let names: Vec<String> = names.collect();
            let columns: Vec<Typed> = elements.into_iter().map(|(_, column)| column).collect();
            let types = columns.iter().filter_map(|c| match &c.data_type {
                DataType::Array(element) => Some((**element).clone()),
                _ => None,
            });
            let types = types.collect();
            let tuple = DataType::Tuple(Arc::new(TupleType { types, names }));
            let wanted = DataType::array(tuple);
            let zipped = self.call_by_name("arrayZip", columns)?;
            return zipped.cast_to(&wanted, self.analyzer).map(Some);
        }
        Ok(None)
    }

    /// The arrays of one table whose names begin with `prefix`, with the rest of their names.
    fn elements_of_nested(&self, qualifier: &[String], prefix: &str) -> Vec<(&str, Typed)> {
        let columns = self.scope.columns.iter();
        let mut elements = columns.filter_map(|column| {
            let element = column.name.strip_prefix(prefix)?;
            let is_array = matches!(column.data_type, DataType::Array(_));
            (is_array && column.qualifier.ends_with(qualifier)).then_some((element, column))
        });
        let Some((name, first)) = elements.next() else {
            return Vec::new();
        };
        let shown = |(name, column): (_, &ScopeColumn)| (name, column.typed());
        let mut found = vec![shown((name, first))];
        found.extend(
            elements
                .filter(|(_, column)| column.qualifier == first.qualifier)
                .map(shown),
        );
        found
    }
}
