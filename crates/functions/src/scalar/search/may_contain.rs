//! Rules out strings that do not contain a text, by three of its bytes, where they lie.

use arrow::array::ByteView;
use arrow::buffer::Buffer;
use basalt_kernels::prefetch::{LINE_BYTES, prefetch};
use basalt_kernels::widest::Loop;
use memchr::arch::all::packedpair::Pair;

/// Bytes of a text that are seldom met, and where they lie in it: where one of them is missing, there is
/// no need to look for the rest.
pub(super) struct Probes {
    bytes: [u8; 3],
    offsets: [usize; 3],
    /// Length of the text.
    len: usize,
}

impl Probes {
    pub(super) fn of(needle: &[u8]) -> Self {
        let pair = Pair::new(needle);
        let (one, two) = pair.map_or((0, 0), |pair| (pair.index1(), pair.index2()));
        let (one, two) = (usize::from(one), usize::from(two));
        let mut others = (0..needle.len()).rev();
        let third = others.find(|at| *at != one && *at != two);
        let offsets = [one, two, third.unwrap_or(one)];
        Self {
            bytes: offsets.map(|at| needle[at]),
            offsets,
            len: needle.len(),
        }
    }
}

/// Places of a string at which a text may begin that are looked at together.
const PLACES: usize = 32;

/// Strings that are asked for before they are looked at: where an earlier condition has left few, each lies
/// where nothing was read before, and waiting for one after the other takes a third longer (`q23` of ClickBench).
const AHEAD: usize = 16;

/// Those of some long strings that may contain a text, each looked at where it lies.
pub(super) struct MayContain<'a> {
    pub(super) strings: &'a [(u16, ByteView)],
    /// What is looked at next: it comes while strings are compared.
    pub(super) next_views: &'a [u128],
    pub(super) buffers: &'a [Buffer],
    pub(super) probes: &'a Probes,
}

impl Loop for MayContain<'_> {
    type Output = Vec<(u16, ByteView)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let [one, two, three] = self.probes.bytes;
        let furthest = self.probes.offsets.into_iter().max().unwrap_or(0);
        let mut found = Vec::new();
        for (at, (row, string)) in self.strings.iter().enumerate() {
            if let Some((_, ahead)) = self.strings.get(at + AHEAD) {
                let bytes = &self.buffers[ahead.buffer_index as usize];
                prefetch(bytes, ahead.offset as usize);
                prefetch(bytes, ahead.offset as usize + ahead.length as usize);
            }
            prefetch(self.next_views, at * (LINE_BYTES / size_of::<u128>()));
            let places = (string.length as usize + 1).saturating_sub(self.probes.len);
            let begin = string.offset as usize;
            // With what lies behind the string: a text found there is no harm, only looked at in vain.
            let end = begin + places.next_multiple_of(PLACES) + furthest;
            let Some(bytes) = self.buffers[string.buffer_index as usize].get(begin..end) else {
                found.push((*row, *string));
                continue;
            };
            let [ones, twos, threes] = self.probes.offsets.map(|at| &bytes[at..]);
            let (ones, twos, threes) = (
                ones.as_chunks::<PLACES>().0,
                twos.as_chunks::<PLACES>().0,
                threes.as_chunks::<PLACES>().0,
            );
            let mut may = [0; PLACES];
            for ((a, b), c) in ones.iter().zip(twos).zip(threes) {
                for i in 0..PLACES {
                    may[i] |= u8::from((a[i] == one) & (b[i] == two) & (c[i] == three));
                }
            }
            if may != [0; PLACES] {
                found.push((*row, *string));
            }
        }
        found
    }
}
