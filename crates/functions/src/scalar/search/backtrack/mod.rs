//! Runs simple regular expressions on bytes by backtracking, several times as fast as a general engine that looks for groups.
//!
//! Simple are expressions that begin with `^` or a literal, and repeat only single bytes: that is
//! most of what people take URLs, paths and log lines apart with. Where what follows a repetition
//! cannot begin with a byte of it, the repetition never gives bytes back, and the run is linear.
//! Where it may, the number of steps is bounded, and beyond it the caller takes the general engine:
//! no expression takes quadratic time.
//!
//! Of several matches the one counts that the order of alternatives prefers, as in RE2.

mod blocks;
mod firsts;
mod literal;
mod program;
mod straight;

use memchr::memchr;
use memchr::memmem::Finder;

pub use blocks::BLOCK;
use firsts::Open;
pub use program::Program;
use program::{ByteSet, Instruction, Repeat};
use straight::Ended;

use crate::window::{WINDOW, find_in_window};

/// Where a match and its groups begin and end: slots `2 g` and `2 g + 1` are those of group `g`.
pub type Slots = Vec<Option<usize>>;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The slots tell where.
    Match,
    /// There is none.
    NoMatch,
    /// Too many steps were taken; the general engine must tell.
    TooLong,
}

/// What a run goes back to.
#[derive(Debug)]
enum Frame {
    /// Another alternative.
    Branch { pc: usize, at: usize },
    /// Fewer repetitions: the end of the run goes down from `at` to `least`.
    Fewer { pc: usize, least: usize, at: usize },
    /// More repetitions: the end of the run goes up from `at` to `most`.
    More { pc: usize, at: usize, most: usize },
    /// What a slot was before.
    Slot { slot: usize, was: Option<usize> },
}

/// A program with the room that runs need.
#[derive(Debug)]
pub struct Backtracker<'a> {
    program: &'a Program,
    frames: Vec<Frame>,
    steps_left: usize,
}

impl<'a> Backtracker<'a> {
    /// Of the bytes of a value, this many steps may be taken each, by all runs in it.
    const STEPS_PER_BYTE: usize = 8;

    /// Bytes of a repetition that count as a step: they are found many at once.
    const BYTES_PER_STEP: usize = 16;

