//! Feeds any bytes to the reader of blocks, with a checksum that is right: nothing panics.
#![no_main]

use basalt_codec::block::HEADER_BYTES;
use basalt_codec::{Block, BlockDecoder, PaddedBuffer};
use libfuzzer_sys::fuzz_target;

/// Most bytes that a block may decode to here; larger ones only test the memory.
const MOST: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let _ = Block::read(bytes);
    let mut sealed = bytes.to_vec();
    sealed.resize(bytes.len().max(HEADER_BYTES).next_multiple_of(HEADER_BYTES), 0);
    sealed[16..20].copy_from_slice(b"BSLT");
    sealed[20] = 1;
    let payload_bytes = (sealed.len() - HEADER_BYTES) as u32;
    sealed[36..40].copy_from_slice(&payload_bytes.to_le_bytes());
    let sum = xxhash_rust::xxh3::xxh3_128(&sealed[16..]);
    sealed[..16].copy_from_slice(&sum.to_le_bytes());
    if let Ok((block, _)) = Block::read(&sealed) {
        if block.decoded_bytes() <= MOST {
            let _ = BlockDecoder::new().decode(&block, &mut PaddedBuffer::default());
        }
    }
});
