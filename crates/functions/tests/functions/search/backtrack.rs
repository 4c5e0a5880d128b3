//! Simple regular expressions run by backtracking: groups as in the general engine, and what is not simple.

use proptest::prelude::*;
use regex::bytes::RegexBuilder;

use basalt_functions::Characters;
use basalt_functions::scalar::search::backtrack::{Backtracker, Outcome, Program, Slots};

fn groups_by_backtracking(pattern: &str, value: &[u8], start: usize) -> (Outcome, Slots) {
    let program = Program::compile(pattern, false).expect("a simple expression");
    let mut slots = Slots::new();
    let mut backtracker = Backtracker::new(&program);
    backtracker.begin(value);
    let outcome = backtracker.find(value, start, &mut slots);
    (outcome, slots)
}

fn groups_by_regex(pattern: &str, value: &[u8], start: usize) -> Option<Slots> {
    let regex = RegexBuilder::new(pattern)
        .dot_matches_new_line(true)
        .build()
        .expect("a valid expression");
    let mut locations = regex.capture_locations();
    regex.captures_read_at(&mut locations, value, start)?;
    let groups = (0..locations.len()).map(|group| locations.get(group));
    let slots = groups.flat_map(|group| [group.map(|g| g.0), group.map(|g| g.1)]);
    Some(slots.collect())
}

fn check(pattern: &str, value: &[u8], start: usize) {
    let (outcome, slots) = groups_by_backtracking(pattern, value, start);
    match outcome {
        Outcome::Match => {
            let expected = groups_by_regex(pattern, value, start);
            assert_eq!(Some(slots), expected, "{pattern} in {value:?} from {start}");
        }
        Outcome::NoMatch => {
            let expected = groups_by_regex(pattern, value, start);
            assert_eq!(None, expected, "{pattern} in {value:?} from {start}");
        }
        Outcome::TooLong => {}
    }
}

#[test]
fn groups_of_a_failed_run_are_forgotten() {
    check("a(b)?c", b"abdac", 0);
    check("a(?:(b)|(c))?d", b"abacad", 0);
}

#[test]
fn ways_are_taken_by_the_next_byte() {
    for pattern in [
        "^(a|b|ab|)(b?)$",
        "^(a*|b)(a|$)",
        "^x?(x|$)x?",
        "^(?:|a)b?$",
    ] {
        for value in ["", "a", "b", "ab", "abb", "x", "xx", "xxx"] {
            check(pattern, value.as_bytes(), 0);
        }
    }
}

#[test]
fn groups_of_urls_are_found() {
    let pattern = r"^https?://(?:www\.)?([^/]+)/.*$";
    for value in [
        "http://www.a.b/c",
        "https://a.b/",
        "http://www./x",
        "http://a.b",
        "",
        "ftp://a/",
        "https://www.пример.рф/ё",
    ] {
        check(pattern, value.as_bytes(), 0);
    }
    let (outcome, slots) = groups_by_backtracking(pattern, b"http://www.a.b/c/d", 0);
    assert_eq!(outcome, Outcome::Match);
    assert_eq!(slots, [Some(0), Some(18), Some(11), Some(14)]);
    check("a(b*)b(c|bc)?", b"xabbabbbc", 0);
    check("a(b*?)b(c|bc)?", b"xabbabbbc", 2);
}

#[test]
fn one_way_through_takes_any_bytes() {
    for (pattern, value, group) in [
        (r"^https?://([^/]+)/.*$", &b"http://a\x80b/\xff"[..], 7..10),
        ("a(.+)", b"za\xe2\x82b", 2..5),
        (r"a(\W+)b", b"a\xe2\x82b", 1..3),
        // It is there, and what follows is not: all is tried without it.
        ("^a(b?)b(c*)$", b"abc", 1..1),
        ("^a(?:bc)?(.*)$", b"abc", 3..3),
        ("^a(?:bc)?([^/]+)$", b"abc", 1..3),
    ] {
        let (outcome, slots) = groups_by_backtracking(pattern, value, 0);
        assert_eq!(outcome, Outcome::Match, "{pattern} in {value:?}");
        let begin_and_end = [Some(group.start), Some(group.end)];
        assert_eq!(slots[2..4], begin_and_end, "{pattern} in {value:?}");
    }
    let is_for_all = |pattern| {
        let program = Program::compile(pattern, false).expect("a simple expression");
        program.is_for(b"\xff", Characters::Any)
    };
    assert!(is_for_all("a(.+)"));
    assert!(!is_for_all("a(.+)b"), "as in ClickHouse");
    assert!(!is_for_all("^a(.{0,9})b"), "characters are counted");
}

#[test]
fn what_would_take_long_is_left_to_others() {
    let value = vec![b'a'; 10_000];
    let (outcome, _) = groups_by_backtracking("^[a-z]*[a-z]*[a-z]*1", &value, 0);
    assert_eq!(outcome, Outcome::TooLong);
}

#[test]
fn runs_of_one_value_share_its_steps() {
    let value = b"a ".repeat(10_000);
    let program = Program::compile("a([^b]*)b", false).expect("a simple expression");
    let mut backtracker = Backtracker::new(&program);
    backtracker.begin(&value);
    let mut slots = Slots::new();
    let outcome = backtracker.find(&value, 0, &mut slots);
    assert_eq!(outcome, Outcome::TooLong);
    assert_eq!(backtracker.find(&value, 0, &mut slots), Outcome::TooLong);
}

#[test]
fn complex_expressions_are_not_compiled() {
    for pattern in [
        "a|b",
        "(a)b",
        "^(?:ab)+",
        r"^a\b",
        "[ab]c",
        "^(?:a|bc){2}",
        "",
        "(?m)^a$",
    ] {
        assert!(Program::compile(pattern, false).is_none(), "{pattern}");
    }
}

/// A simple expression over the letters a to c.
fn simple_pattern() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "a",
        "b",
        "ab",
        "[ab]",
        "[^a]",
        ".",
        "a?",
        "b*",
        "[bc]+",
        ".*",
        "a*?",
        "[ab]{1,3}",
        "b??",
        ".+?",
        "(a|bc)",
        "(?:b|ca)?",
        "(c)?",
        "(a*)",
        "$",
        "([ab]*)c",
        "(?:ab|a|)",
        "(.*)(b)",
    ]);
    let begin = prop::sample::select(vec!["^", "a", "bc"]);
    (begin, prop::collection::vec(atom, 0..6))
        .prop_map(|(begin, atoms)| begin.to_owned() + &atoms.concat())
}

proptest! {
    #[test]
    fn groups_are_those_of_the_general_engine(
        pattern in simple_pattern(),
        value in "[abc]{0,14}|[abcé€]{0,14}",
        start in 0usize..4,
    ) {
        let program = Program::compile(&pattern, false);
        if value.is_char_boundary(start) && program.is_some_and(|p| p.is_for(value.as_bytes(), Characters::Any)) {
            check(&pattern, value.as_bytes(), start);
        }
    }
}
