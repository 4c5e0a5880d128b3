//! Offers what the word under the cursor may become: names of the session, then keywords.

use std::sync::Arc;

use basalt_parser::keywords::KEYWORDS;
use basalt_parser::lexer::{LexError, Lexer, TokenKind};
use parking_lot::Mutex;
use reedline::{Completer, CompletionResult, Span, Suggestion};

/// More than this nobody reads; typing one more letter is faster.
const MAX_SUGGESTIONS: usize = 200;

/// Completes from the names that the shell keeps up to date.
pub(super) struct WordCompleter {
    names: Arc<Mutex<Vec<String>>>,
}

impl WordCompleter {
    pub(super) fn new(names: Arc<Mutex<Vec<String>>>) -> Self {
        Self { names }
    }
}

impl Completer for WordCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = line.get(..pos).unwrap_or(line);
        let typed = last_word(before);
        if typed.is_empty() || is_in_literal(before) {
            return CompletionResult::fresh(Vec::new());
        }
        // `system.o` is the start of a name with its database, else `o` is a column's.
        let qualified = last_name(before);
        let names = self.names.lock();
        let mut words = match qualified.contains('.') {
            true => names_of(&names, qualified),
            false => Vec::new(),
        };
        let mut span = Span::new(before.len() - qualified.len(), before.len());
        if words.is_empty() {
            words = candidates(&names, typed);
            span = Span::new(before.len() - typed.len(), before.len());
        }
        let suggestions: Vec<Suggestion> = words
            .into_iter()
            .map(|value| Suggestion {
                value,
                span,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}

/// The end of `text` that is part of a name.
fn last_word(text: &str) -> &str {
    end_of(text, |c| c.is_alphanumeric() || c == '_')
}

/// The end of `text` that is a name with what qualifies it.
fn last_name(text: &str) -> &str {
    end_of(text, |c| c.is_alphanumeric() || c == '_' || c == '.')
}

/// The end of `text` that consists of such characters.
fn end_of(text: &str, is_part: impl Fn(char) -> bool) -> &str {
    let start = text.rfind(|c| !is_part(c)).map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    &text[start..]
}

/// The names that begin with `typed`, in any case.
fn names_of(names: &[String], typed: &str) -> Vec<String> {
    let begins = |name: &&String| {
        name.get(..typed.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(typed))
    };
    let found = names.iter().filter(begins).take(MAX_SUGGESTIONS);
    found.cloned().collect()
}

/// Whether the text ends inside a string or a comment, where no name can stand.
fn is_in_literal(text: &str) -> bool {
    Lexer::new(text.as_bytes()).any(|token| match token.kind {
        TokenKind::Error(LexError::UnclosedQuote | LexError::UnclosedComment) => true,
        TokenKind::Comment => token.span.end as usize == text.len(),
        _ => false,
    })
}

/// Names and keywords that begin with `typed`: those in the same case first, then the others.
fn candidates(names: &[String], typed: &str) -> Vec<String> {
    let matching = |word: &str| {
        word.get(..typed.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(typed))
    };
    let mut found: Vec<String> = names
        .iter()
        .filter(|name| matching(name))
        .cloned()
        .collect();
    let is_small = typed.chars().next().is_some_and(char::is_lowercase);
    let keywords = KEYWORDS.iter().filter(|word| matching(word));
    found.extend(keywords.map(|word| {
        if is_small {
            word.to_lowercase()
        } else {
            (*word).to_owned()
        }
    }));
    found.sort_by(|a, b| {
        let is_other_case = |word: &String| !word.starts_with(typed);
        is_other_case(a)
            .cmp(&is_other_case(b))
            .then_with(|| a.cmp(b))
    });
    found.dedup();
    found.truncate(MAX_SUGGESTIONS);
    found
}

#[cfg(test)]
mod tests {
    use super::{Arc, Completer, Mutex, WordCompleter};

    fn check(line: &str, expected: &[&str]) {
        let names = [
            "sum",
            "sumIf",
            "SearchPhrase",
            "hits",
            "größe",
            "system.one",
        ];
        let names = names.map(str::to_owned);
        let mut completer = WordCompleter::new(Arc::new(Mutex::new(names.to_vec())));
        let result = completer.complete(line, line.len());
        let found: Vec<&str> = result
            .suggestions()
            .iter()
            .map(|s| s.value.as_str())
            .collect();
        assert_eq!(found, expected, "{line}");
        for suggestion in result.suggestions() {
            assert!(line[suggestion.span.start..].len() <= suggestion.value.len());
        }
    }

    #[test]
    fn names_and_keywords() {
        check("SELECT sum", &["sum", "sumIf"]);
        check("SELECT SearchP", &["SearchPhrase"]);
        check("SELECT searchp", &["SearchPhrase"]);
        check("prew", &["prewhere"]);
        check("PREW", &["PREWHERE"]);
        check("SELECT 1 FROM hi", &["hits"]);
        check("SELECT t.hi", &["hits"]);
        check("SELECT 1 FROM system.o", &["system.one"]);
        check("SELECT 1 FROM System.ON", &["system.one"]);
        check("SELECT grö", &["größe"]);
    }

    #[test]
    fn nothing_to_complete() {
        check("", &[]);
        check("SELECT ", &[]);
        check("SELECT 'su", &[]);
        check("SELECT 1 -- su", &[]);
        check("SELECT ü", &[]);
    }
}
