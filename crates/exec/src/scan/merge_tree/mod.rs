//! Reads the parts of a MergeTree table: a morsel is a group of rows that filters cannot rule out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType as ArrowType, Schema, SchemaRef};
use basalt_error::{Error, Result};
use basalt_storage::merge_tree::{IndexedValue, Relation};
use basalt_storage::{Layout, MergeTree, Part};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};

use super::condition::can_match;
use super::{BatchIter, MorselSource, ScanRequest, Stored, TableKind};
use crate::sort::KeyBound;

/// The parts that a query sees.
#[derive(Clone, Debug)]
pub struct MergeTreeTable {
    schema: SchemaRef,
    /// Keeps the folder, should the table be dropped meanwhile.
    table: Arc<MergeTree>,
    parts: Arc<Vec<Arc<Part>>>,
}

impl MergeTreeTable {
    /// These parts of the table.
    pub fn new(table: Arc<MergeTree>, parts: Arc<Vec<Arc<Part>>>) -> Self {
        Self {
            schema: visible_schema(table.layout()),
            table,
            parts,
        }
    }

    fn num_groups(&self) -> usize {
        let groups = |part: &Arc<Part>| part.metadata().group_rows.len();
        self.parts.iter().map(groups).sum()
    }
}

/// Fields of the columns that queries see.
pub(super) fn visible_schema(layout: &Layout) -> SchemaRef {
    let visible = layout.columns.iter().take(layout.num_visible);
    let fields: Vec<_> = visible.map(|c| c.data_type.field(&c.name)).collect();
    Arc::new(Schema::new(fields))
}

/// Whether rows of a group can fulfil all filters, as far as the columns tell that `is_usable` names.
pub(super) fn group_can_match(
    schema: &Schema,
    (part, group): (&Part, usize),
    filters: &[Expr],
    is_usable: &dyn Fn(usize) -> bool,
) -> bool {
    let compare = |column: &str, op: Operator, values: &[&ScalarValue]| {
        let (column, field) = schema.column_with_name(column)?;
        if !is_usable(column) {
            return None;
        }
        let known = &part.metadata().columns[column].groups[group];
        if known.null_count == part.metadata().group_rows[group] {
            // A comparison with NULL holds for no row.
            return Some(false);
        }
        let by_bounds = || {
            let bounds = integers(field.data_type(), known.bounds?)?;
            let mut any = false;
            for value in values {
                any |= can_hold(bounds, op, integer(field.data_type(), value)?)?;
            }
            Some(any)
        };
        let by_bounds = by_bounds();
        let place = (column, group);
        match by_bounds {
            Some(false) => Some(false),
            _ if !indexes_can_match(part, place, op, (field.data_type(), values)) => Some(false),
            _ => by_bounds,
        }
    };
    filters.iter().all(|f| can_match(f, &compare))
}

/// Whether a column can be in that relation to one of the values, as far as skipping indexes tell.
fn indexes_can_match(
    part: &Part,
    place: (usize, usize),
    op: Operator,
    (physical, values): (&ArrowType, &[&ScalarValue]),
) -> bool {
    let relation = match op {
        Operator::Eq => Relation::Equal,
        Operator::Lt | Operator::LtEq => Relation::AtMost,
        Operator::Gt | Operator::GtEq => Relation::AtLeast,
        _ => return true,
    };
    values.iter().any(|value| {
        let indexed = indexed(physical, value);
        indexed.is_none_or(|value| part.can_hold(place, relation, &value))
    })
}

/// A constant as indexes of a column compare it.
fn indexed(physical: &ArrowType, value: &ScalarValue) -> Option<IndexedValue> {
    if let Some(integer) = integer(physical, value) {
        return Some(IndexedValue::integer(integer));
    }
    match (physical, value) {
        (ArrowType::BinaryView, ScalarValue::BinaryView(v) | ScalarValue::Binary(v)) => {
            v.as_deref().map(IndexedValue::bytes)
        }
        (ArrowType::FixedSizeBinary(width), ScalarValue::FixedSizeBinary(other, v)) => {
            let v = v.as_deref().filter(|_| width == other);
            v.map(IndexedValue::bytes)
        }
        (ArrowType::Float32, ScalarValue::Float32(v)) => {
            v.and_then(|v| IndexedValue::float(f64::from(v)))
        }
        (ArrowType::Float64, ScalarValue::Float64(v)) => v.and_then(IndexedValue::float),
        _ => None,
    }
}

/// Bounds as integers; none for other values, floats among them, whose NaN they do not count.
fn integers(physical: &ArrowType, (least, greatest): (u64, u64)) -> Option<(i128, i128)> {
    if physical.is_unsigned_integer() {
        return Some((i128::from(least), i128::from(greatest)));
    }
    let signed = |bound: u64| i128::from(bound.cast_signed());
    physical
        .is_signed_integer()
        .then(|| (signed(least), signed(greatest)))
}

/// A constant of a column's own physical type.
fn integer(physical: &ArrowType, value: &ScalarValue) -> Option<i128> {
    if value.data_type() != *physical {
        return None;
    }
    match value {
        ScalarValue::UInt8(v) => v.map(i128::from),
        ScalarValue::UInt16(v) => v.map(i128::from),
        ScalarValue::UInt32(v) => v.map(i128::from),
        ScalarValue::UInt64(v) => v.map(i128::from),
        ScalarValue::Int8(v) => v.map(i128::from),
        ScalarValue::Int16(v) => v.map(i128::from),
        ScalarValue::Int32(v) => v.map(i128::from),
        ScalarValue::Int64(v) => v.map(i128::from),
        _ => None,
    }
}

