//! Parses and matches the patterns of `sequenceMatch`: `(?1).*(?t<=10)(?2)`.

use basalt_error::{Error, ErrorCode, Result};

use crate::interrupt;

/// Steps after which a pattern counts as too difficult for the events.
const MAX_STEPS: usize = 1_000_000;

/// One element of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    /// An event for which this condition (from 0) holds.
    Event(usize),
    /// Any one event.
    Any,
    /// Any number of events, as few as possible.
    AnyNumber,
    /// The next event comes at such a distance after the last one.
    Distance(Comparison, i64),
}

impl Element {
    /// Whether it needs no event behind the last one; as in ClickHouse, upper bounds of distances need none.
    fn matches_nothing(self) -> bool {
        use Comparison::{GreaterOrEqual, Less, LessOrEqual};
        matches!(
            self,
            Self::AnyNumber
                | Self::Distance(Less | LessOrEqual, _)
                | Self::Distance(GreaterOrEqual, 0)
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
}

/// A parsed pattern, which may begin at any event: its first element is [`Element::AnyNumber`].
#[derive(Debug)]
pub(super) struct Pattern {
    elements: Vec<Element>,
}

/// An event: its time and a bit for each condition that holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) time: i64,
    pub(super) conditions: u32,
}

impl Pattern {
    /// Parses `text`; its conditions are below `num_conditions`.
    pub(super) fn parse(text: &str, num_conditions: usize) -> Result<Self> {
        let mut elements = vec![Element::AnyNumber];
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            if let Some(behind) = rest.strip_prefix(".*") {
                elements.push(Element::AnyNumber);
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix('.') {
                elements.push(Element::Any);
                rest = behind;
            } else {
                let inner = rest.strip_prefix("(?").and_then(|r| r.split_once(')'));
                let (inner, behind) = inner.ok_or_else(|| malformed(rest))?;
                let element = parse_element(inner.trim(), num_conditions)?;
                let is_timed = |e: &Element| matches!(e, Element::Distance(..));
                if is_timed(&element) && elements.last().is_some_and(is_timed) {
                    return Err(Error::new(
                        ErrorCode::BAD_ARGUMENTS,
                        "Write an event between two times: one must stand before each `(?t…)`",
                    ));
                }
                elements.push(element);
                rest = behind;
            }
            rest = rest.trim_start();
        }
        Ok(Self { elements })
    }

    /// Whether the pattern matches somewhere.
    ///
    /// # Errors
    /// `TOO_SLOW`.
    pub(super) fn matches(&self, events: &[Event]) -> Result<bool> {
        if !self.could_match(events) {
            return Ok(false);
        }
        let is_timed = |e: &Element| matches!(e, Element::Distance(..));
        match self.elements.iter().any(is_timed) {
            true => self.match_from(events, &mut 0),
            false => Ok(self.matches_untimed(events)),
        }
    }

    /// Number of matches one behind the other.
    ///
    /// # Errors
    /// `TOO_SLOW`.
    pub(super) fn count(&self, events: &[Event]) -> Result<u64> {
        let (mut found, mut at) = (0, 0);
        if self.could_match(events) {
            loop {
                let before = at;
                if at == events.len() || !self.match_from(events, &mut at)? {
                    break;
                }
                found += 1;
                // A match of no event ends where it begins.
                at += usize::from(at == before);
                interrupt::check()?;
            }
        }
        Ok(found)
    }

    /// Whether each condition of the pattern holds for some event.
    fn could_match(&self, events: &[Event]) -> bool {
        let held = events.iter().fold(0, |all, e| all | e.conditions);
        self.elements.iter().all(|element| match element {
            Element::Event(condition) => held >> condition & 1 == 1,
            _ => true,
        })
    }

    /// Whether a pattern without distances matches: all ways through it are followed at once.
    fn matches_untimed(&self, events: &[Event]) -> bool {
        let end = self.elements.len();
        let mut states = vec![false; end + 1];
        states[0] = true;
        let skip = |states: &mut [bool]| {
            for (idx, element) in self.elements.iter().enumerate() {
                states[idx + 1] |= states[idx] && *element == Element::AnyNumber;
            }
        };
        skip(&mut states);
        for event in events {
            if states[end] {
                break;
            }
            for (idx, element) in self.elements.iter().enumerate().rev() {
                let is_open = states[idx];
                states[idx] &= *element == Element::AnyNumber;
                states[idx + 1] |= is_open
                    && match element {
                        Element::Event(condition) => event.conditions >> condition & 1 == 1,
                        Element::Any => true,
                        Element::AnyNumber | Element::Distance(..) => false,
                    };
            }
            skip(&mut states);
        }
        states[end]
    }

