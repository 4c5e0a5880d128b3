//! Notes which bytes occur.
//!
//! Marking byte after byte is a store a row. Keys of eight bits are often a handful, though, and
//! all of them turn up early: then it is enough to see that a piece of the rows has no other, by
//! comparing many bytes at once with each of the few.

use crate::widest::{Loop, widest};

/// Bytes that are looked at together.
const PIECE: usize = 256;

/// Bytes that may have occurred for it to pay to compare with each of them.
const MAX_KNOWN: usize = 16;

/// Bytes that are compared in one go.
const STEP: usize = 4;

/// Sets the flag of each byte in `keys`.
pub fn mark(keys: &[u8], flags: &mut [bool; 256]) {
    let num_rest = widest(MarkFew {
        keys,
        flags: &mut *flags,
    });
    let rest = &keys[keys.len() - num_rest..];
    rest.iter().for_each(|key| flags[usize::from(*key)] = true);
}

/// Marks bytes as long as there are few different ones; gives how many are left.
struct MarkFew<'a> {
    keys: &'a [u8],
    flags: &'a mut [bool; 256],
}

impl Loop for MarkFew<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { keys, flags } = self;
        let mut known = Known::of(flags);
        let mut rest = keys;
        // No closures here: they would not be compiled for wide instructions.
        while let (Some(few), Some((piece, after))) = (&known, rest.split_first_chunk()) {
            if !few.has_all_of(piece) {
                piece.iter().for_each(|key| flags[usize::from(*key)] = true);
                known = Known::of(flags);
            }
            rest = after;
        }
        rest.len()
    }
}

/// The few bytes that have occurred.
struct Known {
    /// The last byte stands in the places up to a whole number of steps.
    bytes: [u8; MAX_KNOWN],
    num_steps: usize,
}

impl Known {
    /// `None` if there are many.
    #[inline(always)]
    fn of(flags: &[bool; 256]) -> Option<Self> {
        let mut bytes = [0; MAX_KNOWN];
        let mut len = 0;
        let set = (0..=u8::MAX).zip(flags).filter(|(_, is_set)| **is_set);
        for (byte, _) in set {
            bytes
                .get_mut(len..)
                .filter(|free| !free.is_empty())?
                .fill(byte);
            len += 1;
        }
        Some(Self {
            bytes,
            num_steps: len.div_ceil(STEP),
        })
    }

    /// Whether it is known that each byte has occurred.
    #[inline(always)]
    fn has_all_of(&self, piece: &[u8; PIECE]) -> bool {
        let mut is_known = [0u8; PIECE];
        for four in self.bytes.as_chunks::<STEP>().0.iter().take(self.num_steps) {
            for (is_known, key) in is_known.iter_mut().zip(piece) {
                let any = four.map(|byte| u8::from(*key == byte));
                *is_known |= any[0] | any[1] | any[2] | any[3];
            }
        }
        is_known.iter().fold(1, |all, one| all & one) == 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::mark;
    use crate::level::at_every_level;

    fn check(batches: &[Vec<u8>]) {
        at_every_level(|level| {
            let mut flags = [false; 256];
            let mut expected = [false; 256];
            for batch in batches {
                mark(batch, &mut flags);
                batch.iter().for_each(|b| expected[usize::from(*b)] = true);
                assert_eq!(flags, expected, "{level}");
            }
        });
    }

    #[test]
    fn every_length() {
        let bytes: Vec<u8> = (0..600_u32).map(|i| (i * i / 7 % 256) as u8).collect();
        for len in 0..300 {
            let few: Vec<u8> = bytes[..len].iter().map(|byte| byte & 0x81).collect();
            check(&[few.clone(), bytes[..len].to_vec()]);
            // The same bytes again, after a whole piece and at another place.
            check(&[[few.as_slice(), &[0x81; 256]].concat(), few]);
            check(&[bytes[len..2 * len].to_vec(), bytes[..len].to_vec()]);
        }
    }

    proptest! {
        #[test]
        fn every_byte_that_occurs_is_marked(
            few in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0u8, 7, 255]), 0..700), 0..4),
            all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..700), 0..4),
        ) {
            check(&few);
            check(&all);
            check(&[few, all].concat());
        }
    }

    #[test]
    fn a_new_byte_among_known_ones_is_found_wherever_it_is() {
        for place in 0..600 {
            let mut late = vec![3; 600];
            late[place] = 200;
            check(&[vec![3; 256], late]);
        }
        let many: Vec<u8> = (0..40).collect();
        check(&[many.repeat(20), vec![41; 300]]);
    }
}
