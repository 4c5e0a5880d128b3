//! Keccak-256 as Ethereum has it: the sponge before SHA-3 changed its padding.

/// Bytes of the state that take up the message.
const RATE: usize = 136;

/// Rotations of the lanes in the order in which [`permute`] walks them.
const ROTATIONS: [u32; 24] = [
    1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
];

const WALK: [usize; 24] = [
    10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
];

/// The constants of the rounds, from the shift register that defines them.
fn round_constants() -> impl Iterator<Item = u64> {
    let mut register = 1_u8;
    (0..24).map(move |_| {
        let mut constant = 0;
        for power in 0..7 {
            if register & 1 == 1 {
                constant |= 1_u64 << ((1_u32 << power) - 1);
            }
            let overflows = register & 0x80 != 0;
            register <<= 1;
            if overflows {
                register ^= 0x71;
            }
        }
        constant
    })
}

fn permute(state: &mut [u64; 25]) {
    for constant in round_constants() {
        let parity: [u64; 5] = std::array::from_fn(|x| (0..5).fold(0, |p, y| p ^ state[x + 5 * y]));
        for (i, lane) in state.iter_mut().enumerate() {
            *lane ^= parity[(i + 4) % 5] ^ parity[(i + 1) % 5].rotate_left(1);
        }
        let mut moved = state[1];
        for (to, rotation) in WALK.into_iter().zip(ROTATIONS) {
            let next = state[to];
            state[to] = moved.rotate_left(rotation);
            moved = next;
        }
        for row in state.as_chunks_mut::<5>().0 {
            let old = *row;
            for (x, lane) in row.iter_mut().enumerate() {
                *lane = old[x] ^ (!old[(x + 1) % 5] & old[(x + 2) % 5]);
            }
        }
        state[0] ^= constant;
    }
}

/// The Keccak-256 digest.
pub fn keccak_256(message: &[u8]) -> [u8; 32] {
    let mut padded = message.to_vec();
    padded.push(1);
    padded.resize(padded.len().next_multiple_of(RATE), 0);
    if let Some(last) = padded.last_mut() {
        *last |= 0x80;
    }
    let mut state = [0; 25];
    for block in padded.as_chunks::<RATE>().0 {
        for (lane, bytes) in state.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane ^= u64::from_le_bytes(*bytes);
        }
        permute(&mut state);
    }
    let bytes: Vec<u8> = state.iter().flat_map(|lane| lane.to_le_bytes()).collect();
    std::array::from_fn(|i| bytes[i])
}
