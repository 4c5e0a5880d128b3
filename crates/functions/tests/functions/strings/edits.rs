//! Compares the two ways to count edits: bits of a column at once, and the whole table.

use proptest::prelude::proptest;

use crate::testing::{call, column, texts};

fn distance(function: &str, a: &str, b: &str) -> String {
    let args = [column("String", &[a]), column("String", &[b])];
    let found = call(function, &args, 1).expect(function);
    texts(&found.data_type, &found.column.array).remove(0)
}

proptest! {
    #[test]
    fn texts_of_bytes_are_as_far_apart_as_their_characters(
        a in "[abc]{0,90}",
        b in "[abc]{0,90}",
    ) {
        // Of characters there is only the way by the table.
        let expected = distance("editDistanceUTF8", &a, &b);
        assert_eq!(distance("editDistance", &a, &b), expected);
        assert_eq!(distance("editDistance", &b, &a), expected);
    }
}

#[test]
fn lengths_around_a_word_are_counted() {
    for len in [0, 1, 63, 64, 65] {
        let (all, none) = ("a".repeat(len), "b".repeat(len));
        assert_eq!(distance("editDistance", &all, &none), len.to_string());
        assert_eq!(distance("editDistance", &all, ""), len.to_string());
        let longer = format!("b{all}a");
        assert_eq!(distance("editDistance", &all, &longer), "2");
    }
}
