//! Feeds any bytes to every form of LZ4: nothing outside of the buffers is touched, all forms agree
//! with each other, and with the C library on what it takes.
#![no_main]

use basalt_codec::lz4::available;
use basalt_codec::{DecodeError, PaddedBuffer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, &[u8])| {
    let (len, block) = input;
    // The sanitizer sees reads behind the end only if the block has an allocation of its own.
    let block: Box<[u8]> = block.into();
    let mut results = available().map(|form| {
        let mut out = PaddedBuffer::zeroed(len.into());
        let result = form.decompress(&block, &mut out);
        (form.name, result.map(|()| out.to_vec()))
    });
    let Some((_, reference)) = results.next() else { return };
    let Some((_, first)) = results.next() else { return };
    for (name, result) in results {
        assert_eq!(result.as_ref().ok(), first.as_ref().ok(), "{name}");
    }
    if let Ok(reference) = reference {
        match first {
            Ok(first) => assert_eq!(first, reference),
            // The library takes a match of distance 0.
            Err(e) => assert_eq!(e, DecodeError::BadOffset),
        }
    }
});
