//! Compresses any bytes with the C library and decompresses them with every form.
#![no_main]

use basalt_codec::PaddedBuffer;
use basalt_codec::lz4::{available, reference};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (level, bytes) = input;
    let mut block = Vec::new();
    let is_compressed = match level {
        0..=12 => reference::compress_high(bytes, level.max(1), &mut block),
        _ => reference::compress_fast(bytes, level - 12, &mut block),
    };
    assert!(is_compressed);
    for form in available() {
        let mut out = PaddedBuffer::zeroed(bytes.len());
        form.decompress(&block, &mut out).unwrap_or_else(|e| panic!("{}: {e}", form.name));
        assert_eq!(*out, *bytes, "{}", form.name);
    }
});
