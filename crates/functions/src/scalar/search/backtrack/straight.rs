//! Programs with one way through: nothing to go back to, no list of what is left to try.
//!
//! A run of bytes that ends where the next step begins is never cut short, and a literal that may be
//! missing is there or is not. One look at each byte tells where the groups are, whatever the bytes
//! are: as ClickHouse does, it takes bytes that are no UTF-8 for characters here.

use super::Slots;
use super::literal::Literal;
use super::program::{ByteSet, Instruction, Repeat};

/// The steps of a program with one way through.
#[derive(Clone, Debug)]
pub(super) struct Straight {
    steps: Vec<Step>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With a match; the slots tell where.
    Match,
    /// There is none; it got as far as here.
    NoMatch(usize),
    /// After a choice: there may be a match after another one.
    Unsure,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Literal(Literal),
    /// A literal that may be missing.
    Maybe {
        literal: Literal,
        /// What follows cannot begin like the literal: if it fails behind it, it fails without it.
        is_sure: bool,
    },
    /// As many members as there are.
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

impl Straight {
    /// The steps of `instructions`, of which each tells what can follow; none if there are several ways.
    pub(super) fn new(instructions: &[Instruction]) -> Option<Self> {
        let mut steps = Vec::new();
        let mut pc = 0;
        while pc < instructions.len() {
            let (step, next) = match &instructions[pc] {
                Instruction::Literal(literal) => (Step::Literal(literal.clone()), pc + 1),
                Instruction::Save(slot) => (Step::Save(*slot), pc + 1),
                Instruction::End => (Step::End, pc + 1),
                Instruction::Repeat(repeat) => (Step::of_repeat(repeat)?, pc + 1),
                Instruction::Split {
                    first,
                    second,
                    ways,
                } => {
                    let is_literal = *first == pc + 1 && *second == pc + 2;
                    let Instruction::Literal(literal) = &instructions[*first] else {
                        return None;
                    };
                    let maybe = Step::Maybe {
                        literal: literal.clone(),
                        is_sure: !ways.are_both_open(),
                    };
                    (is_literal.then_some(maybe)?, *second)
                }
                // The caller begins where the value does.
                Instruction::Start if pc == 0 => {
                    pc += 1;
                    continue;
                }
                Instruction::Match if pc + 1 == instructions.len() => break,
                Instruction::Start | Instruction::Jump(_) | Instruction::Match => return None,
            };
            steps.push(step);
            pc = next;
        }
        Some(Self { steps })
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Runs from `begin` on.
    #[inline]
    pub(super) fn run(&self, value: &[u8], begin: usize, slots: &mut Slots) -> Ended {
        let mut at = begin;
        let mut was_sure = true;
        for step in &self.steps {
            let next = match step {
                Step::Literal(literal) => literal.end(value, at),
                Step::Maybe { literal, is_sure } => {
                    let end = literal.end_if_there(value, at);
                    was_sure &= *is_sure || end == at;
                    Some(end)
                }
                Step::Run { set, least, most } => {
                    let end = set.run(value, at, *most);
                    (end - at >= *least).then_some(end)
                }
                Step::Rest { least } => (value.len() - at >= *least).then_some(value.len()),
                Step::Save(slot) => {
                    slots[*slot] = Some(at);
                    Some(at)
                }
                Step::End => (at == value.len()).then_some(at),
            };
            match next {
                Some(next) => at = next,
                None if was_sure => return Ended::NoMatch(at),
                None => return Ended::Unsure,
            }
        }
        slots[0] = Some(begin);
        slots[1] = Some(at);
        Ended::Match
    }
}

impl Step {
    fn of_repeat(repeat: &Repeat) -> Option<Self> {
        let (least, most) = (repeat.least, repeat.most);
        if let (ByteSet::Some(members), 0, Some(1), true) =
            (&repeat.set, least, most, repeat.greedy)
            && let Some(byte) = only_member(members)
        {
            let literal = Literal::new(&[byte]);
            let is_sure = repeat.keeps_all;
            return Some(Self::Maybe { literal, is_sure });
        }
        if !repeat.keeps_all && most != Some(least) {
            return None;
        }
        Some(match (&repeat.set, most) {
            (ByteSet::All, None) => Self::Rest { least },
            (set, most) => Self::Run {
                set: set.clone(),
                least,
                most,
            },
        })
    }
}

fn only_member(members: &[bool; 256]) -> Option<u8> {
    let mut bytes = (0..=255).filter(|byte| members[usize::from(*byte)]);
    bytes.next().filter(|_| bytes.next().is_none())
}
