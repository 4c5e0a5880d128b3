//! Lists the kernels that leave a few numbers of all rows: sums, extremes and counts.

use std::hash::Hash;

use basalt_error::Result;
use basalt_kernels::Bitmap;
use basalt_kernels::counting::count;
use basalt_kernels::fold::fold_lanes;
use basalt_kernels::grouped::{count_groups, fold_groups};
use basalt_kernels::seen::mark;
use basalt_kernels::sum::{Order, forms};
use basalt_kernels::twofold::{self, Twofold};

use super::work::{BATCH_ROWS, Kernel, Rows, Work, bits_of_batches, kernel, work};

/// Percent of NULLs where there are any.
const MISSING: u64 = 10;

/// Groups, and codes, of rows: so few that their states stay in the nearest cache.
const NUM_GROUPS: usize = 64;

/// Rows of a group that follow each other, as in a log by time.
const RUN_ROWS: usize = 100;

/// Different bytes of keys of eight bits.
const NUM_BYTES: u64 = 10;

/// Every kernel that folds.
pub(super) static FOLDS: [Kernel; 11] = [
    kernel("sum", 8.0, "Float64, rounded in each of 32 lanes", |rows| {
        sums(rows, 0)
    }),
    kernel("sum_null", 8.125, "the same, 10 % NULL", |rows| {
        sums(rows, MISSING)
    }),
    kernel("twofold", 8.0, "Float64, as queries add it up", |rows| {
        twofold_sums(rows, 0)
    }),
    kernel("twofold_null", 8.125, "the same, 10 % NULL", |rows| {
        twofold_sums(rows, MISSING)
    }),
    kernel("min", 8.0, "Int64", least),
    kernel("max_null", 8.125, "Int64, 10 % NULL", greatest_valid),
    kernel("count_ones", 0.125, "bits of a bitmap that are set", ones),
    kernel(
        "grouped_sum",
        12.0,
        "Int64 by group, in runs of 100 rows",
        grouped_sums,
    ),
    kernel(
        "grouped_count",
        4.0,
        "rows by group, in runs of 100",
        grouped_counts,
    ),
    kernel(
        "count_codes",
        2.0,
        "rows by 64 codes of 16 bits",
        code_counts,
    ),
    kernel(
        "seen",
        1.0,
        "which of all bytes occur: 10 of them",
        seen_bytes,
    ),
];

/// Folds each batch, in which about `missing` percent of the rows are NULL.
fn of_batches<T: 'static, R: Clone + Hash + 'static>(
    values: Vec<T>,
    bytes: Option<Vec<u8>>,
    fold: impl Fn(&[T], Option<Bitmap<'_>>) -> R + 'static,
) -> Box<dyn Work> {
    work(Vec::new(), move |out: &mut Vec<R>| {
        out.clear();
        for (batch, values) in values.chunks(BATCH_ROWS).enumerate() {
            let bytes = bytes.as_deref();
            let start = batch * BATCH_ROWS;
            let bits = bytes.and_then(|bytes| Bitmap::try_new(bytes, start, values.len()));
            out.push(fold(values, bits));
        }
    })
}

/// Sums by the widest of the forms that add in lanes.
fn sums(rows: &mut Rows<'_>, missing: u64) -> Result<Box<dyn Work>> {
    let sum = |values: &[f64], bits: Option<Bitmap<'_>>| {
        let form = forms().filter(|form| form.order == Order::Lanes).last();
        form.map(|form| form.sum(values, bits).to_bits())
    };
    Ok(of_batches(floats(rows)?, rows.bits(missing)?, sum))
}

fn twofold_sums(rows: &mut Rows<'_>, missing: u64) -> Result<Box<dyn Work>> {
    let sum = |values: &[f64], bits: Option<Bitmap<'_>>| {
        let Twofold { sum, rest } = twofold::sum(values, bits, |value| value);
        [sum.to_bits(), rest.to_bits()]
    };
    Ok(of_batches(floats(rows)?, rows.bits(missing)?, sum))
}

/// Numbers whose sums are rounded, so that another order of additions shows.
fn floats(rows: &mut Rows<'_>) -> Result<Vec<f64>> {
    rows.column(|bits| bits as f64)
}

fn least(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let least = |values: &[i64], bits: Option<Bitmap<'_>>| {
        fold_lanes(values, bits, i64::MAX, i64::min, i64::min)
    };
    Ok(of_batches(rows.column(u64::cast_signed)?, None, least))
}

fn greatest_valid(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let greatest = |values: &[i64], bits: Option<Bitmap<'_>>| {
        fold_lanes(values, bits, i64::MIN, i64::max, i64::max)
    };
    let values = rows.column(u64::cast_signed)?;
    Ok(of_batches(values, rows.bits(MISSING)?, greatest))
}

fn ones(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let num_rows = rows.len();
    let bytes = rows.bits(50)?.unwrap_or_default();
    Ok(work(Vec::new(), move |counts: &mut Vec<usize>| {
        counts.clear();
        counts.extend(bits_of_batches(&bytes, num_rows).map(|bits| bits.count_ones()));
    }))
}

/// The group of each row.
fn group_ids(num_rows: usize) -> Vec<u32> {
    let groups = 0..NUM_GROUPS as u32;
    let runs = groups.cycle();
    let ids = runs.flat_map(|id| std::iter::repeat_n(id, RUN_ROWS));
    ids.take(num_rows).collect()
}

fn grouped_sums(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let values = rows.column(u64::cast_signed)?;
    let ids = group_ids(values.len());
    let sum = move |sums: &mut [i64; NUM_GROUPS]| {
        sums.fill(0);
        for (values, ids) in values.chunks(BATCH_ROWS).zip(ids.chunks(BATCH_ROWS)) {
            fold_groups(sums, values, ids, i64::wrapping_add);
        }
    };
    Ok(work([0; NUM_GROUPS], sum))
}

fn grouped_counts(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let ids = group_ids(rows.len());
    let count = move |counts: &mut [u32; NUM_GROUPS]| {
        counts.fill(0);
        for ids in ids.chunks(BATCH_ROWS) {
            count_groups(counts, ids);
        }
    };
    Ok(work([0; NUM_GROUPS], count))
}

fn code_counts(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let codes = rows.column(|bits| (bits % NUM_GROUPS as u64) as u16)?;
    let count_all = move |counts: &mut [u32; NUM_GROUPS]| {
        counts.fill(0);
        for codes in codes.chunks(BATCH_ROWS) {
            count(codes, counts);
        }
    };
    Ok(work([0; NUM_GROUPS], count_all))
}

fn seen_bytes(rows: &mut Rows<'_>) -> Result<Box<dyn Work>> {
    let keys = rows.column(|bits| (bits % NUM_BYTES) as u8)?;
    let mark_all = move |flags: &mut [bool; 256]| {
        flags.fill(false);
        keys.chunks(BATCH_ROWS).for_each(|keys| mark(keys, flags));
    };
    Ok(work([false; 256], mark_all))
}
