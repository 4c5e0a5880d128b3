//! Scans a [`ParquetTable`]: opens row groups, each in the way that costs least.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow::array::{BooleanArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use basalt_types::DataType;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowFilter,
};
use parquet::schema::types::SchemaDescriptor;

use super::conversion::{Conversion, Part};
use super::pages::rows_that_can_match;
use super::pruning::{bloom_filters_can_match, row_group_bounds};
use super::{ParquetFile, ParquetTable, guarded};
use crate::QueryControl;
use crate::scan::late::{LateFilter, Way, Ways, says_the_same};
use crate::scan::{BatchIter, FileFact, MorselSource, ScanRequest, Stored};
use crate::sort::KeyBound;

/// Rows that the reader gives at once.
const BATCH_ROWS: usize = 16_384;

/// A scan of a [`ParquetTable`].
#[derive(Clone, Debug)]
pub(super) struct ParquetSource {
    table: ParquetTable,
    projection: Vec<usize>,
    schema: SchemaRef,
    filters: Vec<Expr>,
    condition: Option<Arc<dyn PhysicalExpr>>,
    late: Option<LateFilter>,
    /// What a top-N above still wants.
    bound: Option<Arc<KeyBound>>,
    /// Whether rows must be counted, so that none may be left out within a row group.
    numbers_rows: bool,
    shared: Arc<Shared>,
    control: Arc<QueryControl>,
    /// File and row group.
    morsels: Vec<(usize, usize)>,
    num_rows: usize,
}

/// What all threads of the scan know.
#[derive(Debug, Default)]
struct Shared {
    ways: Ways,
    row_groups_late: AtomicU64,
    row_groups_skipped: AtomicU64,
    row_groups_not_wanted: AtomicU64,
    rows_skipped: AtomicU64,
    rows_filtered: AtomicU64,
}

impl ParquetSource {
    pub(super) fn new(
        table: ParquetTable,
        request: &ScanRequest,
        (morsels, num_rows): (Vec<(usize, usize)>, usize),
        late: Option<LateFilter>,
    ) -> Result<Self> {
        let schema = table.schema.project(&request.projection);
        let is_number = |c: &usize| {
            let fact = c.checked_sub(table.columns.len());
            fact.is_some_and(|i| table.facts.get(i) == Some(&FileFact::RowNumber))
        };
        let numbers_rows = request.projection.iter().any(is_number);
        Ok(Self {
            projection: request.projection.clone(),
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            filters: request.filters.clone(),
            condition: request.condition.clone(),
            late: late.filter(|_| !numbers_rows),
            bound: None,
            numbers_rows,
            shared: Arc::default(),
            control: Arc::clone(&request.control),
            morsels,
            num_rows,
            table,
        })
    }

    /// The columns of a file that some columns of the table come from, and how they become these.
    fn conversion(
        &self,
        file: &ParquetFile,
        wanted: &[usize],
        (parquet, schema): (&SchemaDescriptor, &SchemaRef),
    ) -> (ProjectionMask, Conversion) {
        let position = |c: &usize| file.sources.get(*c)?.as_ref().map(|s| s.position);
        let mut roots: Vec<usize> = wanted.iter().filter_map(position).collect();
        roots.sort_unstable();
        roots.dedup();
        let column = |c: &usize| {
            let mut part = self.table.part(file, *c);
            if let Part::File(column) = &mut part {
                column.position = roots.binary_search(&column.position).unwrap_or(0);
            }
            let column = self.table.columns.get(*c);
            (part, column.map_or(DataType::Nothing, |c| c.1.clone()))
        };
        let conversion = Conversion {
            columns: wanted.iter().map(column).collect(),
            path: file.path.clone(),
            schema: Arc::clone(schema),
        };
        (ProjectionMask::roots(parquet, roots), conversion)
    }

    /// The place in the order of a row group's nearest value, if it is known.
    fn nearest(&self, bound: &KeyBound, (file, group): (usize, usize)) -> Option<u64> {
        let file = &self.table.files[file];
        let field = self.schema.field(bound.column());
        let (index, data_type) = self.table.plain_column(file, field.name())?;
        let bounds = row_group_bounds(&file.metadata, group, (index, &data_type))?;
        bound.nearest_in((&bounds.min, &bounds.max), field.is_nullable())
    }

