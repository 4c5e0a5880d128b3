//! Parses windows.

use basalt_error::Result;

use super::Parser;
use crate::ast::{FrameBound, FrameUnit, NamedWindow, WindowFrame, WindowRef, WindowSpec};
use crate::lexer::TokenKind as K;

/// Levels of depth that a window counts as, besides its expressions.
const WINDOW_LEVELS: u32 = 4;

impl Parser<'_> {
    /// What follows OVER.
    pub(super) fn window_reference(&mut self) -> Result<WindowRef> {
        if self.peek_symbol(K::OpenRound) {
            self.enter(WINDOW_LEVELS)?;
            let spec = Box::new(self.window_spec()?);
            self.leave(WINDOW_LEVELS);
            return Ok(WindowRef::Spec(spec));
        }
        Ok(WindowRef::Named(self.identifier("window name")?))
    }

    /// `name AS (..)` of WINDOW.
    pub(super) fn named_window(&mut self) -> Result<NamedWindow> {
        let name = self.identifier("window name")?;
        self.expect_keyword("AS")?;
        Ok(NamedWindow {
            name,
            spec: self.window_spec()?,
        })
    }

    fn window_spec(&mut self) -> Result<WindowSpec> {
        self.expect_symbol(K::OpenRound)?;
        let mut spec = WindowSpec::default();
        let clause = self.peek_keyword("PARTITION BY")
            || self.peek_keyword("ORDER BY")
            || (self.frame_unit_is_next() && self.token(1).kind != K::CloseRound);
        if !clause && self.kind() != K::CloseRound {
            spec.parent = Some(self.identifier("window name")?);
        }
        if self.keyword("PARTITION BY") {
            spec.partition_by = self.list(Self::expr)?;
        }
        if self.keyword("ORDER BY") {
            spec.order_by = self.list(Self::order_item)?;
        }
        spec.frame = self.window_frame()?;
        self.expect_symbol(K::CloseRound)?;
        Ok(spec)
    }

    fn frame_unit_is_next(&mut self) -> bool {
        self.peek_keyword("ROWS") || self.peek_keyword("GROUPS") || self.peek_keyword("RANGE")
    }

    fn window_frame(&mut self) -> Result<Option<WindowFrame>> {
        let unit = match self.keyword_of(&["ROWS", "GROUPS", "RANGE"]) {
            Some(0) => FrameUnit::Rows,
            Some(1) => FrameUnit::Groups,
            Some(_) => FrameUnit::Range,
            None => return Ok(None),
        };
        let (start, end) = if self.keyword("BETWEEN") {
            let start = self.frame_bound()?;
            self.expect_keyword("AND")?;
            (start, self.frame_bound()?)
        } else {
            (self.frame_bound()?, FrameBound::CurrentRow)
        };
        Ok(Some(WindowFrame { unit, start, end }))
    }

    fn frame_bound(&mut self) -> Result<FrameBound> {
        if self.keyword("CURRENT ROW") {
            return Ok(FrameBound::CurrentRow);
        }
        if self.keyword("UNBOUNDED PRECEDING") {
            return Ok(FrameBound::UnboundedPreceding);
        }
        if self.keyword("UNBOUNDED FOLLOWING") {
            return Ok(FrameBound::UnboundedFollowing);
        }
        // `AND` ends the bound.
        let offset = Box::new(self.expr_above(super::operator::precedence::BETWEEN)?);
        if self.keyword("PRECEDING") {
            return Ok(FrameBound::Preceding(offset));
        }
        self.expect_keyword("FOLLOWING")?;
        Ok(FrameBound::Following(offset))
    }
}
