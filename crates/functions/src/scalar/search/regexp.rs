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

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Regexp {
    regex: Regex,
    /// The needle, if the expression is a plain substring.
    literal: Option<Finder<'static>>,
    /// For values of ASCII only, the same with bytes for characters: fewer states.
    ascii: Option<Ascii>,
}

#[derive(Clone, Debug)]
struct Ascii {
    regex: Regex,
    /// Whether a `.*$` was cut off the expression: a match goes on to the end of the value.
    to_end: bool,
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
    let ascii = text
        .is_ascii()
        .then(|| ascii_regex(text, case_insensitive))
        .flatten();
    let is_literal = !case_insensitive && !pattern.is_empty() && !text.contains(META_CHARACTERS);
    Ok(Regexp {
        regex,
        literal: is_literal.then(|| Finder::new(pattern).into_owned()),
        ascii,
    })
}

/// The expression for ASCII values; none if it names characters beyond.
fn ascii_regex(text: &str, case_insensitive: bool) -> Option<Ascii> {
    let has_class_names = text.contains("\\p") || text.contains("\\P") || text.contains("\\x");
    if has_class_names {
        return None;
    }
    // What follows a cut is known to match, unless it is but one alternative or flags change it.
    let has_flags = text.match_indices("(?").any(|(at, _)| {
        let after = &text[at + 2..];
        !after.starts_with(':') && !after.starts_with("P<")
    });
    let head = text.strip_suffix(".*$").filter(|head| {
        let is_plain = !has_flags && !head.contains('|') && !head.contains("\\Q");
        let in_class = head.contains('[') && !is_closed(head);
        is_plain && !in_class && !head.ends_with('\\')
    });
    let regex = RegexBuilder::new(&translate(head.unwrap_or(text)))
        .dot_matches_new_line(true)
        .case_insensitive(case_insensitive)
        .unicode(false)
        .build()
        .ok()?;
    Some(Ascii {
        regex,
        to_end: head.is_some(),
    })
}

/// Whether each bracket of a pattern that opens is closed: its end lies in no class.
fn is_closed(pattern: &str) -> bool {
    pattern.rfind(']') > pattern.rfind('[')
}

const META_CHARACTERS: [char; 14] = [
    '\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$',
];

fn cannot_compile(pattern: &str, error: &str) -> Error {
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
            None => match self.ascii_for(value) {
                Some(ascii) => ascii.regex.is_match(value),
                None => self.regex.is_match(value),
            },
        }
    }

    #[inline]
    fn ascii_for(&self, value: &[u8]) -> Option<&Ascii> {
        self.ascii.as_ref().filter(|_| value.is_ascii())
    }

    /// The first match at or after `start`.
    #[inline]
    pub fn find_at(&self, value: &[u8], start: usize) -> Option<Range<usize>> {
        match &self.literal {
            Some(finder) => {
                let at = start + finder.find(value.get(start..)?)?;
                Some(at..at + finder.needle().len())
            }
            None if start > value.len() => None,
            None => match self.ascii_for(value) {
                Some(ascii) => ascii.to_end(ascii.regex.find_at(value, start)?.range(), value),
                None => self.regex.find_at(value, start).map(|m| m.range()),
            },
        }
    }

    /// Whether the pattern is an empty string.
    pub fn is_empty(&self) -> bool {
        self.regex.as_str().is_empty()
    }

    /// Number of groups in round brackets.
    pub fn num_groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// A place for [`Regexp::groups_at`] to put what it finds.
    pub fn locations(&self) -> CaptureLocations {
        self.regex.capture_locations()
    }

    /// As [`Regexp::find_at`], with the groups of the match in `locations`.
    pub fn groups_at(
        &self,
        locations: &mut CaptureLocations,
        value: &[u8],
        start: usize,
    ) -> Option<Range<usize>> {
        if start > value.len() {
            return None;
        }
        // The groups are numbered alike in both.
        if let Some(ascii) = self.ascii_for(value) {
            let found = ascii.regex.captures_read_at(locations, value, start)?;
            return ascii.to_end(found.range(), value);
        }
        let found = self.regex.captures_read_at(locations, value, start);
        found.map(|m| m.range())
    }
}

impl Ascii {
    /// The whole match whose front was found.
    #[inline]
    fn to_end(&self, found: Range<usize>, value: &[u8]) -> Option<Range<usize>> {
        let end = if self.to_end { value.len() } else { found.end };
        Some(found.start..end)
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

#[cfg(test)]
mod tests {
    use super::{compile, translate};

    #[test]
    fn re2_syntax_is_understood() {
        for (pattern, value, expected) in [
            (r"\d", "٣", false),
            (r"\w\w", "aé", false),
            ("^.$", "é", true),
            ("a.b", "a\nb", true),
            ("(?i)É", "é", true),
            (r"[[a]+\]", "[a]", true),
            ("a{,5}", "a{,5}", true),
            (r"\Qa.b\E+", "a.bb", true),
            (r"[]a]+", "]", true),
            (r"[^]a]+", "]", false),
            (r"[[:digit:]&&]+", "&", true),
            (r"\bb\b", "éb é", true),
        ] {
            let regexp = compile(pattern.as_bytes()).expect(pattern);
            assert_eq!(regexp.is_match(value.as_bytes()), expected, "{pattern}");
        }
        for (pattern, value, group) in [
            (
                "^https?://(?:www\\.)?([^/]+)/.*$",
                "http://www.a.b/c\nd",
                "a.b",
            ),
            (
                "^https?://(?:www\\.)?([^/]+)/.*$",
                "http://www.é.b/c",
                "é.b",
            ),
            ("^(a)\\.*$", "a..", "a"),
        ] {
            let regexp = compile(pattern.as_bytes()).expect(pattern);
            let mut locations = regexp.locations();
            let found = regexp.groups_at(&mut locations, value.as_bytes(), 0);
            assert_eq!(found, Some(0..value.len()), "{pattern}");
            let (from, to) = locations.get(1).expect("a group");
            assert_eq!(&value[from..to], group);
        }
        assert!(!compile(b"^.$").expect("valid").is_match(b"\xff"));
        assert!(compile(b"a(?=b)").is_err());
        assert_eq!(translate("x{2,3}"), "x{2,3}");
    }
}
