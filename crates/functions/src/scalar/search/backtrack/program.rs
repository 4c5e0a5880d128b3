//! Compiles regular expressions to the steps of a backtracking run.

use std::ops::Range;

use memchr::memmem::Finder;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::blocks::Blocks;
use super::firsts::{Firsts, Ways};
use super::literal::Literal;
use super::straight::Straight;
use crate::Characters;
use crate::characters::is_utf8;

/// An expression as a list of steps.
#[derive(Clone, Debug)]
pub struct Program {
    instructions: Vec<Instruction>,
    num_slots: usize,
    is_whole: bool,
    /// What every match begins with; none if every match begins where the value does.
    prefix: Option<Finder<'static>>,
    /// The same steps, if there is one way through.
    straight: Option<Straight>,
    /// Those for many values at a time.
    blocks: Option<Blocks>,
    /// The values that it is right for: where they are UTF-8, a repetition ends where a character ends.
    characters: Characters,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    Literal(Literal),
    Repeat(Repeat),
    /// The first way, and after a failure the second, as far as the next byte allows them.
    Split {
        first: usize,
        second: usize,
        ways: Ways,
    },
    Jump(usize),
    /// The value begins here.
    Start,
    /// The value ends here.
    End,
    Save(usize),
    Match,
}

/// A repetition of single bytes.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    pub(super) set: ByteSet,
    pub(super) least: usize,
    pub(super) most: Option<usize>,
    pub(super) greedy: bool,
    /// What follows cannot match before the end of the run.
    pub(super) keeps_all: bool,
}

/// A set of bytes.
#[derive(Clone, Debug)]
pub(super) enum ByteSet {
    All,
    AllBut(u8),
    Some(Box<[bool; 256]>),
}

/// Above this many steps a program is not worth it.
const MAX_INSTRUCTIONS: usize = 200;

impl Program {
    /// Compiles `pattern`, in the syntax of the `regex` crate, for as many values as can be; none if
    /// it is not simple.
    pub fn compile(pattern: &str, case_insensitive: bool) -> Option<Self> {
        let names_bytes = ["\\p", "\\P", "\\x"]
            .iter()
            .any(|name| pattern.contains(name));
        Self::compile_for(Characters::Utf8, pattern, case_insensitive).or_else(|| {
            let is_ascii = pattern.is_ascii() && !names_bytes;
            is_ascii.then(|| Self::compile_for(Characters::Ascii, pattern, case_insensitive))?
        })
    }

    fn compile_for(characters: Characters, pattern: &str, case_insensitive: bool) -> Option<Self> {
        let hir = ParserBuilder::new()
            .dot_matches_new_line(true)
            .case_insensitive(case_insensitive)
            .unicode(characters == Characters::Utf8)
            .utf8(false)
            .build()
            .parse(pattern)
            .ok()?;
        let mut instructions = Vec::new();
        Writer {
            characters,
            out: &mut instructions,
        }
        .push(&hir)?;
        instructions.push(Instruction::Match);
        let prefix = match &instructions[0] {
            Instruction::Start => None,
            Instruction::Literal(literal) => Some(Finder::new(literal.bytes()).into_owned()),
            _ => return None,
        };
        look_ahead(&mut instructions);
        let looks = hir.properties();
        let straight = Straight::new(&instructions);
        Some(Self {
            is_whole: looks.look_set_prefix().contains(Look::Start)
                && looks.look_set_suffix().contains(Look::End),
            blocks: straight.as_ref().and_then(|s| Blocks::new(s.steps())),
            straight,
            instructions,
            num_slots: 2 * (hir.properties().explicit_captures_len() + 1),
            prefix,
            characters,
        })
    }

    /// Whether the program is right for all values, whatever their bytes are.
    pub fn is_for_all(&self) -> bool {
        self.straight.is_some() && self.characters == Characters::Utf8
    }