    /// Whether a match begins at or behind `at`, which becomes the place behind it. A distance is from the
    /// event that matched last; events in between are skipped as long as it holds.
    fn match_from(&self, events: &[Event], at: &mut usize) -> Result<bool> {
        // Where to go on after a failure: element, event and the event that distances are from.
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        let (mut idx, mut base, mut num_steps) = (0, *at, 0);
        while idx < self.elements.len() && *at < events.len() {
            let distance = events[*at].time.saturating_sub(events[base].time);
            let holds = match self.elements[idx] {
                Element::AnyNumber | Element::Any => true,
                Element::Event(condition) => events[*at].conditions >> condition & 1 == 1,
                Element::Distance(comparison, wanted) => comparison.holds(distance, wanted),
            };
            match self.elements[idx] {
                Element::AnyNumber | Element::Distance(..) if holds => {
                    open.push((idx, *at, base));
                    (base, idx) = (*at, idx + 1);
                }
                Element::Any | Element::Event(_) if holds => {
                    (base, idx) = (*at, idx + 1);
                    *at += 1;
                }
                Element::Distance(comparison, _) if comparison.may_hold_later() => {
                    *at += 1;
                    if *at == events.len()
                        && !go_back(&mut open, events.len(), (&mut idx, at, &mut base))
                    {
                        break;
                    }
                }
                _ => {
                    if !go_back(&mut open, events.len(), (&mut idx, at, &mut base)) {
                        break;
                    }
                }
            }
            num_steps += 1;
            if num_steps > MAX_STEPS {
                return Err(Error::new(
                    ErrorCode::TOO_SLOW,
                    "Pattern application proves too difficult, exceeding max iterations (1000000)",
                ));
            }
        }
        Ok(self.elements[idx..].iter().all(|e| e.matches_nothing()))
    }
}

/// Goes to the place of the last choice with another event left.
fn go_back(
    open: &mut Vec<(usize, usize, usize)>,
    num_events: usize,
    (idx, at, base): (&mut usize, &mut usize, &mut usize),
) -> bool {
    while let Some(choice) = open.pop() {
        (*idx, *at, *base) = (choice.0, choice.1 + 1, choice.2);
        if *at < num_events {
            return true;
        }
    }
    false
}

impl Comparison {
    /// Whether a later event may be far enough where this one is too near.
    fn may_hold_later(self) -> bool {
        !matches!(self, Comparison::Less | Comparison::LessOrEqual)
    }

    fn holds(self, distance: i64, wanted: i64) -> bool {
        match self {
            Comparison::Less => distance < wanted,
            Comparison::LessOrEqual => distance <= wanted,
            Comparison::Greater => distance > wanted,
            Comparison::GreaterOrEqual => distance >= wanted,
            Comparison::Equal => distance == wanted,
        }
    }
}

fn parse_element(inner: &str, num_conditions: usize) -> Result<Element> {
    if let Some(time) = inner.strip_prefix('t') {
        let operators = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("==", Comparison::Equal),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let operator = operators
            .iter()
            .find_map(|(text, c)| Some((time.strip_prefix(text)?, *c)));
        let (number, comparison) = operator.ok_or_else(|| malformed(inner))?;
        let number = number.trim().parse().map_err(|_| malformed(inner))?;
        return Ok(Element::Distance(comparison, number));
    }
    let number: usize = inner.parse().map_err(|_| malformed(inner))?;
    if number == 0 || number > num_conditions {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Event number {number} is out of range: there are {num_conditions} conditions"),
        ));
    }
    Ok(Element::Event(number - 1))
}

fn malformed(at: &str) -> Error {
    Error::new(
        ErrorCode::BAD_ARGUMENTS,
        format!("Malformed pattern: expected (?N), (?t<N), . or .* at '{at}'"),
    )
}
