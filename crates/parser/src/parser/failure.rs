//! Builds the error of a text that does not parse: what stands there, what could stand there, and the
//! known word that is nearest to what was written.

use basalt_error::{Error, ErrorCode};

use crate::lexer::{LexError, Token, TokenKind as K};

/// How many alternatives a message lists.
const MAX_LISTED: usize = 12;

/// What could have stood at the farthest position that the parser looked at.
#[derive(Debug, Default)]
pub(super) struct Expectations {
    at: usize,
    words: Vec<&'static str>,
}

impl Expectations {
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Remembers that `what` could stand at token `index`.
    pub(super) fn add(&mut self, index: usize, what: &'static str) {
        if index > self.at {
            self.at = index;
            self.words.clear();
        }
        if index == self.at && !self.words.contains(&what) {
            self.words.push(what);
        }
    }

    /// The error that `token` of `text`, which follows `before`, is none of what was expected.
    pub(super) fn error(&self, text: &[u8], token: Token, before: Option<Token>) -> Error {
        let start = token.span.start as usize;
        let found = text.get(start..token.span.end as usize).unwrap_or_default();
        let mut message = String::new();
        let misread = before.and_then(|token| misread_clause(text, token));
        if let Some(word) = self.nearest(found, token.kind) {
            message += &format!("Maybe you meant {word}: ");
        } else if let Some((word, clause)) = misread {
            message += &format!("Maybe you meant {clause} instead of {word}: ");
        } else if let Some(closing) = self.missing_closing(found, token.kind) {
            message += &format!("Maybe {closing} is missing: ");
        }
        message += "syntax error at ";
        message += &match token.kind {
            K::End => "the end of the query".to_owned(),
            K::Error(LexError::UnclosedQuote) => format!("{}: a quote is not closed", show(found)),
            K::Error(LexError::UnclosedComment) => "/*: the comment is not closed".to_owned(),
            K::Error(LexError::BadNumber) => format!("{}: not a number", show(found)),
            _ => show(found),
        };
        if !self.words.is_empty() {
            message += if self.words.len() == 1 {
                ", expected "
            } else {
                ", expected one of "
            };
            let mut words = self.words.clone();
            words.sort_by_key(|word| *word != "," && closing(word).is_none());
            let listed = words.iter().take(MAX_LISTED).map(|w| named(w));
            message += &listed.collect::<Vec<_>>().join(", ");
            if self.words.len() > MAX_LISTED {
                message += ", ..";
            }
        }
        Error::new(ErrorCode::SYNTAX_ERROR, message).at(crate::position_of(text, start))
    }

    /// What would close the innermost thing that is open, where `found` belongs behind it.
    fn missing_closing(&self, found: &[u8], kind: K) -> Option<&'static str> {
        let closing = self.words.iter().find_map(|word| closing(word))?;
        ends_what_is_open(found, kind).then_some(closing)
    }

    /// The expected keyword that looks most like `found`.
    fn nearest(&self, found: &[u8], kind: K) -> Option<&'static str> {
        if kind != K::Word {
            return None;
        }
        let found = String::from_utf8_lossy(found).to_ascii_uppercase();
        let keywords = self
            .words
            .iter()
            .filter(|w| w.bytes().all(|b| !b.is_ascii_lowercase()));
        keywords
            .filter_map(|words| {
                let first = words.split(' ').next().unwrap_or(words);
                let distance = edit_distance(found.as_bytes(), first.as_bytes());
                let limit = if first.len() <= 4 { 1 } else { 2 };
                // Of many short words one is always near.
                let counts = first.len() > 2 || self.words.len() == 1;
                (distance <= limit && counts).then_some((distance, *words))
            })
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, words)| words)
    }
}

/// What an error calls the word, if it closes what another one has opened.
fn closing(word: &str) -> Option<&'static str> {
    match word {
        ")" => Some("a ')'"),
        "]" => Some("a ']'"),
        "}" => Some("a '}'"),
        "END" => Some("END"),
        _ => None,
    }
}

/// A word as the list of what was expected names it: punctuation in quotes.
fn named(word: &str) -> String {
    match word.starts_with(|c: char| c.is_ascii_punctuation()) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}

/// Words that begin a clause: misspelt, they are read as an alias of what stands before.
const CLAUSES: &[&str] = &[
    "FROM", "WHERE", "PREWHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "UNION", "SETTINGS",
    "FORMAT", "USING", "ARRAY", "INNER", "LEFT", "VALUES", "SELECT", "ENGINE", "TABLE",
];

/// Whether what stands here begins or ends something that no parenthesis around an expression holds.
fn ends_what_is_open(found: &[u8], kind: K) -> bool {
    let is_clause = || {
        CLAUSES
            .iter()
            .any(|c| c.as_bytes().eq_ignore_ascii_case(found))
    };
    let is_closing = matches!(found, b")" | b"]" | b"}");
    matches!(kind, K::End | K::Semicolon) || is_closing || (kind == K::Word && is_clause())
}

/// A word that nearly is the beginning of a clause, and that clause.
fn misread_clause(text: &[u8], token: Token) -> Option<(String, &'static str)> {
    let word = text.get(token.span.start as usize..token.span.end as usize)?;
    let upper = word.to_ascii_uppercase();
    let clause = CLAUSES
        .iter()
        .filter(|clause| token.kind == K::Word && clause.as_bytes() != upper)
        .map(|clause| (edit_distance(&upper, clause.as_bytes()), *clause))
        .filter(|(distance, clause)| *distance <= clause.len() / 4)
        .min_by_key(|(distance, _)| *distance)?;
    Some((show(word), clause.1))
}

/// The beginning of `text` in quotes, on one line.
fn show(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(40).collect();
    if shown.len() < text.len() {
        shown += "..";
    }
    format!("'{shown}'")
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
pub(crate) fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
