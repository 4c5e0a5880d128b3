//! Programs with one way through, each step on all of a block of values before the next one.
//!
//! Nobody has to guess which step comes next, and the processor works on several values at once.

use std::ops::Range;

use super::end_before;
use super::program::ByteSet;
use super::straight::Step;
use crate::window::window;

/// Values that are looked at together.
pub const BLOCK: usize = 128;

/// The steps of a program with one way through, put together for blocks.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    steps: Vec<BlockStep>,
}

/// One step.
#[derive(Clone, Debug)]
enum BlockStep {
    /// Literals, one behind the other. One that may be missing is sure: see [`Step::Maybe`].
    Literals(Vec<Piece>),
    /// A literal that may be missing, and is not sure.
    Unsure(Piece),
    /// As many bytes as there are before this one, or before the end.
    Until {
        byte: u8,
        least: usize,
    },
    /// The byte that the run before ended at: it is there unless that was the end.
    Stop,
    Run {
        set: ByteSet,
        least: usize,
        most: Option<usize>,
    },
    /// All that is left.
    Rest {
        least: usize,
    },
    Save(usize),
    End,
}

/// A literal of at most [`PIECE`] bytes.
#[derive(Clone, Debug)]
struct Piece {
    word: u64,
    /// All bits of the bytes of `word`.
    mask: u64,
    len: usize,
    may_miss: bool,
}

/// Bytes that are compared at once.
const PIECE: usize = size_of::<u64>();

impl Piece {
    /// None for more bytes.
    fn new(bytes: &[u8], may_miss: bool) -> Option<Self> {
        let len = bytes.len();
        (len <= PIECE).then(|| Self {
            word: window(bytes, 0) as u64,
            mask: u64::MAX.unbounded_shr(8 * (PIECE - len) as u32),
            len,
            may_miss,
        })
    }

    /// Whether `rest` begins with the literal.
    #[inline]
    fn begins(&self, rest: &[u8]) -> bool {
        match rest.first_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk) & self.mask == self.word,
            None => (self.len <= rest.len()) && window(rest, 0) as u64 & self.mask == self.word,
        }
    }
}

/// How far the runs on a block of values are.
struct Runs {
    at: [usize; BLOCK],
    /// Whether no step has failed.
    fits: [bool; BLOCK],
    /// Whether no other choice could help a step that fails.
    is_sure: [bool; BLOCK],
}

impl Runs {
    /// Takes a step on each value: `next(value, at)` tells whether it succeeds, and where it ends.
    #[inline]
    fn step(&mut self, values: &[&[u8]], mut next: impl FnMut(&[u8], usize) -> (bool, usize)) {
        let runs = self.at.iter_mut().zip(&mut self.fits);
        for ((at, fits), value) in runs.zip(values) {
            let (succeeds, end) = next(value, *at);
            *fits &= succeeds;
            *at = end;
        }
    }

    /// Takes the step of a literal on each value.
    ///
    /// No branch: where half of the values have it, nobody guesses it right.
    #[inline]
    fn literals(&mut self, values: &[&[u8]], pieces: &[Piece]) {
        let runs = self.at.iter_mut().zip(&mut self.fits);
        for ((at, fits), value) in runs.zip(values) {
            for piece in pieces {
                let is_there = piece.begins(&value[*at..]);
                *fits &= is_there | piece.may_miss;
                *at += piece.len * usize::from(is_there);
            }
        }
    }

    /// The same for a literal that may be missing, also where it is there.
    fn unsure(&mut self, values: &[&[u8]], piece: &Piece) {
        for (i, value) in values.iter().enumerate() {
            let is_there = piece.begins(&value[self.at[i]..]);
            // After a failure, it stays as it was then.
            self.is_sure[i] &= !is_there | !self.fits[i];
            self.at[i] += piece.len * usize::from(is_there);
        }
    }
}

