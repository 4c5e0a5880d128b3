//! Finds the first rows of the order without sorting the others.
//!
//! ```text
//! batch ── first key below the bound? ──▶ candidates ── too many? ── the best of them, a lower bound
//! ```
//!
//! Every task keeps the words of its best rows and the batches they are in; other columns are read at the
//! end, for the rows that remain. The bound is shared: what one task has found spares the others work.
//! Where keys do not fit into words, rows of equal words are told apart by arrow's row format. A task that has no
//! memory for its best rows says so; a sort that goes to files takes over what it has kept.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{interleave_record_batch, take};
use arrow::datatypes::Schema;
use arrow::row::{RowConverter, Rows, SortField};
use basalt_profile::room_bytes;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalSortExpr;

use super::bound::{SharedBound, lower, rows_below};
use super::float_key::key_values;
use super::key_bound::KeyBound;
use super::layout::{KeyColumn, Layout};
use super::nested_key::seen_type;
use super::pack::pack;
use super::range::Range;
use crate::memory::batch_bytes;
use crate::spill::{Share, compacted};

/// Candidates beyond twice the wanted ones before they are looked through.
const SPARE_CANDIDATES: usize = 256;

/// Rows of batches for each row that is wanted, from which on these are copied out of their batches.
const KEPT_ROWS_PER_ROW: usize = 8;

/// Rows of batches that are kept in any case.
const MIN_KEPT_ROWS: usize = 1 << 18;

/// Bytes of batches that a task keeps in any case where memory is not short.
const MIN_KEPT_BYTES: usize = 8 << 20;

/// Rows that are taken out of their batches together at the end, at least.
const GATHERED_ROWS: usize = 64 << 10;

/// The part of the query's free memory that a task takes for batches at most: what is below still works.
const KEPT_PART: usize = 8;

/// What all tasks of a top-N know.
#[derive(Debug)]
pub(super) struct TopSpec {
    pub(super) sorts: Arc<[PhysicalSortExpr]>,
    /// The keys for arrow's row format.
    pub(super) fields: Vec<SortField>,
    /// Words that hold any value of the keys' types.
    pub(super) layout: Layout,
    /// How many rows are wanted.
    pub(super) num_rows: usize,
    /// Whether rows whose keys are those of the last wanted row are wanted, too.
    pub(super) with_ties: bool,
    pub(super) bound: SharedBound,
    /// What the scan below may leave out.
    pub(super) key_bound: Option<Arc<KeyBound>>,
}

impl TopSpec {
    /// The first `num_rows` rows of an order of rows of `schema`.
    ///
    /// # Errors
    /// If the keys are none of the schema's rows.
    pub(super) fn try_new(
        sorts: Arc<[PhysicalSortExpr]>,
        schema: &Schema,
        num_rows: usize,
        with_ties: bool,
    ) -> Result<Self> {
        let mut fields = Vec::new();
        let mut keys = Vec::new();
        for sort in sorts.iter() {
            let data_type = seen_type(sort.expr.data_type(schema)?);
            let kind = KeyColumn::new(&data_type, sort.options);
            keys.push((
                kind,
                Range::of_type(&data_type, sort.expr.nullable(schema)?),
            ));
            fields.push(SortField::new_with_options(data_type, sort.options));
        }
        let keys: Vec<_> = keys.iter().map(|(key, range)| (*key, range)).collect();
        Ok(Self {
            layout: Layout::new(&keys, None),
            sorts,
            fields,
            num_rows,
            with_ties,
            bound: SharedBound::default(),
            key_bound: None,
        })
    }

    /// The same over a scan that knows `key_bound`.
    pub(super) fn with_key_bound(mut self, key_bound: Option<Arc<KeyBound>>) -> Self {
        self.key_bound = key_bound;
        self
    }

    /// Whether of rows with the last wanted word those that come later are not wanted.
    fn loses_ties(&self) -> bool {
        self.layout.is_exact && !self.with_ties
    }

    /// Notes that rows after those with this word are not wanted.
    fn lower_bounds(&self, word: u128) {
        self.bound.lower(word.checked_add(1));
        if let (Some(bound), Some(field)) = (&self.key_bound, self.layout.fields.first()) {
            // Where there are as many better rows as are wanted, equal ones of any task are not.
            let loses_ties = self.sorts.len() == 1 && self.loses_ties();
            let lower_bits = self.layout.key_bits() - field.total_bits();
            bound.lower(word, field, lower_bits, loses_ties);
        }
    }
}

