//! Scans a [`MergeTreeTable`]: reads groups of rows, the columns of filters first where that costs less.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arrow::array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, UInt64Array,
};
use arrow::compute::{FilterBuilder, cast};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use basalt_storage::{MergeTree, Part};
use datafusion::physical_expr::PhysicalExpr;

use super::MergeTreeTable;
use crate::QueryControl;
use crate::scan::late::{LateFilter, Way, Ways, says_the_same};
use crate::scan::{BatchIter, MorselSource, ScanRequest, Stored};
use crate::sort::KeyBound;

/// A part, and which of its groups of rows.
type Group = (Arc<Part>, usize);

/// A scan of a [`MergeTreeTable`].
#[derive(Clone, Debug)]
pub(super) struct MergeTreeSource {
    schema: SchemaRef,
    /// Held as long as its files are read.
    _table: Arc<MergeTree>,
    /// Fields of all columns that queries see.
    all: SchemaRef,
    projection: Vec<usize>,
    num_parts: usize,
    num_groups: usize,
    morsels: Vec<Group>,
    num_rows: usize,
    condition: Option<Arc<dyn PhysicalExpr>>,
    late: Option<LateFilter>,
    /// What a top-N above still wants.
    bound: Option<Arc<KeyBound>>,
    /// Whether only the least and the greatest value of each column are asked for.
    of_extremes: bool,
    shared: Arc<Shared>,
    control: Arc<QueryControl>,
}

/// What all threads of the scan know.
#[derive(Debug, Default)]
struct Shared {
    ways: Ways,
    groups_late: AtomicU64,
    groups_filtered: AtomicU64,
    groups_known: AtomicU64,
    groups_not_wanted: AtomicU64,
    rows_filtered: AtomicU64,
}

/// Columns of a group that have been read.
type Columns = Vec<(usize, ArrayRef)>;

impl MergeTreeSource {
    /// The groups that a scan has to read.
    pub(super) fn new(
        table: &MergeTreeTable,
        request: &ScanRequest,
        morsels: Vec<Group>,
    ) -> Result<Self> {
        let schema = table.schema.project(&request.projection);
        let num_columns = table.schema.fields().len();
        let late = request.condition.as_ref().and_then(|condition| {
            LateFilter::new(condition, &table.schema, num_columns, &request.projection)
        });
        let rows = |(part, group): &Group| part.metadata().group_rows[*group] as usize;
        Ok(Self {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            _table: Arc::clone(&table.table),
            all: Arc::clone(&table.schema),
            projection: request.projection.clone(),
            num_parts: table.parts.len(),
            num_groups: table.num_groups(),
            num_rows: morsels.iter().map(rows).sum(),
            morsels,
            condition: request.condition.clone(),
            late,
            bound: None,
            of_extremes: false,
            shared: Arc::default(),
            control: Arc::clone(&request.control),
        })
    }

    /// The place in the order of a group's nearest value, if it is known.
    fn nearest(&self, bound: &KeyBound, (part, group): &Group) -> Option<u64> {
        let column = bound.column();
        let known = &part.metadata().columns[self.projection[column]].groups[*group];
        bound.nearest(
            self.schema.field(column).data_type(),
            known.bounds?,
            known.null_count > 0,
        )
    }

