//! Sorts words that are in order but for a few: these are taken out, sorted and merged in again.
//!
//! ```text
//! words    1 2 3 90 4 5 7 6 8 │ 20 21 0 22 23      of one task
//! kept     1 2 3 4 5 6 8 │ 20 21 22 23             stretches that follow each other
//! taken    90 7 0  ── sort ──▶  0 7 90             of all tasks
//! parts    0 1 2 3 4 5 6 7 8 │ 20 21 22 23 90      each merged by one task
//! ```
//!
//! One pass keeps what rises. A word below the last one is taken, or else the last one is, if the word
//! follows the one before that. Where many words in a row are taken, either the last ones that were kept
//! are too high, or a new stretch begins: a table's batches are joined of what several threads have read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;

use super::nearly_sample as sample;
use super::options::Strategy;
use super::parts::Cut;
use super::radix;
use super::rows::joined;
use super::word::Word;
use super::words::Part;
use crate::report::clock::timed;

/// One of so many words may be taken.
pub(super) const FEW: usize = 16;

/// Words in a row that are taken before something else is tried.
const PATIENCE: usize = 8;

/// Words that stretches have at least, on average.
const MIN_STRETCH_WORDS: usize = 2048;

/// Words of a stretch that are not worth a part of their own.
const MIN_PIECE_WORDS: usize = 64;

/// Pieces from which on they must be worth a part on average: stretches that overlap give one of a word or two for
/// each of their words.
const MIN_PIECES: usize = 256;

/// Pieces that are merged where that is asked for, however short they are.
const ASKED_PIECES: usize = 1 << 20;

/// The words of one task, separated.
#[derive(Debug)]
pub(super) struct Separated<W> {
    /// Stretch by stretch.
    kept: Vec<W>,
    /// Where each stretch begins.
    starts: Vec<usize>,
    taken: Vec<W>,
}

/// Words that rise, of which others are merged into.
pub(super) struct Merged<W> {
    tasks: Arc<Vec<Separated<W>>>,
    task: usize,
    kept: Range<usize>,
    all_taken: Arc<Vec<W>>,
    taken: Range<usize>,
}

/// What became of words that are nearly in order.
pub(super) struct Nearly<W> {
    pub(super) parts: Vec<Part<W>>,
    /// How many words were taken.
    pub(super) num_taken: usize,
    /// In how many stretches the others are.
    pub(super) num_stretches: usize,
}

impl<W: Word> Nearly<W> {
    /// The parts of the words of all tasks, if all but a few are in order. Words that are equal are equal
    /// rows.
    pub(super) async fn of(
        words: &Arc<Vec<Vec<W>>>,
        cut: Cut,
        clock: &Time,
    ) -> Result<Option<Self>> {
        let is_forced = cut.strategy == Strategy::NearlyInOrder;
        if !is_forced && !sample::may_be_nearly(words) {
            return Ok(None);
        }
        let tasks = (0..words.len()).map(|task| {
            let words = Arc::clone(words);
            let separate = async move { Ok(Separated::of(&words[task], is_forced)) };
            SpawnedTask::spawn(timed(clock.clone(), separate))
        });
        let tasks = joined(tasks.collect()).await?;
        let Some(tasks) = tasks.into_iter().collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let num_words: usize = words.iter().map(Vec::len).sum();
        let part_words = cut.strategy.part_words(num_words, cut.num_tasks);
        let _timer = clock.timer();
        Ok(Self::merged(tasks, (part_words, is_forced)))
    }

    fn merged(
        mut tasks: Vec<Separated<W>>,
        (part_words, is_forced): (usize, bool),
    ) -> Option<Self> {
        let taken = tasks.iter_mut().map(|task| std::mem::take(&mut task.taken));
        let mut taken = taken.collect::<Vec<_>>().concat();
        let stretches = followed(&tasks, &mut taken, is_forced)?;
        radix::sort(&mut taken, 0);
        let num_stretches = stretches.len();
        let num_taken = taken.len();
        let mut cutter = Cutter {
            tasks: Arc::new(tasks),
            taken: Arc::new(taken),
            part_words: part_words.max(1),
            next_taken: 0,
            parts: Vec::new(),
        };
        cutter.cut_all(stretches);
        Some(Self {
            parts: cutter.parts,
            num_taken,
            num_stretches,
        })
    }
}

