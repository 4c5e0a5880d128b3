//! Sets of every kind against the standard library's.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BinaryViewArray, Decimal128Array, FixedSizeBinaryArray, Int8Array, Int64Array,
    StructArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field, Fields};

use super::ValueSet;

/// The end of SplitMix64.
fn scrambled(i: u64) -> u64 {
    let mixed = (i ^ (i >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Makes values of some type from numbers, others of others.
type Make<'a> = &'a dyn Fn(&[u64]) -> ArrayRef;

/// Looks for `rows` numbers among `members`, both made arrays by `array`.
fn check(members: &[u64], rows: &[u64], array: Make<'_>) {
    let set = ValueSet::new(&array(members), false, false).unwrap();
    let found = set.contains(&array(rows)).unwrap();
    let members: HashSet<&u64> = members.iter().collect();
    let wanted: Vec<u8> = rows
        .iter()
        .map(|row| u8::from(members.contains(row)))
        .collect();
    assert_eq!(found.values().to_vec(), wanted);
    assert_eq!(found.null_count(), 0);
}

fn pair(left: ArrayRef, right: ArrayRef) -> ArrayRef {
    let field = |name, of: &ArrayRef| Field::new(name, of.data_type().clone(), true);
    let fields = Fields::from(vec![field("1", &left), field("2", &right)]);
    Arc::new(StructArray::new(fields, vec![left, right], None))
}

#[test]
fn members_are_found_and_others_are_not() {
    let close: Vec<u64> = (0..5_000).map(|i| scrambled(i) % 9_000).collect();
    let far: Vec<u64> = (0..5_000).map(|i| scrambled(i) >> (i % 64)).collect();
    let rows: Vec<u64> = (0..20_000).map(|i| scrambled(i / 2) >> (i % 64)).collect();
    let rows: Vec<u64> = rows.into_iter().chain(0..10_000).collect();
    let kinds: [Make<'_>; 8] = [
        &|v| Arc::new(UInt64Array::from(v.to_vec())),
        &|v| {
            Arc::new(Int64Array::from_iter_values(
                v.iter().map(|v| v.cast_signed()),
            ))
        },
        &|v| {
            Arc::new(BinaryViewArray::from_iter_values(
                v.iter().map(|v| v.to_string()),
            ))
        },
        // Upper and lower halves, in 64 bits, and in 96, and in 128 with a sign.
        &|v| {
            let half = |shift: u32| v.iter().map(move |v| (v >> shift) as u32);
            let half = |shift| Arc::new(UInt32Array::from_iter_values(half(shift)));
            pair(half(32), half(0))
        },
        &|v| {
            let low = UInt32Array::from_iter_values(v.iter().map(|v| *v as u32));
            pair(Arc::new(UInt64Array::from(v.to_vec())), Arc::new(low))
        },
        &|v| {
            let signed = v.iter().map(|v| !v.cast_signed());
            let signed = Int64Array::from_iter_values(signed);
            pair(Arc::new(signed), Arc::new(UInt64Array::from(v.to_vec())))
        },
        // Values of 128 bits by themselves, with bits in both halves.
        &|v| {
            let signed = v.iter().map(|v| i128::from(v.cast_signed()) << 40);
            Arc::new(Decimal128Array::from_iter_values(signed))
        },
        &|v| {
            let bytes = v.iter().map(|v| (u128::from(*v) << 40).to_be_bytes());
            let all = FixedSizeBinaryArray::try_from_iter(bytes.chain([[1; 16]])).unwrap();
            Arc::new(all.slice(0, v.len()))
        },
    ];
    for array in kinds {
        for members in [
            &close[..],
            &far,
            &close[..1],
            &[],
            &[u64::MAX, 0],
            &[1 << 63],
        ] {
            check(members, &rows, array);
        }
    }
}

#[test]
fn narrow_integers_keep_their_sign() {
    let of = |values: &[i8]| Arc::new(Int8Array::from(values.to_vec())) as ArrayRef;
    let set = ValueSet::new(&of(&[-128, -1, 5]), false, false).unwrap();
    let found = set.contains(&of(&[-128, -127, -1, 0, 5, 127])).unwrap();
    assert_eq!(found.values().to_vec(), [1, 0, 1, 0, 1, 0]);
}

#[test]
fn tuples_with_nulls_are_no_members() {
    let of = |valid: [bool; 3]| {
        let left = UInt32Array::new(vec![1, 2, 3].into(), Some(NullBuffer::from(valid.to_vec())));
        pair(Arc::new(left), Arc::new(Int8Array::from(vec![-1, -2, -3])))
    };
    let set = ValueSet::new(&of([true, false, true]), false, false).unwrap();
    let found = set.contains(&of([false, true, true])).unwrap();
    assert_eq!(found.values().to_vec(), [0, 0, 1]);
    assert_eq!(found.data_type(), &ArrowType::UInt8);
}
