//! Finds the part of a host that says whose it is: `example` in `news.example.co.uk`.
//!
//! Below two-letter country domains the names that registries give to kinds of holders
//! ([`REGISTRY_NAMES`]) count as part of the suffix.

use std::ops::Range;

use super::parts::{domain, domain_rfc, domain_without_www, without_www};

/// Second-level names under which country registries hand out domains.
const REGISTRY_NAMES: [&[u8]; 21] = [
    b"ac", b"co", b"com", b"edu", b"gob", b"gov", b"go", b"gouv", b"info", b"ltd", b"me", b"mil",
    b"ne", b"net", b"nom", b"or", b"org", b"plc", b"sch", b"gen", b"web",
];

/// Names that anyone may register a name under although they are no registry.
const SHARED_HOSTS: [&[u8]; 6] = [
    b"github.io",
    b"gitlab.io",
    b"blogspot.com",
    b"herokuapp.com",
    b"netlify.app",
    b"vercel.app",
];

/// Where each label of a host begins, the last one first.
fn labels_from_end<'a>(
    url: &'a [u8],
    host: &Range<usize>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let start = host.start;
    let mut end = Some(host.end);
    std::iter::from_fn(move || {
        let to = end?;
        let dot = memchr::memrchr(b'.', &url[start..to]);
        let from = dot.map_or(start, |dot| start + dot + 1);
        end = dot.map(|dot| start + dot);
        Some(from..to)
    })
}

/// The significant label of the host; `None` if the host has only one label.
fn significant_label(url: &[u8], host: &Range<usize>) -> Option<Range<usize>> {
    let mut labels = labels_from_end(url, host);
    let top = labels.next()?;
    let second = labels.next()?;
    let Some(third) = labels.next() else {
        return Some(second);
    };
    let is_registry = top.len() == 2 && REGISTRY_NAMES.contains(&&url[second.clone()]);
    let is_suffix = is_registry || SHARED_HOSTS.contains(&&url[second.start..host.end]);
    Some(if is_suffix { third } else { second })
}

/// The significant label alone.
pub fn first_significant(url: &[u8]) -> Range<usize> {
    let host = domain_without_www(url);
    significant_label(url, &host).unwrap_or(host)
}

/// The host from its significant label on; a `www` in front does not count.
pub fn cut_to_significant(url: &[u8]) -> Range<usize> {
    let host = domain_without_www(url);
    significant_label(url, &host).map_or(host.clone(), |label| label.start..host.end)
}

/// The host from its significant label on.
pub fn cut_to_significant_with_www(url: &[u8]) -> Range<usize> {
    let host = domain(url);
    significant_label(url, &host).map_or(host.clone(), |label| label.start..host.end)
}

/// As [`first_significant`] by RFC 3986.
pub fn first_significant_rfc(url: &[u8]) -> Range<usize> {
    let host = without_www(url, domain_rfc(url));
    significant_label(url, &host).unwrap_or(host)
}

/// As [`cut_to_significant`] by RFC 3986.
pub fn cut_to_significant_rfc(url: &[u8]) -> Range<usize> {
    let host = without_www(url, domain_rfc(url));
    significant_label(url, &host).map_or(host.clone(), |label| label.start..host.end)
}

/// As [`cut_to_significant_with_www`] by RFC 3986.
pub fn cut_to_significant_with_www_rfc(url: &[u8]) -> Range<usize> {
    let host = domain_rfc(url);
    significant_label(url, &host).map_or(host.clone(), |label| label.start..host.end)
}