    /// Whether the program is right for a value, of which `known` holds.
    #[inline]
    pub fn is_for(&self, value: &[u8], known: Characters) -> bool {
        match known {
            _ if self.is_for_all() => true,
            Characters::Ascii => true,
            Characters::Utf8 => self.characters == Characters::Utf8 || value.is_ascii(),
            Characters::Any => {
                value.is_ascii() || (self.characters == Characters::Utf8 && is_utf8(value))
            }
        }
    }

    /// Whether a match can only be the whole value.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The part of each value that a group is, as [`Blocks::parts`] tells, of at most
    /// [`BLOCK`](super::BLOCK) values of any bytes; false, and nothing is told, if the program is no such one.
    pub fn parts(
        &self,
        values: &[&[u8]],
        group: usize,
        parts: &mut [Range<usize>],
        other: impl FnMut(usize) -> Range<usize>,
    ) -> bool {
        let is_simple = self.is_for_all() && self.is_anchored();
        match self.blocks.as_ref().filter(|_| is_simple) {
            Some(blocks) => blocks.parts(values, group, parts, other),
            None => return false,
        }
        true
    }

    pub(super) fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Two for the match and each group.
    pub fn num_slots(&self) -> usize {
        self.num_slots
    }

    pub(super) fn straight(&self) -> Option<&Straight> {
        self.straight.as_ref()
    }

    pub(super) fn prefix(&self) -> Option<&Finder<'static>> {
        self.prefix.as_ref()
    }

    /// Whether a match begins where the value does.
    pub fn is_anchored(&self) -> bool {
        self.prefix.is_none()
    }
}

/// Writes the steps of the parts of an expression; none for what is not simple.
struct Writer<'a> {
    characters: Characters,
    out: &'a mut Vec<Instruction>,
}

impl Writer<'_> {
    fn push(&mut self, hir: &Hir) -> Option<()> {
        if self.out.len() > MAX_INSTRUCTIONS {
            return None;
        }
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                self.out
                    .push(Instruction::Literal(Literal::new(&literal.0)));
            }
            HirKind::Class(_) => self.push_repeat(byte_set(hir)?, 1, Some(1), true)?,
            HirKind::Look(Look::Start) => self.out.push(Instruction::Start),
            HirKind::Look(Look::End) => self.out.push(Instruction::End),
            HirKind::Look(_) => return None,
            HirKind::Repetition(repetition) => self.push_repetition(repetition)?,
            HirKind::Capture(capture) => {
                let slot = 2 * usize::try_from(capture.index).ok()?;
                self.out.push(Instruction::Save(slot));
                self.push(&capture.sub)?;
                self.out.push(Instruction::Save(slot + 1));
            }
            HirKind::Concat(parts) => {
                for part in parts {
                    self.push(part)?;
                }
            }
            HirKind::Alternation(parts) => self.push_alternation(parts)?,
        }
        Some(())
    }

    /// Of characters of several bytes all count or none does, and their number does not.
    fn push_repeat(
        &mut self,
        set: ByteSet,
        least: u32,
        most: Option<u32>,
        greedy: bool,
    ) -> Option<()> {
        let counts_nothing = least <= 1 && most.is_none();
        if self.characters == Characters::Utf8 && set.has(0x80) && !counts_nothing {
            return None;
        }
        self.out.push(Instruction::Repeat(Repeat {
            set,
            least: usize::try_from(least).ok()?,
            most: most.map(usize::try_from).transpose().ok()?,
            greedy,
            keeps_all: false,
        }));
        Some(())
    }

    fn push_repetition(&mut self, repetition: &Repetition) -> Option<()> {
        let (least, most) = (repetition.min, repetition.max);
        if let Some(set) = byte_set(&repetition.sub) {
            return self.push_repeat(set, least, most, repetition.greedy);
        }
        if (least, most) != (0, Some(1)) {
            return None;
        }
        let split = self.out.len();
        self.out.push(Instruction::Match);
        self.push(&repetition.sub)?;
        let (inside, after) = (split + 1, self.out.len());
        let (first, second) = match repetition.greedy {
            true => (inside, after),
            false => (after, inside),
        };
        self.out[split] = Instruction::split(first, second);
        Some(())
    }

    fn push_alternation(&mut self, parts: &[Hir]) -> Option<()> {
        let mut jumps = Vec::new();
        let (last, others) = parts.split_last()?;
        for part in others {
            let split = self.out.len();
            self.out.push(Instruction::Match);
            self.push(part)?;
            jumps.push(self.out.len());
            self.out.push(Instruction::Match);
            let (first, second) = (split + 1, self.out.len());
            self.out[split] = Instruction::split(first, second);
        }
        self.push(last)?;
        for jump in jumps {
            self.out[jump] = Instruction::Jump(self.out.len());
        }
        Some(())
    }
}

