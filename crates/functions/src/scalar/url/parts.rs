//! Finds the parts of URLs. Nothing is validated beyond what finding a part needs.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};

/// The scheme at the front, if `://` follows it.
pub fn protocol(url: &[u8]) -> Range<usize> {
    if !url.first().is_some_and(u8::is_ascii_alphabetic) {
        return 0..0;
    }
    let is_scheme = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let len = url.iter().take_while(|b| is_scheme(b)).count();
    if url[len..].starts_with(b"://") {
        0..len
    } else {
        0..0
    }
}

/// Where the host may begin: after `scheme://`, after `//`, or at the front.
fn authority_start(url: &[u8]) -> usize {
    let scheme = protocol(url);
    if !scheme.is_empty() {
        return scheme.end + 3;
    }
    if url.starts_with(b"//") { 2 } else { 0 }
}

/// The host; empty without a dot in it or with characters that no host has.
pub fn domain(url: &[u8]) -> Range<usize> {
    let mut start = authority_start(url);
    let mut last_dot = None;
    let mut end = url.len();
    for (i, byte) in url.iter().enumerate().skip(start) {
        match byte {
            b'.' => last_dot = Some(i),
            b':' | b'/' | b'?' | b'#' => {
                end = i;
                break;
            }
            b'@' => {
                start = i + 1;
                last_dot = None;
            }
            b' ' | b'\t' | b'<' | b'>' | b'%' | b'{' | b'}' | b'|' | b'\\' | b'^' | b'~' | b'['
            | b']' | b';' | b'=' | b'&' => return 0..0,
            _ => {}
        }
    }
    match last_dot {
        // A host that ends with a dot is none.
        Some(dot) if dot + 1 < end => start..end,
        _ => 0..0,
    }
}

/// The host without a `www.` at its front.
pub fn domain_without_www(url: &[u8]) -> Range<usize> {
    without_www(url, domain(url))
}

/// As [`domain_without_www`] by RFC 3986.
pub fn domain_without_www_rfc(url: &[u8]) -> Range<usize> {
    without_www(url, domain_rfc(url))
}

/// A host without a `www.` at its front.
pub(super) fn without_www(url: &[u8], host: Range<usize>) -> Range<usize> {
    let www = if url[host.clone()].starts_with(b"www.") {
        4
    } else {
        0
    };
    host.start + www..host.end
}

/// As [`domain`] by RFC 3986: user names with passwords, any host without spaces.
pub fn domain_rfc(url: &[u8]) -> Range<usize> {
    let start = authority_start(url);
    let end = start + memchr_authority_end(&url[start..]);
    let start = memrchr(b'@', &url[start..end]).map_or(start, |at| start + at + 1);
    let host = &url[start..end];
    let end = if host.starts_with(b"[") {
        start + memchr(b']', host).map_or(0, |at| at + 1)
    } else {
        start + memchr(b':', host).unwrap_or(host.len())
    };
    let host = &url[start..end];
    let is_allowed =
        |b: &u8| b.is_ascii_alphanumeric() || !b.is_ascii() || b"-._~![]:$&'()*+,;=%".contains(b);
    let has_dot = host.contains(&b'.') && !host.ends_with(b".") || host.starts_with(b"[");
    if has_dot && host.iter().all(is_allowed) {
        start..end
    } else {
        0..0
    }
}

fn memchr_authority_end(rest: &[u8]) -> usize {
    memchr::memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len())
}

/// User, host and port.
pub fn netloc(url: &[u8]) -> Range<usize> {
    let start = authority_start(url);
    let ends = |b: &u8| b"/?# \t<>%{}|\\^~[];=&".contains(b);
    let len = url[start..].iter().position(ends);
    start..len.map_or(url.len(), |len| start + len)
}

/// What follows the host's last dot, unless it begins with a digit.
pub fn top_level_domain(url: &[u8]) -> Range<usize> {
    last_label(url, domain(url))
}

