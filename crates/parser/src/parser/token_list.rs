//! Keeps statements that nothing runs yet as text.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Statement, TokenStatement};
use crate::keywords::is_keyword;
use crate::lexer::TokenKind as K;

impl Parser<'_> {
    /// A statement that stays text, its first words included.
    pub(super) fn tokens(&mut self, construct: &str) -> Result<Statement> {
        let statement = self.rest_as_text(construct)?;
        Ok(Statement::Tokens(Box::new(statement)))
    }

    /// All tokens up to the end of the statement.
    pub(super) fn rest_as_text(&mut self, construct: &str) -> Result<TokenStatement> {
        // Others write their settings on the line of the rest.
        let ends = match construct.starts_with("SYSTEM") {
            true => ["FORMAT", "INTO", "SETTINGS"].as_slice(),
            false => ["FORMAT", "INTO"].as_slice(),
        };
        let mut text = self.text_until(ends)?;
        // Not all words of statements' names are keywords elsewhere.
        let name = text.get_mut(..construct.len());
        if let Some(name) = name.filter(|name| name.eq_ignore_ascii_case(construct)) {
            name.make_ascii_uppercase();
        }
        let output = self.output_options()?;
        if !self.at_statement_end() {
            return self.fail("end of query");
        }
        Ok(TokenStatement {
            output,
            ..TokenStatement::new(construct, text)
        })
    }

    /// The tokens up to one of `ends` or a closing parenthesis, both outside parentheses.
    pub(super) fn text_until(&mut self, ends: &[&str]) -> Result<String> {
        let mut text = String::new();
        let mut open = 0u32;
        let mut last_end = self.start_span().start;
        while !self.at_statement_end() {
            let at_end = ends.iter().any(|word| self.is_word(0, word));
            if open == 0 && at_end {
                break;
            }
            match self.kind() {
                K::Error(_) => return Err(self.failure()),
                K::OpenRound | K::OpenSquare | K::OpenCurly => open += 1,
                K::CloseRound | K::CloseSquare | K::CloseCurly => match open.checked_sub(1) {
                    Some(rest) => open = rest,
                    None => break,
                },
                _ => {}
            }
            let is_equals = self.kind() == K::Equals || text.ends_with(" =");
            let is_apart = self.start_span().start > last_end || text.ends_with(',') || is_equals;
            let mut token = self.one_token()?;
            if is_unit_of_quota(&text) {
                token.make_ascii_lowercase();
            }
            if is_apart || would_join(&text, &token) {
                text.push(' ');
            }
            text.push_str(&token);
            last_end = self.last_span().end;
        }
        if open > 0 {
            return self.fail(")");
        }
        Ok(text)
    }

    fn after_dot(&mut self) -> bool {
        let before = self.last_span();
        self.slice(before) == b"."
    }

    /// The next token in its usual spelling.
    fn one_token(&mut self) -> Result<String> {
        let text = self.token_text(0);
        let kind = self.kind();
        // Names of functions and parts of names are no keywords.
        let is_name = matches!(self.token(1).kind, K::OpenRound | K::Dot) || self.after_dot();
        if let Some(bytes) = self.try_string() {
            return Ok(crate::format::quoted(&bytes));
        }
        if kind == K::QuotedIdentifier {
            let name = self.identifier("name")?;
            // Without its quotes it would be read as a keyword, which has another spelling.
            return Ok(if is_keyword(name.as_bytes()) {
                crate::format::backticked(&name)
            } else {
                crate::format::identifier(&name)
            });
        }
        if kind == K::HexString || kind == K::BinaryString {
            return self.fail("string of digits");
        }
        self.advance();
        Ok(match kind {
            K::Word if is_keyword(text) && !is_name => {
                String::from_utf8_lossy(text).to_ascii_uppercase()
            }
            // Other spellings of the same sign.
            K::Minus => "-".to_owned(),
            _ => String::from_utf8_lossy(text).into_owned(),
        })
    }
}

/// Whether the next token is the unit in `QUOTA .. FOR INTERVAL 1 hour`, which is in lower case there.
fn is_unit_of_quota(text: &str) -> bool {
    let is_quota = text.starts_with("CREATE QUOTA ") || text.starts_with("ALTER QUOTA ");
    is_quota && text.rsplit(' ').nth(1) == Some("INTERVAL")
}

/// Whether two tokens, written without a space, would be read as one: quotes that a name does not
/// need are not written.
fn would_join(text: &str, token: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '`' | '"' | '\'');
    text.ends_with(is_part) && token.starts_with(is_part)
}
