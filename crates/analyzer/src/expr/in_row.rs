//! IN with a set that is another one in each row: `1 IN (number, 5)`.

use basalt_error::Result;
use basalt_types::DataType;

use super::{Resolver, literal};
use crate::Typed;

impl Resolver<'_> {
    /// Whether `left` is one of `items`; a NULL among them is equal to NULL if `null_matches`, else to
    /// nothing.
    pub(super) fn member_of_row(
        &self,
        left: &Typed,
        items: Vec<Typed>,
        null_matches: bool,
    ) -> Result<Typed> {
        let mut found = Vec::with_capacity(items.len());
        for item in items {
            let is_array = matches!(item.data_type.base(), DataType::Array(_));
            if is_array && !matches!(left.data_type.base(), DataType::Array(_)) {
                found.push(self.call_by_name("has", vec![item, left.clone()])?);
                continue;
            }
            if null_matches {
                let equal = vec![left.clone(), item];
                found.push(self.call_by_name("isNotDistinctFrom", equal)?);
                continue;
            }
            let may_be_null = item.data_type.is_nullable();
            let equal = self.call_by_name("equals", vec![left.clone(), item.clone()])?;
            found.push(if may_be_null {
                let is_null = self.is_null(vec![item], true)?;
                let args = vec![is_null, literal::unsigned(0)?, equal];
                self.branches("if", args)?
            } else {
                equal
            });
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            _ => self.logic(false, found),
        }
    }
}
