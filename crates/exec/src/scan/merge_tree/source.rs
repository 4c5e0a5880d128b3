//! Scans a [`MergeTreeTable`]: reads groups of rows, the columns of filters first where that costs less.
//!
//! [`narrowed`] has the scans that hand up less, [`group_bounds`] what is known of groups before they are read.

mod group_bounds;
mod narrowed;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan_error;
use basalt_error::{Error, Result};
use basalt_storage::merge_tree::flat;
use basalt_storage::{MergeTree, Part};
use datafusion::physical_expr::PhysicalExpr;

use super::MergeTreeTable;
use super::counting::Counting;
use super::shared::Shared;
use super::stages::{ReadColumn, Stages, passing_of};
use crate::QueryControl;
use crate::codes::StringNumbers;
use crate::filter_project::Selection;
use crate::scan::late::{Way, says_the_same};
use crate::scan::scan_exec::column_bytes;
use crate::scan::{BatchIter, MorselSource, ScanRequest, Stored};
use crate::sort::KeyBound;

/// A part, and which of its groups of rows.
pub(super) type Group = (Arc<Part>, usize);

/// A scan of a [`MergeTreeTable`].
#[derive(Clone, Debug)]
pub(super) struct MergeTreeSource {
    schema: SchemaRef,
    /// Held as long as its files are read.
    table: Arc<MergeTree>,
    /// Fields of all columns that queries see.
    all: SchemaRef,
    projection: Vec<usize>,
    num_parts: usize,
    num_groups: usize,
    morsels: Vec<Group>,
    num_rows: usize,
    condition: Option<Arc<dyn PhysicalExpr>>,
    /// The condition, if evaluating it here may save work.
    stages: Option<Arc<Stages>>,
    /// Whether just the rows that fulfil the condition are handed up.
    is_filter: bool,
    /// Columns of the table whose strings are handed up as numbers.
    numbered: Vec<(usize, Arc<StringNumbers>)>,
    /// Whether decoded columns are kept.
    is_cached: bool,
    /// What a top-N above still wants.
    bound: Option<Arc<KeyBound>>,
    /// Whether only the least and the greatest value of each column are asked for.
    of_extremes: bool,
    /// Of which condition only the number of rows is asked for, if that is all.
    counting: Option<Arc<Counting>>,
    /// How many of the rows of groups that need not be read fulfil it: a morsel behind the others.
    known: Option<KnownRows>,
    shared: Arc<Shared>,
    control: Arc<QueryControl>,
}

/// Rows of groups of which a part knows how many fulfil a condition.
#[derive(Clone, Copy, Debug, Default)]
struct KnownRows {
    num_groups: usize,
    num_rows: usize,
    num_fulfilling: usize,
}

/// Columns of a group, which are read when they are asked for.
struct Columns<'a> {
    source: &'a MergeTreeSource,
    group: &'a Group,
    known: Vec<(usize, ArrayRef)>,
}

impl ReadColumn for Columns<'_> {
    fn column(&mut self, column: usize) -> Result<ArrayRef> {
        let found = self.known.iter().find(|(known, _)| *known == column);
        if let Some((_, values)) = found {
            return Ok(Arc::clone(values));
        }
        let (part, group) = self.group;
        let place = (column, *group);
        let (values, origin) = part.read_encoded(place, self.source.is_cached)?;
        self.source.shared.count(origin);
        let num_bytes = column_bytes(&values) as u64;
        self.source.control.count_limited(num_bytes)?;
        self.known.push((column, Arc::clone(&values)));
        Ok(values)
    }
}

impl MergeTreeSource {
    /// The groups that a scan has to read.
    pub(super) fn new(
        table: &MergeTreeTable,
        request: &ScanRequest,
        morsels: Vec<Group>,
    ) -> Result<Self> {
        let schema = table.schema.project(&request.projection);
        let stages = request.condition.as_ref();
        let stages = stages.and_then(|condition| Stages::new(condition, &table.schema));
        let stages = stages.filter(|stages| {
            let mut needed: Vec<usize> = stages.columns().collect();
            needed.sort_unstable();
            let is_other = |column: &usize| needed.binary_search(column).is_err();
            stages.may_save_work() || request.projection.iter().any(is_other)
        });
        let rows = |(part, group): &Group| part.metadata().group_rows[*group] as usize;
        Ok(Self {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            table: Arc::clone(&table.table),
            all: Arc::clone(&table.schema),
            projection: request.projection.clone(),
            num_parts: table.parts.len(),
            num_groups: table.num_groups(),
            num_rows: morsels.iter().map(rows).sum(),
            morsels,
            condition: request.condition.clone(),
            stages: stages.map(Arc::new),
            is_filter: false,
            numbered: Vec::new(),
            is_cached: table.is_cached,
            bound: None,
            of_extremes: false,
            counting: None,
            known: None,
            shared: Arc::default(),
            control: Arc::clone(&request.control),
        })
    }

    fn is_bound_by_texts(&self) -> bool {
        let texts = self.bound.as_ref().and_then(|bound| bound.texts());
        texts.is_some()
    }