/// The bytes that a part matches, if it matches any one character of some; that of characters of
/// several bytes it matches all or none.
fn byte_set(hir: &Hir) -> Option<ByteSet> {
    let mut members = [false; 256];
    match hir.kind() {
        HirKind::Literal(literal) => match *literal.0 {
            [byte] => members[usize::from(byte)] = true,
            _ => return None,
        },
        HirKind::Class(Class::Bytes(class)) => {
            for range in class.ranges() {
                members[usize::from(range.start())..=usize::from(range.end())].fill(true);
            }
        }
        HirKind::Class(Class::Unicode(class)) => {
            for range in class.ranges() {
                let (start, end) = (range.start(), range.end());
                let last = match end {
                    char::MAX if start <= '\u{80}' => 0xFF,
                    end => u8::try_from(end).ok().filter(u8::is_ascii)?,
                };
                members[usize::from(u8::try_from(start).ok()?)..=usize::from(last)].fill(true);
            }
        }
        _ => return None,
    }
    Some(match members.iter().filter(|is| !**is).count() {
        0 => ByteSet::All,
        1 => ByteSet::AllBut(members.iter().position(|is| !is)? as u8),
        _ => ByteSet::Some(Box::new(members)),
    })
}

impl ByteSet {
    fn has(&self, byte: u8) -> bool {
        match self {
            Self::All => true,
            Self::AllBut(other) => byte != *other,
            Self::Some(members) => members[usize::from(byte)],
        }
    }
}

impl Instruction {
    /// Both ways, whatever comes next.
    fn split(first: usize, second: usize) -> Self {
        let ways = Ways::both();
        Self::Split {
            first,
            second,
            ways,
        }
    }
}

/// Finds out what can come first at every step, and with it which ways are open and which runs are
/// never cut short. All steps lead forward, so that it goes from the last one back.
fn look_ahead(instructions: &mut [Instruction]) {
    let mut firsts = vec![Firsts::ANY; instructions.len()];
    // Whether all goes well from a step on, whatever comes.
    let mut succeeds = vec![false; instructions.len()];
    for pc in (0..instructions.len()).rev() {
        succeeds[pc] = match &instructions[pc] {
            Instruction::Match => true,
            Instruction::Save(_) => succeeds[pc + 1],
            Instruction::Jump(to) => succeeds[*to],
            _ => false,
        };
        firsts[pc] = match &mut instructions[pc] {
            Instruction::Match | Instruction::Start => Firsts::ANY,
            Instruction::End => Firsts::END,
            Instruction::Literal(literal) => Firsts::of(|byte| literal.bytes()[0] == byte),
            Instruction::Jump(to) => firsts[*to],
            Instruction::Save(_) => firsts[pc + 1],
            Instruction::Split {
                first,
                second,
                ways,
            } => {
                *ways = Ways::new(&firsts[*first], &firsts[*second]);
                firsts[*first].or(&firsts[*second])
            }
            Instruction::Repeat(repeat) => {
                let members = Firsts::of(|byte| repeat.set.has(byte));
                repeat.keeps_all =
                    repeat.greedy && (succeeds[pc + 1] || !members.overlaps(&firsts[pc + 1]));
                match repeat.least {
                    0 => members.or(&firsts[pc + 1]),
                    _ => members,
                }
            }
        };
    }
}
