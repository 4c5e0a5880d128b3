//! Regular expressions in RE2's syntax, and their groups.

use basalt_functions::Characters;
use basalt_functions::scalar::search::regexp::{compile, translate};

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
        let mut finder = regexp.groups(|| Characters::Any);
        let mut groups = finder.on(value.as_bytes());
        let found = groups.find_at(0);
        assert_eq!(found, Some(0..value.len()), "{pattern}");
        assert_eq!(&value[groups.group(1).expect("a group")], group);
    }
    assert!(!compile(b"^.$").expect("valid").is_match(b"\xff"));
    assert!(compile(b"a(?=b)").is_err());
    assert_eq!(translate("x{2,3}"), "x{2,3}");
}