    /// The filter as the reader calls it for the batches of a file.
    fn row_filter(
        &self,
        late: &LateFilter,
        file: &ParquetFile,
        parquet: &SchemaDescriptor,
    ) -> RowFilter {
        let (mask, conversion) = self.conversion(file, &late.columns, (parquet, &late.schema));
        let late = late.clone();
        let predicate = move |batch: RecordBatch| {
            // What is wrong with the values shows when they are read for the result.
            let num_rows = batch.num_rows();
            let converted = conversion.batch(&batch, 0);
            Ok(converted.map_or_else(
                |_| BooleanArray::from(vec![true; num_rows]),
                |batch| late.passing(&batch),
            ))
        };
        RowFilter::new(vec![Box::new(ArrowPredicateFn::new(mask, predicate))])
    }

    /// The reader of a row group and the number of its rows that filters see; none if no row can pass.
    fn reader(
        &self,
        file: &ParquetFile,
        group: usize,
        way: Way,
    ) -> Result<Option<(ParquetRecordBatchReader, Conversion, u64)>> {
        let path = &file.path;
        let handle = File::open(path).map_err(|e| Error::from(e).within(path.display()))?;
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(handle, file.metadata.clone());
        let source = |name: &str| self.table.plain_column(file, name);
        let group_rows = file.metadata.metadata().row_group(group).num_rows();
        let group_rows = u64::try_from(group_rows).unwrap_or(0);
        let mut num_rows = group_rows;
        let pages = rows_that_can_match(&self.filters, &file.metadata, group, &source);
        if let Some(rows) = pages.filter(|_| !self.numbers_rows) {
            num_rows = rows.row_count() as u64;
            builder = builder.with_row_selection(rows);
        }
        let shared = &self.shared;
        shared
            .rows_skipped
            .fetch_add(group_rows - num_rows, Ordering::Relaxed);
        if num_rows == 0 || !bloom_filters_can_match(&self.filters, &builder, group, &source) {
            shared.row_groups_skipped.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        let parquet = builder.parquet_schema();
        let (mask, conversion) = self.conversion(file, &self.projection, (parquet, &self.schema));
        if let (Some(late), Way::Late) = (&self.late, way) {
            let filter = self.row_filter(late, file, parquet);
            builder = builder.with_row_filter(filter);
            shared.row_groups_late.fetch_add(1, Ordering::Relaxed);
        }
        let reader = guarded(path, || {
            builder
                .with_projection(mask)
                .with_row_groups(vec![group])
                .with_batch_size(shared.ways.batch_rows(way, BATCH_ROWS))
                .build()
        })?;
        Ok(Some((reader, conversion, num_rows)))
    }
}

impl MorselSource for ParquetSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.morsels.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let (file_idx, group) = self.morsels[morsel];
        let file = &self.table.files[file_idx];
        if let Some(bound) = &self.bound {
            let nearest = self.nearest(bound, self.morsels[morsel]);
            if nearest.is_some_and(|place| !bound.wants(place)) {
                let skipped = &self.shared.row_groups_not_wanted;
                skipped.fetch_add(1, Ordering::Relaxed);
                return Ok(Box::new(std::iter::empty()));
            }
        }
        let late = self.late.as_ref();
        let way = late.map_or(Way::AtOnce, |late| late.way(&self.shared.ways));
        let started = Instant::now();
        let Some((reader, conversion, num_rows)) = self.reader(file, group, way)? else {
            return Ok(Box::new(std::iter::empty()));
        };
        Ok(Box::new(RowGroup {
            reader: Some(reader),
            conversion,
            way,
            num_rows,
            num_given: 0,
            first_row: rows_before(file, group),
            elapsed: started.elapsed(),
            shared: Arc::clone(&self.shared),
            control: Arc::clone(&self.control),
        }))
    }

    fn with_bound(&self, bound: &Arc<KeyBound>) -> Option<Arc<dyn MorselSource>> {
        if bound.texts().is_some() {
            return None;
        }
        let mut bounded = self.clone();
        bounded.shared = Arc::default();
        let key = *self.projection.get(bound.column())?;
        let num_columns = self.table.columns.len();
        if !self.numbers_rows {
            let table = (&self.table.schema, num_columns);
            let condition = self.condition.as_ref();
            let late = LateFilter::bounded(condition, (key, bound), table, &self.projection);
            bounded.late = late.or(bounded.late);
        }
        // The most promising first: what they have rules out the others.
        bounded
            .morsels
            .sort_by_key(|morsel| self.nearest(bound, *morsel));
        bounded.bound = Some(Arc::clone(bound));
        Some(Arc::new(bounded))
    }

    fn passes_only(&self, predicate: Option<&Arc<dyn PhysicalExpr>>) -> bool {
        says_the_same(self.condition.as_ref(), predicate, &self.table.schema)
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.num_rows)
    }

    fn describe(&self) -> String {
        format!(
            "Parquet, {} files, {} of {} row groups",
            self.table.files.len(),
            self.morsels.len(),
            self.table.num_row_groups()
        )
    }

    fn stored(&self) -> Option<Stored> {
        Some(Stored {
            num_files: self.table.files.len(),
            num_row_groups: self.table.num_row_groups(),
            num_ruled_out: self.table.num_row_groups() - self.morsels.len(),
        })
    }

    fn stored_bytes(&self, morsel: usize) -> u64 {
        let (file, group) = self.morsels[morsel];
        let file = &self.table.files[file];
        let metadata = file.metadata.metadata();
        let roots = metadata.file_metadata().schema_descr();
        let is_wanted = |leaf: usize| {
            let root = roots.get_column_root_idx(leaf);
            let mut columns = self.projection.iter();
            columns.any(|c| matches!(file.sources.get(*c), Some(Some(s)) if s.position == root))
        };
        let leaves = metadata.row_group(group).columns().iter().enumerate();
        let wanted = leaves.filter(|(leaf, _)| is_wanted(*leaf));
        let bytes = wanted.map(|(_, column)| u64::try_from(column.compressed_size()).unwrap_or(0));
        bytes.sum()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let shared = &self.shared;
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("row_groups_late", value(&shared.row_groups_late)),
            ("row_groups_skipped", value(&shared.row_groups_skipped)),
            (
                "row_groups_not_wanted",
                value(&shared.row_groups_not_wanted),
            ),
            ("rows_skipped", value(&shared.rows_skipped)),
            ("rows_filtered", value(&shared.rows_filtered)),
        ]
    }
}

