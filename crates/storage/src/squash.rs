//! Joins small batches: every operator pays for each batch that it sees.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use basalt_error::{Error, Result};
use basalt_profile::Account;

use crate::MAX_BATCH_ROWS;

/// Rows from which on a batch is left as it is.
const LARGE_ROWS: usize = MAX_BATCH_ROWS / 2;

/// Bytes from which on a batch is large enough, however few its rows: offsets of lists have 31 bits.
const LARGE_BYTES: usize = 256 << 20;

/// The rows in their order, in batches of [`MAX_BATCH_ROWS`] at most; small ones are copied
/// together, on all threads.
///
/// # Errors
/// `LOGICAL_ERROR` if the batches have different fields.
pub(crate) fn squashed(batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
    let pieces = pieces(batches, LARGE_BYTES);
    let num_pieces = pieces.len();
    let num_threads = thread::available_parallelism().map_or(1, NonZero::get);
    let todo = Mutex::new(pieces.into_iter().enumerate());
    let done = Mutex::new(vec![None; num_pieces]);
    let work = || -> Result<()> {
        loop {
            let next = todo.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((i, piece)) = next else {
                return Ok(());
            };
            let joined = joined(piece)?;
            done.lock().unwrap_or_else(PoisonError::into_inner)[i] = joined;
        }
    };
    let account = Account::current();
    let counted = || {
        let _entered = account.enter();
        work()
    };
    thread::scope(|scope| {
        let others = 1..num_threads.min(num_pieces);
        let others: Vec<_> = others.map(|_| scope.spawn(counted)).collect();
        let own = work();
        let joined = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.fold(own, Result::and)
    })?;
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(done.into_iter().flatten().collect())
}

/// Batches that are to be one.
type Piece = Vec<RecordBatch>;

/// Batches that are joined only up to `large_bytes`.
fn pieces(batches: Vec<RecordBatch>, large_bytes: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut piece, mut num_rows, mut size_bytes) = (Piece::new(), 0, 0_usize);
    for batch in batches {
        let mut start = 0;
        let batch_bytes = batch.get_array_memory_size();
        if num_rows > 0 && size_bytes.saturating_add(batch_bytes) > large_bytes {
            pieces.push(std::mem::take(&mut piece));
            (num_rows, size_bytes) = (0, 0);
        }
        while start < batch.num_rows() {
            let rest = batch.num_rows() - start;
            let is_large = num_rows == 0 && rest >= LARGE_ROWS;
            let len = rest.min(MAX_BATCH_ROWS - num_rows);
            piece.push(batch.slice(start, len));
            start += len;
            num_rows += len;
            size_bytes = size_bytes.saturating_add(batch_bytes);
            if is_large || num_rows == MAX_BATCH_ROWS {
                pieces.push(std::mem::take(&mut piece));
                (num_rows, size_bytes) = (0, 0);
            }
        }
    }
    pieces.push(piece);
    pieces
}

fn joined(mut piece: Piece) -> Result<Option<RecordBatch>> {
    let Some(first) = piece.first() else {
        return Ok(None);
    };
    if piece.len() == 1 {
        return Ok(piece.pop());
    }
    let joined = concat_batches(&first.schema(), &piece);
    joined.map(Some).map_err(|e| Error::bug(e.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, RecordBatch, UInt64Array};
    use arrow::datatypes::{DataType, Field, Schema, UInt64Type};

    use super::{MAX_BATCH_ROWS, squashed};

    #[test]
    fn rows_keep_their_order_in_few_batches() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::UInt64, false)]));
        let sizes = [16_384usize; 9]
            .into_iter()
            .chain([200_000, 0, 1, 1, 40_000, 2]);
        let mut next = 0;
        let batch = |len: usize| {
            let column = UInt64Array::from_iter_values(next..next + len as u64);
            next += len as u64;
            RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(column)]).expect("batch")
        };
        let batches: Vec<RecordBatch> = sizes.map(batch).collect();
        let squashed = squashed(batches).expect("squashed");
        let rows: Vec<usize> = squashed.iter().map(RecordBatch::num_rows).collect();
        assert!(rows.iter().all(|rows| (1..=MAX_BATCH_ROWS).contains(rows)));
        assert_eq!(rows.len(), 6, "{rows:?}");
        let column = |batch: &RecordBatch| batch.column(0).as_primitive::<UInt64Type>().clone();
        let values = squashed.iter().flat_map(|b| column(b).values().to_vec());
        assert!(values.eq(0..next));
        assert!(super::squashed(Vec::new()).expect("none").is_empty());
    }

    #[test]
    fn batches_of_many_bytes_stay_apart() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::UInt64, false)]));
        let column = Arc::new(UInt64Array::from_iter_values(0..100));
        let batch = RecordBatch::try_new(schema, vec![column]).expect("batch");
        let num_batches = |large_bytes| {
            let pieces = super::pieces(vec![batch.clone(); 3], large_bytes);
            pieces.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(num_batches(usize::MAX), [3]);
        assert_eq!(num_batches(1000), [1, 1, 1]);
    }
}
