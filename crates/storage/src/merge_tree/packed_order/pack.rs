//! Makes the words and rests that are sorted: one each for every row, or for every run of rows with the same keys.

use basalt_codec::word::bytes_of;
use basalt_kernels::Bitmap;
use basalt_kernels::compare::Comparison;
use basalt_kernels::filter::{append_selected, append_selected_rows};
use basalt_kernels::widest::{Loop, widest};

use super::SortMemory;
use super::cut::Cut;
use super::keys::{CHUNK_ROWS, Key};

/// Rows of a run in the mean, so that runs are sorted.
const RUN_ROWS: usize = 2;

/// Chunks of rows by which it is seen whether there are runs.
const NUM_SAMPLES: usize = 8;

/// Rows whose bits make a word.
const WORD_ROWS: usize = 64;

/// Makes a word and a rest for each row, with the number of the row; how many have smaller keys than those before.
pub(super) fn pack_rows(keys: &[Key<'_>], cut: Cut, memory: &mut SortMemory) -> u64 {
    let num_rows = keys.first().map_or(0, Key::len);
    let SortMemory { words, rests, .. } = memory;
    words.resize(num_rows, 0);
    rests.resize(num_rows, 0);
    let mut numbers = [0; CHUNK_ROWS];
    let mut num_falls = 0;
    for start in (0..num_rows).step_by(CHUNK_ROWS) {
        let end = num_rows.min(start + CHUNK_ROWS);
        let chunk = (&mut words[start..end], &mut rests[start..end]);
        let rows = chunk.0.iter_mut().zip(start as u64..);
        rows.for_each(|(word, row)| *word = row);
        chunk.1.fill(0);
        let mut shift = 0;
        for key in keys.iter().rev().filter(|key| key.num_bits > 0) {
            let numbers = &mut numbers[..end - start];
            key.numbers(start, numbers);
            let place = (shift, key.num_bits);
            cut.put(numbers, place, (&mut *chunk.0, &mut *chunk.1));
            shift += key.num_bits;
        }
        let before = start.saturating_sub(1);
        num_falls += falls(&words[before..end], &rests[before..end], cut);
    }
    num_falls
}

/// The same for each run of rows with the same keys, with the number of the run; and the rows that runs begin with, behind
/// them the end of the last.
pub(super) fn pack_runs(keys: &[Key<'_>], cut: Cut, memory: &mut SortMemory) -> u64 {
    let num_rows = keys.first().map_or(0, Key::len);
    let SortMemory {
        words,
        rests,
        starts,
        ..
    } = memory;
    words.clear();
    rests.clear();
    starts.clear();
    let mut chunk = Chunk::new(keys);
    let mut selected = Vec::with_capacity(CHUNK_ROWS);
    let mut num_falls = 0;
    for start in (0..num_rows).step_by(CHUNK_ROWS) {
        let len = CHUNK_ROWS.min(num_rows - start);
        let begins = chunk.load(start, len, start > 0);
        let begins = bits(&begins, len);
        let first = starts.len();
        // Rows of a part are numbered by 32 bits.
        append_selected_rows(begins, start as u32, starts);
        words.extend(first as u64..starts.len() as u64);
        rests.resize(starts.len(), 0);
        let mut shift = 0;
        // A key of no bits adds none.
        let numbered = keys.iter().zip(&chunk.numbers).rev();
        for (key, numbers) in numbered.filter(|(key, _)| key.num_bits > 0) {
            selected.clear();
            append_selected(&numbers[..len], begins, &mut selected);
            let place = (shift, key.num_bits);
            cut.put(&selected, place, (&mut words[first..], &mut rests[first..]));
            shift += key.num_bits;
        }
        let before = first.saturating_sub(1);
        num_falls += falls(&words[before..], &rests[before..], cut);
    }
    starts.push(num_rows as u32);
    num_falls
}

/// Whether rows are fewer runs by far, as far as some of them tell.
pub(super) fn have_runs(keys: &[Key<'_>]) -> bool {
    let num_rows = keys.first().map_or(0, Key::len);
    let mut chunk = Chunk::new(keys);
    let (mut num_runs, mut num_seen) = (0, 0);
    for sample in 0..NUM_SAMPLES {
        let start = num_rows / NUM_SAMPLES * sample;
        let len = CHUNK_ROWS.min(num_rows - start);
        let begins = chunk.load(start, len, false);
        num_runs += bits(&begins, len).count_ones();
        num_seen += len;
    }
    num_runs * RUN_ROWS <= num_seen
}

fn bits(words: &[u64], len: usize) -> Bitmap<'_> {
    let bits = Bitmap::try_new(bytes_of(words), 0, len);
    bits.expect("a bit for each row")
}

/// The numbers of some rows that follow each other.
struct Chunk<'a> {
    keys: &'a [Key<'a>],
    /// Of each key.
    numbers: Vec<Vec<u64>>,
    /// Those of the last row.
    last: Vec<u64>,
}

impl<'a> Chunk<'a> {
    fn new(keys: &'a [Key<'a>]) -> Self {
        Self {
            keys,
            numbers: vec![vec![0; CHUNK_ROWS]; keys.len()],
            last: vec![0; keys.len()],
        }
    }

    /// Takes other rows, which follow those before if `follows`; a bit for each that has other keys than the one before.
    fn load(&mut self, start: usize, len: usize, follows: bool) -> [u64; CHUNK_ROWS / WORD_ROWS] {
        let mut differences = [0; CHUNK_ROWS];
        let keys = self.keys.iter().zip(&mut self.numbers).zip(&mut self.last);
        for ((key, numbers), last) in keys {
            // A key of no bits is 0 in all rows.
            if key.num_bits > 0 {
                let numbers = &mut numbers[..len];
                key.numbers(start, numbers);
                let before = *last;
                *last = numbers.last().copied().unwrap_or(before);
                widest(Differences {
                    numbers,
                    before,
                    out: &mut differences[..len],
                });
            }
        }
        let mut begins = [u64::MAX; CHUNK_ROWS / WORD_ROWS];
        Comparison::NotEqual.retain(&differences[..len], 0, &mut begins);
        begins[0] |= u64::from(!follows);
        begins
    }
}

/// Adds the bits in which numbers differ from those before.
struct Differences<'a> {
    numbers: &'a [u64],
    before: u64,
    out: &'a mut [u64],
}

impl Loop for Differences<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [first, others @ ..] = self.out else {
            return;
        };
        *first |= self.numbers[0] ^ self.before;
        let pairs = self.numbers.iter().zip(&self.numbers[1..]);
        for (out, (a, b)) in others.iter_mut().zip(pairs) {
            *out |= a ^ b;
        }
    }
}

/// How many words, which grow with the numbers in their lower bits, have smaller keys with their rests than those before.
fn falls(words: &[u64], rests: &[u64], cut: Cut) -> u64 {
    widest(CountFalls {
        words,
        rests,
        row_bits: cut.row_bits,
    })
}

struct CountFalls<'a> {
    words: &'a [u64],
    rests: &'a [u64],
    row_bits: u32,
}

impl Loop for CountFalls<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let next_words = self.words.get(1..).unwrap_or_default();
        let next_rests = self.rests.get(1..).unwrap_or_default();
        let words = self.words.iter().zip(next_words);
        let rests = self.rests.iter().zip(next_rests);
        words.zip(rests).fold(0, |num, ((a, b), (rest_a, rest_b))| {
            let is_same = (a ^ b) >> self.row_bits == 0;
            // By their numbers words grow in any case.
            num + u64::from((a > b) | (is_same & (rest_a > rest_b)))
        })
    }
}
