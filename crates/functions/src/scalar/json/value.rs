//! Walks JSON text in place: a value is the part of the text that it stands in.
//!
//! The whole text is checked once ([`Json::parse`]); walking over it afterwards relies on that and
//! only looks for brackets and quotes. Nothing is allocated.

use std::borrow::Cow;

/// A JSON value by its text, which is valid and has no space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<'a> {
    text: &'a [u8],
}

/// A kind of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are JSON's own words")]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// How deep values may be nested.
const MAX_DEPTH: usize = 1024;

impl<'a> Json<'a> {
    /// The value that is the whole text; `None` if the text is not JSON.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let text = text.trim_ascii_start();
        let end = check_value(text, 0, MAX_DEPTH)?;
        let (value, rest) = text.split_at(end);
        rest.trim_ascii().is_empty().then_some(Self { text: value })
    }

    /// The text of the value, as it stands.
    pub fn text(self) -> &'a [u8] {
        self.text
    }

    /// What the value is.
    pub fn kind(self) -> Kind {
        match self.text.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The values of an array; nothing if it is none.
    pub fn items(self) -> Items<'a> {
        Items {
            rest: if self.kind() == Kind::Array {
                &self.text[1..]
            } else {
                &[]
            },
        }
    }

    /// Keys (with their quotes) and values of an object; nothing if it is none.
    pub fn members(self) -> Members<'a> {
        Members {
            rest: if self.kind() == Kind::Object {
                &self.text[1..]
            } else {
                &[]
            },
        }
    }

    /// Number of values of an array or object.
    pub fn num_values(self) -> usize {
        if self.kind() == Kind::Object {
            self.members().count()
        } else {
            self.items().count()
        }
    }

    /// The content of a string.
    pub fn string(self) -> Option<Cow<'a, [u8]>> {
        if self.kind() != Kind::String {
            return None;
        }
        let inner = &self.text[1..self.text.len() - 1];
        if memchr::memchr(b'\\', inner).is_none() {
            return Some(Cow::Borrowed(inner));
        }
        let mut out = Vec::with_capacity(inner.len());
        unescape(inner, &mut out);
        Some(Cow::Owned(out))
    }

    /// The value of a key of an object.
    pub fn member(self, key: &[u8], ignore_case: bool) -> Option<Self> {
        let fits = |name: &Json<'_>| match name.string() {
            Some(name) if ignore_case => name.eq_ignore_ascii_case(key),
            Some(name) => *name == *key,
            None => false,
        };
        self.members()
            .find(|(name, _)| fits(name))
            .map(|(_, value)| value)
    }

    /// The key and value at a position from 1 (from the end if negative); an array has no keys.
    pub fn at(self, position: i64) -> Option<(Option<Self>, Self)> {
        let len = if position < 0 {
            self.num_values()
        } else {
            usize::MAX
        };
        let idx = match usize::try_from(position.unsigned_abs()).ok()? {
            0 => return None,
            distance if position < 0 => len.checked_sub(distance)?,
            distance => distance - 1,
        };
        match self.kind() {
            Kind::Array => self.items().nth(idx).map(|v| (None, v)),
            Kind::Object => self.members().nth(idx).map(|(k, v)| (Some(k), v)),
            _ => None,
        }
    }
}

/// The values of an array.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Items<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        next_value(&mut self.rest)
    }
}

/// The keys and values of an object.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Members<'a> {
    type Item = (Json<'a>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((next_value(&mut self.rest)?, next_value(&mut self.rest)?))
    }
}

/// The next value behind spaces, commas and colons of checked text.
fn next_value<'a>(rest: &mut &'a [u8]) -> Option<Json<'a>> {
    let is_filler = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
    let start = rest.iter().position(|b| !is_filler(b))?;
    let text = &rest[start..];
    if matches!(text[0], b']' | b'}') {
        return None;
    }
    let end = skip_checked(text);
    *rest = &text[end..];
    Some(Json { text: &text[..end] })
}

/// The end of the first value of checked text.
fn skip_checked(text: &[u8]) -> usize {
    match text[0] {
        b'"' => skip_string(text),
        b'{' | b'[' => {
            let (mut depth, mut i) = (0_usize, 0);
            while i < text.len() {
                match text[i] {
                    b'"' => {
                        i += skip_string(&text[i..]);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return i + 1;
                        }
                    }
                    _ => {}
                }
                i += 1;
            }
            text.len()
        }
        _ => text
            .iter()
            .position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'))
            .unwrap_or(text.len()),
    }
}

