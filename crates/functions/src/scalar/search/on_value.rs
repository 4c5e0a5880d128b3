//! Looks for a regular expression many times in one value: what holds for the whole value is found out once.
//!
//! A value of 300 kB may have 40,000 matches; who looked at all of it for each would take minutes.

use std::ops::Range;

use memchr::memmem::Finder;
use regex::bytes::{CaptureLocations, Regex};

use super::backtrack::{Backtracker, Outcome, Slots};
use super::regexp::Regexp;
use crate::Characters;

/// An expression on one value.
#[derive(Debug)]
pub struct OnValue<'a> {
    value: &'a [u8],
    way: Way<'a>,
}

#[derive(Debug)]
enum Way<'a> {
    Literal(&'a Finder<'static>),
    Regex(&'a Regex),
}

impl<'a> OnValue<'a> {
    #[inline]
    pub(super) fn new(regexp: &'a Regexp, value: &'a [u8]) -> Self {
        let way = match regexp.contained() {
            Some(finder) => Way::Literal(finder),
            None => Way::Regex(regexp.regex_for(value)),
        };
        Self { value, way }
    }

    /// The first match at or after `start`.
    #[inline]
    pub fn find_at(&self, start: usize) -> Option<Range<usize>> {
        let rest = self.value.get(start..)?;
        match self.way {
            Way::Literal(finder) => {
                let at = start + finder.find(rest)?;
                Some(at..at + finder.needle().len())
            }
            Way::Regex(regex) => Some(regex.find_at(self.value, start)?.range()),
        }
    }
}

/// Finds matches with their groups, in one value after the other.
#[derive(Debug)]
pub struct GroupFinder<'r> {
    regexp: &'r Regexp,
    /// What is known of all values.
    characters: Characters,
    locations: CaptureLocations,
    backtracker: Option<Backtracker<'r>>,
    slots: Slots,
}

impl<'r> GroupFinder<'r> {
    pub(super) fn new(regexp: &'r Regexp, characters: impl FnOnce() -> Characters) -> Self {
        // Where nobody asks, nobody looks at all strings.
        let asks = regexp.simple().is_some_and(|simple| !simple.is_for_all());
        Self {
            regexp,
            characters: if asks { characters() } else { Characters::Any },
            locations: regexp.locations(),
            backtracker: regexp.simple().map(Backtracker::new),
            slots: Slots::new(),
        }
    }

    /// The expression on one value.
    #[inline]
    pub fn on<'a>(&'a mut self, value: &'a [u8]) -> Groups<'a, 'r> {
        let is_simple = match &mut self.backtracker {
            Some(backtracker) if backtracker.program().is_for(value, self.characters) => {
                backtracker.begin(value);
                true
            }
            _ => false,
        };
        Groups {
            finder: self,
            value,
            is_simple,
            regex: None,
        }
    }
}

/// The matches in one value, with their groups.
#[derive(Debug)]
pub struct Groups<'a, 'r> {
    finder: &'a mut GroupFinder<'r>,
    value: &'a [u8],
    /// Whether backtracking has not taken too long in this value.
    is_simple: bool,
    /// The general engine for this value, once it is needed.
    regex: Option<&'r Regex>,
}

impl Groups<'_, '_> {
    /// The first match at or after `start`; then [`Groups::group`] tells its groups.
    #[inline]
    pub fn find_at(&mut self, start: usize) -> Option<Range<usize>> {
        let GroupFinder {
            backtracker, slots, ..
        } = &mut *self.finder;
        if start > self.value.len() {
            slots.fill(None);
            return None;
        }
        if let Some(backtracker) = backtracker.as_mut().filter(|_| self.is_simple) {
            match backtracker.find(self.value, start, slots) {
                Outcome::Match => return self.group(0),
                Outcome::NoMatch => {
                    slots.fill(None);
                    return None;
                }
                Outcome::TooLong => self.is_simple = false,
            }
        }
        self.find_by_regex(start)
    }

    fn find_by_regex(&mut self, start: usize) -> Option<Range<usize>> {
        let GroupFinder {
            regexp,
            locations,
            slots,
            ..
        } = &mut *self.finder;
        // The groups are numbered alike in both expressions.
        let regex = self
            .regex
            .get_or_insert_with(|| regexp.regex_for(self.value));
        let found = regex.captures_read_at(locations, self.value, start);
        slots.clear();
        for group in 0..locations.len() {
            let (begin, end) = match locations.get(group).filter(|_| found.is_some()) {
                Some((begin, end)) => (Some(begin), Some(end)),
                None => (None, None),
            };
            slots.extend([begin, end]);
        }
        self.group(0)
    }

    /// A group of the match that was found last; none if it took no part, or nothing was found.
    #[inline]
    pub fn group(&self, group: usize) -> Option<Range<usize>> {
        let slots = self.finder.slots.get(2 * group..2 * group + 2)?;
        Some(slots[0]?..slots[1]?)
    }
}
