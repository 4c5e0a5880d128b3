//! The bits of a row's keys: a word has the highest ones, above the number of the row, and a second one the rest.

use basalt_kernels::widest::{Loop, widest};

/// How a key is cut into what its row's word has, above the number of the row, and the rest.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Bits of the number of a row.
    pub(super) row_bits: u32,
    /// Bits of the keys that its word has no room for.
    pub(super) rest_bits: u32,
}

impl Cut {
    /// The number of a word's row.
    pub(super) fn row(self, word: u64) -> u32 {
        // Rows are numbered by 32 bits.
        (word & low_bits(self.row_bits)) as u32
    }

    /// The bits of a word's keys.
    pub(super) fn prefix(self, word: u64) -> u64 {
        word >> self.row_bits
    }

    /// Puts a column's numbers, which have `num_bits` bits from the `shift`-th one of the key on, into the words and
    /// rests of their rows.
    pub(super) fn put(
        self,
        numbers: &[u64],
        (shift, num_bits): (u32, u32),
        to: (&mut [u64], &mut [u64]),
    ) {
        let (words, rests) = to;
        if shift + num_bits > self.rest_bits {
            let right = self.rest_bits.saturating_sub(shift);
            let left = shift.saturating_sub(self.rest_bits) + self.row_bits;
            let mask = u64::MAX;
            move_bits(numbers, words, Shifts { right, left, mask });
        }
        if shift < self.rest_bits {
            let mask = low_bits(self.rest_bits);
            let shifts = Shifts {
                right: 0,
                left: shift,
                mask,
            };
            move_bits(numbers, rests, shifts);
        }
    }

    /// Takes them out again.
    pub(super) fn take(
        self,
        (words, rests): (&[u64], &[u64]),
        (shift, num_bits): (u32, u32),
        to: &mut [u64],
    ) {
        to.fill(0);
        let mask = low_bits(num_bits);
        if shift + num_bits > self.rest_bits {
            let right = self.row_bits + shift.saturating_sub(self.rest_bits);
            let left = self.rest_bits.saturating_sub(shift);
            move_bits(words, to, Shifts { right, left, mask });
        }
        if shift < self.rest_bits {
            let shifts = Shifts {
                right: shift,
                left: 0,
                mask,
            };
            move_bits(rests, to, shifts);
        }
    }
}

/// So many bits that are set.
pub(in super::super) fn low_bits(num_bits: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - num_bits).unwrap_or(0)
}

/// Where bits go: to the right, then to the left, and which of them.
#[derive(Clone, Copy)]
struct Shifts {
    right: u32,
    left: u32,
    mask: u64,
}

/// Adds bits of some words to others.
fn move_bits(from: &[u64], to: &mut [u64], shifts: Shifts) {
    // Words without room for a bit have no place to go to.
    if shifts.mask > 0 && shifts.left < u64::BITS && shifts.right < u64::BITS {
        widest(MoveBits { from, to, shifts });
    }
}

struct MoveBits<'a> {
    from: &'a [u64],
    to: &'a mut [u64],
    shifts: Shifts,
}

impl Loop for MoveBits<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Shifts { right, left, mask } = self.shifts;
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to |= (*from >> right << left) & mask;
        }
    }
}
