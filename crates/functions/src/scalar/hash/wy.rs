//! wyhash, final version 3, by Wang Yi.

const SECRET: [u64; 4] = [
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
    0x8ebc_6af0_9c88_c6e3,
    0x5899_65cc_7537_4cc3,
];

/// Both halves of the product, xor-ed.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// The `N` bytes from `at` on as a little-endian number.
fn read<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..at + N].iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The hash with seed 0.
pub fn wy_hash_64(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let mut seed = SECRET[0];
    let (a, b) = match len {
        0 => (0, 0),
        1..=3 => {
            let [first, middle, last] = [bytes[0], bytes[len >> 1], bytes[len - 1]].map(u64::from);
            (first << 16 | middle << 8 | last, 0)
        }
        4..=16 => {
            let step = (len >> 3) << 2;
            (
                read::<4>(bytes, 0) << 32 | read::<4>(bytes, step),
                read::<4>(bytes, len - 4) << 32 | read::<4>(bytes, len - 4 - step),
            )
        }
        _ => {
            let mut at = 0;
            if len > 48 {
                let mut lanes = [seed; 3];
                while len - at > 48 {
                    for (i, lane) in lanes.iter_mut().enumerate() {
                        let (first, second) = (at + 16 * i, at + 16 * i + 8);
                        *lane = mix(
                            read::<8>(bytes, first) ^ SECRET[i + 1],
                            read::<8>(bytes, second) ^ *lane,
                        );
                    }
                    at += 48;
                }
                seed = lanes[0] ^ lanes[1] ^ lanes[2];
            }
            while len - at > 16 {
                let word = read::<8>(bytes, at) ^ SECRET[1];
                seed = mix(word, read::<8>(bytes, at + 8) ^ seed);
                at += 16;
            }
            (read::<8>(bytes, len - 16), read::<8>(bytes, len - 8))
        }
    };
    mix(SECRET[1] ^ len as u64, mix(a ^ SECRET[1], b ^ seed))
}
