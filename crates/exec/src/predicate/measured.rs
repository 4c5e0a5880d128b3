//! Measures what conjuncts take and which rows they drop, and puts those first that drop most for their time.
//!
//! Conjuncts that are independent of each other take least time all in all in the order of (nanoseconds for a row) over
//! (share of the rows that they drop). Both are sums over all threads, of which old ones fade. Time counts where a
//! conjunct looked at whole batches: few rows that are left cost more each, as they have to be taken out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::report::figures;

/// Rows after which what was measured counts half.
const FADING_ROWS: u64 = 16 << 20;

/// What the evaluation of a conjunct took so far; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    /// Rows that were looked at, and their time.
    seen: Timed,
    /// The same of batches of which all rows were looked at.
    whole: Timed,
    /// Rows that the conjuncts before had left, and those of them that it dropped.
    num_left: AtomicU64,
    num_dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Timed {
    num_rows: AtomicU64,
    elapsed_ns: AtomicU64,
}

impl Timed {
    fn add(&self, num_rows: usize, elapsed: Duration) {
        let ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.elapsed_ns.fetch_add(ns, Ordering::Relaxed);
        self.num_rows.fetch_add(num_rows as u64, Ordering::Relaxed);
    }

    fn ns_per_row(&self) -> Option<f64> {
        ratio(&self.elapsed_ns, &self.num_rows)
    }
}

/// What an evaluation has looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Rows that were looked at,
    pub(super) num_rows: usize,
    /// and those of them that mattered.
    pub(super) num_left: usize,
    /// Whether these are all rows of the batch.
    pub(super) is_whole: bool,
}

impl Measured {
    /// Notes an evaluation that has kept `num_kept` of the rows that mattered.
    pub(super) fn add(&self, seen: Seen, num_kept: usize, elapsed: Duration) {
        let sums = &*self.0;
        sums.seen.add(seen.num_rows, elapsed);
        if seen.is_whole {
            sums.whole.add(seen.num_rows, elapsed);
        }
        let num_dropped = seen.num_left.saturating_sub(num_kept) as u64;
        sums.num_dropped.fetch_add(num_dropped, Ordering::Relaxed);
        let num_left = seen.num_left as u64;
        let all = sums.num_left.fetch_add(num_left, Ordering::Relaxed) + num_left;
        if all > FADING_ROWS {
            let (seen, whole) = (&sums.seen, &sums.whole);
            let timed = [seen, whole].map(|timed| [&timed.num_rows, &timed.elapsed_ns]);
            let shares = [&sums.num_left, &sums.num_dropped];
            // Another thread may add meanwhile: what is lost of it changes an order, never a result.
            for sum in timed.into_iter().flatten().chain(shares) {
                sum.store(sum.load(Ordering::Relaxed) / 2, Ordering::Relaxed);
            }
        }
    }

    /// Expected nanoseconds for each row that it drops; none before it was measured.
    fn rank(&self) -> Option<f64> {
        let (ns, share) = (self.0.whole.ns_per_row()?, self.dropped_share()?);
        Some(ns / share.max(f64::MIN_POSITIVE))
    }

    fn dropped_share(&self) -> Option<f64> {
        ratio(&self.0.num_dropped, &self.0.num_left)
    }

    /// As EXPLAIN ANALYZE shows it; none before it was measured.
    pub(super) fn fact(&self) -> Option<String> {
        let kept = figures::percent(1.0 - self.dropped_share()?, 1.0);
        let ns = figures::ns_per_row(self.0.seen.ns_per_row()?);
        Some(format!("keeps {kept} of its rows, {ns}"))
    }
}

fn ratio(part: &AtomicU64, whole: &AtomicU64) -> Option<f64> {
    let whole = whole.load(Ordering::Relaxed);
    (whole > 0).then(|| part.load(Ordering::Relaxed) as f64 / whole as f64)
}

/// The conjuncts in the order of least expected time; those that were not measured yet come last, as they were.
pub(super) fn in_order<'a, T>(
    conjuncts: impl Iterator<Item = &'a T>,
    measured: impl Fn(&T) -> &Measured,
) -> Vec<&'a T> {
    let rank = |conjunct: &'a T| {
        let rank = measured(conjunct).rank().unwrap_or(f64::INFINITY);
        (rank, conjunct)
    };
    let mut ranked: Vec<(f64, &T)> = conjuncts.map(rank).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked.into_iter().map(|(_, conjunct)| conjunct).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{FADING_ROWS, Measured, Seen, in_order};

    fn whole(num_rows: usize) -> Seen {
        Seen {
            num_rows,
            num_left: num_rows,
            is_whole: true,
        }
    }

    fn of(seen: Seen, num_kept: usize, ns: u64) -> Measured {
        let measured = Measured::default();
        measured.add(seen, num_kept, Duration::from_nanos(ns));
        measured
    }

    #[test]
    fn what_drops_most_rows_for_its_time_comes_first() {
        let unknown = Measured::default();
        let dear = of(whole(1000), 500, 8000);
        let cheap = of(whole(1000), 500, 1000);
        // It mattered for few rows only, and dropped nearly all of these.
        let few_left = Seen {
            num_left: 20,
            ..whole(1000)
        };
        let sharp = of(few_left, 1, 1000);
        let vain = of(whole(1000), 1000, 1000);
        // Taking rows out is no time of the conjunct.
        let taken_out = Seen {
            is_whole: false,
            ..whole(10)
        };
        sharp.add(taken_out, 0, Duration::from_micros(10));
        let all = [unknown, dear, vain, cheap, sharp];
        let order = in_order(all.iter(), |measured| measured);
        let places = order.iter().map(|m| {
            let is_same = |other: &Measured| Arc::ptr_eq(&other.0, &m.0);
            all.iter().position(is_same).unwrap()
        });
        assert_eq!(places.collect::<Vec<_>>(), [4, 3, 1, 2, 0]);
    }

    #[test]
    fn old_rows_fade() {
        let rows = FADING_ROWS as usize / 2;
        let measured = Measured::default();
        for round in 0..30 {
            let num_kept = if round < 10 { 0 } else { rows };
            measured.add(whole(rows), num_kept, Duration::from_nanos(rows as u64));
        }
        assert!(measured.dropped_share().unwrap() < 0.01);
        let fact = measured.fact().unwrap();
        assert_eq!(fact, "keeps 100.0 % of its rows, 1.0 ns a row");
    }
}
