//! Names the kinds of tokens.

use crate::ast::Span;

/// A piece of the query's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Spaces and line breaks.
    Whitespace,
    /// `-- ..`, `# ..`, `// ..`, `/* .. */`
    Comment,
    /// A word without quotes: keyword, name.
    Word,
    /// A name in backticks or double quotes.
    QuotedIdentifier,
    /// A string in single quotes.
    String,
    /// `x'..'`
    HexString,
    /// `b'..'`
    BinaryString,
    /// `$tag$..$tag$`
    Heredoc,
    /// A number.
    Number,
    /// `(`
    OpenRound,
    /// `)`
    CloseRound,
    /// `[`
    OpenSquare,
    /// `]`
    CloseSquare,
    /// `{`
    OpenCurly,
    /// `}`
    CloseCurly,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `\G`: ends a statement and asks for the format Vertical.
    VerticalDelimiter,
    /// `.`
    Dot,
    /// `*`
    Asterisk,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `->`
    Arrow,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `::`
    DoubleColon,
    /// `=`, `==`
    Equals,
    /// `!=`, `<>`
    NotEquals,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessOrEquals,
    /// `>=`
    GreaterOrEquals,
    /// `<=>`
    Spaceship,
    /// `||`
    Concatenation,
    /// `~`
    Tilde,
    /// `~*`
    TildeAsterisk,
    /// `!~`
    NotTilde,
    /// `!~*`
    NotTildeAsterisk,
    /// `^`
    Caret,
    /// `@`
    At,
    /// `@@`
    DoubleAt,
    /// The end of the text.
    End,
    /// Text that is no token; says why.
    Error(LexError),
}

/// Why text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexError {
    /// A quote is never closed.
    UnclosedQuote,
    /// A `/*` is never closed.
    UnclosedComment,
    /// A number that goes on with letters.
    BadNumber,
    /// A character that begins nothing.
    UnknownCharacter,
}

impl TokenKind {
    /// Whether the parser sees it.
    pub fn is_significant(self) -> bool {
        !matches!(self, TokenKind::Whitespace | TokenKind::Comment)
    }

    /// The text of punctuation and operators, for messages.
    pub fn symbol(self) -> Option<&'static str> {
        SYMBOLS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map(|(_, text)| *text)
    }
}

/// Tokens with a fixed text.
const SYMBOLS: &[(TokenKind, &str)] = &[
    (TokenKind::OpenRound, "("),
    (TokenKind::CloseRound, ")"),
    (TokenKind::OpenSquare, "["),
    (TokenKind::CloseSquare, "]"),
    (TokenKind::OpenCurly, "{"),
    (TokenKind::CloseCurly, "}"),
    (TokenKind::Comma, ","),
    (TokenKind::Semicolon, ";"),
    (TokenKind::Dot, "."),
    (TokenKind::Asterisk, "*"),
    (TokenKind::Plus, "+"),
    (TokenKind::Minus, "-"),
    (TokenKind::Slash, "/"),
    (TokenKind::Percent, "%"),
    (TokenKind::Arrow, "->"),
    (TokenKind::Question, "?"),
    (TokenKind::Colon, ":"),
    (TokenKind::DoubleColon, "::"),
    (TokenKind::Equals, "="),
    (TokenKind::NotEquals, "!="),
    (TokenKind::Less, "<"),
    (TokenKind::Greater, ">"),
    (TokenKind::LessOrEquals, "<="),
    (TokenKind::GreaterOrEquals, ">="),
    (TokenKind::Spaceship, "<=>"),
    (TokenKind::Concatenation, "||"),
    (TokenKind::Tilde, "~"),
    (TokenKind::TildeAsterisk, "~*"),
    (TokenKind::NotTilde, "!~"),
    (TokenKind::NotTildeAsterisk, "!~*"),
    (TokenKind::Caret, "^"),
    (TokenKind::At, "@"),
    (TokenKind::DoubleAt, "@@"),
    (TokenKind::End, "end of query"),
];
