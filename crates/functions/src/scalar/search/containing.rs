//! Finds the strings of a column that contain a text.
//!
//! The long strings of some rows are searched as one stretch of bytes, and a place that is found is then
//! given to its row: a row without the text costs its bytes, not a call. Strings that lie one behind the
//! other in a buffer are such a stretch. Of others, like those of a dictionary or of the few rows that an
//! earlier condition has left, most are ruled out where they lie by three bytes of the text.

use std::ops::RangeInclusive;

use arrow::array::{Array, BinaryViewArray, ByteView};
use arrow::buffer::Buffer;
use basalt_kernels::compare::Comparison;
use basalt_kernels::widest::{Loop, widest};
use memchr::memmem::Finder;

use super::may_contain::{MayContain, Probes};

/// Rows that are looked at together: some may lie in one stretch where others do not.
const BLOCK: usize = 1024;

/// Rows whose bits make a word.
const WORD_ROWS: usize = 64;

/// Rows of a block that are looked at before all of it.
const FIRST: usize = 16;

/// Strings up to this length lie in their views.
const MAX_INLINE: u32 = 12;

/// For each row whether it contains what `finder` looks for, which is not empty: 1 if that is as `wanted`,
/// 0 if not.
pub fn rows_containing(strings: &BinaryViewArray, finder: &Finder<'_>, wanted: bool) -> Vec<u8> {
    let hit = u8::from(wanted);
    let mut found = vec![1 - hit; strings.len()];
    let inline = InlineNeedle::new(finder.needle());
    let probes = Probes::of(finder.needle());
    let mut long = LongStrings::default();
    let blocks = strings.views().chunks(BLOCK).zip(found.chunks_mut(BLOCK));
    for (block, (views, found)) in blocks.enumerate() {
        if let Some(stretches) = Stretch::all_of(views, strings.data_buffers()) {
            for (first, stretch) in stretches {
                stretch.search(finder, |row| found[first + row] = hit);
            }
            continue;
        }
        let lengths = Lengths::of(views);
        if let Some(needle) = &inline {
            lengths.rows_of(needle.len..=MAX_INLINE, |row| {
                if needle.is_in(views[row]) {
                    found[row] = hit;
                }
            });
        }
        long.fill(views, &lengths);
        let next = strings.views().get((block + 1) * BLOCK..);
        let around = (strings.data_buffers(), next.unwrap_or_default());
        long.search(around, (finder, &probes), |row| found[row] = hit);
    }
    found
}

/// Rows whose strings are all long and lie in one buffer, in their order and with little between: their
/// bytes can be searched before anything is known of the rows.
struct Stretch<'a> {
    views: &'a [u128],
    /// From the first string to the end of the last.
    bytes: &'a [u8],
    /// Where they begin in the buffer.
    begin: usize,
}

impl<'a> Stretch<'a> {
    /// The stretches that all rows lie in, each with its first row: one, or two where a buffer ends.
    fn all_of(
        views: &'a [u128],
        buffers: &'a [Buffer],
    ) -> Option<impl Iterator<Item = (usize, Self)>> {
        // Most columns that are no stretch show it in their first rows.
        let mut first_rows = views.iter().take(FIRST);
        if first_rows.any(|view| *view as u32 <= MAX_INLINE) {
            return None;
        }
        let buffer = |view: &u128| ByteView::from(*view).buffer_index;
        let first = buffer(views.first()?);
        let num_first = match views.last().map(buffer) {
            Some(last) if last != first => views.partition_point(|view| buffer(view) == first),
            _ => views.len(),
        };
        let (one, other) = views.split_at(num_first);
        let one = Self::of(one, buffers)?;
        let other = match other {
            [] => None,
            views => Some((num_first, Self::of(views, buffers)?)),
        };
        Some(std::iter::once((0, one)).chain(other))
    }

    fn of(views: &'a [u128], buffers: &'a [Buffer]) -> Option<Self> {
        let (first, last) = (view_at(views, 0)?, view_at(views, views.len() - 1)?);
        if first.length <= MAX_INLINE {
            return None;
        }
        LenInOrder(&views[..views.len().min(FIRST)]).run()?;
        let len = widest(LenInOrder(views))?;
        let begin = first.offset as usize;
        let end = last.offset as usize + last.length as usize;
        let bytes = buffers.get(first.buffer_index as usize)?.get(begin..end)?;
        let is_dense = bytes.len() <= 2 * len;
        is_dense.then_some(Self {
            views,
            bytes,
            begin,
        })
    }

