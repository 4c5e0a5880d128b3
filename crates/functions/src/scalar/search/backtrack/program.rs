//! Compiles regular expressions to the steps of a backtracking run.

use memchr::memmem::Finder;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// An expression as a list of steps.
#[derive(Clone, Debug)]
pub struct Program {
    instructions: Vec<Instruction>,
    num_slots: usize,
    /// What every match begins with; none if every match begins where the value does.
    prefix: Option<Finder<'static>>,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    Literal(Vec<u8>),
    Repeat(Repeat),
    /// The first way, and after a failure the second.
    Split {
        first: usize,
        second: usize,
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
    /// Compiles `pattern`, in the syntax of the `regex` crate; none if it is not simple.
    pub fn compile(pattern: &str, case_insensitive: bool) -> Option<Self> {
        let hir = ParserBuilder::new()
            .dot_matches_new_line(true)
            .case_insensitive(case_insensitive)
            .unicode(false)
            .utf8(false)
            .build()
            .parse(pattern)
            .ok()?;
        let mut instructions = Vec::new();
        push(&mut instructions, &hir)?;
        instructions.push(Instruction::Match);
        let prefix = match &instructions[0] {
            Instruction::Start => None,
            Instruction::Literal(bytes) => Some(Finder::new(bytes).into_owned()),
            _ => return None,
        };
        for i in 0..instructions.len() {
            let keeps_all = match &instructions[i] {
                Instruction::Repeat(r) if r.greedy => ends_run(&r.set, &instructions, i + 1),
                _ => false,
            };
            if let Instruction::Repeat(repeat) = &mut instructions[i] {
                repeat.keeps_all = keeps_all;
            }
        }
        Some(Self {
            instructions,
            num_slots: 2 * (hir.properties().explicit_captures_len() + 1),
            prefix,
        })
    }

    pub(super) fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Two for the match and each group.
    pub fn num_slots(&self) -> usize {
        self.num_slots
    }

    pub(super) fn prefix(&self) -> Option<&Finder<'static>> {
        self.prefix.as_ref()
    }

    /// Whether a match begins where the value does.
    pub fn is_anchored(&self) -> bool {
        self.prefix.is_none()
    }
}

/// Appends the steps of a part; none if it is not simple.
fn push(out: &mut Vec<Instruction>, hir: &Hir) -> Option<()> {
    if out.len() > MAX_INSTRUCTIONS {
        return None;
    }
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => out.push(Instruction::Literal(literal.0.to_vec())),
        HirKind::Class(_) => out.push(Instruction::Repeat(Repeat {
            set: byte_set(hir)?,
            least: 1,
            most: Some(1),
            greedy: true,
            keeps_all: false,
        })),
        HirKind::Look(Look::Start) => out.push(Instruction::Start),
        HirKind::Look(Look::End) => out.push(Instruction::End),
        HirKind::Look(_) => return None,
        HirKind::Repetition(repetition) => push_repetition(out, repetition)?,
        HirKind::Capture(capture) => {
            let slot = 2 * usize::try_from(capture.index).ok()?;
            out.push(Instruction::Save(slot));
            push(out, &capture.sub)?;
            out.push(Instruction::Save(slot + 1));
        }
        HirKind::Concat(parts) => {
            for part in parts {
                push(out, part)?;
            }
        }
        HirKind::Alternation(parts) => push_alternation(out, parts)?,
    }
    Some(())
}

fn push_repetition(out: &mut Vec<Instruction>, repetition: &Repetition) -> Option<()> {
    let (least, most) = (repetition.min, repetition.max);
    if let Some(set) = byte_set(&repetition.sub) {
        out.push(Instruction::Repeat(Repeat {
            set,
            least: usize::try_from(least).ok()?,
            most: most.map(usize::try_from).transpose().ok()?,
            greedy: repetition.greedy,
            keeps_all: false,
        }));
        return Some(());
    }
    if (least, most) != (0, Some(1)) {
        return None;
    }
    let split = out.len();
    out.push(Instruction::Match);
    push(out, &repetition.sub)?;
    let (inside, after) = (split + 1, out.len());
    out[split] = if repetition.greedy {
        Instruction::Split {
            first: inside,
            second: after,
        }
    } else {
        Instruction::Split {
            first: after,
            second: inside,
        }
    };
    Some(())
}

fn push_alternation(out: &mut Vec<Instruction>, parts: &[Hir]) -> Option<()> {
    let mut jumps = Vec::new();
    let (last, others) = parts.split_last()?;
    for part in others {
        let split = out.len();
        out.push(Instruction::Match);
        push(out, part)?;
        jumps.push(out.len());
        out.push(Instruction::Match);
        out[split] = Instruction::Split {
            first: split + 1,
            second: out.len(),
        };
    }
    push(out, last)?;
    for jump in jumps {
        out[jump] = Instruction::Jump(out.len());
    }
    Some(())
}

/// The bytes that a part matches, if it matches any one of some.
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
        // Without Unicode a class of ASCII characters alone may be written as characters.
        HirKind::Class(Class::Unicode(class)) => {
            for range in class.ranges() {
                let end = u8::try_from(range.end()).ok().filter(u8::is_ascii)?;
                let start = u8::try_from(range.start()).ok()?;
                members[usize::from(start)..=usize::from(end)].fill(true);
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

    fn overlaps(&self, other: &Self) -> bool {
        (0..=255).any(|byte| self.has(byte) && other.has(byte))
    }
}

/// Whether the steps from `pc` on match nothing that begins with a byte of `set`, nor nothing at all:
/// then they fail wherever a run of the set could be cut short.
fn ends_run(set: &ByteSet, instructions: &[Instruction], pc: usize) -> bool {
    match &instructions[pc] {
        Instruction::Literal(bytes) => bytes.first().is_some_and(|byte| !set.has(*byte)),
        Instruction::Repeat(next) => {
            let is_other = !set.overlaps(&next.set);
            is_other && (next.least > 0 || ends_run(set, instructions, pc + 1))
        }
        Instruction::Split { first, second } => {
            ends_run(set, instructions, *first) && ends_run(set, instructions, *second)
        }
        Instruction::Jump(to) => ends_run(set, instructions, *to),
        Instruction::Save(_) => ends_run(set, instructions, pc + 1),
        // Before the end of a run the value does not end.
        Instruction::End => true,
        Instruction::Start | Instruction::Match => false,
    }
}
