//! Lists the kernels that write something for each row: bits, values, row numbers, sorted words.

use std::hash::Hash;

use basalt_error::{Error, Result};
use basalt_kernels::append::append;
use basalt_kernels::compare::Comparison;
use basalt_kernels::counting::{gather, order};
use basalt_kernels::divide::{Divisor, Word, quotients, remainders};
use basalt_kernels::filter::{append_selected, append_selected_rows};
use basalt_kernels::radix_sort::radix_sort;
use basalt_kernels::widest::{Loop, widest};

use super::work::{BATCH_ROWS, Kernel, Rows, Work, bits_of_batches, kernel, work};

/// Percent of the rows that a filter drops.
const DROPPED: u64 = 50;

/// Codes that rows are ordered by.
const NUM_CODES: usize = 64;

/// Rows that are ordered at a time, as ORDER BY does it: they stay in a cache of the second level.
const ORDERED_ROWS: usize = 15_000;

/// Rows that are sorted together, as many as a part often has.
const SORTED_ROWS: usize = 1 << 20;

/// Rows whose bits make a word.
const WORD_ROWS: usize = 64;

/// Every kernel that writes a column.
pub(super) static COLUMNS: [Kernel; 9] = [
    kernel("compare", 4.0, "Int32 < 0, into bits", compared),
    kernel("filter", 4.125, "UInt32, half of them selected", selected),
    kernel(
        "filter_rows",
        0.125,
        "numbers of rows, half of them selected",
        selected_rows,
    ),
    kernel("append", 4.0, "Int32 as Int64", appended),
    kernel("quotient", 4.0, "UInt32 / 7", |rows| {
        let values = rows.column(|bits| bits as u32)?;
        divided(values, 7, quotients)
    }),
    kernel(
        "remainder",
        8.0,
        "UInt64 % 100 as UInt8, values below 2^31",
        |rows| divided(rows.column(|bits| bits >> 33)?, 100, remainders::<_, u8>),
    ),
    kernel("order", 2.0, "rows by 64 codes of 16 bits", ordered),
    kernel("gather", 10.0, "UInt64 in that order", gathered),
    kernel("radix_sort", 8.0, "64 random bits", sorted),
];

fn compared(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let values = rows.column(|bits| bits as i32)?;
    let words = vec![0; values.len().div_ceil(WORD_ROWS)];
    Ok(work(words, move |words: &mut Vec<u64>| {
        words.fill(u64::MAX);
        let words = words.chunks_mut(BATCH_ROWS / WORD_ROWS);
        for (values, words) in values.chunks(BATCH_ROWS).zip(words) {
            Comparison::Less.retain(values, 0, words);
        }
    }))
}

fn selected(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let values = rows.column(|bits| bits as u32)?;
    let bytes = rows.bits(DROPPED)?.unwrap_or_default();
    Ok(work(Vec::new(), move |out: &mut Vec<u32>| {
        out.clear();
        let bits = bits_of_batches(&bytes, values.len());
        for (values, bits) in values.chunks(BATCH_ROWS).zip(bits) {
            append_selected(values, bits, out);
        }
    }))
}

fn selected_rows(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let num_rows = rows.len();
    let bytes = rows.bits(DROPPED)?.unwrap_or_default();
    Ok(work(Vec::new(), move |out: &mut Vec<u32>| {
        out.clear();
        for bits in bits_of_batches(&bytes, num_rows) {
            append_selected_rows(bits, 0, out);
        }
    }))
}

/// Converts numbers, as casts do.
struct Convert<'a> {
    from: &'a [i32],
    to: &'a mut Vec<i64>,
}

impl Loop for Convert<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let from = self.from;
        append(self.to, from.len(), |i| i64::from(from[i]));
    }
}

fn appended(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let values = rows.column(|bits| bits as i32)?;
    Ok(work(Vec::new(), move |out: &mut Vec<i64>| {
        out.clear();
        for from in values.chunks(BATCH_ROWS) {
            widest(Convert { from, to: out });
        }
    }))
}

fn divided<T: Word, R: Copy + Default + Hash + 'static>(
    values: Vec<T>,
    divisor: T,
    divide: fn(&Divisor<T>, &[T], &mut [R]),
) -> Result<Box<dyn Work>> {
    let divisor = Divisor::try_new(divisor).ok_or_else(|| Error::bug("a divisor of 0"))?;
    let out = vec![R::default(); values.len()];
    Ok(work(out, move |out: &mut Vec<R>| {
        let out = out.chunks_mut(BATCH_ROWS);
        for (values, out) in values.chunks(BATCH_ROWS).zip(out) {
            divide(&divisor, values, out);
        }
    }))
}

fn codes(rows: &mut Rows<'_>) -> Result<Vec<u16>> {
    rows.column(|bits| (bits % NUM_CODES as u64) as u16)
}

fn ordered(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let codes = codes(rows)?;
    let pieces = codes.len().div_ceil(ORDERED_ROWS);
    let out = vec![Vec::new(); pieces];
    Ok(work(out, move |out: &mut Vec<Vec<u16>>| {
        for (codes, rows) in codes.chunks(ORDERED_ROWS).zip(out) {
            order(codes, NUM_CODES, rows);
        }
    }))
}

fn gathered(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let values = rows.column(|bits| bits)?;
    let mut places = Vec::new();
    for codes in codes(rows)?.chunks(ORDERED_ROWS) {
        let mut ordered = Vec::new();
        order(codes, NUM_CODES, &mut ordered);
        places.push(ordered);
    }
    let out = vec![0; values.len()];
    Ok(work(out, move |out: &mut Vec<u64>| {
        let out = out.chunks_mut(ORDERED_ROWS);
        let pieces = values.chunks(ORDERED_ROWS).zip(&places);
        for ((values, rows), out) in pieces.zip(out) {
            gather(values, rows, out);
        }
    }))
}

fn sorted(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let words = rows.column(|bits| bits)?;
    let mut scratch = vec![0; words.len().min(SORTED_ROWS)];
    Ok(work(Vec::new(), move |sorted: &mut Vec<u64>| {
        sorted.clear();
        sorted.extend_from_slice(&words);
        for part in sorted.chunks_mut(SORTED_ROWS) {
            radix_sort(part, &mut scratch);
        }
    }))
}
