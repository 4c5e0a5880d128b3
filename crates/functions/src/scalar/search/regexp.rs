//! Compiles regular expressions as RE2 writes them for the `regex` crate, and runs them on bytes.
//!
//! The two differ in a few places, which [`translate`] rewrites: `\d`, `\w`, `\s`, `\b` are ASCII
//! in RE2; `[` inside a class and a `{` that counts nothing are plain characters; there is `\Q…\E`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use memchr::memmem::Finder;
use regex::bytes::{CaptureLocations, Regex, RegexBuilder};

use super::backtrack::Program;
use super::on_value::{GroupFinder, OnValue};
use crate::Characters;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Regexp {
    regex: Regex,
    /// The needle, if the expression is a plain substring.
    literal: Option<Finder<'static>>,
    /// For values of ASCII only, the same with bytes for characters: fewer states.
    ascii: Option<Regex>,
    /// A faster way to find groups, if the expression is simple.
    simple: Option<Arc<Program>>,
}

/// Compiles a pattern; `.` matches any character, line breaks too.
///
/// # Errors
/// `CANNOT_COMPILE_REGEXP`.
pub fn compile(pattern: &[u8]) -> Result<Regexp> {
    compile_with(pattern, false)
}

/// As [`compile`], ignoring case if asked to.
///
/// # Errors
/// `CANNOT_COMPILE_REGEXP`.
pub fn compile_with(pattern: &[u8], case_insensitive: bool) -> Result<Regexp> {
    let text = std::str::from_utf8(pattern).map_err(|_| {
        Error::new(
            ErrorCode::CANNOT_COMPILE_REGEXP,
            "Regular expression is not UTF-8",
        )
    })?;
    let regex = RegexBuilder::new(&translate(text))
        .dot_matches_new_line(true)
        .case_insensitive(case_insensitive)
        .build()
        .map_err(|e| cannot_compile(text, &e.to_string()))?;
    let is_ascii = text.is_ascii() && !["\\p", "\\P", "\\x"].iter().any(|name| text.contains(name));
    let ascii = is_ascii
        .then(|| ascii_regex(text, case_insensitive))
        .flatten();
    let simple = Program::compile(&translate(text), case_insensitive);
    let is_literal = !case_insensitive && !pattern.is_empty() && !text.contains(META_CHARACTERS);
    Ok(Regexp {
        regex,
        literal: is_literal.then(|| Finder::new(pattern).into_owned()),
        ascii,
        simple: simple.map(Arc::new),
    })
}

/// The expression for ASCII values.
fn ascii_regex(text: &str, case_insensitive: bool) -> Option<Regex> {
    RegexBuilder::new(&translate(text))
        .dot_matches_new_line(true)
        .case_insensitive(case_insensitive)
        .unicode(false)
        .build()
        .ok()
}

const META_CHARACTERS: [char; 14] = [
    '\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$',
];

/// The error for a pattern that the crate `regex` refuses with the text `error`.
pub fn cannot_compile(pattern: &str, error: &str) -> Error {
    // The crate draws the pattern over several lines; its last line says what is wrong.
    let reason = error.lines().last().unwrap_or(error);
    Error::new(
        ErrorCode::CANNOT_COMPILE_REGEXP,
        format!(
            "Cannot compile regular expression: {pattern}, {}",
            reason.trim()
        ),
    )
}

impl Regexp {
    /// Whether the expression matches anywhere.
    #[inline]
    pub fn is_match(&self, value: &[u8]) -> bool {
        match &self.literal {
            Some(finder) => finder.find(value).is_some(),
            None => self.regex_for(value).is_match(value),
        }
    }

    #[inline]
    pub(super) fn regex_for(&self, value: &[u8]) -> &Regex {
        let ascii = self.ascii.as_ref().filter(|_| value.is_ascii());
        ascii.unwrap_or(&self.regex)
    }

    /// The expression on one value, in which it may be looked for many times.
    #[inline]
    pub fn on<'a>(&'a self, value: &'a [u8]) -> OnValue<'a> {
        OnValue::new(self, value)
    }

    /// The first match in a value.
    #[inline]
    pub fn find(&self, value: &[u8]) -> Option<Range<usize>> {
        self.on(value).find_at(0)
    }

