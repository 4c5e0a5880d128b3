//! Generates prime numbers, smallest first, by a sieve over one segment after the other.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use basalt_error::{Error, Result};

use super::{BatchIter, MorselSource, ScanRequest, TableKind};

/// Numbers of a segment; their flags stay in the fastest cache.
const SEGMENT: u64 = 1 << 15;

/// Primes of a batch, at most.
const BATCH_ROWS: usize = 8_192;

/// The table function `primes` and `system.primes`.
#[derive(Clone, Copy, Debug)]
pub struct PrimesTable {
    /// Primes to leave out at first.
    pub offset: u64,
    /// Number of rows.
    pub num_rows: u64,
    /// Every how many-th prime is given.
    pub step: u64,
}

impl TableKind for PrimesTable {
    fn schema(&self) -> SchemaRef {
        let field = Field::new("prime", DataType::UInt64, false);
        Arc::new(Schema::new(vec![field]))
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let limit = request.limit.map_or(u64::MAX, |l| l as u64);
        let schema = self.schema().project(&request.projection);
        Ok(Arc::new(PrimesSource {
            table: Self {
                num_rows: self.num_rows.min(limit),
                ..*self
            },
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
        }))
    }
}

/// A scan of a [`PrimesTable`]: one morsel, as each prime needs those before it.
#[derive(Debug)]
struct PrimesSource {
    table: PrimesTable,
    schema: SchemaRef,
}

impl MorselSource for PrimesSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        1
    }

    fn open(&self, _morsel: usize) -> Result<BatchIter> {
        let schema = Arc::clone(&self.schema);
        let step = usize::try_from(self.table.step.max(1)).unwrap_or(usize::MAX);
        let offset = usize::try_from(self.table.offset).unwrap_or(usize::MAX);
        let mut primes = Sieve::default().skip(offset).step_by(step);
        let mut left = self.table.num_rows;
        Ok(Box::new(std::iter::from_fn(move || {
            let num_rows = usize::try_from(left).unwrap_or(usize::MAX).min(BATCH_ROWS);
            if num_rows == 0 {
                return None;
            }
            left -= num_rows as u64;
            let batch: Vec<u64> = primes.by_ref().take(num_rows).collect();
            Some(self::batch(batch, &schema))
        })))
    }

    fn num_rows(&self) -> Option<usize> {
        usize::try_from(self.table.num_rows).ok()
    }

    fn is_counted(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        format!("primes, {} rows", self.table.num_rows)
    }
}

fn batch(primes: Vec<u64>, schema: &SchemaRef) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(primes.len()));
    let column: ArrayRef = Arc::new(UInt64Array::from(primes));
    let columns = schema
        .fields()
        .iter()
        .map(|_| Arc::clone(&column))
        .collect();
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|e| Error::bug(e.to_string()))
}

/// All primes, smallest first.
#[derive(Default)]
struct Sieve {
    /// Primes up to the square root of the end of the segment, but for 2.
    factors: Vec<u64>,
    /// Where the segment ends.
    end: u64,
    /// Primes of the segment that have not been given, largest first.
    segment: Vec<u64>,
}

impl Sieve {
    fn next_segment(&mut self) {
        let (start, end) = (self.end, self.end + SEGMENT);
        let root = end.isqrt();
        let mut candidate = self.factors.last().map_or(3, |last| last + 2);
        while candidate <= root {
            let is_prime = |n: u64| {
                let up_to_root = self.factors.iter().take_while(|f| *f * *f <= n);
                up_to_root.into_iter().all(|f| !n.is_multiple_of(*f))
            };
            if is_prime(candidate) {
                self.factors.push(candidate);
            }
            candidate += 2;
        }
        let mut is_composite = [false; SEGMENT as usize];
        for factor in &self.factors {
            let first = start.next_multiple_of(*factor).max(factor * factor);
            let multiples = (first..end).step_by(usize::try_from(*factor).unwrap_or(usize::MAX));
            for multiple in multiples {
                is_composite[(multiple - start) as usize] = true;
            }
        }
        let is_prime =
            |n: &u64| *n == 2 || (n % 2 == 1 && *n > 1 && !is_composite[(n - start) as usize]);
        self.segment = (start..end).rev().filter(is_prime).collect();
        self.end = end;
    }
}

impl Iterator for Sieve {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            if let Some(prime) = self.segment.pop() {
                return Some(prime);
            }
            // Nobody waits until the numbers of 64 bits end.
            if self.end > u64::MAX - 2 * SEGMENT {
                return None;
            }
            self.next_segment();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sieve;

    #[test]
    fn primes_are_those_without_divisors() {
        let is_prime = |n: &u64| {
            *n > 1
                && (2..*n)
                    .take_while(|d| d * d <= *n)
                    .all(|d| !n.is_multiple_of(d))
        };
        let expected: Vec<u64> = (0..200_000).filter(is_prime).collect();
        let found: Vec<u64> = Sieve::default().take(expected.len()).collect();
        assert_eq!(found, expected);
    }
}
