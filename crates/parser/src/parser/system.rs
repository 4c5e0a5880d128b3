//! Parses SYSTEM commands: their words are checked, what follows them is kept as text.

use basalt_error::Result;

use super::Parser;
use crate::ast::{Expr, ExprKind, Statement, SystemCommand};
use crate::lexer::TokenKind as K;

/// The first words of all commands.
const VERBS: &[&str] = &[
    "ALLOCATE",
    "CANCEL",
    "CLEAR",
    "DISABLE",
    "DROP",
    "ENABLE",
    "FLUSH",
    "FREE",
    "JEMALLOC",
    "KILL",
    "LOAD",
    "NOTIFY",
    "PREWARM",
    "RECONNECT",
    "REFRESH",
    "RELOAD",
    "RESET",
    "RESTART",
    "RESTORE",
    "SHUTDOWN",
    "START",
    "STOP",
    "SUSPEND",
    "SYNC",
    "TEST",
    "UNFREEZE",
    "UNLOAD",
    "UNLOCK",
    "WAIT",
];

/// Commands with lists of names behind them.
const WITH_LISTS: &[&str] = &["LOGS", "LISTEN", "LIGHTWEIGHT"];

/// SYSTEM commands about a table or another object, and how often EXPLAIN AST shows its name.
const ON_OBJECTS: &[(&str, usize)] = &[
    ("FLUSH DISTRIBUTED", 2),
    ("FLUSH OBJECT STORAGE QUEUE", 2),
    ("RELOAD DICTIONARY", 2),
    ("UNLOAD PRIMARY KEY", 2),
    ("LOAD PRIMARY KEY", 2),
    ("START DISTRIBUTED SENDS", 2),
    ("STOP DISTRIBUTED SENDS", 2),
    ("RESTORE REPLICA", 2),
    ("START MERGES", 1),
    ("STOP MERGES", 1),
    ("START TTL MERGES", 1),
    ("STOP TTL MERGES", 1),
    ("START MOVES", 1),
    ("STOP MOVES", 1),
    ("START FETCHES", 1),
    ("STOP FETCHES", 1),
    ("START REPLICATED SENDS", 1),
    ("STOP REPLICATED SENDS", 1),
    ("START REPLICATION QUEUES", 1),
    ("STOP REPLICATION QUEUES", 1),
    ("START PULLING REPLICATION LOG", 1),
    ("STOP PULLING REPLICATION LOG", 1),
    ("START CLEANUP", 1),
    ("STOP CLEANUP", 1),
    ("START VIEW", 1),
    ("STOP VIEW", 1),
    ("START REPLICATED VIEW", 1),
    ("STOP REPLICATED VIEW", 1),
    ("REFRESH VIEW", 1),
    ("WAIT VIEW", 1),
    ("CANCEL VIEW", 1),
    ("TEST VIEW", 1),
    ("SYNC REPLICA", 1),
    ("SYNC DATABASE REPLICA", 1),
    ("RESTART REPLICA", 1),
    ("RESTORE DATABASE REPLICA", 1),
    ("WAIT LOADING PARTS", 1),
    ("PREWARM MARK CACHE", 1),
    ("PREWARM PRIMARY INDEX CACHE", 1),
];