    /// Tells the rows whose strings contain what `finder` looks for.
    fn search(&self, finder: &Finder<'_>, mut mark: impl FnMut(usize)) {
        let (mut first, mut from) = (0, 0);
        while let Some(found) = finder.find(&self.bytes[from..]) {
            let row = self.row_at(first, from, from + found);
            let string = ByteView::from(self.views[row]);
            let begin = string.offset as usize - self.begin;
            if from + found + finder.needle().len() <= begin + string.length as usize {
                mark(row);
            }
            first = row + 1;
            let Some(next) = view_at(self.views, first) else {
                return;
            };
            from = next.offset as usize - self.begin;
        }
    }

    /// The row of the last string that begins at or before byte `at`; row `first` or one behind it, which
    /// begins at `from`.
    ///
    /// Where strings are about as long as others, the row is near where it would be if all were alike: a
    /// few steps from there, each foreseen but the last, where a binary search guesses wrong at every other.
    #[inline]
    fn row_at(&self, first: usize, from: usize, at: usize) -> usize {
        const FAR: usize = 16;
        let rows = &self.views[first..];
        let begins_by = |row: usize| {
            let view = rows.get(row).map(|view| ByteView::from(*view));
            view.is_some_and(|view| view.offset as usize - self.begin <= at)
        };
        let guess = (at - from) * self.views.len() / self.bytes.len().max(1);
        let mut row = guess.min(rows.len() - 1);
        for _ in 0..FAR {
            if !begins_by(row) {
                row -= 1;
            } else if begins_by(row + 1) {
                row += 1;
            } else {
                return first + row;
            }
        }
        let next =
            rows.partition_point(|view| ByteView::from(*view).offset as usize - self.begin <= at);
        first + next - 1
    }
}

fn view_at(views: &[u128], row: usize) -> Option<ByteView> {
    views.get(row).map(|view| ByteView::from(*view))
}

/// The length of all strings together, if all but the first are long and lie behind the one before, in
/// the same buffer, of which two gigabytes are enough.
struct LenInOrder<'a>(&'a [u128]);

impl Loop for LenInOrder<'_> {
    type Output = Option<usize>;

    /// In halves of views, which are words: a half has the length lowest, the other one the number of
    /// the buffer, and above that the offset.
    #[inline(always)]
    fn run(self) -> Option<usize> {
        const TOP: u64 = 1 << 63;
        let len = |view: u128| view as u32 as u64;
        let place = |view: u128| (view >> 64) as u64;
        let pairs = self.0.iter().zip(self.0.get(1..).unwrap_or(&[]));
        // The top bits of places and of differences stay 0 if no offset goes down.
        let (mut total, mut tops, mut all) = (0, 0, true);
        for (one, next) in pairs {
            let gap = place(*next).wrapping_sub(place(*one));
            tops |= gap | place(*one) | place(*next);
            all &= (gap as u32 == 0) & (gap >= len(*one) << 32) & (len(*next) > MAX_INLINE.into());
            total += len(*next);
        }
        let first = self.0.first().map_or(0, |view| len(*view));
        (all && tops & TOP == 0).then_some((first + total) as usize)
    }
}

/// Lengths of the strings of a block.
struct Lengths {
    lengths: [u32; BLOCK],
    num_rows: usize,
}

impl Lengths {
    fn of(views: &[u128]) -> Self {
        let mut lengths = [0; BLOCK];
        widest(LengthsOf(views, &mut lengths));
        Self {
            lengths,
            num_rows: views.len().min(BLOCK),
        }
    }

