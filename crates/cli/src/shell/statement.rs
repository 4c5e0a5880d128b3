//! Decides when Enter runs the typed text, and which text leaves the shell.
//!
//! Like clickhouse-local: one line that is complete runs as it stands; what goes over several lines
//! ends with `;`, `\G` or an empty line.

use basalt_parser::lexer::{LexError, Lexer, TokenKind};
use reedline::{ValidationResult, Validator};

/// Words that leave the shell, with or without `;`.
const LEAVING: &[&str] = &["exit", "quit", "logout", "q", "\\q", ":q"];

/// Words that ask for help, with or without `;`.
const HELPING: &[&str] = &["help", "?", "\\h", "\\?"];

/// Keywords that something has to follow.
const OPEN_KEYWORDS: &[&str] = &[
    "ADD",
    "ALL",
    "ALTER",
    "AND",
    "ANTI",
    "ARRAY",
    "AS",
    "ASOF",
    "BETWEEN",
    "BY",
    "CASE",
    "COLUMN",
    "CREATE",
    "CROSS",
    "DATABASE",
    "DISTINCT",
    "DROP",
    "ELSE",
    "ENGINE",
    "EXCEPT",
    "EXISTS",
    "FORMAT",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "PREWHERE",
    "RENAME",
    "RIGHT",
    "SELECT",
    "SEMI",
    "SET",
    "SETTINGS",
    "TABLE",
    "THEN",
    "TO",
    "TRUNCATE",
    "UNION",
    "USE",
    "USING",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Whether the text asks to leave the shell.
pub(super) fn leaves(text: &str) -> bool {
    is_one_of(text, LEAVING)
}

/// Whether the text asks what can be typed.
pub(super) fn asks_for_help(text: &str) -> bool {
    is_one_of(text, HELPING)
}

fn is_one_of(text: &str, words: &[&str]) -> bool {
    let typed = text.trim().trim_end_matches(';').trim_end();
    words.iter().any(|word| typed.eq_ignore_ascii_case(word))
}

/// Tells the editor whether Enter ends the text or its line.
pub(super) struct StatementEnd;

impl Validator for StatementEnd {
    fn validate(&self, text: &str) -> ValidationResult {
        if leaves(text) || asks_for_help(text) || is_complete(text) {
            ValidationResult::Complete
        } else {
            ValidationResult::Incomplete
        }
    }
}

fn is_complete(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut last = None;
    for token in Lexer::new(text.as_bytes()) {
        match token.kind {
            TokenKind::Error(LexError::UnclosedQuote | LexError::UnclosedComment) => return false,
            TokenKind::OpenRound | TokenKind::OpenSquare | TokenKind::OpenCurly => depth += 1,
            TokenKind::CloseRound | TokenKind::CloseSquare | TokenKind::CloseCurly => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        if token.kind.is_significant() && token.kind != TokenKind::End {
            last = Some(token);
        }
    }
    let Some(last) = last else { return true };
    if matches!(
        last.kind,
        TokenKind::Semicolon | TokenKind::VerticalDelimiter
    ) {
        return true;
    }
    let several_lines = text.trim_end().contains('\n');
    let is_ended = text.ends_with('\n') || !several_lines;
    let word = text
        .get(last.span.start as usize..last.span.end as usize)
        .unwrap_or_default();
    depth == 0 && is_ended && !wants_more(last.kind, word)
}

/// Whether a statement cannot end with this token.
fn wants_more(kind: TokenKind, word: &str) -> bool {
    match kind {
        TokenKind::Word => OPEN_KEYWORDS
            .iter()
            .any(|open| word.eq_ignore_ascii_case(open)),
        TokenKind::Asterisk | TokenKind::CloseRound | TokenKind::CloseSquare => false,
        TokenKind::CloseCurly | TokenKind::Error(_) => false,
        // Commas and operators are the tokens with a fixed text.
        kind => kind.symbol().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::{asks_for_help, is_complete, leaves};

    #[test]
    fn one_complete_line_runs() {
        for text in [
            "",
            "SELECT 1",
            "SELECT * FROM t",
            "SELECT 1;",
            "SHOW TABLES",
            "SELECT [1]",
            "-- a",
        ] {
            assert!(is_complete(text), "{text}");
        }
    }

    #[test]
    fn open_text_goes_on() {
        for text in [
            "SELECT",
            "SELECT 1,",
            "SELECT 1 +",
            "SELECT (1",
            "SELECT 'a",
            "SELECT 1 /*",
            "SELECT a FROM",
            "[1;2",
        ] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn several_lines_end_with_a_semicolon_or_an_empty_line() {
        assert!(!is_complete("SELECT 1\nFROM t"));
        assert!(is_complete("SELECT 1\nFROM t;"));
        assert!(is_complete("SELECT 1\nFROM t \\G"));
        assert!(is_complete("SELECT 1\nFROM t\n"));
        assert!(!is_complete("SELECT 1\nFROM\n"));
        assert!(is_complete("SELECT ';\n'; -- done"));
        assert!(!is_complete("SELECT ';\n"));
    }

    #[test]
    fn leaving_words() {
        for text in ["exit", " QUIT ; ", "\\q", "logout;"] {
            assert!(leaves(text), "{text}");
        }
        assert!(!leaves("SELECT exit"));
    }

    #[test]
    fn words_that_ask_for_help() {
        for text in ["help", " HELP; ", "?", "\\h"] {
            assert!(asks_for_help(text), "{text}");
        }
        assert!(!asks_for_help("SELECT help"));
    }
}