/// A row that may be wanted.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    word: u128,
    batch: u32,
    /// The row in its batch.
    row: u32,
    /// The row in the batch's keys, if these are kept.
    key: u32,
}

/// A batch with candidates.
#[derive(Debug)]
struct Kept {
    batch: RecordBatch,
    /// The keys of its candidates, if words do not hold them.
    keys: Option<Rows>,
}

/// The best rows of some batches.
#[derive(Debug)]
pub(super) struct TopRows {
    spec: Arc<TopSpec>,
    converter: RowConverter,
    kept: Vec<Kept>,
    candidates: Vec<Candidate>,
    /// Candidates from which on they are looked through.
    max_candidates: usize,
    /// The bound for this task's next rows.
    bound: Option<u128>,
    /// Rows looked at.
    num_seen: usize,
    /// Memory of the batches and keys that are kept.
    kept_bytes: usize,
    share: Share,
    /// Whether the memory that is held is too much.
    is_full: bool,
}

impl TopRows {
    /// No rows yet.
    pub(super) fn new(spec: &Arc<TopSpec>, share: Share) -> Result<Self> {
        Ok(Self {
            spec: Arc::clone(spec),
            converter: RowConverter::new(spec.fields.clone())?,
            kept: Vec::new(),
            candidates: Vec::new(),
            max_candidates: most_candidates(spec.num_rows),
            bound: None,
            num_seen: 0,
            kept_bytes: 0,
            share,
            is_full: false,
        })
    }

    /// Rows looked at.
    pub(super) fn num_seen(&self) -> usize {
        self.num_seen
    }

    /// Rows that may be wanted.
    pub(super) fn num_kept(&self) -> usize {
        self.candidates.len()
    }

    /// Looks at the rows of a batch; true if the memory is full.
    pub(super) fn push(&mut self, batch: RecordBatch) -> Result<bool> {
        self.num_seen += batch.num_rows();
        if self.spec.num_rows > 0 {
            self.look_at_parts(batch)?;
        }
        Ok(self.is_full)
    }

    fn look_at_parts(&mut self, batch: RecordBatch) -> Result<()> {
        // The first few rows give a bound, which spares the others most of the work.
        let num_first = self.max_candidates;
        if batch.num_rows() > num_first && self.lowest_bound().is_none() {
            self.look_at(batch.slice(0, num_first))?;
            return self.look_at(batch.slice(num_first, batch.num_rows() - num_first));
        }
        self.look_at(batch)
    }

    /// The bound of this task and all others.
    fn lowest_bound(&self) -> Option<u128> {
        lower(self.bound, self.spec.bound.get())
    }

    fn look_at(&mut self, batch: RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let keys = self.spec.sorts.iter();
        let keys = keys.map(|sort| Ok(key_values(sort, &batch)?.0));
        let keys = keys.collect::<Result<Vec<ArrayRef>>>()?;
        let bound = self.lowest_bound();
        let layout = &self.spec.layout;
        let selected = bound.zip(keys.first());
        let selected = selected.and_then(|(bound, key)| rows_below(layout, bound, key.as_ref()));
        match selected {
            None => self.add(batch, &keys, None, bound)?,
            Some(rows) if rows.is_empty() => {}
            Some(rows) => {
                let rows = UInt32Array::from(rows);
                let keys = keys.iter().map(|key| take(key, &rows, None));
                let keys = keys.collect::<Result<Vec<_>, _>>()?;
                self.add(batch, &keys, Some(rows.values()), bound)?;
            }
        }
        if self.candidates.len() >= self.max_candidates {
            self.shrink()?;
        }
        Ok(())
    }

