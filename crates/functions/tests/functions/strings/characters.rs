//! Characters of strings: how many a string has, and whether those of a column are ASCII or UTF-8.

use std::sync::Arc;

use arrow::array::BinaryViewArray;
use proptest::prelude::{any, prop, proptest};

use basalt_functions::scalar::strings::utf8::{char_offset, chars, count_chars};
use basalt_functions::{Characters, Column};

fn characters(array: BinaryViewArray) -> Characters {
    let column = Column::new(Arc::new(array));
    column.strings().expect("strings").characters()
}

fn of_each<'a>(mut values: impl Iterator<Item = &'a [u8]> + Clone) -> Characters {
    if values.clone().all(<[u8]>::is_ascii) {
        Characters::Ascii
    } else if values.all(|value| std::str::from_utf8(value).is_ok()) {
        Characters::Utf8
    } else {
        Characters::Any
    }
}

#[test]
fn characters_are_counted_by_their_first_bytes() {
    assert_eq!(count_chars(b"\xff\x80ab"), 3);
    assert_eq!(count_chars("héllo".as_bytes()), 5);
    assert_eq!(char_offset("héllo".as_bytes(), 2), 3);
    assert_eq!(char_offset(b"ab", 9), 2);
    assert_eq!(
        chars("aé".as_bytes()).collect::<Vec<_>>(),
        [&b"a"[..], "é".as_bytes()]
    );
}

#[test]
fn strings_that_cut_characters_are_told() {
    let text = "0123456789abcdéfghijklmnopqrstuvwxyz".as_bytes();
    let whole = BinaryViewArray::from_iter_values([text]);
    let (views, buffers, _) = whole.into_parts();
    let at = |offset: u128, len: u128| (offset << 96) | len | (views[0] & (0xFFFF_FFFF << 64));
    let check = |all: &[u128], expected| {
        let views = all.to_vec().into();
        let array = BinaryViewArray::try_new(views, Arc::clone(&buffers), None);
        assert_eq!(characters(array.unwrap()), expected);
    };
    let prefix = |offset: usize| {
        let four: [u8; 4] = text[offset..offset + 4].try_into().unwrap();
        u128::from(u32::from_le_bytes(four)) << 32
    };
    check(
        &[at(0, 20) | prefix(0), at(5, 30) | prefix(5)],
        Characters::Utf8,
    );
    check(
        &[at(0, 15) | prefix(0), at(16, 20) | prefix(16)],
        Characters::Any,
    );
    check(
        &[at(0, 20) | prefix(0), at(15, 20) | prefix(15)],
        Characters::Any,
    );
    check(&[at(0, 14) | prefix(0)], Characters::Ascii);
}

proptest! {
    #[test]
    fn says_of_a_column_what_holds_for_each(
        mut values in prop::collection::vec("[a-zé€😀]{0,20}", 0..20),
        cut in any::<bool>(),
        at in any::<usize>(),
    ) {
        let mut bytes: Vec<Vec<u8>> = values.drain(..).map(String::into_bytes).collect();
        if cut && let Some(value) = bytes.first_mut() {
            value.truncate(at % (value.len() + 1));
        }
        let array = BinaryViewArray::from_iter_values(&bytes);
        assert_eq!(characters(array), of_each(bytes.iter().map(Vec::as_slice)));
    }
}