    /// Columns of the table that are handed up, and those of the condition where no step above evaluates it.
    fn columns_read(&self) -> Vec<usize> {
        let mut columns = self.projection.clone();
        if let Some(stages) = self.stages.as_ref().filter(|_| self.is_filter) {
            columns.extend(stages.columns());
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The rows of a group; none if no row is wanted, or no row passes.
    fn read(&self, group: &Group) -> Result<Option<RecordBatch>> {
        if let Some(bound) = &self.bound
            && !self.wants(bound, group)
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
        let reads_columns = self.condition.is_some() || !self.projection.is_empty();
        if reads_columns && !self.control.may_read(rows(group) as u64)? {
            return Ok(None);
        }
        let started = Instant::now();
        let mut columns = self.columns_of(group);
        if let Some(counting) = &self.counting {
            return self.counted(counting, columns).map(Some);
        }
        let (way, wanted) = match self.wanted(&mut columns)? {
            Wanted::None => return Ok(None),
            // Few rows are wanted once some are known.
            Wanted::Some(wanted) => (Way::Late, Some(wanted)),
            // Nobody else tells a bound of strings.
            Wanted::Unknown if self.is_bound_by_texts() => (Way::Late, None),
            Wanted::Unknown => match &self.stages {
                Some(_) if self.is_filter => (Way::Late, None),
                Some(_) => (self.shared.ways.next(), None),
                None => return self.batch(columns, None).map(Some),
            },
        };
        let batch = match way {
            Way::Late => self.read_late(columns, wanted)?,
            Way::AtOnce => self.batch(columns, None).map(Some)?,
        };
        let mut elapsed = started.elapsed();
        if let (Way::AtOnce, Some(stages)) = (way, &self.stages) {
            // The step above does what is not done here.
            elapsed += stages.evaluation_time(rows(group));
        }
        let num_given = batch.as_ref().map_or(0, RecordBatch::num_rows);
        let ways = &self.shared.ways;
        ways.report(way, rows(group) as u64, num_given as u64, elapsed);
        Ok(batch)
    }

    /// Groups that filters do not rule out.
    fn num_possible(&self) -> usize {
        self.morsels.len() + self.known.map_or(0, |known| known.num_groups)
    }

    fn columns_of<'a>(&'a self, group: &'a Group) -> Columns<'a> {
        Columns {
            source: self,
            group,
            known: Vec::new(),
        }
    }

    /// As many rows without columns as fulfil the condition in a group.
    fn counted(&self, counting: &Counting, mut columns: Columns<'_>) -> Result<RecordBatch> {
        let num_rows = rows(columns.group);
        let passing = counting.evaluated(num_rows, &mut columns)?;
        let failed = || Error::bug("a comparison with a constant failed");
        let num_counted = passing.ok_or_else(failed)?.true_count();
        self.control.count(num_rows - num_counted, 0);
        batch_of(&self.schema, Vec::new(), num_counted)
    }

    /// Which rows of a group a top-N above can use.
    fn wanted(&self, columns: &mut Columns<'_>) -> Result<Wanted> {
        let Some(bound) = &self.bound else {
            return Ok(Wanted::Unknown);
        };
        let key = columns.column(self.projection[bound.column()])?;
        let Some(wanted) = bound.wanted(key.as_ref()) else {
            return Ok(Wanted::Unknown);
        };
        if wanted.has_true() {
            return Ok(Wanted::Some(wanted));
        }
        self.shared
            .groups_not_wanted
            .fetch_add(1, Ordering::Relaxed);
        Ok(Wanted::None)
    }

    /// The rows that pass the filter; none if there are none, and then no other column is read.
    fn read_late(
        &self,
        mut columns: Columns<'_>,
        wanted: Option<BooleanArray>,
    ) -> Result<Option<RecordBatch>> {
        let num_rows = rows(columns.group);
        let (passing, is_known) = match (&self.stages, wanted) {
            (Some(stages), wanted) => match stages.passing(num_rows, wanted, &mut columns)? {
                (passing, false) if self.is_filter => {
                    (self.passing_rows(&passing, &mut columns)?, true)
                }
                found => found,
            },
            (None, wanted) => {
                let all = || BooleanArray::from(vec![true; num_rows]);
                (wanted.unwrap_or_else(all), self.condition.is_none())
            }
        };
        let passing = match &self.bound {
            // Rows of which nobody knows whether they pass would drive out others.
            Some(bound) if is_known => {
                let key = columns.column(self.projection[bound.column()])?;
                bound.first_of(key.as_ref(), passing)
            }
            _ => passing,
        };
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
        self.batch(columns, passing).map(Some)
    }

    /// Which of the rows in `among` fulfil the condition, or why that cannot be told.
    fn passing_rows(
        &self,
        among: &BooleanArray,
        columns: &mut Columns<'_>,
    ) -> Result<BooleanArray> {
        let Some(condition) = &self.condition else {
            return Ok(among.clone());
        };
        passing_of((condition, &self.all), among, columns)
    }

    /// The columns of the result with the rows that pass.
    fn batch(
        &self,
        mut columns: Columns<'_>,
        passing: Option<&BooleanArray>,
    ) -> Result<RecordBatch> {
        let picked = passing.map(|passing| Selection::new(passing.values().clone()));
        let column = |column: &usize| {
            let mut values = columns.column(*column)?;
            if let Some(picked) = &picked {
                values = picked.kept(&values).map_err(plan_error)?;
            }
            let numbers = self
                .numbered
                .iter()
                .find(|(numbered, _)| numbered == column);
            match numbers {
                Some((_, numbers)) => Ok(Arc::new(numbers.numbers_of(&values)?) as _),
                None => flat(&values),
            }
        };
        let arrays = self.projection.iter().map(column);
        let arrays = arrays.collect::<Result<_>>()?;
        let num_rows = passing.map_or_else(|| rows(columns.group), BooleanArray::true_count);
        batch_of(&self.schema, arrays, num_rows)
    }
}

/// Which rows of a group a top-N above can use.
enum Wanted {
    /// Nobody knows yet, or there is no top-N.
    Unknown,
    None,
    Some(BooleanArray),
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
        self.morsels.len() + usize::from(self.known.is_some())
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let batch = match (self.morsels.get(morsel), self.known) {
            (Some(group), _) => self.read(group)?,
            (None, Some(known)) => {
                let dropped = known.num_rows - known.num_fulfilling;
                self.control.count(dropped, 0);
                let counted = &self.shared.groups_counted;
                counted.fetch_add(known.num_groups as u64, Ordering::Relaxed);
                Some(batch_of(&self.schema, Vec::new(), known.num_fulfilling)?)
            }
            (None, None) => None,
        };
        Ok(Box::new(batch.map(Ok).into_iter()))
    }

    fn passes_only(&self, predicate: Option<&Arc<dyn PhysicalExpr>>) -> bool {
        says_the_same(self.condition.as_ref(), predicate, &self.all)
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.num_rows)
    }

