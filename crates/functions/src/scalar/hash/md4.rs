//! MD4 and RIPEMD-160: two digests that share MD4's blocks of sixteen little-endian words.

/// Pads a message to whole blocks: a one bit, zeros, and its length in bits.
fn blocks(message: &[u8]) -> Vec<[u32; 16]> {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let len = padded.len();
    let num_bits = (message.len() as u64).wrapping_mul(8);
    padded[len - 8..].copy_from_slice(&num_bits.to_le_bytes());
    let (chunks, _) = padded.as_chunks::<64>();
    let word = |chunk: &[u8; 64], i: usize| {
        u32::from_le_bytes([
            chunk[4 * i],
            chunk[4 * i + 1],
            chunk[4 * i + 2],
            chunk[4 * i + 3],
        ])
    };
    chunks
        .iter()
        .map(|chunk| std::array::from_fn(|i| word(chunk, i)))
        .collect()
}

fn bytes_of<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::array::from_fn(|i| bytes[i])
}

const START: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// The MD4 digest.
pub fn md4(message: &[u8]) -> [u8; 16] {
    /// Steps between the words that follow each other, and the rotations, by round.
    const ROTATIONS: [[u32; 4]; 3] = [[3, 7, 11, 19], [3, 5, 9, 13], [3, 9, 11, 15]];
    const ORDERS: [[usize; 16]; 3] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
        [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
    ];
    const ADDENDS: [u32; 3] = [0, 0x5a82_7999, 0x6ed9_eba1];
    let mut state = [START[0], START[1], START[2], START[3]];
    for block in blocks(message) {
        let [mut a, mut b, mut c, mut d] = state;
        for round in 0..3 {
            for step in 0..16 {
                let mixed = match round {
                    0 => (b & c) | (!b & d),
                    1 => (b & c) | (b & d) | (c & d),
                    _ => b ^ c ^ d,
                };
                let sum = a
                    .wrapping_add(mixed)
                    .wrapping_add(block[ORDERS[round][step]])
                    .wrapping_add(ADDENDS[round]);
                let next = sum.rotate_left(ROTATIONS[round][step % 4]);
                (a, b, c, d) = (d, next, b, c);
            }
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d]) {
            *word = word.wrapping_add(add);
        }
    }
    bytes_of(state)
}

/// Word numbers of the left line's rounds; each is the one before, permuted.
const PERMUTATION: [usize; 16] = [7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8];

const LEFT_ADDENDS: [u32; 5] = [0, 0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xa953_fd4e];
const RIGHT_ADDENDS: [u32; 5] = [0x50a2_8be6, 0x5c4d_d124, 0x6d70_3ef3, 0x7a6d_76e9, 0];

/// Rotations by round and word.
const ROTATIONS: [[u32; 16]; 5] = [
    [11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8],
    [12, 13, 11, 15, 6, 9, 9, 7, 12, 15, 11, 13, 7, 8, 7, 7],
    [13, 15, 14, 11, 7, 7, 6, 8, 13, 14, 13, 12, 5, 5, 6, 9],
    [14, 11, 12, 14, 8, 6, 5, 5, 15, 12, 15, 14, 9, 9, 8, 6],
    [15, 12, 13, 13, 9, 5, 8, 6, 14, 11, 12, 11, 8, 6, 5, 5],
];

fn ripemd_mix(function: usize, x: u32, y: u32, z: u32) -> u32 {
    match function {
        0 => x ^ y ^ z,
        1 => (x & y) | (!x & z),
        2 => (x | !y) ^ z,
        3 => (x & z) | (y & !z),
        _ => x ^ (y | !z),
    }
}

/// One of the two lines of RIPEMD-160 over a block.
fn ripemd_line(mut state: [u32; 5], block: &[u32; 16], is_right: bool) -> [u32; 5] {
    let mut order: [usize; 16] =
        std::array::from_fn(|i| if is_right { (9 * i + 5) % 16 } else { i });
    for round in 0..5 {
        let (function, addend) = if is_right {
            (4 - round, RIGHT_ADDENDS[round])
        } else {
            (round, LEFT_ADDENDS[round])
        };
        for word in order {
            let [a, b, c, d, e] = state;
            let sum = a
                .wrapping_add(ripemd_mix(function, b, c, d))
                .wrapping_add(block[word])
                .wrapping_add(addend);
            let next = sum.rotate_left(ROTATIONS[round][word]).wrapping_add(e);
            state = [e, next, b, c.rotate_left(10), d];
        }
        order = order.map(|word| PERMUTATION[word]);
    }
    state
}

/// The RIPEMD-160 digest.
pub fn ripemd_160(message: &[u8]) -> [u8; 20] {
    let mut state = START;
    for block in blocks(message) {
        let left = ripemd_line(state, &block, false);
        let right = ripemd_line(state, &block, true);
        state = std::array::from_fn(|i| {
            state[(i + 1) % 5]
                .wrapping_add(left[(i + 2) % 5])
                .wrapping_add(right[(i + 3) % 5])
        });
    }
    bytes_of(state)
}