fn can_hold((least, greatest): (i128, i128), op: Operator, value: i128) -> Option<bool> {
    Some(match op {
        Operator::Eq => least <= value && value <= greatest,
        Operator::NotEq => least != value || greatest != value,
        Operator::Lt => least < value,
        Operator::LtEq => least <= value,
        Operator::Gt => greatest > value,
        Operator::GtEq => greatest >= value,
        _ => return None,
    })
}

impl TableKind for MergeTreeTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.schema.project(&request.projection);
        let mut morsels = Vec::new();
        let mut num_rows = 0;
        for part in self.parts.iter() {
            for (group, rows) in part.metadata().group_rows.iter().enumerate() {
                let place = (part.as_ref(), group);
                if group_can_match(&self.schema, place, &request.filters, &|_| true) {
                    morsels.push((Arc::clone(part), group));
                    num_rows += *rows as usize;
                }
            }
        }
        Ok(Arc::new(MergeTreeSource {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            projection: request.projection.clone(),
            _table: Arc::clone(&self.table),
            num_parts: self.parts.len(),
            num_groups: self.num_groups(),
            morsels,
            num_rows,
            bound: None,
            num_skipped: AtomicU64::new(0),
        }))
    }

    fn uses_filters(&self) -> bool {
        true
    }
}

/// A scan of a [`MergeTreeTable`].
#[derive(Debug)]
struct MergeTreeSource {
    schema: SchemaRef,
    /// Held as long as its files are read.
    _table: Arc<MergeTree>,
    projection: Vec<usize>,
    num_parts: usize,
    num_groups: usize,
    morsels: Vec<(Arc<Part>, usize)>,
    num_rows: usize,
    /// What a top-N above still wants.
    bound: Option<Arc<KeyBound>>,
    /// Groups that it did not want.
    num_skipped: AtomicU64,
}

impl MergeTreeSource {
    /// The place in the order of a group's nearest value, if it is known.
    fn nearest(&self, bound: &KeyBound, (part, group): &(Arc<Part>, usize)) -> Option<u64> {
        let column = bound.column();
        let known = &part.metadata().columns[self.projection[column]].groups[*group];
        bound.nearest(
            self.schema.field(column).data_type(),
            known.bounds?,
            known.null_count > 0,
        )
    }

    /// The key column of a group, if that is known to have wanted rows; none if it has none.
    fn wanted_key(&self, bound: &KeyBound, morsel: usize) -> Result<Option<ArrayRef>> {
        let (part, group) = &self.morsels[morsel];
        let nearest = self.nearest(bound, &self.morsels[morsel]);
        if nearest.is_some_and(|place| !bound.wants(place)) {
            return Ok(None);
        }
        let key = part.read(self.projection[bound.column()], *group)?;
        let wanted = bound.wanted(key.as_ref());
        Ok(wanted
            .is_none_or(|rows| rows.true_count() > 0)
            .then_some(key))
    }
}

impl MorselSource for MergeTreeSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.morsels.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let (part, group) = &self.morsels[morsel];
        let mut key = None;
        if let Some(bound) = &self.bound {
            let Some(found) = self.wanted_key(bound, morsel)? else {
                self.num_skipped.fetch_add(1, Ordering::Relaxed);
                return Ok(Box::new(std::iter::empty()));
            };
            key = Some((bound.column(), found));
        }
        let columns = self.projection.iter().enumerate().map(|(i, c)| match &key {
            Some((column, values)) if *column == i => Ok(Arc::clone(values)),
            _ => part.read(*c, *group),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let num_rows = part.metadata().group_rows[*group] as usize;
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options);
        let batch = batch.map_err(|e| Error::bug(e.to_string()));
        Ok(Box::new(std::iter::once(batch)))
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.num_rows)
    }

    fn is_counted(&self) -> bool {
        self.bound.is_none()
    }

    fn with_bound(&self, bound: &Arc<KeyBound>) -> Option<Arc<dyn MorselSource>> {
        let mut morsels = self.morsels.clone();
        // The most promising first: what they have rules out the others.
        morsels.sort_by_key(|morsel| self.nearest(bound, morsel));
        Some(Arc::new(Self {
            schema: Arc::clone(&self.schema),
            projection: self.projection.clone(),
            morsels,
            bound: Some(Arc::clone(bound)),
            num_skipped: AtomicU64::new(0),
            _table: Arc::clone(&self._table),
            ..*self
        }))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let num_skipped = self.num_skipped.load(Ordering::Relaxed);
        vec![("groups_not_wanted", num_skipped)]
    }

    fn describe(&self) -> String {
        format!(
            "MergeTree, {} parts, {} of {} groups",
            self.num_parts,
            self.morsels.len(),
            self.num_groups
        )
    }

    fn stored(&self) -> Option<Stored> {
        Some(Stored {
            num_files: self.num_parts * self.projection.len(),
            num_row_groups: self.num_groups,
        })
    }

    fn stored_bytes(&self, morsel: usize) -> u64 {
        let (part, group) = &self.morsels[morsel];
        let columns = &part.metadata().columns;
        let bytes = self
            .projection
            .iter()
            .map(|c| columns[*c].groups[*group].num_bytes);
        bytes.sum()
    }
}
