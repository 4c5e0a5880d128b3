//! Batches of the rows that passed.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result;

use super::kept_column::{KeptColumn, Selection, kept_column};

/// Numbers of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// With as many a batch is complete.
    pub(super) min_rows: usize,
    /// Most of a batch.
    pub(super) max_rows: usize,
    /// Most of all batches.
    pub(super) limit: Option<usize>,
}

/// Collects rows into batches that are worth their overhead.
pub(super) struct KeptRows {
    schema: SchemaRef,
    /// Where the columns of the result are in the input's.
    places: Arc<[usize]>,
    columns: Vec<Box<dyn KeptColumn>>,
    num_rows: usize,
    sizes: Sizes,
    /// Rows that are still wanted.
    num_wanted: usize,
    complete: VecDeque<RecordBatch>,
}

impl KeptRows {
    /// No rows yet.
    pub(super) fn new(schema: SchemaRef, places: Arc<[usize]>, sizes: Sizes) -> Self {
        let columns = schema.fields().iter().map(|f| kept_column(f.data_type()));
        Self {
            columns: columns.collect(),
            schema,
            places,
            num_rows: 0,
            sizes,
            num_wanted: sizes.limit.unwrap_or(usize::MAX),
            complete: VecDeque::new(),
        }
    }

    /// Where the columns of the result are in the input's.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// Whether no more rows are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.num_wanted == 0
    }

    /// Adds those of `rows` of a batch that are wanted.
    ///
    /// # Errors
    /// If a column is none of the type that the schema has told.
    pub(super) fn push(&mut self, batch: &RecordBatch, rows: BooleanBuffer) -> Result<()> {
        let mut num_kept = rows.count_set_bits();
        if num_kept > self.num_wanted {
            let num_rows = rows.set_indices().nth(self.num_wanted);
            let num_rows = num_rows.unwrap_or(batch.num_rows());
            num_kept = self.num_wanted;
            return self.push_counted(&batch.slice(0, num_rows), rows.slice(0, num_rows), num_kept);
        }
        self.push_counted(batch, rows, num_kept)
    }

    fn push_counted(
        &mut self,
        batch: &RecordBatch,
        rows: BooleanBuffer,
        num_kept: usize,
    ) -> Result<()> {
        if num_kept == 0 {
            return Ok(());
        }
        self.num_wanted -= num_kept;
        let is_large = num_kept >= self.sizes.min_rows;
        if num_kept == batch.num_rows() && (self.num_rows == 0 || is_large) {
            self.complete()?;
            let columns = self
                .places
                .iter()
                .map(|place| Arc::clone(batch.column(*place)));
            let options = RecordBatchOptions::new().with_row_count(Some(num_kept));
            let schema = Arc::clone(&self.schema);
            let batch = RecordBatch::try_new_with_options(schema, columns.collect(), &options)?;
            self.hand_out(batch);
            return Ok(());
        }
        let selection = Selection::new(rows);
        for (column, place) in self.columns.iter_mut().zip(self.places.iter()) {
            column.append(batch.column(*place), &selection)?;
        }
        self.num_rows += num_kept;
        match self.num_rows >= self.sizes.min_rows {
            true => self.complete(),
            false => Ok(()),
        }
    }

    /// Completes the batch that is being made, if it has rows.
    ///
    /// # Errors
    /// If a column cannot be made.
    pub(super) fn complete(&mut self) -> Result<()> {
        let num_rows = std::mem::take(&mut self.num_rows);
        if num_rows == 0 {
            return Ok(());
        }
        let columns = self.columns.iter_mut().map(|column| column.finish());
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let schema = Arc::clone(&self.schema);
        self.hand_out(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?);
        Ok(())
    }

    fn hand_out(&mut self, batch: RecordBatch) {
        let (num_rows, max_rows) = (batch.num_rows(), self.sizes.max_rows.max(1));
        let starts = (0..num_rows).step_by(max_rows);
        let slices = starts.map(|start| batch.slice(start, max_rows.min(num_rows - start)));
        self.complete.extend(slices);
    }

    /// The next batch that is complete.
    pub(super) fn pop(&mut self) -> Option<RecordBatch> {
        self.complete.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        Array, ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray,
        Int8Array, Int16Array, Int32Array, Int64Array, ListArray, RecordBatch,
    };
    use arrow::compute::{concat_batches, filter_record_batch};
    use arrow::datatypes::{Int32Type, Schema, SchemaRef};

    use super::{KeptRows, Sizes};

    /// Numbers that look random.
    fn noise(i: usize, salt: u64) -> u64 {
        (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ salt << 17) >> 20
    }

    fn batch(num_rows: usize, salt: u64) -> RecordBatch {
        let numbers = || (0..num_rows).map(|i| noise(i, salt));
        let maybe = |i: u64| (!i.is_multiple_of(5)).then_some(i);
        let text = |i: u64| match i % 3 {
            0 => format!("a text that is longer than its view, {i}"),
            _ => format!("{}", i % 100),
        };
        let texts: Vec<String> = numbers().map(text).collect();
        let lists = numbers().map(|i| maybe(i).map(|i| (0..i % 4).map(|e| Some(e as i32))));
        let sixteen = numbers().map(|i| [i as u8; 16]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            (
                "i8",
                Arc::new(Int8Array::from_iter_values(numbers().map(|i| i as i8))),
            ),
            (
                "i16",
                Arc::new(
                    numbers()
                        .map(|i| maybe(i).map(|i| i as i16))
                        .collect::<Int16Array>(),
                ),
            ),
            (
                "i32",
                Arc::new(Int32Array::from_iter_values(numbers().map(|i| i as i32))),
            ),
            (
                "i64",
                Arc::new(
                    numbers()
                        .map(|i| maybe(i).map(|i| i as i64))
                        .collect::<Int64Array>(),
                ),
            ),
            (
                "d",
                Arc::new(Decimal128Array::from_iter_values(numbers().map(i128::from))),
            ),
            (
                "flag",
                Arc::new(
                    numbers()
                        .map(|i| maybe(i).map(|i| i % 2 == 0))
                        .collect::<BooleanArray>(),
                ),
            ),
            ("text", Arc::new(BinaryViewArray::from_iter_values(&texts))),
            (
                "list",
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
            ),
            (
                "fixed",
                Arc::new(FixedSizeBinaryArray::try_from_iter(sixteen).unwrap()),
            ),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
            .unwrap()
    }

    /// Every kind of selection: none, few, most, all.
    fn selection(num_rows: usize, i: usize) -> BooleanArray {
        let one_in = [1, 2, 50, 0, 3][i % 5];
        let passes = |row: usize| match one_in {
            0 => false,
            1 => true,
            n if i.is_multiple_of(2) => noise(row, i as u64).is_multiple_of(n),
            n => !noise(row, i as u64).is_multiple_of(n),
        };
        (0..num_rows).map(|row| Some(passes(row))).collect()
    }

    fn kept(
        inputs: &[(RecordBatch, BooleanArray)],
        schema: &SchemaRef,
        sizes: Sizes,
    ) -> Vec<RecordBatch> {
        let places = (0..schema.fields().len()).rev().collect();
        let reversed: Vec<usize> = (0..schema.fields().len()).rev().collect();
        let schema = Arc::new(schema.project(&reversed).unwrap());
        let mut kept = KeptRows::new(schema, places, sizes);
        let mut batches = Vec::new();
        for (batch, rows) in inputs {
            kept.push(batch, rows.values().clone()).unwrap();
            batches.extend(std::iter::from_fn(|| kept.pop()));
        }
        kept.complete().unwrap();
        batches.extend(std::iter::from_fn(|| kept.pop()));
        batches
    }

    #[test]
    fn rows_are_those_of_a_filter() {
        let lens = [100, 1, 0, 64, 300, 65, 1000, 17, 2, 500];
        let inputs = lens.iter().enumerate().map(|(i, len)| {
            // A slice, so that offsets are not 0.
            let batch = batch(len + 3, i as u64).slice(3, *len);
            (batch, selection(*len, i))
        });
        let inputs: Vec<_> = inputs.collect();
        let schema: SchemaRef = inputs[0].0.schema();
        let filtered = inputs
            .iter()
            .map(|(batch, rows)| filter_record_batch(batch, rows).unwrap());
        let all = concat_batches(&schema, &filtered.collect::<Vec<_>>()).unwrap();
        let reversed: Vec<usize> = (0..schema.fields().len()).rev().collect();
        let all = all.project(&reversed).unwrap();
        for (min_rows, max_rows) in [(1, 1), (1, 50), (20, 40), (100, 200), (5000, 10_000)] {
            for limit in [None, Some(0), Some(1), Some(333), Some(100_000)] {
                let batches = kept(
                    &inputs,
                    &schema,
                    Sizes {
                        min_rows,
                        max_rows,
                        limit,
                    },
                );
                assert!(
                    batches
                        .iter()
                        .all(|b| (1..=max_rows).contains(&b.num_rows()))
                );
                let schema: &Schema = &all.schema();
                let found = concat_batches(&Arc::new(schema.clone()), &batches).unwrap();
                let num_rows = all.num_rows().min(limit.unwrap_or(usize::MAX));
                assert_eq!(
                    found,
                    all.slice(0, num_rows),
                    "{min_rows} {max_rows} {limit:?}"
                );
            }
        }
    }

    #[test]
    fn bytes_of_rows_that_did_not_pass_are_let_go() {
        let batch = batch(1000, 1);
        let schema = batch.schema();
        let rows: BooleanArray = (0..1000).map(|row| Some(row % 100 == 0)).collect();
        let sizes = Sizes {
            min_rows: 5000,
            max_rows: 10_000,
            limit: None,
        };
        let kept = kept(&[(batch.clone(), rows)], &schema, sizes);
        let size = |batch: &RecordBatch| {
            batch
                .column_by_name("text")
                .unwrap()
                .get_buffer_memory_size()
        };
        assert!(size(&kept[0]) < size(&batch) / 20);
    }
}
