//! What the least and the greatest value of a column in a group of rows tell without reading it.

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Int64Array, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use basalt_storage::merge_tree::Relation;

use super::{Group, MergeTreeSource};
use crate::sort::KeyBound;

impl MergeTreeSource {
    /// The place in the order of a group's nearest value, if it is known.
    pub(super) fn nearest(&self, bound: &KeyBound, (part, group): &Group) -> Option<u64> {
        let column = bound.column();
        let stored = &part.metadata().columns[self.projection[column]];
        let known = &stored.groups[*group];
        if let Some(texts) = bound.texts() {
            let bounds = stored.texts_of(*group)?;
            return Some(texts.place(bounds.end(texts.is_descending())));
        }
        bound.nearest(
            self.schema.field(column).data_type(),
            known.bounds?,
            known.null_count > 0,
        )
    }

    /// Whether a top-N above can use some row of a group.
    pub(super) fn wants(&self, bound: &KeyBound, group: &Group) -> bool {
        let Some(texts) = bound.texts() else {
            let nearest = self.nearest(bound, group);
            return nearest.is_none_or(|place| bound.wants(place));
        };
        let (part, number) = group;
        let stored = &part.metadata().columns[self.projection[bound.column()]];
        let relation = match texts.is_descending() {
            true => Relation::AtLeast,
            false => Relation::AtMost,
        };
        // NULLs have no bounds.
        let has_nulls = stored.groups[*number].null_count > 0;
        match (stored.texts_of(*number), texts.farthest()) {
            (Some(bounds), Some(farthest)) if !has_nulls => bounds.can_hold(relation, &farthest),
            _ => true,
        }
    }

    /// The least and the greatest value of each column in a group, if the part knows them all.
    pub(super) fn extremes(&self, (part, group): &Group) -> Option<Vec<ArrayRef>> {
        if !part.metadata().is_whole(*group) {
            return None;
        }
        let columns = self.projection.iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| {
            let known = &part.metadata().columns[*column].groups[*group];
            let has_values = known.null_count < part.metadata().group_rows[*group];
            let (least, greatest) = known.bounds.filter(|_| has_values)?;
            let values: ArrayRef = if field.data_type().is_unsigned_integer() {
                Arc::new(UInt64Array::from(vec![least, greatest]))
            } else if field.data_type().is_signed_integer() {
                let values = [least, greatest].map(u64::cast_signed);
                Arc::new(Int64Array::from(values.to_vec()))
            } else if matches!(field.data_type(), ArrowType::Decimal128(..)) {
                let digits = [least, greatest].map(|end| i128::from(end.cast_signed()));
                let values = Decimal128Array::from(digits.to_vec());
                let values = values.with_data_type(field.data_type().clone());
                return Some(Arc::new(values) as ArrayRef);
            } else {
                return None;
            };
            cast(&values, field.data_type()).ok()
        });
        columns.collect()
    }
}