    /// The least and the greatest value of each column in a group, if the part knows them all.
    fn extremes(&self, (part, group): &Group) -> Option<Vec<ArrayRef>> {
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
            } else {
                return None;
            };
            cast(&values, field.data_type()).ok()
        });
        columns.collect()
    }

    /// The rows of a group; none if no row is wanted, or no row passes.
    fn read(&self, group: &Group) -> Result<Option<RecordBatch>> {
        if let Some(bound) = &self.bound
            && self
                .nearest(bound, group)
                .is_some_and(|place| !bound.wants(place))
        {
            self.shared
                .groups_not_wanted
                .fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        if self.of_extremes
            && let Some(extremes) = self.extremes(group)
        {
            self.shared.groups_known.fetch_add(1, Ordering::Relaxed);
            return batch_of(&self.schema, extremes, 2).map(Some);
        }
        let Some(late) = &self.late else {
            return self.read_at_once(group);
        };
        let (way, started) = (late.way(&self.shared.ways), Instant::now());
        let batch = match way {
            Way::Late => self.read_late(late, group)?,
            Way::AtOnce => self.read_at_once(group)?,
        };
        let num_given = batch.as_ref().map_or(0, RecordBatch::num_rows);
        let ways = &self.shared.ways;
        ways.report(way, rows(group) as u64, num_given as u64, started.elapsed());
        Ok(batch)
    }

    /// All columns; none if the key column has no row that is wanted.
    fn read_at_once(&self, group: &Group) -> Result<Option<RecordBatch>> {
        let mut known = Columns::new();
        if let Some(bound) = &self.bound {
            let column = self.projection[bound.column()];
            let key = group.0.read(column, group.1)?;
            if bound
                .wanted(key.as_ref())
                .is_some_and(|wanted| !wanted.has_true())
            {
                self.shared
                    .groups_not_wanted
                    .fetch_add(1, Ordering::Relaxed);
                return Ok(None);
            }
            known.push((column, key));
        }
        self.batch(group, &known, None).map(Some)
    }

    /// The rows that pass the filter; none if there are none, and then no other column is read.
    fn read_late(&self, late: &LateFilter, group: &Group) -> Result<Option<RecordBatch>> {
        let column = |c: &usize| Ok((*c, group.0.read(*c, group.1)?));
        let known: Columns = late.columns.iter().map(column).collect::<Result<_>>()?;
        let columns = known.iter().map(|(_, values)| Arc::clone(values)).collect();
        let passing = late.passing(&batch_of(&late.schema, columns, rows(group))?);
        let num_passing = passing.true_count();
        let num_dropped = passing.len() - num_passing;
        self.shared.groups_late.fetch_add(1, Ordering::Relaxed);
        self.shared
            .rows_filtered
            .fetch_add(num_dropped as u64, Ordering::Relaxed);
        // Rows that the filter has dropped were read, too.
        self.control.count(num_dropped, 0);
        if num_passing == 0 {
            self.shared.groups_filtered.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        let passing = Some(&passing).filter(|_| num_dropped > 0);
        self.batch(group, &known, passing).map(Some)
    }

    /// The columns of the result, of which some are known, with the rows that pass.
    fn batch(
        &self,
        group: &Group,
        known: &Columns,
        passing: Option<&BooleanArray>,
    ) -> Result<RecordBatch> {
        // The rows are looked for once, not for each column.
        let picked = passing.map(|passing| FilterBuilder::new(passing).optimize().build());
        let column = |column: &usize| {
            let found = known.iter().find(|(known, _)| known == column);
            let values = match found {
                Some((_, values)) => Arc::clone(values),
                None => group.0.read(*column, group.1)?,
            };
            match &picked {
                Some(picked) => picked
                    .filter(&values)
                    .map_err(|e| Error::bug(e.to_string())),
                None => Ok(values),
            }
        };
        let columns = self.projection.iter().map(column).collect::<Result<_>>()?;
        let num_rows = passing.map_or_else(|| rows(group), BooleanArray::true_count);
        batch_of(&self.schema, columns, num_rows)
    }
}

/// Number of rows of a group.
fn rows((part, group): &Group) -> usize {
    part.metadata().group_rows[*group] as usize
}

fn batch_of(schema: &SchemaRef, columns: Vec<ArrayRef>, num_rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options);
    batch.map_err(|e| Error::bug(e.to_string()))
}

impl MorselSource for MergeTreeSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.morsels.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let batch = self.read(&self.morsels[morsel])?;
        Ok(Box::new(batch.map(Ok).into_iter()))
    }

    fn passes_only(&self, predicate: Option<&Arc<dyn PhysicalExpr>>) -> bool {
        says_the_same(self.condition.as_ref(), predicate, &self.all)
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.num_rows)
    }

    fn is_counted(&self) -> bool {
        self.bound.is_none() && self.late.is_none() && !self.of_extremes
    }

    fn with_bound(&self, bound: &Arc<KeyBound>) -> Option<Arc<dyn MorselSource>> {
        let mut bounded = self.clone();
        bounded.shared = Arc::default();
        let key = *self.projection.get(bound.column())?;
        let table = (&self.all, self.all.fields().len());
        let condition = self.condition.as_ref();
        let late = LateFilter::bounded(condition, (key, bound), table, &self.projection);
        bounded.late = late.or(bounded.late);
        // The most promising first: what they have rules out the others.
        bounded
            .morsels
            .sort_by_key(|group| self.nearest(bound, group));
        bounded.bound = Some(Arc::clone(bound));
        Some(Arc::new(bounded))
    }

    fn of_extremes(&self) -> Option<Arc<dyn MorselSource>> {
        if self.condition.is_some() || self.projection.is_empty() {
            return None;
        }
        Some(Arc::new(Self {
            of_extremes: true,
            shared: Arc::default(),
            ..self.clone()
        }))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let shared = &self.shared;
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("row_groups_late", value(&shared.groups_late)),
            ("row_groups_filtered", value(&shared.groups_filtered)),
            ("row_groups_not_wanted", value(&shared.groups_not_wanted)),
            ("row_groups_known", value(&shared.groups_known)),
            ("rows_filtered", value(&shared.rows_filtered)),
        ]
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
        if self.of_extremes && self.extremes(&self.morsels[morsel]).is_some() {
            return 0;
        }
        let (part, group) = &self.morsels[morsel];
        let columns = &part.metadata().columns;
        let bytes = self
            .projection
            .iter()
            .map(|c| columns[*c].groups[*group].num_bytes);
        bytes.sum()
    }
}
