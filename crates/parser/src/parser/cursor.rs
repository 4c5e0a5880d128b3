//! Walks over the tokens: keywords, punctuation, names, lists, and the depth limit.

use std::sync::atomic::{AtomicU32, Ordering};

use basalt_error::{Error, ErrorCode, Result};

use super::expr::EXPR_LEVELS;
use super::failure::Expectations;
use crate::ast::{ObjectName, Span};
use crate::lexer::{Lexer, Token, TokenKind as K, decode_quoted};

/// How deep a text may be nested. Constructs count by the stack that they take, so that neither
/// parsing nor a walk over the tree needs more than two thirds of 2 MiB, even without optimisation.
pub(crate) const MAX_DEPTH: u32 = 1000;

/// The limit of this process.
static DEPTH_LIMIT: AtomicU32 = AtomicU32::new(MAX_DEPTH);

/// Lets texts be nested deeper, in a program whose threads that parse and plan have stacks of at
/// least `stack_bytes`.
pub fn use_stack(stack_bytes: usize) {
    let times = u32::try_from(stack_bytes / (2 << 20)).unwrap_or(1);
    // Half of it is left to what plans the query.
    let levels = MAX_DEPTH.saturating_mul((times / 2).clamp(1, 10));
    DEPTH_LIMIT.store(levels, Ordering::Relaxed);
}

/// How deep a text may be nested in this process.
pub fn max_depth() -> u32 {
    DEPTH_LIMIT.load(Ordering::Relaxed)
}

/// A position in a text, with the tokens read so far.
pub(crate) struct Parser<'a> {
    pub(super) text: &'a [u8],
    lexer: Lexer<'a>,
    /// Significant tokens read so far; more are read when looked at.
    tokens: Vec<Token>,
    pos: usize,
    pub(super) expectations: Expectations,
    depth: u32,
    /// The greatest depth so far.
    pub(crate) deepest: u32,
    /// Height of the highest expression finished since the enclosing one began.
    pub(super) height: u32,
    /// BETWEENs nested in each other in the expressions finished since the enclosing one began.
    pub(super) copies: u32,
    /// Where inline data of an INSERT begins.
    pub(super) data_start: Option<usize>,
}

