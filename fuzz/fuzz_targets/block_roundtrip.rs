//! Encodes any values by any chain and decodes them again.
#![no_main]

use basalt_codec::{
    Block, BlockDecoder, BlockEncoder, Chain, Codec, Compression, Element, Kind, Packing,
    PaddedBuffer, Transform,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: ([u8; 4], &[u8])| {
    let ([kind, width, steps, compression], bytes) = input;
    let kind = [Kind::Bytes, Kind::Unsigned, Kind::Signed, Kind::Float][usize::from(kind % 4)];
    let width = [1, 2, 4, 8, 16, 3][usize::from(width % 6)];
    let Some(element) = Element::try_new(kind, width) else { return };
    let chain = Chain {
        transform: [None, Some(Transform::Delta), Some(Transform::DoubleDelta)][usize::from(steps % 3)],
        packing: Packing::ALL[usize::from(steps / 3) % Packing::ALL.len()],
        compression: [Compression::None, Compression::Lz4, Compression::Zstd(1)][usize::from(compression % 3)],
    };
    let codec = if compression >= 250 { Codec::Auto(Box::default()) } else { Codec::Fixed(chain) };
    let values = &bytes[..bytes.len() / usize::from(width) * usize::from(width)];
    let mut stored = Vec::new();
    BlockEncoder::new(element, codec).encode(values, &mut stored).expect("small and whole");
    let (block, rest) = Block::read(&stored).expect("just written");
    assert!(rest.is_empty());
    let mut out = PaddedBuffer::default();
    BlockDecoder::new().decode(&block, &mut out).expect("just written");
    assert_eq!(*out, *values);
});
