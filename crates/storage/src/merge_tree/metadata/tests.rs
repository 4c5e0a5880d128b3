//! What a part tells of itself is read as it was written, and damage is found.

use xxhash_rust::xxh3::xxh3_128;

use super::{CHECKSUM_BYTES, ColumnMetadata, GroupMetadata, KeptRows, PartMetadata, TextBounds};

fn metadata() -> PartMetadata {
    let group = GroupMetadata {
        offset: 0,
        num_bytes: 128,
        checksum: 7,
        bounds: Some((1, 9)),
        null_count: 3,
        zero_count: Some(2),
    };
    let texts = TextBounds {
        least: b"a"[..].into(),
        greatest: b"b"[..].into(),
    };
    PartMetadata {
        partition: "202611".to_owned(),
        group_rows: vec![65_536, 10],
        columns: vec![ColumnMetadata {
            name: "x".to_owned(),
            data_type: "String".to_owned(),
            codec: "ZSTD".to_owned(),
            decoded_bytes: 1000,
            groups: vec![
                group,
                GroupMetadata {
                    zero_count: None,
                    bounds: None,
                    ..group
                },
            ],
            text_bounds: vec![Some(texts), None],
        }],
        kept: KeptRows::default(),
    }
}

/// The same with a group of which rows were deleted.
fn masked() -> PartMetadata {
    let mut masked = metadata();
    masked.group_rows[1] = 7;
    let mask = (0..10).map(|row| row % 4 != 1).collect();
    masked.kept.insert(1, mask);
    masked
}

/// The bytes with a checksum that is right.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= CHECKSUM_BYTES {
        let sum = xxh3_128(&bytes[CHECKSUM_BYTES..]).to_le_bytes();
        bytes[..CHECKSUM_BYTES].copy_from_slice(&sum);
    }
    bytes
}

#[test]
fn it_is_read_as_it_was_written() {
    let bytes = metadata().to_bytes();
    assert_eq!(PartMetadata::from_bytes(&bytes).unwrap(), metadata());
    assert_eq!(bytes[CHECKSUM_BYTES + 8], 2);
    let bytes = masked().to_bytes();
    assert_eq!(bytes[CHECKSUM_BYTES + 8], 3);
    let read = PartMetadata::from_bytes(&bytes).unwrap();
    assert_eq!(read, masked());
    assert_eq!((read.num_rows(), read.stored_rows(1)), (65_543, 10));
    assert_eq!((read.is_whole(0), read.is_whole(1)), (true, false));
}

#[test]
fn parts_of_version_1_know_no_zeros() {
    let mut old = metadata();
    old.columns[0]
        .groups
        .iter_mut()
        .for_each(|group| group.zero_count = None);
    old.columns[0].text_bounds = vec![None, None];
    let mut bytes = old.to_bytes();
    bytes[CHECKSUM_BYTES + 8] = 1;
    // Each of the two groups ends with a number of zeros and a flag.
    let end = bytes.len();
    bytes.drain(end - 5..end - 1);
    let end = bytes.len() - 49 + 4;
    bytes.drain(end - 5..end - 1);
    assert_eq!(PartMetadata::from_bytes(&sealed(bytes)).unwrap(), old);
}

#[test]
fn damage_behind_a_right_checksum_is_an_error_or_other_metadata() {
    for metadata in [metadata(), masked()] {
        check_damage(&metadata.to_bytes());
    }
}

fn check_damage(bytes: &[u8]) {
    let mut num_errors = 0;
    for i in CHECKSUM_BYTES..bytes.len() {
        for change in [0x01, 0x80, 0xFF] {
            let mut damaged = bytes.to_vec();
            damaged[i] ^= change;
            num_errors += usize::from(PartMetadata::from_bytes(&sealed(damaged)).is_err());
        }
        let cut = sealed(bytes[..i].to_vec());
        assert!(PartMetadata::from_bytes(&cut).is_err(), "{i} bytes");
    }
    assert!(num_errors > 100, "{num_errors}");
}
