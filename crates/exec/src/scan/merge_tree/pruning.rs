//! Rules out groups of rows by what a part's metadata and skipping indexes know of them.

use arrow::datatypes::DataType as ArrowType;
use basalt_storage::merge_tree::ColumnMetadata;
use basalt_storage::{Layout, Part};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};

use super::constants::{
    bytes, can_hold, decimal_can_be, float_can_be, indexed, integer, integers, relation,
};
use super::operands::{Bounds, KeyExprs, Operands};
use crate::scan::condition::{Known, can_match};

/// The filters of a scan, by which groups of rows are ruled out.
#[derive(Clone, Debug)]
pub(in crate::scan) struct Pruner {
    filters: Vec<Expr>,
    operands: Operands,
}

impl Pruner {
    /// The filters over a table with such a layout and keys.
    pub(in crate::scan) fn new(layout: &Layout, keys: &KeyExprs, filters: &[Expr]) -> Self {
        Self {
            operands: Operands::new(layout, keys, filters),
            filters: filters.to_vec(),
        }
    }

    /// For each group of a part, whether rows of it can fulfil all filters, as far as the columns tell that
    /// `is_usable` names.
    pub(in crate::scan) fn can_match(
        &self,
        part: &Part,
        is_usable: &dyn Fn(usize) -> bool,
    ) -> Vec<bool> {
        let num_groups = part.metadata().group_rows.len();
        if self.filters.is_empty() {
            return vec![true; num_groups];
        }
        let calculated = self.operands.calculated(part);
        let can_match = |group| {
            let known = KnownGroup {
                operands: &self.operands,
                calculated: &calculated,
                part,
                group,
                is_usable,
            };
            self.filters.iter().all(|filter| can_match(filter, &known))
        };
        (0..num_groups).map(can_match).collect()
    }
}

/// A group of rows.
struct KnownGroup<'a> {
    operands: &'a Operands,
    /// Bounds of what is calculated from columns, for each of the operands.
    calculated: &'a [Bounds],
    part: &'a Part,
    group: usize,
    is_usable: &'a dyn Fn(usize) -> bool,
}

impl KnownGroup<'_> {
    /// A column of the table, with its metadata.
    fn column(&self, name: &str) -> Option<(usize, &ArrowType, &ColumnMetadata)> {
        self.stored(self.operands.column(name)?)
    }

    fn stored(&self, column: usize) -> Option<(usize, &ArrowType, &ColumnMetadata)> {
        let metadata = &self.part.metadata().columns[column];
        let physical = self.operands.physical(column);
        (self.is_usable)(column).then_some((column, physical, metadata))
    }

    /// Whether a stored column can be in that relation to one of the values.
    fn compare_stored(
        &self,
        (column, physical, metadata): (usize, &ArrowType, &ColumnMetadata),
        op: Operator,
        values: &[&ScalarValue],
    ) -> Option<bool> {
        let known = &metadata.groups[self.group];
        let stored_rows = self.part.metadata().stored_rows(self.group);
        if known.null_count as usize == stored_rows {
            // A comparison with NULL holds for no row.
            return Some(false);
        }
        let texts = metadata.texts_of(self.group);
        let by_bounds = || {
            let mut any = false;
            for value in values {
                any |= match texts {
                    Some(texts) => texts.can_hold(relation(op)?, bytes(value)?),
                    None => {
                        let bounds = integers(physical, known.bounds?)?;
                        can_hold(bounds, op, integer(physical, value)?)?
                    }
                };
            }
            Some(any)
        };
        let by_bounds = by_bounds();
        let place = (column, self.group);
        match by_bounds {
            Some(false) => Some(false),
            _ if !indexes_can_match(self.part, place, op, (physical, values)) => Some(false),
            _ => by_bounds,
        }
    }

    /// Whether what is calculated from a column can be in that relation to one of the values.
    fn compare_calculated(
        &self,
        operand: &Expr,
        op: Operator,
        values: &[&ScalarValue],
    ) -> Option<bool> {
        let place = self.operands.place(operand)?;
        let root = self.operands.root(place);
        let bounds = self.calculated[place].get(self.group).copied().flatten();
        let bounds = bounds.filter(|_| (self.is_usable)(root))?;
        let mut any = false;
        for value in values {
            any |= can_hold(bounds, op, integer(&value.data_type(), value)?)?;
        }
        Some(any)
    }

    /// Whether what keys calculate from a column can be what they would from one of the values.
    fn keys_can_hold(&self, column: &str, values: &[&ScalarValue]) -> bool {
        let mut implied = self.operands.implied(column, values);
        implied.all(|(key, values)| {
            let Some(key) = self.stored(key) else {
                return true;
            };
            let values: Vec<&ScalarValue> = values.iter().collect();
            let can_hold = self.compare_stored(key, Operator::Eq, &values);
            can_hold.unwrap_or(true)
        })
    }
}

impl Known for KnownGroup<'_> {
    fn compare(&self, operand: &Expr, op: Operator, values: &[&ScalarValue]) -> Option<bool> {
        if let Some(key) = self.operands.key(operand)
            && let Some(key) = self.stored(key)
            && let Some(false) = self.compare_stored(key, op, values)
        {
            return Some(false);
        }
        let Expr::Column(column) = operand else {
            return self.compare_calculated(operand, op, values);
        };
        match self.compare_stored(self.column(&column.name)?, op, values) {
            Some(false) => Some(false),
            _ if op == Operator::Eq && !self.keys_can_hold(&column.name, values) => Some(false),
            known => known,
        }
    }

    fn compare_number(&self, column: &str, op: Operator, value: &ScalarValue) -> Option<bool> {
        let (_, physical, metadata) = self.column(column)?;
        let known = &metadata.groups[self.group];
        match physical {
            ArrowType::Decimal128(_, scale) => {
                decimal_can_be((integers(physical, known.bounds?)?, *scale), op, value)
            }
            _ => float_can_be(known.bounds.filter(|_| physical.is_floating())?, op, value),
        }
    }

    fn begins(&self, column: &str, text: &[u8]) -> Option<bool> {
        let (_, _, metadata) = self.column(column)?;
        Some(metadata.texts_of(self.group)?.can_begin(text))
    }
}

/// Whether a column can be in that relation to one of the values, as far as skipping indexes tell.
fn indexes_can_match(
    part: &Part,
    place: (usize, usize),
    op: Operator,
    (physical, values): (&ArrowType, &[&ScalarValue]),
) -> bool {
    let Some(relation) = relation(op) else {
        return true;
    };
    values.iter().any(|value| {
        let indexed = indexed(physical, value);
        indexed.is_none_or(|value| part.can_hold(place, relation, &value))
    })
}
