//! Separates a Rust file's code from its comments and literals, without parsing it.
//!
//! `code` has the length and the lines of the text, with comments and the insides of literals blanked, so
//! that a brace or the word `unsafe` found there is real. Good enough for sizes and words; not a parser.

use std::ops::Range;

/// What a rule wants to know of one Rust file.
pub(crate) struct Scan {
    /// The text with comments and literals blanked; line ends stay.
    pub(crate) code: String,
    /// Line comments that are no docs: line from 1, and the text behind `//`.
    pub(crate) comments: Vec<(usize, String)>,
    /// Byte ranges of the items under `#[cfg(test)]`.
    test_items: Vec<Range<usize>>,
}

impl Scan {
    pub(crate) fn new(text: &str) -> Self {
        let (code, comments) = Blanker::new(text).run();
        let test_items = find_test_items(&code);
        Self {
            code,
            comments,
            test_items,
        }
    }

    /// The line, from 1, of a byte position.
    pub(crate) fn line_of(&self, position: usize) -> usize {
        1 + self.code.as_bytes()[..position]
            .iter()
            .filter(|&&b| b == b'\n')
            .count()
    }

    /// Whether the position is inside an item that only tests see.
    pub(crate) fn in_tests(&self, position: usize) -> bool {
        self.test_items.iter().any(|item| item.contains(&position))
    }

    /// Lines of the file, the items under `#[cfg(test)]` left out.
    pub(crate) fn num_lines(&self) -> usize {
        let ends = self.code.bytes().enumerate().filter(|&(_, b)| b == b'\n');
        ends.filter(|&(position, _)| !self.in_tests(position))
            .count()
    }

    /// Byte positions where `word` stands alone in the code.
    pub(crate) fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        let bytes = self.code.as_bytes();
        self.code
            .match_indices(word)
            .map(|(position, _)| position)
            .filter(move |&position| {
                let before = position.checked_sub(1).map(|i| bytes[i]);
                let after = bytes.get(position + word.len()).copied();
                !before.is_some_and(is_word_byte) && !after.is_some_and(is_word_byte)
            })
    }

    /// The identifier that follows `position`, after white space.
    pub(crate) fn identifier_after(&self, position: usize) -> &str {
        let rest = self.code[position..].trim_start();
        let end = rest
            .bytes()
            .position(|b| !is_word_byte(b))
            .unwrap_or(rest.len());
        &rest[..end]
    }

    /// The end of the item that starts at `start`: behind its `;` or its closing brace.
    pub(crate) fn item_end(&self, start: usize) -> usize {
        item_end(&self.code, start)
    }
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn item_end(code: &str, start: usize) -> usize {
    let (mut braces, mut others) = (0_usize, 0_usize);
    for (offset, b) in code.as_bytes()[start..].iter().enumerate() {
        match b {
            b'(' | b'[' => others += 1,
            b')' | b']' => others = others.saturating_sub(1),
            b'{' => braces += 1,
            b'}' if braces <= 1 => return start + offset + 1,
            b'}' => braces -= 1,
            b';' if braces == 0 && others == 0 => return start + offset + 1,
            _ => {}
        }
    }
    code.len()
}

fn find_test_items(code: &str) -> Vec<Range<usize>> {
    const MARK: &str = "#[cfg(test)]";
    code.match_indices(MARK)
        .map(|(start, _)| start..item_end(code, start + MARK.len()))
        .collect()
}

/// Walks over the text once and copies only code.
struct Blanker<'a> {
    text: &'a [u8],
    position: usize,
    line: usize,
    code: Vec<u8>,
    comments: Vec<(usize, String)>,
}

impl<'a> Blanker<'a> {
    fn new(text: &'a str) -> Self {
        let code = Vec::with_capacity(text.len());
        Self {
            text: text.as_bytes(),
            position: 0,
            line: 1,
            code,
            comments: Vec::new(),
        }
    }

    fn run(mut self) -> (String, Vec<(usize, String)>) {
        while let Some(b) = self.peek(0) {
            let starts_word = !self.code.last().is_some_and(|&last| is_word_byte(last));
            match b {
                b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
                b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
                b'"' => self.quoted(b'"'),
                b'\'' if self.is_char_literal() => self.quoted(b'\''),
                b'r' if starts_word && self.num_raw_hashes(1).is_some() => self.raw_string(1),
                b'b' if starts_word && self.peek(1) == Some(b'r') => self.raw_or_copy(2),
                _ => self.copy(),
            }
        }
        (
            String::from_utf8_lossy(&self.code).into_owned(),
            self.comments,
        )
    }

    fn peek(&self, offset: usize) -> Option<u8> {
        self.text.get(self.position + offset).copied()
    }

    fn put(&mut self, b: u8) {
        self.line += usize::from(b == b'\n');
        self.code.push(b);
        self.position += 1;
    }

    fn copy(&mut self) {
        let b = self.text[self.position];
        // Bytes of other scripts (only in identifiers) must not be cut in halves.
        self.put(if b.is_ascii() { b } else { b'_' });
    }

    fn blank(&mut self) {
        self.put(if self.text[self.position] == b'\n' {
            b'\n'
        } else {
            b' '
        });
    }

    fn blank_to(&mut self, end: usize) {
        while self.position < end.min(self.text.len()) {
            self.blank();
        }
    }

    fn line_comment(&mut self) {
        let rest = &self.text[self.position..];
        let len = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let comment = String::from_utf8_lossy(&rest[2..len]).into_owned();
        if !comment.starts_with(['/', '!']) {
            self.comments.push((self.line, comment));
        }
        self.blank_to(self.position + len);
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.position < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'*')) => depth += 1,
                (Some(b'*'), Some(b'/')) => depth -= 1,
                _ => {
                    self.blank();
                    continue;
                }
            }
            self.blank_to(self.position + 2);
            if depth == 0 {
                return;
            }
        }
    }

    fn quoted(&mut self, quote: u8) {
        self.copy();
        while let Some(b) = self.peek(0) {
            if b == quote {
                return self.copy();
            }
            self.blank_to(self.position + if b == b'\\' { 2 } else { 1 });
        }
    }

    /// `'a'` and `'\n'` are literals, `'a` is a lifetime.
    fn is_char_literal(&self) -> bool {
        let rest = &self.text[self.position + 1..];
        let Some(&first) = rest.first() else {
            return false;
        };
        let len_utf8 = first.leading_ones().max(1) as usize;
        first == b'\\' || rest.get(len_utf8) == Some(&b'\'')
    }

    /// Number of `#` of a raw string whose `r` is before `offset`.
    fn num_raw_hashes(&self, offset: usize) -> Option<usize> {
        let rest = self.text.get(self.position + offset..)?;
        let num_hashes = rest.iter().take_while(|&&b| b == b'#').count();
        (rest.get(num_hashes) == Some(&b'"')).then_some(num_hashes)
    }

    fn raw_or_copy(&mut self, prefix_len: usize) {
        if self.num_raw_hashes(prefix_len).is_some() {
            self.raw_string(prefix_len)
        } else {
            self.copy()
        }
    }

    fn raw_string(&mut self, prefix_len: usize) {
        let num_hashes = self.num_raw_hashes(prefix_len).unwrap_or(0);
        let close = format!("\"{}", "#".repeat(num_hashes)).into_bytes();
        let inside = self.position + prefix_len + num_hashes + 1;
        let rest = self.text.get(inside..).unwrap_or_default();
        let len = rest
            .windows(close.len())
            .position(|part| part == close)
            .unwrap_or(rest.len());
        self.blank_to(inside + len + close.len());
    }
}
