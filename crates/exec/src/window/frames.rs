//! Finds partitions, runs of equal rows, and the frame of each row, in one pass over the rows.

use std::cmp::Ordering;
use std::ops::{Add, Range, Sub};

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type};
use basalt_analyzer::plan::{Bound, Frame, Unit};
use basalt_error::Result;

use crate::stream::bug;

/// Where the partitions and the runs of equal rows are.
#[derive(Debug)]
pub(super) struct Layout {
    /// The partitions' rows.
    pub(super) partitions: Vec<Range<usize>>,
    /// Rows that are equal in partition and order.
    pub(super) peers: Vec<Range<usize>>,
    /// The runs of peers of each partition.
    pub(super) groups: Vec<Range<usize>>,
}

/// The frame of each row.
#[derive(Debug)]
pub(super) struct Frames {
    /// The first row of each frame.
    pub(super) starts: Vec<usize>,
    /// The row behind the last of each frame, never before its start.
    pub(super) ends: Vec<usize>,
}

/// Places of one row that bounds are relative to.
struct Place<'a> {
    row: usize,
    partition: &'a Range<usize>,
    /// The runs of peers of the partition, and which of them the row is in.
    peers: &'a [Range<usize>],
    group: usize,
}

impl Layout {
    /// The layout of `num_rows` sorted rows with these columns.
    pub(super) fn new(partition: &[ArrayRef], order: &[ArrayRef], num_rows: usize) -> Result<Self> {
        let runs = |columns: &[ArrayRef]| -> Result<Vec<Range<usize>>> {
            if columns.is_empty() {
                return Ok(std::iter::once(0..num_rows).collect());
            }
            Ok(arrow::compute::partition(columns).map_err(bug)?.ranges())
        };
        let partitions = runs(partition)?;
        let both: Vec<ArrayRef> = partition.iter().chain(order).cloned().collect();
        let peers = runs(&both)?;
        let mut groups = Vec::with_capacity(partitions.len());
        let mut next = 0;
        for rows in &partitions {
            let first = next;
            while peers.get(next).is_some_and(|p| p.end <= rows.end) {
                next += 1;
            }
            groups.push(first..next);
        }
        Ok(Self {
            partitions,
            peers,
            groups,
        })
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let lists = [&self.partitions, &self.peers, &self.groups];
        let num_ranges: usize = lists.iter().map(|ranges| ranges.capacity()).sum();
        num_ranges * size_of::<Range<usize>>()
    }

    fn places(&self) -> impl Iterator<Item = Place<'_>> {
        let partitions = self.partitions.iter().zip(&self.groups);
        partitions.flat_map(|(partition, groups)| {
            let peers = &self.peers[groups.clone()];
            peers.iter().enumerate().flat_map(move |(group, rows)| {
                rows.clone().map(move |row| Place {
                    row,
                    partition,
                    peers,
                    group,
                })
            })
        })
    }

    /// Frames by rows or groups, or by range without an offset.
    pub(super) fn frames(&self, frame: &Frame) -> Frames {
        let bounds = self.places().map(|place| {
            let start = place.edge(frame.start, &frame.unit, false);
            (start, place.edge(frame.end, &frame.unit, true).max(start))
        });
        let (starts, ends) = bounds.unzip();
        Frames { starts, ends }
    }

    /// Frames by distances of `key`, the sorted values.
    ///
    /// As in ClickHouse, NULL is below all values whatever its place, and comparisons with NaN are
    /// those of the processor.
    pub(super) fn range_frames(
        &self,
        frame: &Frame,
        key: &ArrayRef,
        descending: bool,
    ) -> Result<Frames> {
        if key.data_type().is_floating() {
            let key = cast(key, &DataType::Float64).map_err(bug)?;
            let keys: Vec<Option<f64>> = key.as_primitive::<Float64Type>().iter().collect();
            return Ok(self.by_distance(frame, &Keys { keys, descending }, |n| n as f64));
        }
        let key = cast(key, &DataType::Decimal128(38, 0)).map_err(bug)?;
        let keys: Vec<Option<i128>> = key.as_primitive::<Decimal128Type>().iter().collect();
        Ok(self.by_distance(frame, &Keys { keys, descending }, i128::from))
    }

    fn by_distance<K: Distance>(
        &self,
        frame: &Frame,
        keys: &Keys<K>,
        distance: impl Fn(u64) -> K,
    ) -> Frames {
        let mut frames = Frames {
            starts: Vec::with_capacity(keys.keys.len()),
            ends: Vec::with_capacity(keys.keys.len()),
        };
        // Both ends only move on within a partition.
        let (mut first, mut last, mut partition) = (0, 0, None);
        for place in self.places() {
            if partition != Some(place.partition.start) {
                partition = Some(place.partition.start);
                (first, last) = (place.partition.start, place.partition.start);
            }
            let mut edge = |bound: Bound, is_end: bool| {
                let target = match bound {
                    Bound::Preceding(n) => keys.moved(place.row, distance(n), false),
                    Bound::Following(n) => keys.moved(place.row, distance(n), true),
                    other => return place.edge(other, &frame.unit, is_end),
                };
                let at = if is_end { &mut last } else { &mut first };
                while *at < place.partition.end && keys.is_before(*at, target, is_end) {
                    *at += 1;
                }
                *at
            };
            let start = edge(frame.start, false);
            frames.starts.push(start);
            frames.ends.push(edge(frame.end, true).max(start));
        }
        frames
    }
}

