//! Holds the words of all tasks while they are split, and the parts that come of it.

use std::ops::Range;
use std::sync::Arc;

use super::in_order::Ordered;
use super::nearly::Merged;
use super::radix::Buckets;
use super::word::Word;

/// Words of all tasks that are split together.
#[derive(Clone)]
pub(super) enum Words<W> {
    All(Arc<Vec<Vec<W>>>),
    /// One bucket of every task.
    Bucket(Arc<Vec<Buckets<W>>>, usize),
}

impl<W: Word> Words<W> {
    pub(super) fn num_tasks(&self) -> usize {
        match self {
            Self::All(words) => words.len(),
            Self::Bucket(tasks, _) => tasks.len(),
        }
    }

    pub(super) fn of_task(&self, task: usize) -> &[W] {
        match self {
            Self::All(words) => &words[task],
            Self::Bucket(tasks, bucket) => tasks[task].words(*bucket..*bucket + 1),
        }
    }

    fn of_tasks(&self) -> impl Iterator<Item = &[W]> {
        (0..self.num_tasks()).map(|task| self.of_task(task))
    }

    pub(super) fn len(&self) -> usize {
        self.of_tasks().map(<[W]>::len).sum()
    }
}

/// Rows that stand together in the result.
pub(super) enum Part<W> {
    /// Rows that are in order as they are.
    Ordered(Ordered),
    /// Words that are in order, and others that are merged into them.
    Merged(Merged<W>),
    /// Some buckets of every task.
    Buckets {
        tasks: Arc<Vec<Buckets<W>>>,
        buckets: Range<usize>,
    },
    /// Some words of all tasks, of which those of later tasks come last.
    Words {
        words: Words<W>,
        range: Range<usize>,
    },
}

impl<W: Word> Part<W> {
    /// How many rows it has.
    pub(super) fn num_rows(&self) -> usize {
        match self {
            Self::Ordered(ordered) => ordered.num_rows(),
            Self::Merged(merged) => merged.len(),
            Self::Buckets { tasks, buckets } => {
                let of_tasks = tasks.iter().map(|t| t.words(buckets.clone()).len());
                of_tasks.sum()
            }
            Self::Words { range, .. } => range.len(),
        }
    }

    /// Whether its words are in order.
    pub(super) fn is_sorted(&self) -> bool {
        matches!(self, Self::Merged(_))
    }

    /// Its words, still to be sorted unless [`Part::is_sorted`]; none if its rows are in order.
    pub(super) fn words(&self) -> Vec<W> {
        match self {
            Self::Ordered(_) => Vec::new(),
            Self::Merged(merged) => merged.words(),
            Self::Buckets { tasks, buckets } => {
                let of_tasks: Vec<&[W]> = tasks.iter().map(|t| t.words(buckets.clone())).collect();
                of_tasks.concat()
            }
            Self::Words { words, range } => {
                let mut found = Vec::with_capacity(range.len());
                let mut first = 0;
                for words in words.of_tasks() {
                    let within = |row: usize| row.clamp(first, first + words.len()) - first;
                    found.extend_from_slice(&words[within(range.start)..within(range.end)]);
                    first += words.len();
                }
                found
            }
        }
    }
}