/// Rows of the file before a row group.
fn rows_before(file: &ParquetFile, group: usize) -> u64 {
    let groups = &file.metadata.metadata().row_groups()[..group];
    let rows = groups
        .iter()
        .map(|g| u64::try_from(g.num_rows()).unwrap_or(0));
    rows.sum()
}

/// A row group that is being read.
struct RowGroup {
    /// None when all is read, or something is wrong.
    reader: Option<ParquetRecordBatchReader>,
    conversion: Conversion,
    way: Way,
    /// Rows that filters see.
    num_rows: u64,
    num_given: u64,
    /// Number of the first row in the file.
    first_row: u64,
    elapsed: Duration,
    shared: Arc<Shared>,
    control: Arc<QueryControl>,
}

impl RowGroup {
    fn read(&mut self, path: &Path) -> Result<Option<RecordBatch>> {
        let Some(mut reader) = self.reader.take() else {
            return Ok(None);
        };
        let started = Instant::now();
        let next = guarded(path, || {
            let next = reader.next().transpose();
            next.map(|batch| (batch, reader))
        });
        self.elapsed += started.elapsed();
        let (Some(batch), reader) = next? else {
            self.end();
            return Ok(None);
        };
        self.reader = Some(reader);
        let first_row = self.first_row + self.num_given;
        self.num_given += batch.num_rows() as u64;
        let converted = self.conversion.batch(&batch, first_row);
        converted.map(Some).map_err(|e| e.within(path.display()))
    }

    /// Rows that the filter has dropped were read, too.
    fn end(&self) {
        let num_dropped = self.num_rows.saturating_sub(self.num_given);
        self.shared
            .rows_filtered
            .fetch_add(num_dropped, Ordering::Relaxed);
        self.control
            .count(usize::try_from(num_dropped).unwrap_or(0), 0);
        let ways = &self.shared.ways;
        ways.report(self.way, self.num_rows, self.num_given, self.elapsed);
    }
}

impl Iterator for RowGroup {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let path = self.conversion.path.clone();
        self.read(&path).transpose()
    }
}
