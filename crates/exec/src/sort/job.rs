//! One run of the operator: chooses the way to put rows in order, and goes it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};

use super::Strategy;
use super::account::{Clocks, Notes, Outcome, Way};
use super::carried::with_carried;
use super::codes::Codes;
use super::counted_rows::{CountedRows, Shape};
use super::counting::Counted;
use super::emit::Emitter;
use super::in_order::ordered;
use super::key_bound::KeyBound;
use super::key_counts::KeyCounts;
use super::layout::Layout;
use super::nearly::Nearly;
use super::nearly_sample::rows_may_be_nearly;
use super::options::MAX_COUNTED_BITS;
use super::parts::{Cut, packed_words, parts};
use super::ranks::with_ranks;
use super::rows::{Input, Rows, joined, joined_one};
use super::sort_exec::Limit;
use super::top::{TopRows, TopSpec};
use super::word::Word;
use super::words::Part;

/// One of so many rows is wanted, where it pays to carry columns of all.
const CARRIED_PART: usize = 4;

/// Batches in the order of the result.
pub(super) type Batches = BoxStream<'static, Result<RecordBatch>>;

/// What became of a search for the first rows.
pub(super) enum Top {
    /// They are found.
    Rows(Batches),
    /// There is no memory for so many.
    TooMuch(Vec<Input>),
}

/// What a run needs to know.
#[derive(Clone)]
pub(super) struct Job {
    pub(super) sorts: Arc<[PhysicalSortExpr]>,
    pub(super) schema: SchemaRef,
    /// For each column of the result, which key it is, if it is one.
    pub(super) key_columns: Vec<Option<usize>>,
    pub(super) limit: Limit,
    /// What the scan below may leave out of a top-N.
    pub(super) key_bound: Option<Arc<KeyBound>>,
    pub(super) cut: Cut,
    pub(super) max_batch_rows: usize,
    pub(super) metrics: BaselineMetrics,
    pub(super) clocks: Clocks,
    pub(super) notes: Notes,
    /// Whether rows are a run that goes to a file, since memory is short.
    pub(super) is_run: bool,
}

impl Job {
    /// The same for some of all rows, which are merged with others later.
    pub(super) fn of_run(&self, max_batch_rows: usize) -> Self {
        Self {
            limit: Limit {
                fetch: self.limit.num_first_rows(),
                ..Limit::default()
            },
            cut: Cut {
                num_tasks: 1,
                ..self.cut
            },
            max_batch_rows,
            // The rows are no output yet.
            metrics: BaselineMetrics::new(&ExecutionPlanMetricsSet::new(), 0),
            notes: Notes::default(),
            is_run: true,
            ..self.clone()
        }
    }

    /// Notes that `num_rows` rows are merged of so many runs, in so many ranges of which so many at once.
    pub(super) fn note_merge(&self, num_rows: usize, num_runs: usize, ranges: (usize, usize)) {
        self.notes.note(Outcome::merged(num_rows, num_runs, ranges));
    }

    /// Whether rows may be put in order in this way.
    pub(super) fn may_be(&self, strategy: Strategy) -> bool {
        self.cut.strategy.may_be(strategy)
    }

    /// Whether rows of the same keys can be told apart, if keys stand for the columns' own values.
    pub(super) fn keeps_ties(&self) -> bool {
        self.key_columns.iter().any(Option::is_none)
    }

    /// The batches of the result.
    pub(super) async fn run(self, rows: Rows) -> Result<Batches> {
        let keeps_ties = self.keeps_ties() || rows.is_changed();
        if let Some(found) = ordered(&rows, (self.cut.strategy, keeps_ties))? {
            self.notes.note(Outcome::in_order(&rows, &found));
            let parts = found.into_iter().map(Part::<u64>::Ordered).collect();
            let layout = Arc::new(rows.layout_of_keys());
            return self.emit_parts(Arc::new(rows), layout, parts);
        }
        let clock = &self.clocks.splitting;
        let rows = if self.may_be(Strategy::Ranks) && !self.is_run {
            with_ranks(rows, self.cut, clock).await?
        } else {
            rows
        };
        let rows = Arc::new(rows);
        let is_readable = |layout: &Layout| {
            let keys = self.key_columns.iter();
            keys.map(|key| layout.readable((*key)?))
                .all(|place| place.is_some())
        };
        let keys = Arc::new(rows.layout_of_keys());
        let has_few_bits = keys.key_bits() <= MAX_COUNTED_BITS;
        let may_be_counted = !has_few_bits && keys.is_exact && is_readable(&keys);
        if self.may_be(Strategy::Counting)
            && may_be_counted
            && let Some(counts) = KeyCounts::of(&rows, &keys, self.cut, clock).await?
        {
            return Ok(self.run_key_counts(&rows, counts));
        }
        if let Some(codes) = Codes::of(&rows, self.cut, clock).await? {
            let shape = self.shape(&codes);
            let num_wanted = self.limit.wanted(0..rows.num_rows()).len();
            if rows.try_reserve(shape.row_bytes() * num_wanted) {
                return self.run_counting(rows, codes, shape).await;
            }
        }
        let layout = self.with_carried(&rows, rows.layout(is_readable)).await?;
        let word_bits = layout.key_bits() + layout.place_bits();
        if word_bits <= u32::BITS {
            self.run_words::<u32>(rows, layout).await
        } else if word_bits <= u64::BITS {
            self.run_words::<u64>(rows, layout).await
        } else {
            self.run_words::<u128>(rows, layout).await
        }
    }