    /// For runs of `program`.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            frames: Vec::new(),
            steps_left: 0,
        }
    }

    /// The program, which tells for which values it is.
    #[inline]
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// Goes over to another value.
    #[inline]
    pub fn begin(&mut self, value: &[u8]) {
        self.steps_left = (value.len() + 16) * Self::STEPS_PER_BYTE;
    }

    /// Looks for the first match at or after `start` in the value that was begun.
    #[inline]
    pub fn find(&mut self, value: &[u8], start: usize, slots: &mut Slots) -> Outcome {
        match slots.len() == self.program.num_slots() {
            true => slots.fill(None),
            false => *slots = vec![None; self.program.num_slots()],
        }
        let Some(prefix) = self.program.prefix() else {
            // It begins with `^`.
            return match start {
                0 => self.run(value, 0, slots),
                _ => Outcome::NoMatch,
            };
        };
        let mut from = start;
        while let Some(at) = next(prefix, value, from) {
            match self.run(value, at, slots) {
                Outcome::NoMatch => {
                    slots.fill(None);
                    from = at + 1;
                }
                outcome => return outcome,
            }
        }
        Outcome::NoMatch
    }

    #[inline]
    fn run(&mut self, value: &[u8], begin: usize, slots: &mut Slots) -> Outcome {
        let Some(straight) = self.program.straight() else {
            return self.run_and_go_back(value, begin, slots);
        };
        match straight.run(value, begin, slots) {
            Ended::Match => Outcome::Match,
            Ended::NoMatch(at) => {
                // From the next place on it may look at the same bytes again.
                let num_steps = 1 + (at - begin) / Self::BYTES_PER_STEP;
                self.steps_left = self.steps_left.saturating_sub(num_steps);
                match self.steps_left {
                    0 => Outcome::TooLong,
                    _ => Outcome::NoMatch,
                }
            }
            Ended::Unsure => {
                slots.fill(None);
                self.run_and_go_back(value, begin, slots)
            }
        }
    }

    fn run_and_go_back(&mut self, value: &[u8], begin: usize, slots: &mut Slots) -> Outcome {
        self.frames.clear();
        let (mut pc, mut at) = (0, begin);
        loop {
            if self.steps_left == 0 {
                return Outcome::TooLong;
            }
            self.steps_left -= 1;
            let next = match &self.program.instructions()[pc] {
                Instruction::Match => {
                    slots[0] = Some(begin);
                    slots[1] = Some(at);
                    return Outcome::Match;
                }
                Instruction::Literal(literal) => literal.end(value, at).map(|end| (pc + 1, end)),
                Instruction::Start => (at == 0).then_some((pc + 1, at)),
                Instruction::End => (at == value.len()).then_some((pc + 1, at)),
                Instruction::Jump(to) => Some((*to, at)),
                Instruction::Split {
                    first,
                    second,
                    ways,
                } => match ways.open(value.get(at)) {
                    Open::Neither => None,
                    Open::First => Some((*first, at)),
                    Open::Second => Some((*second, at)),
                    Open::Both => {
                        self.frames.push(Frame::Branch { pc: *second, at });
                        Some((*first, at))
                    }
                },
                Instruction::Save(slot) => {
                    let was = slots[*slot].replace(at);
                    // Who never goes back needs no old values.
                    if !self.frames.is_empty() {
                        self.frames.push(Frame::Slot { slot: *slot, was });
                    }
                    Some((pc + 1, at))
                }
                Instruction::Repeat(repeat) => {
                    let end = self.repeat(repeat, pc + 1, value, at);
                    end.map(|end| (pc + 1, end))
                }
            };
            match next.or_else(|| self.back(value, slots)) {
                Some(next) => (pc, at) = next,
                None => return Outcome::NoMatch,
            }
        }
    }

    /// Where a repetition from `at` on ends at first; the other ends are frames, which go on at `pc`.
    fn repeat(&mut self, repeat: &Repeat, pc: usize, value: &[u8], at: usize) -> Option<usize> {
        let least = at + repeat.least;
        let most = repeat.set.run(value, at, repeat.most);
        let num_steps = (most - at) / Self::BYTES_PER_STEP;
        self.steps_left = self.steps_left.saturating_sub(num_steps);
        if most < least {
            return None;
        }
        if repeat.keeps_all || most == least {
            return Some(most);
        }
        if repeat.greedy {
            let at = most - 1;
            self.frames.push(Frame::Fewer { pc, least, at });
            return Some(most);
        }
        let least = (least..most).find(|at| is_between(value, *at));
        let least = least.unwrap_or(most);
        if least < most {
            let at = least + 1;
            self.frames.push(Frame::More { pc, at, most });
        }
        Some(least)
    }

    /// The place to go on from after a failure.
    fn back(&mut self, value: &[u8], slots: &mut Slots) -> Option<(usize, usize)> {
        loop {
            match self.frames.pop()? {
                Frame::Branch { pc, at } => return Some((pc, at)),
                Frame::Slot { slot, was } => slots[slot] = was,
                Frame::Fewer { pc, least, at } => {
                    if at > least {
                        let at = at - 1;
                        self.frames.push(Frame::Fewer { pc, least, at });
                    }
                    if is_between(value, at) {
                        return Some((pc, at));
                    }
                }
                Frame::More { pc, at, most } => {
                    if at < most {
                        let at = at + 1;
                        self.frames.push(Frame::More { pc, at, most });
                    }
                    if is_between(value, at) {
                        return Some((pc, at));
                    }
                }
            }
        }
    }
}

/// Whether a place lies between two characters, for values in ASCII or UTF-8.
fn is_between(value: &[u8], at: usize) -> bool {
    value.get(at).is_none_or(|byte| *byte & 0xC0 != 0x80)
}

/// The first place at or after `from` where the needle is.
fn next(finder: &Finder<'static>, value: &[u8], from: usize) -> Option<usize> {
    Some(from + finder.find(value.get(from..)?)?)
}

/// Where a byte is from `at` on, or the value ends; it is near for most.
#[inline]
fn end_before(byte: u8, value: &[u8], at: usize) -> usize {
    if let Some(place) = find_in_window(byte, value, at) {
        return at + place;
    }
    let far = value.get(at + WINDOW..).unwrap_or_default();
    memchr(byte, far).map_or(value.len(), |place| at + WINDOW + place)
}

impl ByteSet {
    /// The end of the run of members from `at` on, of `most` bytes at most.
    #[inline]
    fn run(&self, value: &[u8], at: usize, most: Option<usize>) -> usize {
        let end = most.map_or(value.len(), |most| value.len().min(at + most));
        match self {
            Self::All => end,
            Self::AllBut(byte) => end_before(*byte, &value[..end], at),
            Self::Some(members) => {
                let mut rest = value[at..end].iter();
                let len = rest.position(|b| !members[usize::from(*b)]);
                len.map_or(end, |len| at + len)
            }
        }
    }
}