/// The end of the string that checked text begins with.
fn skip_string(text: &[u8]) -> usize {
    let mut i = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(i..).unwrap_or_default()) {
        i += found;
        if text[i] == b'"' {
            return i + 1;
        }
        i += 2;
    }
    text.len()
}

fn skip_space(text: &[u8], mut i: usize) -> usize {
    while matches!(text.get(i), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        i += 1;
    }
    i
}

/// The end of the value at `start`, if there is a valid one.
fn check_value(text: &[u8], start: usize, depth: usize) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    let word = |word: &[u8]| {
        text[start..]
            .starts_with(word)
            .then_some(start + word.len())
    };
    match text.get(start)? {
        b'{' => check_list(text, start, |text, i| {
            let i = skip_space(text, check_string(text, i)?);
            if text.get(i)? != &b':' {
                return None;
            }
            check_value(text, skip_space(text, i + 1), depth)
        }),
        b'[' => check_list(text, start, |text, i| check_value(text, i, depth)),
        b'"' => check_string(text, start),
        b't' => word(b"true"),
        b'f' => word(b"false"),
        b'n' => word(b"null"),
        _ => check_number(text, start),
    }
}

/// The end of an object or array whose elements `check` checks.
fn check_list(
    text: &[u8],
    start: usize,
    check: impl Fn(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    let close = if text[start] == b'{' { b'}' } else { b']' };
    let mut i = skip_space(text, start + 1);
    if text.get(i)? == &close {
        return Some(i + 1);
    }
    loop {
        i = skip_space(text, check(text, i)?);
        match text.get(i)? {
            b',' => i = skip_space(text, i + 1),
            byte if *byte == close => return Some(i + 1),
            _ => return None,
        }
    }
}

fn check_string(text: &[u8], start: usize) -> Option<usize> {
    if text.get(start)? != &b'"' {
        return None;
    }
    let mut i = start + 1;
    loop {
        match text.get(i)? {
            b'"' => return Some(i + 1),
            b'\\' => {
                let escape = text.get(i + 1)?;
                i += 2;
                if *escape == b'u' {
                    let digits = text.get(i..i + 4)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    i += 4;
                } else if !b"\"\\/bfnrt".contains(escape) {
                    return None;
                }
            }
            0..=0x1f => return None,
            _ => i += 1,
        }
    }
}

fn check_number(text: &[u8], start: usize) -> Option<usize> {
    let digits = |mut i: usize| {
        let from = i;
        while text.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        (i > from).then_some(i)
    };
    let mut i = start;
    if text.get(i) == Some(&b'-') {
        i += 1;
    }
    let first = i;
    i = digits(i)?;
    if text[first] == b'0' && i > first + 1 {
        return None;
    }
    if text.get(i) == Some(&b'.') {
        i = digits(i + 1)?;
    }
    if matches!(text.get(i), Some(b'e' | b'E')) {
        i += 1;
        if matches!(text.get(i), Some(b'+' | b'-')) {
            i += 1;
        }
        i = digits(i)?;
    }
    Some(i)
}

/// Undoes the escapes of a string's checked content; half a surrogate pair is left out.
pub fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let Some(escape) = rest.get(at + 1) else {
            return;
        };
        rest = &rest[at + 2..];
        match escape {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                if let Some(c) = unicode(&mut rest) {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            other => out.push(*other),
        }
    }
    out.extend_from_slice(rest);
}

fn hex4(text: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(text.get(..4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

/// The character of `\u` and its digits, with the second half of a pair if there is one.
fn unicode(rest: &mut &[u8]) -> Option<char> {
    let high = hex4(rest);
    *rest = rest.get(4..).unwrap_or_default();
    let high = high?;
    if !(0xD800..0xDC00).contains(&high) {
        return char::from_u32(high);
    }
    let low = rest.strip_prefix(b"\\u").and_then(hex4)?;
    if !(0xDC00..0xE000).contains(&low) {
        return None;
    }
    *rest = &rest[6..];
    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}
