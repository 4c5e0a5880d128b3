//! Chooses the parts of a background merge by their sizes.
//!
//! A row should be written anew only when the part that it comes to is several times as large as the one
//! that it comes from: then it is written as often as the logarithm of the table's size says. So a run
//! of neighbours is merged if together they are much larger than the largest of them. The more parts there
//! are and the longer nothing was inserted, the less is asked for.

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use crate::merge_tree::options::Options;
use crate::merge_tree::part::Part;

/// What a part costs however small it is: files to open, to write and to sync.
const PART_COST: u64 = 64 << 10;

/// How much larger than its largest part a merge has to be, if there are few parts and new ones come.
const MAX_GROWTH: f64 = 5.0;

/// The least that is asked for.
const MIN_GROWTH: f64 = 1.9;

/// Parts with which the least is asked for.
const MANY_PARTS: f64 = 100.0;

/// Seconds without an insert after which the least is asked for.
const IDLE_SECONDS: f64 = 120.0;

/// The best run of neighbours to merge and its cost, less being better; none if no merge is worth it.
pub(super) fn choose(
    parts: &[Arc<Part>],
    options: &Options,
    now: SystemTime,
    max_sources: usize,
) -> Option<(f64, Range<usize>)> {
    let sizes: Vec<u64> = parts.iter().map(|p| p.bytes_on_disk()).collect();
    let ages = parts.iter().map(|p| now.duration_since(p.modified()));
    let ages: Vec<f64> = ages
        .map(|age| age.unwrap_or_default().as_secs_f64())
        .collect();
    best(&sizes, &ages, options.max_bytes_to_merge, max_sources)
}

fn best(
    sizes: &[u64],
    ages: &[f64],
    max_bytes: u64,
    max_sources: usize,
) -> Option<(f64, Range<usize>)> {
    let mut best: Option<(f64, Range<usize>)> = None;
    let crowd = sizes.len() as f64 / MANY_PARTS;
    for start in 0..sizes.len() {
        let (mut total, mut largest, mut youngest) = (0, 0, f64::INFINITY);
        for end in start..sizes.len().min(start + max_sources) {
            let size = sizes[end] + PART_COST;
            total += size;
            largest = largest.max(size);
            youngest = youngest.min(ages[end]);
            let len = end + 1 - start;
            if total > max_bytes {
                break;
            }
            let ease = (crowd + youngest / IDLE_SECONDS).min(1.0);
            let growth = MAX_GROWTH - (MAX_GROWTH - MIN_GROWTH) * ease;
            if len < 2 || (total as f64) < growth * largest as f64 {
                continue;
            }
            let cost = total as f64 / (len - 1) as f64;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, start..end + 1));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn rows_are_written_a_few_times_however_many_inserts_there_are() {
        let (mut sizes, mut written, mut most_parts) = (Vec::new(), 0, 0);
        let (num_inserts, insert_bytes) = (2000_u64, 1 << 20);
        for _ in 0..num_inserts {
            sizes.push(insert_bytes);
            while let Some((_, range)) = best(&sizes, &vec![0.0; sizes.len()], u64::MAX, 100) {
                let merged: u64 = sizes[range.clone()].iter().sum();
                written += merged;
                sizes.splice(range, [merged]);
            }
            most_parts = most_parts.max(sizes.len());
        }
        let times = written as f64 / (num_inserts * insert_bytes) as f64;
        assert!(times < 6.0, "each byte was written {times} times");
        assert!(most_parts < 40, "{most_parts} parts at once");
    }

    #[test]
    fn a_large_part_is_left_alone_until_nothing_comes_any_more() {
        let sizes = [1 << 30, 1 << 20, 1 << 20];
        assert_eq!(best(&sizes, &[0.0; 3], u64::MAX, 100), None);
        let idle = best(&sizes, &[1000.0; 3], u64::MAX, 100);
        assert_eq!(idle.map(|(_, range)| range), Some(1..3));
        assert_eq!(best(&sizes[..2], &[1000.0; 2], u64::MAX, 100), None);
        assert_eq!(best(&sizes, &[1000.0; 3], 1 << 20, 100), None);
    }
}