/// A number whose distances a RANGE frame takes.
trait Distance: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> {}

impl<K: Copy + PartialOrd + Add<Output = K> + Sub<Output = K>> Distance for K {}

/// The sorted values of a RANGE frame.
struct Keys<K> {
    keys: Vec<Option<K>>,
    descending: bool,
}

impl<K: Distance> Keys<K> {
    /// The value so far from that of a row, in the direction of the order.
    fn moved(&self, row: usize, distance: K, forward: bool) -> Option<K> {
        let key = self.keys[row]?;
        Some(if forward == self.descending {
            key - distance
        } else {
            key + distance
        })
    }

    /// Whether a row is before the target, or with it if `or_with`.
    fn is_before(&self, row: usize, target: Option<K>, or_with: bool) -> bool {
        let order = match (self.keys[row], target) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(key), Some(target)) => key.partial_cmp(&target).unwrap_or(Ordering::Greater),
        };
        let before = if self.descending {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        order == before || or_with && order == Ordering::Equal
    }
}

impl Place<'_> {
    /// The first row of a frame, or the row behind its last.
    fn edge(&self, bound: Bound, unit: &Unit, is_end: bool) -> usize {
        let (bound, signed) = match bound {
            Bound::UnboundedPreceding => return self.partition.start,
            Bound::UnboundedFollowing => return self.partition.end,
            Bound::CurrentRow => (0, false),
            Bound::Preceding(n) => (usize::try_from(n).unwrap_or(usize::MAX), true),
            Bound::Following(n) => (usize::try_from(n).unwrap_or(usize::MAX), false),
        };
        if *unit == Unit::Rows {
            let behind = usize::from(is_end);
            let at = if signed {
                (self.row + behind).saturating_sub(bound)
            } else {
                (self.row + behind).saturating_add(bound)
            };
            return at.clamp(self.partition.start, self.partition.end);
        }
        let group = if signed {
            self.group.checked_sub(bound)
        } else {
            Some(self.group.saturating_add(bound))
        };
        let Some(group) = group else {
            return self.partition.start;
        };
        match self.peers.get(group) {
            Some(peers) if is_end => peers.end,
            Some(peers) => peers.start,
            None => self.partition.end,
        }
    }
}

impl Frames {
    /// Memory that the frames of so many rows take.
    pub(super) fn size_bytes(num_rows: usize) -> usize {
        num_rows.saturating_mul(2 * size_of::<usize>())
    }

    /// Memory that [`Frames::runs`] of so many rows takes at most.
    pub(super) fn runs_bytes(num_rows: usize) -> usize {
        num_rows.saturating_mul(size_of::<Range<usize>>() + size_of::<usize>())
    }

    /// Runs of rows with the same frame, and the frames.
    pub(super) fn runs(&self) -> (Vec<Range<usize>>, Vec<usize>) {
        let mut distinct: Vec<Range<usize>> = Vec::new();
        let mut run_of_row = Vec::with_capacity(self.starts.len());
        for (start, end) in self.starts.iter().zip(&self.ends) {
            let frame = *start..*end;
            if distinct.last() != Some(&frame) {
                distinct.push(frame);
            }
            run_of_row.push(distinct.len() - 1);
        }
        (distinct, run_of_row)
    }
}