    /// The layout, with columns that are no keys if words have room for all of them and most rows are wanted.
    async fn with_carried(&self, rows: &Arc<Rows>, layout: Layout) -> Result<Layout> {
        let others = self.key_columns.iter().enumerate();
        let others = others.filter(|(_, key)| key.and_then(|key| layout.readable(key)).is_none());
        let others: Vec<usize> = others.map(|(column, _)| column).collect();
        let num_wanted = self.limit.wanted(0..rows.num_rows()).len();
        if !layout.is_exact
            || layout.place_bits() == 0
            || others.is_empty()
            || num_wanted < rows.num_rows() / CARRIED_PART
            || self.cut.strategy == Strategy::NearlyInOrder
            || self.cut.strategy == Strategy::Auto && rows_may_be_nearly(rows, &layout)
        {
            return Ok(layout);
        }
        let clock = &self.clocks.splitting;
        let carrying = with_carried(rows, &layout, &others, self.cut, clock).await?;
        Ok(carrying.unwrap_or(layout))
    }

    /// The batches of the result, of which the first `num_rows` rows of all inputs are part; inputs with what is left of
    /// their rows if memory is too short to keep so many.
    pub(super) async fn run_top(&self, inputs: Vec<Input>, num_rows: usize) -> Result<Top> {
        let sorts = Arc::clone(&self.sorts);
        let spec = TopSpec::try_new(sorts, &self.schema, num_rows, self.limit.with_ties)?;
        let spec = Arc::new(spec.with_key_bound(self.key_bound.clone()));
        let is_full = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for (mut input, share) in inputs {
            let mut top = TopRows::new(&spec, share)?;
            let is_full = Arc::clone(&is_full);
            tasks.push(SpawnedTask::spawn(async move {
                while !is_full.load(Ordering::Relaxed)
                    && let Some(batch) = input.next().await
                {
                    if top.push(batch?)? {
                        is_full.store(true, Ordering::Relaxed);
                    }
                }
                Ok((top, input))
            }));
        }
        let tasks = joined(tasks).await?;
        if is_full.load(Ordering::Relaxed) {
            let rest = tasks.into_iter().map(|(top, input)| with_kept(top, input));
            return rest.collect::<Result<_>>().map(Top::TooMuch);
        }
        let tops: Vec<TopRows> = tasks.into_iter().map(|(top, _)| top).collect();
        let num_seen = tops.iter().map(TopRows::num_seen).sum();
        let num_kept = tops.iter().map(TopRows::num_kept).sum();
        self.notes
            .note(Outcome::top(num_seen, num_kept, &spec.layout));
        let batches = {
            let _timer = self.metrics.elapsed_compute().timer();
            TopRows::merge(tops, self.limit.skip, self.max_batch_rows)?
        };
        for batch in &batches {
            self.metrics.record_output(batch.num_rows());
        }
        let batches = stream::iter(batches.into_iter().map(Ok));
        Ok(Top::Rows(batches.boxed()))
    }

    fn run_key_counts(self, rows: &Rows, counts: KeyCounts) -> Batches {
        self.notes.note(Outcome::key_counts(rows, &counts));
        let wanted = self.limit.wanted(0..rows.num_rows());
        let pieces = KeyCounts::pieces(wanted, self.max_batch_rows);
        let (schema, keys) = (self.schema, self.key_columns);
        ahead(pieces, self.cut, self.metrics, move |range| {
            Ok(vec![counts.batch(range, (&schema, &keys))?])
        })
    }

    /// What is written of a row whose keys are these codes.
    fn shape(&self, codes: &Codes) -> Shape {
        Shape::new(&self.schema, |column| {
            let key = self.key_columns.get(column).copied().flatten();
            key.is_some_and(|key| codes.readable(key).is_some())
        })
    }