impl<W: Word> Separated<W> {
    /// Separates words; none if there are too many to take or if stretches are too short, unless it is forced.
    fn of(words: &[W], is_forced: bool) -> Option<Self> {
        let words_of_task = words.iter().copied();
        let falls = sample::direction_of(words).or(is_forced.then_some(false))?;
        if falls {
            Self::of_rising(words_of_task.rev(), is_forced)
        } else {
            Self::of_rising(words_of_task, is_forced)
        }
    }

    fn of_rising(words: impl ExactSizeIterator<Item = W>, is_forced: bool) -> Option<Self> {
        let most_taken = words.len() / FEW + PATIENCE;
        let most_stretches = words.len() / MIN_STRETCH_WORDS + 2;
        let mut separated = Self {
            kept: Vec::with_capacity(words.len()),
            starts: vec![0],
            taken: Vec::new(),
        };
        let (mut last, mut num_in_a_row) = (W::default(), 0);
        for word in words {
            if word >= last {
                separated.kept.push(word);
                (last, num_in_a_row) = (word, 0);
                continue;
            }
            num_in_a_row += 1;
            if separated.take(word) {
                num_in_a_row = 0;
            } else if num_in_a_row == PATIENCE {
                separated.start_again();
                num_in_a_row = 0;
            }
            let is_much =
                separated.taken.len() > most_taken || separated.starts.len() > most_stretches;
            if is_much && !is_forced {
                return None;
            }
            last = separated.kept.last().copied().unwrap_or_default();
        }
        Some(separated)
    }

    fn start(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Takes a word that is below the last one, or keeps it instead of that; true if it is kept.
    fn take(&mut self, word: W) -> bool {
        if let [.., before, last] = &mut self.kept[self.starts[self.starts.len() - 1]..]
            && *before <= word
        {
            self.taken.push(std::mem::replace(last, word));
            return true;
        }
        self.taken.push(word);
        false
    }

    /// Goes on with the words that were taken last: behind the stretch without its last words, if these
    /// were too high, or else in a new one.
    fn start_again(&mut self) {
        let again = self.taken.split_off(self.taken.len() - PATIENCE);
        let start = self.start();
        let lowest = again.iter().min().copied().unwrap_or_default();
        let stretch = &self.kept[start..];
        let num_high = stretch.iter().rev().take_while(|word| **word > lowest);
        let num_high = num_high.take(PATIENCE + 1).count();
        if num_high <= PATIENCE {
            // All of a short stretch may be.
            let high = self.kept.drain(self.kept.len() - num_high..);
            self.taken.extend(high);
        } else {
            self.starts.push(self.kept.len());
        }
        for word in again {
            let start = self.start();
            match self.kept[start..].last() {
                Some(last) if word < *last => self.taken.push(word),
                _ => self.kept.push(word),
            }
        }
    }

    fn stretches(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.starts.iter().skip(1).copied();
        let ends = ends.chain([self.kept.len()]);
        let ranges = self.starts.iter().zip(ends);
        ranges
            .map(|(start, end)| *start..end)
            .filter(|r| !r.is_empty())
    }
}

/// A stretch of one of the tasks.
type Stretch = (usize, Range<usize>);

/// Pieces of all stretches in their order, if there are few or it is forced; the shortest ones are taken.
fn followed<W: Word>(
    tasks: &[Separated<W>],
    taken: &mut Vec<W>,
    is_forced: bool,
) -> Option<Vec<Stretch>> {
    let num_kept: usize = tasks.iter().map(|task| task.kept.len()).sum();
    let most = num_kept / MIN_STRETCH_WORDS + tasks.iter().map(|t| t.starts.len()).sum::<usize>();
    let most_taken = taken.len() + num_kept / FEW + MIN_PIECE_WORDS;
    let of_task = |(task, separated): (usize, &Separated<W>)| -> Vec<_> {
        let stretches = separated.stretches();
        let open = |range: Range<usize>| {
            Reverse((separated.kept[range.start], task, range.start, range.end))
        };
        stretches.map(open).collect()
    };
    let mut open: BinaryHeap<_> = tasks.iter().enumerate().flat_map(of_task).collect();
    let (mut found, mut num_pieces, mut num_placed) = (Vec::new(), 0, 0);
    while let Some(Reverse((_, task, start, end))) = open.pop() {
        let words = &tasks[task].kept[start..end];
        // The first word is not above that of the next stretch.
        let num_before = open.peek().map_or(words.len(), |Reverse((next, ..))| {
            if words.last() <= Some(next) {
                words.len()
            } else {
                words.partition_point(|word| word <= next).max(1)
            }
        });
        let middle = start + num_before;
        if let Some(first) = words.get(num_before) {
            open.push(Reverse((*first, task, middle, end)));
        }
        if num_before < MIN_PIECE_WORDS {
            taken.extend_from_slice(&words[..num_before]);
        } else {
            found.push((task, start..middle));
        }
        num_pieces += 1;
        num_placed += num_before;
        let are_short = num_pieces >= MIN_PIECES && num_placed < num_pieces * MIN_PIECE_WORDS;
        let is_much = found.len() > most || taken.len() > most_taken || are_short;
        if is_much && !(is_forced && num_pieces < ASKED_PIECES) {
            return None;
        }
    }
    Some(found)
}

/// Cuts stretches, and what was taken, into parts.
struct Cutter<W> {
    tasks: Arc<Vec<Separated<W>>>,
    taken: Arc<Vec<W>>,
    part_words: usize,
    /// The first taken word that is in no part.
    next_taken: usize,
    parts: Vec<Part<W>>,
}

impl<W: Word> Cutter<W> {
    fn cut_all(&mut self, stretches: Vec<Stretch>) {
        let part_words = self.part_words;
        let chunks = stretches.into_iter().flat_map(|(task, range)| {
            let starts = range.clone().step_by(part_words);
            starts.map(move |start| (task, start..range.end.min(start + part_words)))
        });
        let mut chunks = chunks.peekable();
        while let Some((task, chunk)) = chunks.next() {
            let next = chunks.peek();
            let next = next.map(|(task, next)| self.tasks[*task].kept[next.start]);
            let taken = &self.taken[self.next_taken..];
            let num_taken = next.map_or(taken.len(), |next| taken.partition_point(|w| *w < next));
            self.cut(task, chunk, num_taken);
        }
        if self.next_taken < self.taken.len() {
            self.cut(0, 0..0, self.taken.len() - self.next_taken);
        }
    }

