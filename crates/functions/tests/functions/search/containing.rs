//! Rows of a column whose strings contain a text.

use arrow::array::{Array, BinaryViewArray};
use memchr::memmem::Finder;
use proptest::prelude::*;

use basalt_functions::scalar::search::containing::rows_containing;

proptest! {
    #[test]
    fn rows_are_those_that_contain_the_text(
        values in prop_oneof![
            prop::collection::vec("[ab]{0,20}", 0..2500),
            prop::collection::vec("[ab]{13,20}", 0..2500),
            prop::collection::vec("[a-e]{0,200}", 0..300),
        ],
        needle in prop_oneof!["[ab]{1,14}", "[a-e]{1,4}"],
        from in 0usize..50,
        step in 1usize..9,
    ) {
        let strings = BinaryViewArray::from_iter_values(&values);
        let whole = strings.slice(from.min(strings.len()), strings.len().saturating_sub(from));
        let every = (0..strings.len()).step_by(step).rev().map(|row| strings.value(row));
        let scattered = BinaryViewArray::from_iter_values(every);
        let finder = Finder::new(&needle);
        for strings in [&strings, &whole, &scattered, &taken(&strings, step)] {
            let expected: Vec<u8> =
                strings.bytes_iter().map(|value| finder.find(value).is_some().into()).collect();
            prop_assert_eq!(rows_containing(strings, &finder, true), &expected[..]);
            let opposite: Vec<u8> = expected.iter().map(|hit| 1 - hit).collect();
            prop_assert_eq!(rows_containing(strings, &finder, false), opposite);
        }
    }
}

/// Rows whose buffers are those of `strings`, some twice, out of order.
fn taken(strings: &BinaryViewArray, step: usize) -> BinaryViewArray {
    let len = strings.len();
    let views = (0..len).map(|row| strings.views()[(row * step / 2 + row % 3) % len]);
    let buffers = strings.data_buffers().to_vec();
    BinaryViewArray::try_new(views.collect(), buffers, None).expect("views of the buffers")
}
