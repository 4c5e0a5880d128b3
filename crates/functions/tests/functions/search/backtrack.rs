//! Simple regular expressions run by backtracking: groups as in the general engine, and what is not simple.

use std::ops::Range;

use proptest::prelude::*;
use regex::bytes::RegexBuilder;

use basalt_functions::Characters;
use basalt_functions::scalar::search::backtrack::{BLOCK, Backtracker, Outcome, Program, Slots};

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

/// What a group is in each value, where the whole value matches; else all of it.
fn parts_one_by_one(pattern: &str, values: &[&[u8]], group: usize) -> Vec<Range<usize>> {
    let part = |value: &&[u8]| {
        let (outcome, slots) = groups_by_backtracking(pattern, value, 0);
        match outcome {
            Outcome::Match => {
                let ends = slots[2 * group].zip(slots[2 * group + 1]);
                ends.map_or(0..0, |(begin, end)| begin..end)
            }
            Outcome::NoMatch | Outcome::TooLong => 0..value.len(),
        }
    };
    values.iter().map(part).collect()
}

proptest! {
    /// Runs on blocks of values end where those on single values do.
    #[test]
    fn blocks_of_values_have_the_parts_of_each(
        values in prop::collection::vec("(https?:)?(//)?(www\\.)?[a-c/.é]{0,20}|a{0,3}b?|[0-9a]{0,40}", 0..BLOCK),
    ) {
        let values: Vec<&[u8]> = values.iter().map(String::as_bytes).collect();
        for (pattern, group) in [
            (r"^https?://(?:www\.)?([^/]+)/.*$", 1),
            (r"^(https?:)?//([^/]*)/?$", 2),
            ("^a?(a*)b?$", 1),
            ("^(a)?ab$", 0),
            ("^([0-9]+)(a*)$", 2),
        ] {
            let program = Program::compile(pattern, false).expect("a simple expression");
            let expected = parts_one_by_one(pattern, &values, group);
            let mut parts = vec![0..0; values.len()];
            let other = |i: usize| expected[i].clone();
            if program.parts(&values, group, &mut parts, other) {
                prop_assert_eq!(parts, expected, "{}", pattern);
            }
        }
    }
}

#[test]
fn what_takes_urls_apart_runs_on_blocks() {
    let program = Program::compile(r"^https?://(?:www\.)?([^/]+)/.*$", false).unwrap();
    let values: [&[u8]; 3] = [b"https://www.a.b/c", b"http://a.b/", b"ftp://a.b/"];
    let mut parts = [const { 0..0 }; 3];
    assert!(program.parts(&values, 1, &mut parts, |_| unreachable!()));
    assert_eq!(parts, [12..15, 7..10, 0..10]);
}