    /// Makes parts of a chunk of kept words and the next `num_taken` others.
    fn cut(&mut self, task: usize, mut chunk: Range<usize>, num_taken: usize) {
        let end_taken = self.next_taken + num_taken;
        while end_taken - self.next_taken > self.part_words {
            let first_left = self.next_taken + self.part_words;
            let kept = &self.tasks[task].kept[chunk.clone()];
            let bound = self.taken[first_left];
            let middle = chunk.start + kept.partition_point(|word| *word < bound);
            self.push(task, chunk.start..middle, first_left);
            chunk.start = middle;
        }
        self.push(task, chunk, end_taken);
    }

    fn push(&mut self, task: usize, kept: Range<usize>, end_taken: usize) {
        self.parts.push(Part::Merged(Merged {
            tasks: Arc::clone(&self.tasks),
            task,
            kept,
            all_taken: Arc::clone(&self.taken),
            taken: self.next_taken..end_taken,
        }));
        self.next_taken = end_taken;
    }
}

impl<W: Word> Merged<W> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.kept.len() + self.taken.len()
    }

    /// All of them in order.
    pub(super) fn words(&self) -> Vec<W> {
        let mut kept = &self.tasks[self.task].kept[self.kept.clone()];
        let mut words = Vec::with_capacity(self.len());
        for taken in &self.all_taken[self.taken.clone()] {
            let (before, after) = kept.split_at(num_below(kept, *taken));
            words.extend_from_slice(before);
            words.push(*taken);
            kept = after;
        }
        words.extend_from_slice(kept);
        words
    }
}