    fn num_values(&self, column: usize) -> Option<usize> {
        let column = self.projection[column];
        let values = self.morsels.iter().map(|(part, group)| {
            let metadata = part.metadata();
            // Those of deleted rows are among the NULLs.
            let is_whole = metadata.is_whole(*group);
            let num_nulls = metadata.columns[column].groups[*group].null_count;
            is_whole.then(|| metadata.group_rows[*group].checked_sub(num_nulls))?
        });
        values.map(|num| num.map(|num| num as usize)).sum()
    }

    fn is_counted(&self) -> bool {
        self.bound.is_none()
            && self.stages.is_none()
            && !self.is_filter
            && !self.of_extremes
            && self.counting.is_none()
    }

    fn with_bound(&self, bound: &Arc<KeyBound>) -> Option<Arc<dyn MorselSource>> {
        Some(Arc::new(self.bounded(bound)?))
    }

    fn filtered(
        &self,
        predicate: &Arc<dyn PhysicalExpr>,
        columns: &[usize],
    ) -> Option<Arc<dyn MorselSource>> {
        Some(Arc::new(self.passing_only(predicate, columns)?))
    }

    fn numbered(
        &self,
        column: usize,
        numbers: &Arc<StringNumbers>,
        max_bytes: Option<usize>,
    ) -> Option<Arc<dyn MorselSource>> {
        Some(Arc::new(self.with_numbers(column, numbers, max_bytes)?))
    }

    fn of_extremes(&self) -> Option<Arc<dyn MorselSource>> {
        Some(Arc::new(self.with_extremes()?))
    }

    fn counting(&self, predicate: &Arc<dyn PhysicalExpr>) -> Option<Arc<dyn MorselSource>> {
        Some(Arc::new(self.counted_only(predicate)?))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.shared.counters()
    }

    fn describe(&self) -> String {
        let (num_possible, num_groups) = (self.num_possible(), self.num_groups);
        let parts = self.num_parts;
        let mut text = format!("MergeTree, {parts} parts, {num_possible} of {num_groups} groups");
        if let Some(condition) = self.condition.as_ref().filter(|_| self.is_filter) {
            text += &format!(", filter={condition}");
        }
        match self.numbered.len() {
            0 => {}
            1 => text += ", strings of 1 column as numbers",
            num => text += &format!(", strings of {num} columns as numbers"),
        }
        text
    }

    fn stored(&self) -> Option<Stored> {
        Some(Stored {
            num_files: self.num_parts * self.columns_read().len(),
            num_row_groups: self.num_groups,
            num_ruled_out: self.num_groups - self.num_possible(),
        })
    }

    fn stored_bytes(&self, morsel: usize) -> u64 {
        let group = self.morsels.get(morsel);
        if self.of_extremes && group.is_some_and(|group| self.extremes(group).is_some()) {
            return 0;
        }
        let Some((part, group)) = self.morsels.get(morsel) else {
            return 0;
        };
        let columns = &part.metadata().columns;
        let read = self.columns_read().into_iter();
        read.map(|c| columns[c].groups[*group].num_bytes).sum()
    }
}
