//! Puts the rows of a part in order and makes batches of them.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalSortExpr;

use super::Strategy;
use super::layout::Layout;
use super::pack::unpack;
use super::radix;
use super::rows::Rows;
use super::ties::Ties;
use super::word::Word;
use super::words::Part;

/// Most rows of a batch of the result.
const MAX_BATCH_ROWS: usize = 65_505;

/// Makes the batches of all parts.
pub(super) struct Emitter {
    pub(super) rows: Arc<Rows>,
    pub(super) layout: Arc<Layout>,
    pub(super) sorts: Arc<[PhysicalSortExpr]>,
    pub(super) schema: SchemaRef,
    /// For each column of the result, which key it is, if it is one.
    pub(super) key_columns: Vec<Option<usize>>,
    pub(super) strategy: Strategy,
    pub(super) max_batch_rows: usize,
}

impl Emitter {
    /// Rows `range` of a part in order.
    pub(super) fn emit<W: Word>(
        &self,
        part: &Part<W>,
        range: Range<usize>,
    ) -> Result<Vec<RecordBatch>> {
        if let Part::Ordered(ordered) = part {
            return ordered.batches(&self.rows, range, self.max_batch_rows);
        }
        let mut words = part.words();
        match self.strategy {
            _ if part.is_sorted() => {}
            Strategy::Radix => radix::sort_by_counting(&mut words, self.layout.place_bits()),
            Strategy::Comparison => radix::compare(&mut words, self.layout.place_bits()),
            _ => radix::sort(&mut words, self.layout.place_bits()),
        }
        if !self.layout.is_exact {
            self.order_ties(&mut words)?;
        }
        let mut batches = Vec::new();
        for words in words[range].chunks(MAX_BATCH_ROWS) {
            self.slices(&self.batch(words)?, &mut batches);
        }
        Ok(batches)
    }

    fn slices(&self, batch: &RecordBatch, batches: &mut Vec<RecordBatch>) {
        let max_rows = self.max_batch_rows;
        let starts = (0..batch.num_rows()).step_by(max_rows);
        batches.extend(starts.map(|start| {
            let len = max_rows.min(batch.num_rows() - start);
            batch.slice(start, len)
        }));
    }

    /// The rows of words, in their order.
    fn batch<W: Word>(&self, words: &[W]) -> Result<RecordBatch> {
        let readable: Vec<_> = self
            .key_columns
            .iter()
            .enumerate()
            .map(|(column, key)| {
                let key = key.and_then(|key| self.layout.readable(key));
                key.or_else(|| self.layout.carried(column))
            })
            .collect();
        let places = if readable.iter().all(Option::is_some) {
            Vec::new()
        } else {
            self.places(words)
        };
        let column = |(i, readable): (usize, &Option<_>)| match readable {
            Some(place) => unpack(words, *place, self.schema.field(i).data_type()),
            None => {
                let columns = self.rows.batches.iter().map(|b| b.column(i));
                gather(columns, &places)
            }
        };
        let columns: Vec<ArrayRef> = readable
            .iter()
            .enumerate()
            .map(column)
            .collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(words.len()));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }

    /// The batch and the row in it of each word.
    fn places<W: Word>(&self, words: &[W]) -> Vec<(usize, usize)> {
        let row_bits = self.layout.row_bits;
        let mask = |bits: u32| (1usize << bits) - 1;
        let (batches, rows) = (mask(self.layout.batch_bits), mask(row_bits));
        let place = |w: &W| (w.digit(row_bits, batches), w.digit(0, rows));
        words.iter().map(place).collect()
    }

    /// Orders rows whose words have the same keys but whose keys did not fit.
    fn order_ties<W: Word>(&self, words: &mut [W]) -> Result<()> {
        let shift = self.layout.place_bits();
        let num_keys = self.sorts.len();
        let (first_key, _) = self.layout.first_open_key(num_keys);
        let is_decided = |word: &W| self.layout.decides(word.low_u64(shift), num_keys);
        let mut runs = Vec::new();
        let mut start = 0;
        let same = |a: &W, b: &W| a.shifted(shift) == b.shifted(shift);
        for run in words.chunk_by(same) {
            if run.len() > 1 && !is_decided(&run[0]) {
                runs.push(start..start + run.len());
            }
            start += run.len();
        }
        let tied: Vec<W> = runs
            .iter()
            .flat_map(|run| words[run.clone()].iter().copied())
            .collect();
        if tied.is_empty() {
            return Ok(());
        }
        let places = self.places(&tied);
        let keys = (first_key..self.sorts.len()).map(|key| {
            let values = gather(self.rows.keys.iter().map(|keys| &keys[key]), &places)?;
            Ok((values, self.sorts[key].options))
        });
        let ties = Ties::new(keys.collect::<Result<_>>()?);
        let (mut first, mut order) = (0, Vec::new());
        for run in runs {
            // A part has fewer than 2^32 words.
            ties.order(first as u32..(first + run.len()) as u32, &mut order);
            first += run.len();
            let run = words[run].iter_mut().zip(&order);
            run.for_each(|(word, tie)| *word = tied[*tie as usize]);
        }
        Ok(())
    }
}

/// The values of a column at some places.
pub(super) fn gather<'a>(
    columns: impl Iterator<Item = &'a ArrayRef>,
    places: &[(usize, usize)],
) -> Result<ArrayRef> {
    let columns: Vec<&dyn Array> = columns.map(AsRef::as_ref).collect();
    Ok(interleave(&columns, places)?)
}