    /// Adds candidates with these keys: some rows of a batch, or all of them.
    fn add(
        &mut self,
        batch: RecordBatch,
        keys: &[ArrayRef],
        rows: Option<&[u32]>,
        bound: Option<u128>,
    ) -> Result<()> {
        let num_rows = rows.map_or(batch.num_rows(), <[u32]>::len);
        let mut words = vec![0u128; num_rows];
        pack(&self.spec.layout, keys, 0, &mut words);
        // Batches and their rows are fewer than 2^32.
        let number = self.kept.len() as u32;
        let num_before = self.candidates.len();
        for (key, word) in (0..).zip(words) {
            if bound.is_none_or(|bound| word < bound) {
                self.candidates.push(Candidate {
                    word,
                    batch: number,
                    row: rows.map_or(key, |rows| rows[key as usize]),
                    key,
                });
            }
        }
        if self.candidates.len() == num_before {
            return Ok(());
        }
        let keys = self.rows_of_candidates(keys, num_before)?;
        self.keep(Kept { batch, keys });
        let is_much = self.kept_bytes > MIN_KEPT_BYTES.min(room_bytes() / KEPT_PART);
        // Whoever may not go to files gets an error if less is too much as well.
        let is_too_much = self.is_too_much().unwrap_or(true);
        if !(is_too_much || is_much && self.has_few_candidates()) {
            return Ok(());
        }
        self.drop_others();
        // There is no room for a copy of most rows, either.
        if self.has_few_candidates() || !self.share.may_be_full() {
            self.copy_out()?;
        }
        self.is_full = self.is_too_much()?;
        Ok(())
    }

    fn keep(&mut self, kept: Kept) {
        let keys_bytes = kept.keys.as_ref().map_or(0, Rows::size);
        self.kept_bytes += batch_bytes(&kept.batch) + keys_bytes;
        self.kept.push(kept);
    }

    /// Counts what is held; true if it is too much.
    fn is_too_much(&mut self) -> Result<bool> {
        let candidates_bytes = self.candidates.capacity() * size_of::<Candidate>();
        self.share.hold(self.kept_bytes + candidates_bytes)
    }

    /// Whether most rows of the batches that are kept are no candidates.
    fn has_few_candidates(&self) -> bool {
        self.num_kept_rows() > KEPT_ROWS_PER_ROW * self.candidates.len()
    }

    fn num_kept_rows(&self) -> usize {
        self.kept.iter().map(|kept| kept.batch.num_rows()).sum()
    }

    /// The keys of the candidates from the `first` one on, in arrow's row format, if words do not hold them.
    fn rows_of_candidates(&mut self, keys: &[ArrayRef], first: usize) -> Result<Option<Rows>> {
        if self.spec.layout.is_exact {
            return Ok(None);
        }
        let places = UInt32Array::from_iter_values(self.candidates[first..].iter().map(|c| c.key));
        let keys = keys.iter().map(|key| take(key, &places, None));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        for (place, candidate) in (0..).zip(&mut self.candidates[first..]) {
            candidate.key = place;
        }
        Ok(Some(self.converter.convert_columns(&keys)?))
    }

    /// Keeps the best candidates only, lowers the bound, and copies them out of batches if these are large.
    fn shrink(&mut self) -> Result<()> {
        self.drop_others();
        if self.num_kept_rows() > MIN_KEPT_ROWS && self.has_few_candidates() {
            self.copy_out()?;
        }
        Ok(())
    }

    /// Keeps the best candidates only, and lowers the bound.
    fn drop_others(&mut self) {
        let num_rows = self.spec.num_rows;
        if self.candidates.len() > num_rows {
            let kept = &self.kept;
            let by_place = |a: &Candidate, b: &Candidate| compare(kept, a, b);
            let (_, last, _) = self
                .candidates
                .select_nth_unstable_by(num_rows - 1, by_place);
            let last = *last;
            if self.spec.with_ties {
                let is_wanted = |c: &Candidate| compare_keys(kept, c, &last).is_le();
                self.candidates.retain(is_wanted);
            } else {
                self.candidates.truncate(num_rows);
            }
            let shared = last.word.checked_add(1);
            self.spec.lower_bounds(last.word);
            // Later rows of this task lose against those before with the same keys.
            self.bound = if self.spec.loses_ties() {
                Some(last.word)
            } else {
                shared
            };
        }
        self.max_candidates = most_candidates(self.candidates.len().max(num_rows));
    }