impl<'a> Parser<'a> {
    /// Starts at byte `start` of `text`.
    pub(crate) fn new(text: &'a [u8], start: usize) -> Result<Self> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::new(
                ErrorCode::SYNTAX_ERROR,
                "split the text: a query of 4 GiB or more is too long",
            ));
        }
        Ok(Parser {
            text,
            lexer: Lexer::starting_at(text, start),
            tokens: Vec::new(),
            pos: 0,
            expectations: Expectations::default(),
            depth: 0,
            deepest: 0,
            height: 0,
            copies: 0,
            data_start: None,
        })
    }

    /// The significant token `ahead` of the next one.
    pub(super) fn token(&mut self, ahead: usize) -> Token {
        while self.tokens.len() <= self.pos + ahead {
            let token = self.lexer.next_token();
            if token.kind.is_significant() {
                self.tokens.push(token);
            }
        }
        self.tokens[self.pos + ahead]
    }

    pub(super) fn kind(&mut self) -> K {
        self.token(0).kind
    }

    /// Text of the significant token `ahead` of the next one.
    pub(super) fn token_text(&mut self, ahead: usize) -> &'a [u8] {
        let span = self.token(ahead).span;
        self.slice(span)
    }

    pub(super) fn slice(&self, span: Span) -> &'a [u8] {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.token(0);
        if token.kind != K::End {
            self.pos += 1;
        }
        token
    }

    /// A position to come [`back`](Self::back) to.
    pub(super) fn mark(&self) -> usize {
        self.pos
    }

    pub(super) fn back(&mut self, mark: usize) {
        self.pos = mark;
    }

    /// The span of the last consumed token.
    pub(super) fn last_span(&self) -> Span {
        self.pos
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .map_or(Span::default(), |t| t.span)
    }

    pub(super) fn start_span(&mut self) -> Span {
        self.token(0).span
    }

    /// From the beginning of `start` to the last consumed token.
    pub(super) fn span_from(&self, start: Span) -> Span {
        start.to(self.last_span())
    }

    /// Remembers that `what` could stand here, for the error message.
    pub(super) fn note(&mut self, what: &'static str) {
        self.expectations.add(self.pos, what);
    }

    /// The error that nothing of what was expected stands at the farthest position reached.
    pub(super) fn failure(&mut self) -> Error {
        let index = self.expectations.at().max(self.pos);
        let ahead = index - self.pos;
        let token = self.token(ahead);
        let before = index
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .copied();
        self.expectations.error(self.text, token, before)
    }

    /// Notes `what` and fails.
    pub(super) fn fail<T>(&mut self, what: &'static str) -> Result<T> {
        self.note(what);
        Err(self.failure())
    }

    /// An error of `code` at a place.
    pub(super) fn error_at(&self, span: Span, code: ErrorCode, message: String) -> Error {
        Error::new(code, message).at(crate::position_of(self.text, span.start as usize))
    }

    /// Counts a nested construct; every call needs a [`leave`](Self::leave) if it succeeds.
    pub(super) fn enter(&mut self, levels: u32) -> Result<()> {
        self.depth += levels;
        self.check_depth()
    }

    pub(super) fn leave(&mut self, levels: u32) {
        self.depth -= levels;
    }

    /// Fails when the tree being built is too deep.
    pub(super) fn check_depth(&mut self) -> Result<()> {
        let limit = max_depth();
        let depth = self.depth + self.height;
        self.deepest = self.deepest.max(depth);
        if depth <= limit {
            return Ok(());
        }
        let span = self.start_span();
        let levels = limit / EXPR_LEVELS;
        let message = format!(
            "simplify the query: it is nested too deep here (about {levels} levels of brackets, or \
             {limit} operators one behind the other, are allowed)"
        );
        Err(self.error_at(span, ErrorCode::TOO_DEEP_RECURSION, message))
    }

    // --- keywords

    /// Whether the next tokens are the words of `words`, without case. Consumes nothing.
    pub(super) fn peek_keyword(&mut self, words: &'static str) -> bool {
        let mut rest = words;
        for (ahead, word) in words.split(' ').enumerate() {
            if !self.is_word(ahead, word) {
                // The error is at the first word that is another one.
                self.expectations.add(self.pos + ahead, rest);
                return false;
            }
            rest = rest.get(word.len() + 1..).unwrap_or_default();
        }
        true
    }

    /// Whether the token `ahead` is `word`; notes nothing.
    pub(super) fn is_word(&mut self, ahead: usize, word: &str) -> bool {
        let token = self.token(ahead);
        token.kind == K::Word && self.slice(token.span).eq_ignore_ascii_case(word.as_bytes())
    }

    /// Consumes the words of `words` if all of them are next.
    pub(super) fn keyword(&mut self, words: &'static str) -> bool {
        let found = self.peek_keyword(words);
        if found {
            self.pos += words.split(' ').count();
        }
        found
    }

    /// Consumes the first of `choices` that is next and returns its index.
    pub(super) fn keyword_of(&mut self, choices: &[&'static str]) -> Option<usize> {
        choices.iter().position(|words| self.keyword(words))
    }

    pub(super) fn expect_keyword(&mut self, words: &'static str) -> Result<()> {
        if self.keyword(words) {
            Ok(())
        } else {
            Err(self.failure())
        }
    }

    // --- punctuation

    pub(super) fn peek_symbol(&mut self, kind: K) -> bool {
        let found = self.kind() == kind;
        if !found {
            self.note(kind.symbol().unwrap_or("token"));
        }
        found
    }

    pub(super) fn symbol(&mut self, kind: K) -> bool {
        let found = self.peek_symbol(kind);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect_symbol(&mut self, kind: K) -> Result<()> {
        if self.symbol(kind) {
            Ok(())
        } else {
            Err(self.failure())
        }
    }

    // --- lists

    /// One or more items with commas between.
    pub(super) fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.symbol(K::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( item, .. )`, possibly empty.
    pub(super) fn parenthesised<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect_symbol(K::OpenRound)?;
        if self.symbol(K::CloseRound) {
            return Ok(Vec::new());
        }
        let items = self.list(item)?;
        self.expect_symbol(K::CloseRound)?;
        Ok(items)
    }

    // --- names and strings

    /// A name, quoted or not.
    pub(super) fn identifier(&mut self, what: &'static str) -> Result<String> {
        match self.try_identifier(what)? {
            Some(name) => Ok(name),
            None => Err(self.failure()),
        }
    }

    /// A name, if the next token is one; notes `what`.
    pub(super) fn try_identifier(&mut self, what: &'static str) -> Result<Option<String>> {
        let token = self.token(0);
        let text = self.slice(token.span);
        let bytes = match token.kind {
            K::Word => text.to_vec(),
            K::QuotedIdentifier => decode_quoted(text),
            _ => {
                self.note(what);
                return Ok(None);
            }
        };
        let name = String::from_utf8(bytes).map_err(|_| {
            let message = "write names in UTF-8: this one is not".to_owned();
            self.error_at(token.span, ErrorCode::SYNTAX_ERROR, message)
        })?;
        if name.is_empty() {
            let message = "give a name: it is empty here".to_owned();
            return Err(self.error_at(token.span, ErrorCode::SYNTAX_ERROR, message));
        }
        self.advance();
        Ok(Some(name))
    }

    /// Names with dots between.
    pub(super) fn compound_identifier(&mut self, what: &'static str) -> Result<Vec<String>> {
        let mut parts = vec![self.identifier(what)?];
        while self.kind() == K::Dot {
            self.advance();
            parts.push(self.identifier("name")?);
        }
        Ok(parts)
    }

    /// A string in quotes of any kind, decoded.
    pub(super) fn string(&mut self, what: &'static str) -> Result<Vec<u8>> {
        match self.try_string() {
            Some(bytes) => Ok(bytes),
            None => self.fail(what),
        }
    }

    /// A string in quotes that is text.
    pub(super) fn text_string(&mut self, what: &'static str) -> Result<String> {
        let span = self.start_span();
        String::from_utf8(self.string(what)?).map_err(|_| {
            let message = "write this string in UTF-8".to_owned();
            self.error_at(span, ErrorCode::SYNTAX_ERROR, message)
        })
    }

    /// A name or a string.
    pub(super) fn name_or_string(&mut self, what: &'static str) -> Result<String> {
        if self.kind() == K::String {
            self.text_string(what)
        } else {
            self.identifier(what)
        }
    }

    pub(super) fn try_string(&mut self) -> Option<Vec<u8>> {
        let text = self.token_text(0);
        let bytes = match self.kind() {
            K::String if crate::lexer::has_cut_escape(text) => return None,
            K::String => decode_quoted(text),
            K::Heredoc => crate::lexer::decode_heredoc(text),
            K::HexString | K::BinaryString => crate::lexer::decode_hex_string(text)?,
            _ => return None,
        };
        self.advance();
        Some(bytes)
    }

    /// `[database.]name`, each part a name or `{name:Identifier}`.
    pub(super) fn object_name(&mut self, what: &'static str) -> Result<ObjectName> {
        let start = self.start_span();
        let (name, name_is_parameter) = self.name_or_parameter(what)?;
        let mut object = ObjectName {
            name,
            name_is_parameter,
            ..ObjectName::default()
        };
        if self.kind() == K::Dot {
            self.advance();
            let (name, is_parameter) = self.name_or_parameter("table name")?;
            object.database = Some(std::mem::replace(&mut object.name, name));
            object.database_is_parameter = object.name_is_parameter;
            object.name_is_parameter = is_parameter;
        }
        object.span = self.span_from(start);
        Ok(object)
    }

    pub(super) fn name_or_parameter(&mut self, what: &'static str) -> Result<(String, bool)> {
        if self.kind() != K::OpenCurly {
            return Ok((self.identifier(what)?, false));
        }
        self.advance();
        let name = self.identifier("parameter name")?;
        self.expect_symbol(K::Colon)?;
        self.expect_keyword("Identifier")?;
        self.expect_symbol(K::CloseCurly)?;
        Ok((name, true))
    }

    /// `ON CLUSTER name`
    pub(super) fn on_cluster(&mut self) -> Result<Option<String>> {
        if !self.keyword("ON CLUSTER") {
            return Ok(None);
        }
        self.name_or_string("cluster name").map(Some)
    }
}
