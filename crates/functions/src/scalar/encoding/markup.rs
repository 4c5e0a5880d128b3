//! Writes and reads the entities of XML and HTML, and takes the text out of HTML.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::ScalarFunction;
use crate::scalar::strings::shapes::only_string_to_string;

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "encodeXMLComponent",
        syntax: "encodeXMLComponent(s)",
        description: "The string with `<`, `>`, `&` and both quotes as XML's entities.",
        resolve: |call| only_string_to_string(call, encode),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "decodeXMLComponent",
        syntax: "decodeXMLComponent(s)",
        description: "The string with XML's entities and numbers of characters replaced.",
        resolve: |call| only_string_to_string(call, |s, out| decode(s, out, xml_entity)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "decodeHTMLComponent",
        syntax: "decodeHTMLComponent(s)",
        description: "The string with HTML's entities and numbers of characters replaced.",
        resolve: |call| only_string_to_string(call, |s, out| decode(s, out, html_entity)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "extractTextFromHTML",
        syntax: "extractTextFromHTML(s)",
        description: "The text of an HTML page, without tags, comments, scripts and styles.",
        resolve: |call| only_string_to_string(call, extract_text),
        ..ScalarFunction::BASE
    },
];

const XML: [(u8, &str); 5] = [
    (b'<', "lt"),
    (b'>', "gt"),
    (b'&', "amp"),
    (b'"', "quot"),
    (b'\'', "apos"),
];

fn encode(value: &[u8], out: &mut Vec<u8>) {
    for byte in value {
        match XML.iter().find(|(c, _)| c == byte) {
            Some((_, name)) => {
                out.push(b'&');
                out.extend_from_slice(name.as_bytes());
                out.push(b';');
            }
            None => out.push(*byte),
        }
    }
}

fn xml_entity(name: &[u8], out: &mut Vec<u8>) -> bool {
    let found = XML.iter().find(|(_, n)| n.as_bytes() == name);
    out.extend(found.map(|(c, _)| *c));
    found.is_some()
}

/// The names of HTML 5 that end with a semicolon, and their characters.
static HTML: LazyLock<HashMap<&'static [u8], String>> = LazyLock::new(|| {
    let lines = include_str!("html_entities.tsv").lines();
    let entry = |line: &'static str| {
        let (name, codes) = line.split_once('\t')?;
        let chars = codes.split(' ').map(|code| {
            let number = u32::from_str_radix(code, 16).ok()?;
            char::from_u32(number)
        });
        Some((name.as_bytes(), chars.collect::<Option<String>>()?))
    };
    lines.filter_map(entry).collect()
});

fn html_entity(name: &[u8], out: &mut Vec<u8>) -> bool {
    match HTML.get(name) {
        Some(text) => {
            out.extend_from_slice(text.as_bytes());
            true
        }
        None => false,
    }
}

/// Replaces what `entity` knows, and numbers of characters; all else stays.
fn decode(value: &[u8], out: &mut Vec<u8>, entity: fn(&[u8], &mut Vec<u8>) -> bool) {
    let mut rest = value;
    while let Some(start) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..start]);
        rest = &rest[start..];
        let end = memchr::memchr2(b';', b'&', &rest[1..]).map(|end| end + 1);
        let end = end.filter(|end| rest[*end] == b';');
        let decoded = end.filter(|end| {
            let name = &rest[1..*end];
            match name.strip_prefix(b"#") {
                Some(number) => push_character(number, out),
                None => entity(name, out),
            }
        });
        match decoded {
            Some(end) => rest = &rest[end + 1..],
            None => {
                out.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
}

fn push_character(number: &[u8], out: &mut Vec<u8>) -> bool {
    let (digits, radix) = match number.strip_prefix(b"x").or(number.strip_prefix(b"X")) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let digits = std::str::from_utf8(digits).ok();
    let digits = digits.filter(|d| !d.starts_with('+'));
    let number = digits.and_then(|d| u32::from_str_radix(d, radix).ok());
    let Some(c) = number.and_then(char::from_u32) else {
        return false;
    };
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    true
}

/// The rest behind the next `end`, or nothing.
fn behind<'a>(value: &'a [u8], end: &[u8]) -> &'a [u8] {
    let at = memchr::memmem::find(value, end);
    at.map_or(&[], |at| &value[at + end.len()..])
}

fn starts_with_tag(value: &[u8], name: &[u8]) -> bool {
    value.len() > name.len()
        && value.starts_with(name)
        && !value[name.len()].is_ascii_alphanumeric()
}

/// Appends words, one space between those that spaces or tags part.
fn push_words(text: &[u8], out: &mut Vec<u8>, start: usize, needs_space: &mut bool) {
    for byte in text {
        if byte.is_ascii_whitespace() {
            *needs_space = true;
            continue;
        }
        if *needs_space && out.len() > start {
            out.push(b' ');
        }
        *needs_space = false;
        out.push(*byte);
    }
}

fn extract_text(value: &[u8], out: &mut Vec<u8>) {
    let (start, mut needs_space) = (out.len(), false);
    let mut rest = value;
    while !rest.is_empty() {
        let text_len = memchr::memchr(b'<', rest).unwrap_or(rest.len());
        push_words(&rest[..text_len], out, start, &mut needs_space);
        rest = &rest[text_len..];
        if rest.is_empty() {
            return;
        }
        if let Some(inside) = rest.strip_prefix(b"<![CDATA[") {
            let end = memchr::memmem::find(inside, b"]]>").unwrap_or(inside.len());
            push_words(&inside[..end], out, start, &mut needs_space);
            rest = &inside[(end + 3).min(inside.len())..];
            needs_space = true;
            continue;
        }
        if rest.starts_with(b"<!--") {
            rest = behind(rest, b"-->");
            continue;
        }
        let raw: Option<&[u8]> = [&b"</script"[..], b"</style"]
            .into_iter()
            .find(|close| starts_with_tag(&rest[1..], &close[2..]));
        rest = behind(rest, b">");
        needs_space = true;
        if let Some(close) = raw {
            let ends = (0..rest.len()).find(|at| {
                let rest = &rest[*at..];
                rest.starts_with(close)
            });
            rest = ends.map_or(&[], |at| behind(&rest[at..], b">"));
        }
    }
}
