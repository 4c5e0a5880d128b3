//! Packs random rows and takes them out again.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewArray, Int64Array, UInt8Array, UInt64Array};
use arrow::datatypes::DataType as ArrowType;
use basalt_hashtable::Fold;
use proptest::prelude::{Strategy, any, prop, proptest};

use super::{KeyForm, PackedRowForm, RowLayout};

type Row = (i64, Option<Vec<u8>>, Option<u8>, Vec<u8>);

fn columns(rows: &[Row]) -> Vec<ArrayRef> {
    let numbers: Int64Array = rows.iter().map(|row| row.0).collect::<Vec<_>>().into();
    let names: BinaryViewArray = rows.iter().map(|row| row.1.as_deref()).collect();
    let small: UInt8Array = rows.iter().map(|row| row.2).collect();
    let texts: BinaryViewArray = rows.iter().map(|row| Some(row.3.as_slice())).collect();
    vec![
        Arc::new(numbers),
        Arc::new(names),
        Arc::new(small),
        Arc::new(texts),
    ]
}

/// Keys of the columns of `rows` and of `more` come back, and are the same if and only if the rows
/// are.
fn check(rows: &[Row], more: &[ArrayRef]) {
    let mut columns = columns(rows);
    columns.extend(more.iter().cloned());
    let types: Vec<(ArrowType, bool)> = columns
        .iter()
        .map(|column| (column.data_type().clone(), true))
        .collect();
    let form = PackedRowForm::<Fold>::new(&RowLayout::of(&types).unwrap());
    let keys = form.encode(columns.clone()).unwrap();
    assert_eq!(form.columns(&keys).unwrap(), columns);
    let last: Vec<u32> = (rows.len() as u32 / 2..rows.len() as u32).collect();
    let halves = keys.take(&last);
    let half_columns = form.columns(&halves).unwrap();
    for (half, whole) in half_columns.iter().zip(&columns) {
        assert_eq!(half, &whole.slice(rows.len() / 2, halves.len()));
    }
    let packed = keys.array().unwrap();
    for (i, a) in rows.iter().enumerate() {
        for (j, b) in rows.iter().enumerate() {
            let is_same_wide = more
                .iter()
                .all(|column| column.slice(i, 1) == column.slice(j, 1));
            assert_eq!(packed.value(i) == packed.value(j), a == b && is_same_wide);
        }
    }
}

proptest! {
    #[test]
    fn rows_come_back(rows in prop::collection::vec(
        (
            -2i64..3,
            prop::option::of(prop::collection::vec(0u8..2, 0..15)),
            prop::option::of(0u8..2),
            (0usize..30, any::<bool>()).prop_map(|(len, bit)| vec![u8::from(bit); len]),
        ),
        0..30,
    )) {
        check(&rows, &[]);
        // Fixed parts of more than 64 and of more than 128 bits.
        let wide: ArrayRef = Arc::new(rows.iter().map(|row| u64::from(row.0 > 0)).collect::<UInt64Array>());
        check(&rows, std::slice::from_ref(&wide));
        check(&rows, &[Arc::clone(&wide), wide]);
    }
}

#[test]
fn what_is_no_string_must_have_a_width() {
    let list = ArrowType::new_list(ArrowType::UInt8, false);
    let keys = [(ArrowType::BinaryView, false), (list, false)];
    assert!(RowLayout::of(&keys).is_none());
    let wide = vec![(ArrowType::Decimal128(38, 0), false); 3];
    assert!(RowLayout::of(&wide).is_none());
}
