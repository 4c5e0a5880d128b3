//! Feeds any bytes to the reader of a part's metadata, with a checksum that is right: nothing panics, and no number
//! asks for more memory than there are bytes.
#![no_main]

use basalt_storage::merge_tree::PartMetadata;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = PartMetadata::from_bytes(bytes);
    for version in 1_u32..=3 {
        let mut sealed = vec![0; 16];
        sealed.extend_from_slice(b"BSLTPART");
        sealed.extend_from_slice(&version.to_le_bytes());
        sealed.extend_from_slice(bytes);
        let sum = xxhash_rust::xxh3::xxh3_128(&sealed[16..]);
        sealed[..16].copy_from_slice(&sum.to_le_bytes());
        if let Ok(metadata) = PartMetadata::from_bytes(&sealed) {
            let num_groups = metadata.group_rows.len();
            assert!(num_groups <= bytes.len());
            assert!(metadata.columns.iter().all(|c| c.groups.len() == num_groups));
        }
    }
});