    /// What a value must contain, if the expression is a plain text.
    pub fn contained(&self) -> Option<&Finder<'static>> {
        self.literal.as_ref()
    }

    /// Whether the pattern is an empty string.
    pub fn is_empty(&self) -> bool {
        self.regex.as_str().is_empty()
    }

    /// Number of groups in round brackets.
    pub fn num_groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// Whether it is known to match only where a value begins.
    pub fn is_anchored(&self) -> bool {
        self.simple
            .as_ref()
            .is_some_and(|simple| simple.is_anchored())
    }

    /// Whether it is known to match nothing but whole values.
    pub fn is_whole(&self) -> bool {
        self.simple.as_ref().is_some_and(|simple| simple.is_whole())
    }

    /// Finds matches with their groups, in one value after the other, of all of which `known` holds, if somebody
    /// must know.
    pub fn groups(&self, known: impl FnOnce() -> Characters) -> GroupFinder<'_> {
        GroupFinder::new(self, known)
    }

    /// Room for the places of the groups.
    pub(super) fn locations(&self) -> CaptureLocations {
        self.regex.capture_locations()
    }

    /// A faster way to find groups, if the expression is simple.
    pub(super) fn simple(&self) -> Option<&Program> {
        self.simple.as_deref()
    }
}

/// Compiled expressions by pattern, for patterns that differ from row to row.
#[derive(Debug, Default)]
pub struct RegexpCache {
    compiled: HashMap<Vec<u8>, Arc<Regexp>>,
    case_insensitive: bool,
}

impl RegexpCache {
    /// Above this many patterns the cache begins anew.
    const MAX_LEN: usize = 1000;

    /// An empty cache.
    pub fn new(case_insensitive: bool) -> Self {
        Self {
            compiled: HashMap::new(),
            case_insensitive,
        }
    }

    /// The expression of a pattern.
    ///
    /// # Errors
    /// `CANNOT_COMPILE_REGEXP`.
    pub fn get(&mut self, pattern: &[u8]) -> Result<Arc<Regexp>> {
        if let Some(regexp) = self.compiled.get(pattern) {
            return Ok(Arc::clone(regexp));
        }
        let regexp = Arc::new(compile_with(pattern, self.case_insensitive)?);
        if self.compiled.len() >= Self::MAX_LEN {
            self.compiled.clear();
        }
        self.compiled.insert(pattern.to_vec(), Arc::clone(&regexp));
        Ok(regexp)
    }
}

/// Rewrites RE2's syntax into that of the `regex` crate.
pub fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        rest = tail;
        match c {
            '\\' if tail.starts_with('Q') && !in_class => {
                let quoted = &tail[1..];
                let end = quoted.find("\\E").unwrap_or(quoted.len());
                out.push_str(&regex::escape(&quoted[..end]));
                rest = quoted[end..].strip_prefix("\\E").unwrap_or("");
            }
            '\\' => {
                let escaped = tail.chars().next();
                push_escape(&mut out, escaped, in_class);
                rest = &tail[escaped.map_or(0, char::len_utf8)..];
            }
            '[' if in_class && tail.starts_with(':') => {
                // A named class like `[:alpha:]`.
                let end = tail.find(":]").map_or(0, |end| end + 2);
                out.push('[');
                out.push_str(&tail[..end]);
                rest = &tail[end..];
            }
            '[' | '&' | '~' if in_class => out.extend(['\\', c]),
            '[' => {
                in_class = true;
                out.push('[');
                // A bracket that closes right at the beginning is a member of the class.
                let negated = tail.starts_with('^');
                out.push_str(if negated { "^" } else { "" });
                rest = &tail[usize::from(negated)..];
                if let Some(after) = rest.strip_prefix(']') {
                    out.push_str("\\]");
                    rest = after;
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '{' if !in_class && !is_repetition(tail) => out.push_str("\\{"),
            c => out.push(c),
        }
    }
    out
}

fn push_escape(out: &mut String, escaped: Option<char>, in_class: bool) {
    let Some(c) = escaped else {
        return out.push('\\');
    };
    let (plain, inside) = match c {
        'd' => ("[0-9]", "0-9"),
        'D' => ("[^0-9]", "[^0-9]"),
        'w' => ("[0-9A-Za-z_]", "0-9A-Za-z_"),
        'W' => ("[^0-9A-Za-z_]", "[^0-9A-Za-z_]"),
        's' => ("[\\t\\n\\f\\r ]", "\\t\\n\\f\\r "),
        'S' => ("[^\\t\\n\\f\\r ]", "[^\\t\\n\\f\\r ]"),
        'b' => ("(?-u:\\b)", "\\b"),
        'B' => ("(?-u:\\B)", "\\B"),
        'C' => ("(?s-u:.)", "\\C"),
        '<' => ("<", "<"),
        '>' => (">", ">"),
        '0' => ("\\x00", "\\x00"),
        c => {
            out.extend(['\\', c]);
            return;
        }
    };
    out.push_str(if in_class { inside } else { plain });
}

/// Whether what follows a `{` counts repetitions: `2}`, `2,}` or `2,5}`.
fn is_repetition(tail: &str) -> bool {
    let Some((count, _)) = tail.split_once('}') else {
        return false;
    };
    let (from, to) = count.split_once(',').unwrap_or((count, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    !from.is_empty() && digits(from) && digits(to)
}