impl Blocks {
    /// None for a long literal that may be missing.
    pub(super) fn new(steps: &[Step]) -> Option<Self> {
        let mut blocks = Vec::new();
        // The byte that the last run ended before.
        let mut stop = None;
        for step in steps {
            let stop_before = stop;
            stop = stop.filter(|_| matches!(step, Step::Save(_)));
            blocks.push(match step {
                Step::Literal(literal) if stop_before.is_some_and(|b| literal.bytes() == [b]) => {
                    BlockStep::Stop
                }
                Step::Literal(literal) => {
                    for bytes in literal.bytes().chunks(PIECE) {
                        push_piece(&mut blocks, Piece::new(bytes, false)?);
                    }
                    continue;
                }
                Step::Maybe { literal, is_sure } => {
                    let piece = Piece::new(literal.bytes(), true)?;
                    if !is_sure {
                        blocks.push(BlockStep::Unsure(piece));
                    } else {
                        push_piece(&mut blocks, piece);
                    }
                    continue;
                }
                Step::Run {
                    set: ByteSet::AllBut(byte),
                    least,
                    most: None,
                } => {
                    stop = Some(*byte);
                    let (byte, least) = (*byte, *least);
                    BlockStep::Until { byte, least }
                }
                Step::Run { set, least, most } => BlockStep::Run {
                    set: set.clone(),
                    least: *least,
                    most: *most,
                },
                Step::Rest { least } => BlockStep::Rest { least: *least },
                Step::Save(slot) => BlockStep::Save(*slot),
                // It is there behind all that is left.
                Step::End if matches!(blocks.last(), Some(BlockStep::Rest { .. })) => continue,
                Step::End => BlockStep::End,
            });
        }
        Some(Self { steps: blocks })
    }

    /// The part of each value that a group is, if the value matches from its beginning; else all of the
    /// value. Of values that may match after another choice, `other` tells the part by their index.
    ///
    /// There are at most [`BLOCK`] values.
    pub(super) fn parts(
        &self,
        values: &[&[u8]],
        group: usize,
        parts: &mut [Range<usize>],
        mut other: impl FnMut(usize) -> Range<usize>,
    ) {
        let mut runs = Runs {
            at: [0; BLOCK],
            fits: [true; BLOCK],
            is_sure: [true; BLOCK],
        };
        let (mut begin, mut end) = ([0; BLOCK], [0; BLOCK]);
        let steps = match self.steps.split_last() {
            // Nobody asks where it ends.
            Some((BlockStep::Rest { least: 0 }, steps)) if group > 0 => steps,
            _ => &self.steps,
        };
        for step in steps {
            match step {
                BlockStep::Literals(pieces) => runs.literals(values, pieces),
                BlockStep::Unsure(piece) => runs.unsure(values, piece),
                BlockStep::Until { byte, least } => runs.step(values, |value, at| {
                    let end = end_before(*byte, value, at);
                    (end - at >= *least, end)
                }),
                BlockStep::Stop => runs.step(values, |value, at| {
                    let is_there = at < value.len();
                    (is_there, at + usize::from(is_there))
                }),
                BlockStep::Run { set, least, most } => runs.step(values, |value, at| {
                    let end = set.run(value, at, *most);
                    (end - at >= *least, end)
                }),
                BlockStep::Rest { least } => runs.step(values, |value, at| {
                    (value.len() - at >= *least, value.len())
                }),
                BlockStep::End => runs.step(values, |value, at| (at == value.len(), at)),
                BlockStep::Save(slot) if *slot == 2 * group => begin = runs.at,
                BlockStep::Save(slot) if *slot == 2 * group + 1 => end = runs.at,
                BlockStep::Save(_) => {}
            }
        }
        if group == 0 {
            end = runs.at;
        }
        for (i, part) in parts.iter_mut().enumerate() {
            *part = match (runs.fits[i], runs.is_sure[i]) {
                (true, _) => begin[i]..end[i],
                (false, true) => 0..values[i].len(),
                (false, false) => other(i),
            };
        }
    }
}

/// Adds a literal, to those before it if there are some.
fn push_piece(blocks: &mut Vec<BlockStep>, piece: Piece) {
    match blocks.last_mut() {
        Some(BlockStep::Literals(pieces)) => pieces.push(piece),
        _ => blocks.push(BlockStep::Literals(vec![piece])),
    }
}