/// As [`top_level_domain`] by RFC 3986.
pub fn top_level_domain_rfc(url: &[u8]) -> Range<usize> {
    last_label(url, domain_rfc(url))
}

fn last_label(url: &[u8], host: Range<usize>) -> Range<usize> {
    let Some(dot) = memrchr(b'.', &url[host.clone()]) else {
        return 0..0;
    };
    let start = host.start + dot + 1;
    // The last part of an address in numbers is no name.
    if url.get(start).is_some_and(u8::is_ascii_digit) {
        return 0..0;
    }
    start..host.end
}

/// The port, or `default` if there is none that fits.
pub fn port(url: &[u8], host: &Range<usize>, default: u16) -> u16 {
    if host.is_empty() || url.get(host.end) != Some(&b':') {
        return default;
    }
    let rest = &url[host.end + 1..];
    let end = rest
        .iter()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(rest.len());
    if !matches!(rest.get(end), None | Some(b'/' | b'?' | b'#')) {
        return default;
    }
    let digits = std::str::from_utf8(&rest[..end]).ok();
    let number = digits.and_then(|d| d.parse::<u16>().ok());
    number.filter(|n| *n > 0).unwrap_or(default)
}

/// Where the path begins: at the first slash that does not belong to `://` or a leading `//`.
fn path_start(url: &[u8]) -> Option<usize> {
    let first = memchr(b'/', url)?;
    let is_double = url.get(first + 1) == Some(&b'/');
    if is_double && (first == 0 || url[first - 1] == b':') {
        let start = first + 2;
        return memchr(b'/', &url[start..]).map(|at| start + at);
    }
    Some(first)
}

/// The path without query and fragment.
pub fn path(url: &[u8]) -> Range<usize> {
    path_start(url).map_or(0..0, |start| {
        let len = memchr2(b'?', b'#', &url[start..]);
        start..len.map_or(url.len(), |len| start + len)
    })
}

/// The path with query and fragment.
pub fn path_full(url: &[u8]) -> Range<usize> {
    path_start(url).map_or(0..0, |start| start..url.len())
}

/// What stands between the first `?` and the fragment after it.
pub fn query_string(url: &[u8]) -> Range<usize> {
    memchr(b'?', url).map_or(0..0, |at| {
        let start = at + 1;
        let len = memchr(b'#', &url[start..]);
        start..len.map_or(url.len(), |len| start + len)
    })
}

/// What stands behind the first `#`.
pub fn fragment(url: &[u8]) -> Range<usize> {
    memchr(b'#', url).map_or(0..0, |at| at + 1..url.len())
}

/// What stands behind the first `?`, or else behind the first `#`.
pub fn query_and_fragment(url: &[u8]) -> Range<usize> {
    memchr(b'?', url)
        .or_else(|| memchr(b'#', url))
        .map_or(0..0, |at| at + 1..url.len())
}

/// The part of a range with the character before it, or nothing at the end of an URL.
fn with_mark(url: &[u8], part: Range<usize>) -> Range<usize> {
    if part.start == 0 {
        url.len()..url.len()
    } else {
        part.start - 1..part.end
    }
}

/// The query with its `?`.
pub fn marked_query(url: &[u8]) -> Range<usize> {
    with_mark(url, query_string(url))
}

/// The fragment with its `#`.
pub fn marked_fragment(url: &[u8]) -> Range<usize> {
    with_mark(url, fragment(url))
}

/// Query and fragment with the mark before them.
pub fn marked_query_and_fragment(url: &[u8]) -> Range<usize> {
    with_mark(url, query_and_fragment(url))
}

/// The `www.` in front of a host that follows `//`.
pub fn www(url: &[u8]) -> Range<usize> {
    let start = authority_start(url);
    let host = domain(url);
    if start > 0 && host.start == start && url[host.clone()].starts_with(b"www.") {
        start..start + 4
    } else {
        0..0
    }
}
