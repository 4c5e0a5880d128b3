//! Knows where in the query's text the expression stands that is being resolved, for errors: those found
//! at once, and those that its functions report while the query runs.

use std::cell::Cell;

use basalt_error::{Error, Position};
use basalt_parser::ast::Span;
use basalt_parser::position_behind;

use crate::query::Analyzer;

thread_local! {
    // Functions are bound and casts written out far from any `Analyzer`.
    static PLACE: Cell<Option<Position>> = const { Cell::new(None) };
}

/// Where the expression stands that is being resolved on this thread.
pub(crate) fn current() -> Option<Position> {
    PLACE.get()
}

/// Puts the place before back.
pub(crate) struct Entered(Option<Position>);

impl Drop for Entered {
    fn drop(&mut self) {
        PLACE.set(self.0);
    }
}

/// What an analyzer remembers of places.
#[derive(Debug)]
pub(crate) struct Places {
    /// Where the statement begins; others are counted on from there.
    start: Cell<(usize, Position)>,
    /// A place that was asked for, from which others behind it are counted on.
    known: Cell<(usize, Position)>,
    /// Whether what is planned was written in another text.
    is_elsewhere: Cell<bool>,
}

impl Default for Places {
    fn default() -> Self {
        let start = (0, Position { line: 1, column: 1 });
        Self {
            start: Cell::new(start),
            known: Cell::new(start),
            is_elsewhere: Cell::new(false),
        }
    }
}

impl Places {
    /// Remembers where the statement begins.
    pub(crate) fn begin(&self, offset: usize, position: Position) {
        self.start.set((offset, position));
        self.known.set((offset, position));
    }

    /// The place at or before byte `offset` that is nearest, of those that are known.
    fn before(&self, offset: usize) -> (usize, Position) {
        let known = self.known.get();
        if known.0 <= offset {
            known
        } else {
            self.start.get()
        }
    }
}

impl Analyzer<'_> {
    /// Until the guard goes, what is resolved stands at `span`, or where it did if that is nowhere.
    pub(crate) fn enter(&self, span: Span) -> Entered {
        let place = self.position(span).or_else(current);
        Entered(PLACE.replace(place))
    }

    /// Plans what was written in another text (a view, a function of the user's): its spans are no
    /// places of the query, which has the name of it.
    pub(crate) fn elsewhere<T>(&self, f: impl FnOnce() -> T) -> T {
        let before = self.places.is_elsewhere.replace(true);
        let result = f();
        self.places.is_elsewhere.set(before);
        result
    }

    /// The error with the place that it is about, unless it has one.
    pub(crate) fn placed(&self, error: Error, span: Span) -> Error {
        if error.position().is_some() {
            return error;
        }
        match self.position(span) {
            Some(position) => error.at(position),
            None => error,
        }
    }

    /// Line and column of a place in the query's text.
    pub(crate) fn position(&self, span: Span) -> Option<Position> {
        let is_nowhere = span.start == 0 && span.end == 0;
        if is_nowhere || self.places.is_elsewhere.get() {
            return None;
        }
        let offset = span.start as usize;
        if span.end as usize > self.text.len() {
            return None;
        }
        let position = position_behind(self.text, self.places.before(offset), offset);
        self.places.known.set((offset, position));
        Some(position)
    }
}