    /// Copies the candidates out of their batches.
    fn copy_out(&mut self) -> Result<()> {
        let kept = std::mem::take(&mut self.kept);
        // Rows that are equal keep their order by their places.
        self.candidates.sort_unstable_by_key(|c| (c.batch, c.row));
        let places: Vec<(usize, usize)> = self.candidates.iter().map(Candidate::place).collect();
        let batches: Vec<&RecordBatch> = kept.iter().map(|kept| &kept.batch).collect();
        let batch = interleave_record_batch(&batches, &places)?;
        // Strings would keep the buffers that they were in.
        let batch = compacted(&batch)?;
        let keys = if self.spec.layout.is_exact {
            None
        } else {
            let mut keys = self.converter.empty_rows(self.candidates.len(), 0);
            let rows = self.candidates.iter().filter_map(|c| row(&kept, c));
            rows.for_each(|row| keys.push(row));
            Some(keys)
        };
        for (row, candidate) in (0..).zip(&mut self.candidates) {
            (candidate.batch, candidate.row, candidate.key) = (0, row, row);
        }
        self.kept_bytes = 0;
        self.keep(Kept { batch, keys });
        Ok(())
    }

    /// All rows that may be wanted, and some others, in the order in which they came, and the memory of the task, which
    /// holds nothing any more.
    pub(super) fn into_batches(mut self) -> Result<(Vec<RecordBatch>, Share)> {
        let batches = self.kept.into_iter().map(|kept| kept.batch).collect();
        self.share.hold(0)?;
        Ok((batches, self.share))
    }

    /// The wanted rows of all tasks in order, those of earlier tasks first among equal ones, without the
    /// first `skip`, in batches of at most `max_batch_rows`.
    pub(super) fn merge(
        tasks: Vec<Self>,
        skip: usize,
        max_batch_rows: usize,
    ) -> Result<Vec<RecordBatch>> {
        let mut kept = Vec::new();
        let mut candidates = Vec::new();
        let mut wanted = None;
        for task in tasks {
            let first = kept.len() as u32;
            wanted = Some((task.spec.num_rows, task.spec.with_ties));
            kept.extend(task.kept);
            candidates.extend(task.candidates.into_iter().map(|candidate| Candidate {
                batch: first + candidate.batch,
                ..candidate
            }));
        }
        candidates.sort_unstable_by(|a, b| compare(&kept, a, b));
        if let Some((num_rows, with_ties)) = wanted
            && num_rows < candidates.len()
        {
            let last = num_rows.checked_sub(1).map(|last| candidates[last]);
            let is_tied = |c: &Candidate| {
                with_ties && last.is_some_and(|last| compare_keys(&kept, c, &last).is_le())
            };
            let num_tied = candidates[num_rows..]
                .iter()
                .take_while(|c| is_tied(c))
                .count();
            candidates.truncate(num_rows + num_tied);
        }
        let places: Vec<(usize, usize)> = candidates.iter().map(Candidate::place).collect();
        let batches: Vec<&RecordBatch> = kept.iter().map(|kept| &kept.batch).collect();
        let places = places.get(skip..).unwrap_or_default();
        // Each call looks at all batches, of which there may be as many as rows.
        let places = places.chunks(max_batch_rows.max(GATHERED_ROWS));
        let mut rows = Vec::new();
        for places in places {
            let gathered = interleave_record_batch(&batches, places)?;
            let starts = (0..gathered.num_rows()).step_by(max_batch_rows);
            rows.extend(starts.map(|start| {
                gathered.slice(start, max_batch_rows.min(gathered.num_rows() - start))
            }));
        }
        Ok(rows)
    }
}

/// How many candidates there may be before `num_rows` of them are kept.
fn most_candidates(num_rows: usize) -> usize {
    num_rows.saturating_mul(2).saturating_add(SPARE_CANDIDATES)
}

impl Candidate {
    fn place(&self) -> (usize, usize) {
        (self.batch as usize, self.row as usize)
    }
}

fn row<'a>(kept: &'a [Kept], candidate: &Candidate) -> Option<arrow::row::Row<'a>> {
    let keys = kept[candidate.batch as usize].keys.as_ref()?;
    Some(keys.row(candidate.key as usize))
}

fn compare_keys(kept: &[Kept], a: &Candidate, b: &Candidate) -> Ordering {
    let words = a.word.cmp(&b.word);
    words.then_with(|| row(kept, a).cmp(&row(kept, b)))
}

fn compare(kept: &[Kept], a: &Candidate, b: &Candidate) -> Ordering {
    compare_keys(kept, a, b).then_with(|| a.place().cmp(&b.place()))
}
