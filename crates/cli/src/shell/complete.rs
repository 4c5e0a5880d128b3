//! Offers what the word under the cursor may become: names of the session, then keywords.

use std::sync::Arc;

use basalt_parser::keywords::KEYWORDS;
use basalt_parser::lexer::{LexError, Lexer, TokenKind};
use parking_lot::Mutex;
use reedline::{Completer, CompletionResult, Span, Suggestion};

/// More than this nobody reads; typing one more letter is faster.
const MAX_SUGGESTIONS: usize = 200;

/// Keywords that a table may come after.
const BEFORE_TABLES: [&str; 6] = ["FROM", "JOIN", "INTO", "TABLE", "DESCRIBE", "DESC"];

/// What the shell completes to.
#[derive(Default)]
pub(crate) struct Names {
    /// What rows come from: tables, table functions, databases.
    pub(crate) sources: Vec<String>,
    /// Functions, columns, settings, formats.
    pub(crate) others: Vec<String>,
}

/// Completes from the names that the shell keeps up to date.
pub(super) struct WordCompleter {
    names: Arc<Mutex<Names>>,
}

impl WordCompleter {
    pub(super) fn new(names: Arc<Mutex<Names>>) -> Self {
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
            words = candidates(
                &names,
                typed,
                wants_table(&before[..before.len() - typed.len()]),
            );
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
fn names_of(names: &Names, typed: &str) -> Vec<String> {
    let all = names.sources.iter().chain(&names.others);
    let found = all.filter(|name| begins(name, typed)).take(MAX_SUGGESTIONS);
    found.cloned().collect()
}

/// Whether the word begins with `typed`, in any case.
fn begins(word: &str, typed: &str) -> bool {
    word.get(..typed.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

/// Whether a table comes after the text: its last word is FROM and the like.
fn wants_table(text: &str) -> bool {
    let means_nothing = |kind| {
        matches!(
            kind,
            TokenKind::Whitespace | TokenKind::Comment | TokenKind::End
        )
    };
    let tokens = Lexer::new(text.as_bytes()).filter(|t| !means_nothing(t.kind));
    let last = tokens.last();
    let word = last.and_then(|t| text.get(t.span.start as usize..t.span.end as usize));
    word.is_some_and(|word| {
        let mut before_tables = BEFORE_TABLES.iter();
        before_tables.any(|keyword| keyword.eq_ignore_ascii_case(word))
    })
}

/// Whether the text ends inside a string or a comment, where no name can stand.
fn is_in_literal(text: &str) -> bool {
    Lexer::new(text.as_bytes()).any(|token| match token.kind {
        TokenKind::Error(LexError::UnclosedQuote | LexError::UnclosedComment) => true,
        TokenKind::Comment => token.span.end as usize == text.len(),
        _ => false,
    })
}

/// Names and keywords that begin with `typed`: where a table is wanted, those that rows come from
/// first; then those in the same case, then the others.
fn candidates(names: &Names, typed: &str, wants_table: bool) -> Vec<String> {
    let is_small = typed.chars().next().is_some_and(char::is_lowercase);
    let keywords = KEYWORDS.iter().map(|word| match is_small {
        true => word.to_lowercase(),
        false => (*word).to_owned(),
    });
    let sources = names
        .sources
        .iter()
        .map(|name| (!wants_table, name.clone()));
    let others = names.others.iter().cloned().chain(keywords);
    let mut found: Vec<(bool, String)> = sources
        .chain(others.map(|name| (true, name)))
        .filter(|(_, name)| begins(name, typed))
        .collect();
    let order = |(is_later, name): &(bool, String)| (*is_later, !name.starts_with(typed));
    found.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.1.cmp(&b.1)));
    let mut offered: Vec<String> = Vec::new();
    for (_, name) in found {
        if offered.len() < MAX_SUGGESTIONS && !offered.contains(&name) {
            offered.push(name);
        }
    }
    offered
}

#[cfg(test)]
mod tests {
    use super::{Arc, Completer, Mutex, Names, WordCompleter};

    fn check(line: &str, expected: &[&str]) {
        let names = Names {
            sources: ["hits", "numbers", "system.one", "values"]
                .map(str::to_owned)
                .to_vec(),
            others: [
                "sum",
                "sumIf",
                "SearchPhrase",
                "größe",
                "histogram",
                "nullIf",
            ]
            .map(str::to_owned)
            .to_vec(),
        };
        let mut completer = WordCompleter::new(Arc::new(Mutex::new(names)));
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
        check("SELECT hi", &["histogram", "hits"]);
        check("SELECT t.hi", &["histogram", "hits"]);
        check("SELECT 1 FROM system.o", &["system.one"]);
        check("SELECT 1 FROM System.ON", &["system.one"]);
        check("SELECT grö", &["größe"]);
    }

    #[test]
    fn tables_and_table_functions_come_first_where_rows_come_from() {
        check("SELECT 1 FROM hi", &["hits", "histogram"]);
        check("SELECT 1 from hits JOIN hi", &["hits", "histogram"]);
        check("INSERT INTO hi", &["hits", "histogram"]);
        check("SELECT 1 FROM /* all */ hi", &["hits", "histogram"]);
        check("SELECT 1 FROM hits WHERE hi", &["histogram", "hits"]);
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
