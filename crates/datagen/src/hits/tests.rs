//! Tests the rows of `hits`: order, shares, texts and their hashes.

use std::collections::{HashMap, HashSet};

use arrow::array::AsArray;
use arrow::datatypes::{Int16Type, Int32Type, Int64Type};

use super::{Hit, Visits};
use crate::column::{Piece, Source, arrays};
use crate::random::Random;

const ROWS: u64 = 60_000;

fn rows(total: u64, seed: u64) -> Vec<Hit> {
    let random = Random::new(seed, 0);
    let mut visits = Visits::new(Piece {
        first: 0,
        total,
        seed,
        random,
    });
    (0..total).map(|_| visits.next_row()).collect()
}

fn texts(hits: &[Hit], name: &str) -> Vec<String> {
    let arrays = arrays(Visits::COLUMNS, hits);
    let index = Visits::COLUMNS
        .iter()
        .position(|column| column.name == name)
        .unwrap();
    arrays[index]
        .as_string::<i32>()
        .iter()
        .map(|text| text.unwrap().to_owned())
        .collect()
}

#[test]
fn four_of_five_phrases_are_empty() {
    let phrases = texts(&rows(ROWS, 1), "SearchPhrase");
    let empty = phrases.iter().filter(|phrase| phrase.is_empty()).count() as f64;
    assert!((0.78..0.84).contains(&(empty / ROWS as f64)), "{empty}");
    let distinct: HashSet<&String> = phrases.iter().collect();
    assert!(distinct.len() > 1_000, "{}", distinct.len());
}

#[test]
fn hashes_belong_to_their_texts() {
    let hits = rows(ROWS, 1);
    let arrays = arrays(Visits::COLUMNS, &hits);
    for (text, hashed, known) in [
        ("URL", "URLHash", 2_868_770_270_353_813_622),
        ("Referer", "RefererHash", 3_594_120_000_172_545_465),
    ] {
        let column = |name: &str| {
            Visits::COLUMNS
                .iter()
                .position(|column| column.name == name)
                .unwrap()
        };
        let texts = arrays[column(text)].as_string::<i32>();
        let hashes = arrays[column(hashed)].as_primitive::<Int64Type>();
        let mut seen = HashMap::new();
        for (text, hash) in texts.iter().zip(hashes.values()) {
            assert_eq!(seen.entry(text).or_insert(*hash), hash, "{text:?}");
        }
        let distinct: HashSet<&i64> = seen.values().collect();
        assert_eq!(distinct.len(), seen.len());
        assert!(distinct.contains(&known), "{text}");
    }
}

#[test]
fn rows_are_clustered_by_site_and_time() {
    let hits = rows(ROWS, 5);
    assert!(hits.is_sorted_by_key(|hit| hit.site.id));
    let late = hits
        .windows(2)
        .filter(|pair| pair[0].site.id == pair[1].site.id && pair[1].time + 3_600 < pair[0].time);
    assert!(late.count() < 200);
    let users: HashSet<i64> = hits.iter().map(|hit| hit.user.id).collect();
    assert!((4_000..12_000).contains(&users.len()), "{}", users.len());
}

#[test]
fn flags_and_keys_have_their_shares() {
    let hits = rows(ROWS, 9);
    let arrays = arrays(Visits::COLUMNS, &hits);
    let index = |name: &str| {
        Visits::COLUMNS
            .iter()
            .position(|column| column.name == name)
            .unwrap()
    };
    let share = |name: &str| {
        let values = arrays[index(name)].as_primitive::<Int16Type>().values();
        values.iter().filter(|&&value| value != 0).count() as f64 / values.len() as f64
    };
    for (name, low, high) in [
        ("AdvEngineID", 0.003, 0.05),
        ("IsRefresh", 0.05, 0.15),
        ("IsMobile", 0.02, 0.09),
        ("MobilePhone", 0.02, 0.09),
        ("DontCountHits", 0.05, 0.2),
        ("Age", 0.4, 0.8),
    ] {
        assert!((low..high).contains(&share(name)), "{name} {}", share(name));
    }
    let watches: HashSet<i64> = arrays[0]
        .as_primitive::<Int64Type>()
        .values()
        .iter()
        .copied()
        .collect();
    assert_eq!(watches.len() as u64, ROWS);
    assert!(
        arrays[index("CounterID")]
            .as_primitive::<Int32Type>()
            .values()
            .contains(&62)
    );
}