/// How many of `words`, which rise, are below `bound`: looks further and further ahead, since others are
/// often near.
fn num_below<W: Word>(words: &[W], bound: W) -> usize {
    let mut step = 1;
    while words.get(step).is_some_and(|word| *word < bound) {
        step *= 2;
    }
    let (first, end) = (step / 2, words.len().min(step));
    first.min(end) + words[first.min(end)..end].partition_point(|word| *word < bound)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    use super::{Nearly, Separated, num_below};

    /// The words of all parts; none if words are not nearly in order.
    fn sorted(tasks: &[Vec<u64>], part_words: usize, is_forced: bool) -> Option<Vec<u64>> {
        let tasks = tasks.iter().map(|words| Separated::of(words, is_forced));
        let tasks = tasks.collect::<Option<Vec<_>>>()?;
        let nearly = Nearly::merged(tasks, (part_words, is_forced))?;
        assert!(
            nearly
                .parts
                .iter()
                .all(|part| part.num_rows() <= 2 * part_words)
        );
        Some(nearly.parts.iter().flat_map(|part| part.words()).collect())
    }

    fn check(tasks: &[Vec<u64>]) {
        let mut expected = tasks.concat();
        expected.sort_unstable();
        for part_words in [7, 100, 1 << 20] {
            assert!(sorted(tasks, part_words, false).as_ref() == Some(&expected));
        }
    }

    #[test]
    fn words_in_order_but_for_a_few() {
        check(&[]);
        check(&[vec![], vec![3]]);
        check(&[(0..1000).collect(), (1000..3000).collect()]);
        check(&[(0..1000).rev().collect(), (1000..3000).collect()]);
        // Stretches of two threads.
        let of_block = |block: u64| block * 5000..(block + 1) * 5000;
        let blocks = [[4, 5, 0, 1], [2, 3, 7, 6]];
        let blocks = blocks.map(|b| b.into_iter().flat_map(of_block).collect::<Vec<_>>());
        check(&blocks);
        let in_turn = [[0, 1, 4, 5], [2, 3, 6, 7]];
        check(&in_turn.map(|b| b.into_iter().flat_map(of_block).collect::<Vec<_>>()));
        for far in [0, u64::MAX, 20_000] {
            for offset in 0..100 {
                let tasks = blocks.iter().map(|words| {
                    let mut words = words.clone();
                    let places = words.iter_mut().skip(offset).step_by(100);
                    places.for_each(|word| *word = far);
                    words
                });
                let tasks: Vec<_> = tasks.collect();
                check(&tasks);
            }
        }
    }

    #[test]
    fn several_high_words_in_a_row() {
        let mut words: Vec<u64> = (0..20_000).collect();
        words[700..705].fill(50_000);
        words[0] = 60_000;
        words[19_998] = 70_000;
        words[9_000..9_007].fill(3);
        check(&[words]);
    }

    #[test]
    fn words_of_no_order() {
        let random = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let words: Vec<u64> = (0..10_000).map(random).collect();
        assert!(sorted(std::slice::from_ref(&words), 100, false).is_none());
        let mut expected = words.clone();
        expected.sort_unstable();
        assert!(sorted(&[words], 100, true) == Some(expected));
        // Each task is in order, but their words take turns.
        let every_other = |first: u64| (first..20_000).step_by(2).collect();
        let tasks = [every_other(0), every_other(1)];
        assert!(sorted(&tasks, 100, false).is_none());
        assert!(sorted(&tasks, 100, true) == Some((0..20_000).collect()));
    }

    proptest! {
        #[test]
        fn as_a_sort_or_none(
            others in prop::collection::vec((0usize..5000, any::<u16>()), 0..400),
            is_falling in any::<bool>(),
            part_words in 1usize..3000,
        ) {
            let mut words: Vec<u64> = (0..5000).map(|i| i * 13).collect();
            for (place, word) in &others {
                words[*place] = u64::from(*word);
            }
            if is_falling {
                words.reverse();
            }
            let mut expected = words.clone();
            expected.sort_unstable();
            let forced = sorted(std::slice::from_ref(&words), part_words, true);
            prop_assert_eq!(forced.as_ref(), Some(&expected));
            let sorted = sorted(&[words], part_words, false);
            prop_assert!(sorted.is_some() || others.len() > 60);
            if let Some(sorted) = sorted {
                prop_assert_eq!(sorted, expected);
            }
        }

        #[test]
        fn as_many_as_are_below(mut words in prop::collection::vec(0u32..99, 0..80), bound in 0u32..99) {
            words.sort_unstable();
            prop_assert_eq!(num_below(&words, bound), words.partition_point(|w| *w < bound));
        }
    }
}