    /// Tells the rows with these lengths, in order. They are found as bits: where lengths are mixed, no processor foresees
    /// a branch for each row.
    fn rows_of(&self, wanted: RangeInclusive<u32>, mut tell: impl FnMut(usize)) {
        let mut words = [u64::MAX; BLOCK / WORD_ROWS];
        let lengths = &self.lengths[..self.num_rows];
        words[self.num_rows.div_ceil(WORD_ROWS)..].fill(0);
        if let Some(last) = words.get_mut(self.num_rows / WORD_ROWS) {
            *last &= (1 << (self.num_rows % WORD_ROWS)) - 1;
        }
        Comparison::GreaterOrEqual.retain(lengths, *wanted.start(), &mut words);
        if *wanted.end() < u32::MAX {
            Comparison::LessOrEqual.retain(lengths, *wanted.end(), &mut words);
        }
        for (at, mut word) in words.into_iter().enumerate() {
            while word != 0 {
                tell(at * WORD_ROWS + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}

struct LengthsOf<'a>(&'a [u128], &'a mut [u32; BLOCK]);

impl Loop for LengthsOf<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (length, view) in self.1.iter_mut().zip(self.0) {
            *length = *view as u32;
        }
    }
}

/// The strings of some rows that do not lie in their views, with their rows, in order.
#[derive(Default)]
struct LongStrings {
    strings: Vec<(u16, ByteView)>,
}

impl LongStrings {
    /// Of the rows of a block.
    fn fill(&mut self, views: &[u128], lengths: &Lengths) {
        self.strings.clear();
        lengths.rows_of(MAX_INLINE + 1..=u32::MAX, |row| {
            // A block has fewer rows than a `u16` counts.
            self.strings.push((row as u16, ByteView::from(views[row])));
        });
    }

    /// Tells the rows whose strings contain what `finder` looks for; `next_views` are of the rows behind.
    fn search(
        &self,
        (buffers, next_views): (&[Buffer], &[u128]),
        (finder, probes): (&Finder<'_>, &Probes),
        mut mark: impl FnMut(usize),
    ) {
        if let Some((bytes, begin)) = self.stretch(buffers) {
            let begins = self.strings.iter().map(|(_, s)| s.offset as usize - begin);
            return self.find(bytes, begins, finder, mark);
        }
        let candidates = widest(MayContain {
            strings: &self.strings,
            next_views,
            buffers,
            probes,
        });
        for (row, string) in candidates {
            let bytes = &buffers[string.buffer_index as usize][string.offset as usize..];
            if finder.find(&bytes[..string.length as usize]).is_some() {
                mark(usize::from(row));
            }
        }
    }

    /// The bytes of a buffer in which the strings lie in their order with little between, and where these
    /// begin.
    fn stretch<'a>(&self, buffers: &'a [Buffer]) -> Option<(&'a [u8], usize)> {
        let (_, first) = self.strings.first()?;
        let begin = first.offset as usize;
        let (mut end, mut len) = (begin, 0);
        for (_, string) in &self.strings {
            let at = string.offset as usize;
            if string.buffer_index != first.buffer_index || at < end {
                return None;
            }
            end = at + string.length as usize;
            len += string.length as usize;
        }
        let is_dense = end - begin <= 2 * len;
        let bytes = buffers.get(first.buffer_index as usize)?.get(begin..end)?;
        is_dense.then_some((bytes, begin))
    }

    /// As [`search`](Self::search), where the strings begin at `begins` of `bytes`.
    fn find(
        &self,
        bytes: &[u8],
        begins: impl Iterator<Item = usize>,
        finder: &Finder<'_>,
        mut mark: impl FnMut(usize),
    ) {
        let find_from = |at: usize| finder.find(&bytes[at..]).map(|n| at + n);
        let Some(mut next) = find_from(0) else {
            return;
        };
        for (begin, (row, string)) in begins.zip(&self.strings) {
            if next < begin {
                match find_from(begin) {
                    Some(found) => next = found,
                    None => return,
                }
            }
            if next + finder.needle().len() <= begin + string.length as usize {
                mark(usize::from(*row));
            }
        }
    }
}

/// A text of at most 12 bytes, compared with what lies in views.
struct InlineNeedle {
    needle: u128,
    mask: u128,
    len: u32,
}

impl InlineNeedle {
    fn new(needle: &[u8]) -> Option<Self> {
        let len = u32::try_from(needle.len())
            .ok()
            .filter(|n| *n <= MAX_INLINE)?;
        let mut bytes = [0; 16];
        bytes[..needle.len()].copy_from_slice(needle);
        Some(Self {
            needle: u128::from_le_bytes(bytes),
            mask: (1 << (8 * len)) - 1,
            len,
        })
    }

    /// Whether a string that lies in its view, behind its length, contains the text.
    fn is_in(&self, view: u128) -> bool {
        let len = view as u32;
        let mut bytes = view >> 32;
        for _ in self.len..=len {
            if bytes & self.mask == self.needle {
                return true;
            }
            bytes >>= 8;
        }
        false
    }
}