/// The names that a SYSTEM command gives, as EXPLAIN AST shows them.
fn named_objects(text: &str) -> Vec<Expr> {
    let dropped = ["FROM TABLE ", "FROM DATABASE "];
    let (times, rest) = if text.starts_with("DROP ") && text.contains(" REPLICA ") {
        let behind = dropped.iter().find_map(|words| text.split_once(words));
        (1, behind.map(|(_, rest)| rest))
    } else {
        let found = ON_OBJECTS.iter().find_map(|(words, times)| {
            let rest = text.strip_prefix(words)?.strip_prefix(' ')?;
            Some((*times, rest))
        });
        found.map_or((0, None), |(times, rest)| (times, Some(rest)))
    };
    let Some(mut parser) = rest.and_then(|rest| Parser::new(rest.as_bytes(), 0).ok()) else {
        return Vec::new();
    };
    // ON VOLUME and IF EXISTS are no names.
    let has_name = parser
        .on_cluster()
        .is_ok_and(|_| !parser.is_word(0, "ON") && !parser.is_word(0, "IF"));
    let Some(name) = parser.object_name("name").ok().filter(|_| has_name) else {
        return Vec::new();
    };
    let parts = name.database.iter().chain([&name.name]);
    let part = |part: &String| Expr::new(ExprKind::Identifier(vec![part.clone()]), name.span);
    let parts: Vec<Expr> = parts.map(part).collect();
    std::iter::repeat_n(parts, times).flatten().collect()
}

impl Parser<'_> {
    /// Fails unless the words of a command follow: none of them twice, and commas in lists only.
    fn expect_system_words(&mut self) -> Result<()> {
        let mark = self.mark();
        if !VERBS.iter().any(|verb| self.is_word(0, verb)) {
            return self.fail("SYSTEM command");
        }
        let mut has_list = false;
        while !self.at_statement_end() {
            has_list |= WITH_LISTS.iter().any(|word| self.is_word(0, word));
            if self.is_same_word_twice() || (self.kind() == K::Comma && !has_list) {
                return self.fail("the rest of the SYSTEM command");
            }
            self.advance();
        }
        self.back(mark);
        Ok(())
    }

    /// The words of a command about an object, whose name may be a word of commands, too.
    fn words_on_object(&mut self) -> Vec<String> {
        let known = ON_OBJECTS.iter().map(|(words, _)| words.split(' '));
        let follow = |words: &std::str::Split<'_, char>| {
            let mut words = words.clone().enumerate();
            words.all(|(n, word)| self.is_word(n, word))
        };
        let words: Vec<_> = known.filter(follow).collect();
        let longest = words.into_iter().max_by_key(|words| words.clone().count());
        let words: Vec<String> = longest.into_iter().flatten().map(str::to_owned).collect();
        for _ in &words {
            self.advance();
        }
        words
    }

    fn is_same_word_twice(&mut self) -> bool {
        let tokens = [self.token(0), self.token(1)];
        let are_words = tokens
            .iter()
            .all(|token| matches!(token.kind, K::Word | K::QuotedIdentifier));
        let [word, next] = tokens.map(|token| self.unquoted(token.span));
        are_words && word.eq_ignore_ascii_case(&next)
    }

    /// `SYSTEM` and its words; the command is all words up to the first that is no keyword.
    pub(super) fn system(&mut self) -> Result<Statement> {
        self.advance();
        self.expect_system_words()?;
        let is_cache = (1..7).any(|n| self.is_word(n, "CACHE") || self.is_word(n, "CACHES"));
        let mut words = self.words_on_object();
        while self.kind() == K::Word && crate::keywords::is_system_word(self.token_text(0)) {
            words.push(String::from_utf8_lossy(self.token_text(0)).to_ascii_uppercase());
            self.advance();
        }
        let is_verb = words.len() == 1
            && ["CLEAR", "DROP", "FLUSH", "RELOAD", "START", "STOP"].contains(&words[0].as_str());
        if is_verb && self.at_statement_end() {
            return self.fail("the rest of the SYSTEM command");
        }
        // Caches are cleared, which DROP means, too.
        if let Some(first) = words.first_mut().filter(|word| is_cache && *word == "DROP") {
            *first = "CLEAR".to_owned();
        }
        let command = words.join(" ");
        let construct = format!("SYSTEM {command}");
        let mut rest = self.rest_as_text(&construct)?;
        rest.subjects = named_objects(&format!("{command} {}", rest.text));
        Ok(Statement::System(Box::new(SystemCommand { command, rest })))
    }
}
