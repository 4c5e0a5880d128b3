//! Parses and matches the patterns of `sequenceMatch`: `(?1).*(?t<=10)(?2)`.

use basalt_error::{Error, ErrorCode, Result};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
}

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Element>);

/// An event: its time and a bit for each condition that holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) time: i64,
    pub(super) conditions: u32,
}

impl Pattern {
    /// Parses `text`; its conditions are below `num_conditions`.
    pub(super) fn parse(text: &str, num_conditions: usize) -> Result<Self> {
        let mut elements = Vec::new();
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
                elements.push(parse_element(inner.trim(), num_conditions)?);
                rest = behind;
            }
            rest = rest.trim_start();
        }
        Ok(Self(elements))
    }

    /// Where a match that starts at `start` ends.
    fn match_at(&self, events: &[Event], start: usize, steps: &mut usize) -> Result<Option<usize>> {
        // Alternatives that are still open: next element, next event.
        let mut open = vec![(0, start)];
        while let Some((idx, at)) = open.pop() {
            *steps += 1;
            if *steps > MAX_STEPS {
                return Err(Error::new(
                    ErrorCode::TOO_SLOW,
                    "Pattern application proves too difficult, exceeding max iterations (1000000)",
                ));
            }
            let Some(element) = self.0.get(idx) else {
                return Ok(Some(at));
            };
            match element {
                Element::AnyNumber => {
                    if at < events.len() {
                        open.push((idx, at + 1));
                    }
                    open.push((idx + 1, at));
                }
                Element::Any if at < events.len() => open.push((idx + 1, at + 1)),
                Element::Event(condition) => {
                    if events
                        .get(at)
                        .is_some_and(|e| e.conditions >> condition & 1 == 1)
                    {
                        open.push((idx + 1, at + 1));
                    }
                }
                Element::Distance(comparison, wanted) => {
                    let times = at
                        .checked_sub(1)
                        .and_then(|b| events.get(b))
                        .zip(events.get(at));
                    let distance = times.map(|(before, now)| now.time.saturating_sub(before.time));
                    if distance.is_some_and(|d| comparison.holds(d, *wanted)) {
                        open.push((idx + 1, at));
                    }
                }
                Element::Any => {}
            }
        }
        Ok(None)
    }

    /// Number of matches one behind the other, at most `limit`.
    pub(super) fn count(&self, events: &[Event], limit: u64) -> Result<u64> {
        let (mut found, mut start, mut steps) = (0, 0, 0);
        while start < events.len() && found < limit {
            match self.match_at(events, start, &mut steps)? {
                Some(end) => {
                    found += 1;
                    start = end.max(start + 1);
                }
                None => start += 1,
            }
        }
        Ok(found)
    }
}

impl Comparison {
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
