//! Colours the text that is being typed, by the parser's own tokens.

use basalt_parser::keywords::is_keyword;
use basalt_parser::lexer::{Lexer, Token, TokenKind};
use nu_ansi_term::{Color, Style};
use reedline::{Highlighter, StyledText};

/// Gives every token its colour.
pub(super) struct TokenColours;

impl Highlighter for TokenColours {
    fn highlight(&self, text: &str, _cursor: usize) -> StyledText {
        let tokens: Vec<Token> = Lexer::new(text.as_bytes()).collect();
        let mut styled = StyledText::new();
        let mut end = 0;
        for (index, token) in tokens.iter().enumerate() {
            let span = token.span.start as usize..token.span.end as usize;
            let Some(part) = text.get(span.clone()).filter(|part| !part.is_empty()) else {
                continue;
            };
            let is_called = tokens
                .get(index + 1)
                .is_some_and(|t| t.kind == TokenKind::OpenRound);
            styled.push((style(token.kind, part, is_called), part.to_owned()));
            end = span.end;
        }
        // What no token covers stays visible.
        if let Some(rest) = text.get(end..).filter(|rest| !rest.is_empty()) {
            styled.push((Style::default(), rest.to_owned()));
        }
        styled
    }
}

fn style(kind: TokenKind, text: &str, is_called: bool) -> Style {
    match kind {
        TokenKind::Word if is_keyword(text.as_bytes()) => Style::new().fg(Color::LightBlue).bold(),
        TokenKind::Word if is_called => Color::Cyan.normal(),
        TokenKind::Number => Color::Magenta.normal(),
        TokenKind::String | TokenKind::HexString | TokenKind::BinaryString | TokenKind::Heredoc => {
            Color::Green.normal()
        }
        TokenKind::Comment => Color::DarkGray.normal(),
        TokenKind::Error(_) => Color::Red.normal(),
        _ => Style::default(),
    }
}

#[cfg(test)]
mod tests {
    use nu_ansi_term::{Color, Style};
    use reedline::Highlighter;

    use super::TokenColours;

    #[test]
    fn tokens_get_their_colours() {
        let styled = TokenColours.highlight("select sum(x), 'a' -- 1", 0).buffer;
        let style_of = |text: &str| {
            styled
                .iter()
                .find(|(_, part)| part == text)
                .map(|(s, _)| *s)
        };
        assert_eq!(
            style_of("select"),
            Some(Style::new().fg(Color::LightBlue).bold())
        );
        assert_eq!(style_of("sum"), Some(Color::Cyan.normal()));
        assert_eq!(style_of("x"), Some(Style::default()));
        assert_eq!(style_of("'a'"), Some(Color::Green.normal()));
        assert_eq!(style_of("-- 1"), Some(Color::DarkGray.normal()));
    }

    #[test]
    fn no_text_is_lost() {
        for text in [
            "",
            "SELECT 'ü\\ü', \"é",
            "𝄞 SELECT\n 1 /* ü",
            "x'ü",
            "‘ü’ — 1_000",
            "$ü$",
        ] {
            assert_eq!(TokenColours.highlight(text, 0).raw_string(), text);
        }
    }
}
