//! Lays out the sites: their share of all rows, and which site and time a row belongs to.
//!
//! Shares follow a power law, ids are in no order of size. A site's rows cover July 2013 from its first row to its
//! last, with fewer of them at night.

use crate::random::{draw, mix, pick};
use crate::words::{LANGUAGES, Language};

const NUM_SITES: u64 = 6_000;
/// 2013-07-01 00:00:00.
const START: u32 = 1_372_636_800;
const DAYS: f64 = 31.0;
const DAY_SECONDS: f64 = 86_400.0;
/// Views in each hour of a day, UTC.
const HOURS: [u32; 24] = [
    14, 10, 9, 11, 17, 27, 37, 45, 51, 54, 55, 56, 56, 57, 57, 56, 55, 54, 54, 53, 50, 43, 32, 21,
];

/// The site that ClickBench's last queries ask for, and its share of all rows.
pub(super) const KNOWN_SITE: i32 = 62;
const KNOWN_SHARE: f64 = 0.01;

/// A site whose visits are counted.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// CounterID.
    pub(super) id: i32,
    /// What the site's attributes are drawn from.
    pub(super) key: u64,
    /// Number of different pages.
    pub(super) pages: u64,
    pub(super) language: Language,
}

/// All sites and where their rows begin.
pub(super) struct Sites {
    seed: u64,
    sites: Vec<Site>,
    /// First row of each site, and the number of all rows at the end.
    starts: Vec<u64>,
    /// The share of a day's views that has happened when each hour begins.
    clock: [f64; 25],
}

impl Sites {
    pub(super) fn new(seed: u64, total: u64) -> Self {
        let weights: Vec<f64> = (0..NUM_SITES).map(|index| weight(seed, index)).collect();
        let sum: f64 = weights.iter().sum();
        let (mut sites, mut starts) = (Vec::new(), Vec::new());
        let (mut share, mut id) = (0.0, 0);
        for (index, weight) in (0_u64..).zip(weights) {
            let key = mix(seed ^ mix(index + 1));
            id += 1 + draw(key, 0, 60) as i32;
            starts.push((share * total as f64) as u64);
            let is_known = index == 1;
            let own = if is_known {
                KNOWN_SHARE
            } else {
                weight / sum * (1.0 - KNOWN_SHARE)
            };
            share += own;
            if is_known {
                id = KNOWN_SITE;
            }
            let language = if is_known {
                Language::Russian
            } else {
                pick(LANGUAGES, key, 1)
            };
            let pages = 12 + (own * total as f64 * 0.5) as u64;
            sites.push(Site {
                id,
                key,
                pages,
                language,
            });
        }
        starts.push(total);
        Self {
            seed,
            sites,
            starts,
            clock: clock(),
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    fn index(&self, row: u64) -> usize {
        // The last site that starts at the row or before it, among equal starts the one that has rows.
        self.starts[..self.sites.len()]
            .partition_point(|&start| start <= row)
            .saturating_sub(1)
    }

    /// The site and the time of a row.
    pub(super) fn at(&self, row: u64) -> (Site, u32) {
        let index = self.index(row);
        let (start, end) = (self.starts[index], self.starts[index + 1]);
        let position = (row - start) as f64 / (end - start).max(1) as f64 * DAYS;
        let day = position.floor();
        let second = day * DAY_SECONDS + self.time_of_day(position - day);
        (self.sites[index], START + second as u32)
    }

    /// Rows of the site from this one on.
    pub(super) fn rows_left(&self, row: u64) -> u64 {
        (self.starts[self.index(row) + 1] - row).max(1)
    }

    /// The second by which a share of the day's views has happened.
    fn time_of_day(&self, share: f64) -> f64 {
        let hour = self
            .clock
            .partition_point(|&done| done <= share)
            .clamp(1, 24)
            - 1;
        let (from, to) = (self.clock[hour], self.clock[hour + 1]);
        (hour as f64 + (share - from) / (to - from)) * 3600.0
    }
}

/// The share of a day's views that has happened when each hour begins.
fn clock() -> [f64; 25] {
    let sum: u32 = HOURS.iter().sum();
    let mut done = 0;
    let mut clock = [1.0; 25];
    for (hour, views) in HOURS.iter().enumerate() {
        clock[hour] = f64::from(done) / f64::from(sum);
        done += views;
    }
    clock
}

/// A site's weight before all are made to add up: one over a rank drawn at random.
fn weight(seed: u64, index: u64) -> f64 {
    1.0 / (4.0 + draw(mix(seed), index, NUM_SITES) as f64)
}

#[cfg(test)]
mod tests {
    use super::{KNOWN_SITE, START, Sites};

    #[test]
    fn rows_are_in_the_order_of_site_and_time() {
        let sites = Sites::new(3, 100_000);
        let places: Vec<(i32, u32)> = (0..100_000)
            .map(|row| sites.at(row))
            .map(|(site, time)| (site.id, time))
            .collect();
        assert!(places.is_sorted());
        assert!(
            places
                .iter()
                .all(|&(_, time)| (START..START + 31 * 86_400).contains(&time))
        );
        let known = places.iter().filter(|&&(id, _)| id == KNOWN_SITE).count();
        assert!((950..=1050).contains(&known), "{known}");
        let distinct = places.chunk_by(|a, b| a.0 == b.0).count();
        assert!((5_500..=6_000).contains(&distinct), "{distinct}");
    }

    #[test]
    fn a_site_ends_where_the_next_begins() {
        let sites = Sites::new(3, 5_000);
        for row in 0..5_000 {
            let left = sites.rows_left(row);
            assert!(left >= 1 && row + left <= 5_000);
            assert_eq!(sites.at(row + left - 1).0.id, sites.at(row).0.id);
        }
    }

    #[test]
    fn few_rows_work() {
        let sites = Sites::new(0, 1);
        assert_eq!(sites.rows_left(0), 1);
        assert!(sites.at(0).1 >= START);
    }
}