    async fn run_counting(self, rows: Arc<Rows>, codes: Codes, shape: Shape) -> Result<Batches> {
        let clock = self.clocks.splitting.clone();
        let num_rows = rows.num_rows();
        let wanted = self.limit.wanted(0..num_rows);
        self.notes.note(Outcome::counting(&rows, &codes));
        let codes = Arc::new(codes);
        let counted = Counted::of(&rows, &codes, self.cut, &clock).await?;
        let written = counted.write(wanted, Arc::new(shape), &clock).await?;
        let result = CountedRows {
            written,
            rows,
            codes,
            schema: self.schema,
            key_columns: self.key_columns,
        };
        let pieces = result.pieces(self.max_batch_rows);
        Ok(ahead(pieces, self.cut, self.metrics, move |pieces| {
            Ok(vec![result.batch(&pieces)?])
        }))
    }

    async fn run_words<W: Word>(self, rows: Arc<Rows>, layout: Layout) -> Result<Batches> {
        // Words as they are packed, and as they are split, were counted with the rows.
        let layout = Arc::new(layout);
        let clock = &self.clocks.splitting;
        let words = Arc::new(packed_words::<W>(&rows, &layout, self.cut, clock).await?);
        if self.may_be(Strategy::NearlyInOrder)
            && layout.is_exact
            && !layout.is_carrying()
            && let Some(nearly) = Nearly::of(&words, self.cut, clock).await?
        {
            self.notes.note(Outcome::nearly((&rows, &layout), &nearly));
            return self.emit_parts(rows, layout, nearly.parts);
        }
        let keys = (Arc::clone(&layout), rows.columns.len());
        let parts = parts::<W>(words, keys, self.cut, clock).await?;
        let way = match self.cut.strategy {
            Strategy::Comparison => Way::Comparison,
            _ => Way::Radix,
        };
        let word_bits = 8 * size_of::<W>();
        let outcome = Outcome::parts(way, (&rows, &layout), (parts.len(), word_bits));
        self.notes.note(outcome);
        self.emit_parts(rows, layout, parts)
    }

    fn emit_parts<W: Word>(
        self,
        rows: Arc<Rows>,
        layout: Arc<Layout>,
        parts: Vec<Part<W>>,
    ) -> Result<Batches> {
        let mut wanted = Vec::new();
        let mut first = 0;
        for part in parts {
            let num_rows = part.num_rows();
            let range = self.limit.wanted(first..first + num_rows);
            first += num_rows;
            if !range.is_empty() {
                wanted.push((part, range));
            }
        }
        let emitter = Emitter {
            rows,
            layout,
            sorts: self.sorts,
            schema: self.schema,
            key_columns: self.key_columns,
            strategy: self.cut.strategy,
            max_batch_rows: self.max_batch_rows,
        };
        Ok(ahead(
            wanted,
            self.cut,
            self.metrics,
            move |(part, range)| emitter.emit(&part, range),
        ))
    }
}

/// The rows that were kept of an input, and then those that nobody has looked at.
fn with_kept(top: TopRows, rest: SendableRecordBatchStream) -> Result<Input> {
    let (kept, share) = top.into_batches()?;
    let schema = rest.schema();
    let rows = stream::iter(kept.into_iter().map(Ok)).chain(rest);
    Ok((Box::pin(RecordBatchStreamAdapter::new(schema, rows)), share))
}

/// What `emit` makes of each piece of work, in their order; tasks are a few pieces ahead of the reader.
fn ahead<T: Send + 'static>(
    work: Vec<T>,
    cut: Cut,
    metrics: BaselineMetrics,
    emit: impl Fn(T) -> Result<Vec<RecordBatch>> + Send + Sync + 'static,
) -> Batches {
    let emit = Arc::new(emit);
    let tasks = stream::iter(work).map(move |work| {
        let emit = Arc::clone(&emit);
        let metrics = metrics.clone();
        joined_one(SpawnedTask::spawn(async move {
            let _timer = metrics.elapsed_compute().timer();
            let batches = emit(work)?;
            let num_rows = batches.iter().map(RecordBatch::num_rows).sum();
            metrics.record_output(num_rows);
            Ok(stream::iter(batches.into_iter().map(Ok)))
        }))
    });
    let num_ahead = 2 * cut.num_tasks.max(1);
    tasks.buffered(num_ahead).try_flatten().boxed()
}

impl Limit {
    /// How many rows from the first on are looked at; none for all.
    pub(super) fn num_first_rows(&self) -> Option<usize> {
        let fetch = self.fetch.filter(|_| !self.with_ties)?;
        Some(self.skip.saturating_add(fetch))
    }

    /// Which rows of those at `rows` are wanted, counted from the first of them.
    pub(super) fn wanted(&self, rows: Range<usize>) -> Range<usize> {
        let end = self.num_first_rows().unwrap_or(usize::MAX);
        let within = |row: usize| row.clamp(rows.start, rows.end) - rows.start;
        within(self.skip)..within(end)
    }
}
