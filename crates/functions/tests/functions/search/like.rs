//! Patterns of `LIKE` and `ILIKE`: wildcards, escapes, bytes that are no UTF-8, and case.

use basalt_functions::scalar::search::like::LikeMatcher;

fn like(value: &[u8], pattern: &[u8]) -> bool {
    LikeMatcher::new(pattern, false)
        .expect("valid")
        .matches(value)
}

fn ilike(value: &str, pattern: &str) -> bool {
    let matcher = LikeMatcher::new(pattern.as_bytes(), true).expect("valid");
    matcher.matches(value.as_bytes())
}

#[test]
fn wildcards_and_escapes_are_those_of_clickhouse() {
    assert!(like(b"abc", b"a%"));
    assert!(like(b"a\nc", b"a%c"));
    assert!(like(b"a%c", b"a\\%c"));
    assert!(!like(b"abc", b"a\\%c"));
    assert!(like(b"a\\c", b"a\\\\c"));
    assert!(like(b"a\\bc", b"a\\bc"));
    assert!(!like(b"abc", b"a\\bc"));
    assert!(LikeMatcher::new(b"abc\\", false).is_err());
    assert!(like("é".as_bytes(), b"_"));
    assert!(!like(b"\xff", b"_"));
    assert!(!like(b"a\xffb", b"a%b"));
    assert!(like(b"\xffa\xff", b"%a%"));
    assert!(like(b"", b"") && like(b"", b"%") && !like(b"", b"_"));
    assert!(like(b"abcabc", b"%b%b%") && !like(b"abc", b"%b%b%"));
    assert!(!like(b"aba", b"ab%ba"));
}

#[test]
fn case_is_ignored_in_all_of_unicode() {
    assert!(ilike("ABC", "a%"));
    assert!(ilike("ÉBC", "é%"));
    assert!(ilike("xÉBC", "%éb%"));
    assert!(!ilike("ABC", "b%"));
    assert!(ilike("1-2", "1%2"));
}
