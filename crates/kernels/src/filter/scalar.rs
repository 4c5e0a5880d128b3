//! Writes the rows of a word without a branch for each of them: the portable form.

use std::mem::MaybeUninit;

use crate::Bitmap;
use crate::filter::{WORD_ROWS, Window, for_words};
use crate::widest::{Loop, widest};

/// Ones of a word up to which each is looked for. Of more, every row is written, and the next one over it if it was not
/// selected: that takes the same time for all words, as much as looking for this many.
const FEW: usize = 36;

/// Writes the values of the rows whose bit is set; gives how many.
pub(super) fn values<T: Copy>(
    values: &[T],
    bits: Bitmap<'_>,
    places: &mut [MaybeUninit<T>],
) -> usize {
    widest(Values {
        values,
        bits,
        places,
    })
}

/// Writes the numbers of the rows whose bit is set; gives how many.
pub(super) fn numbers(bits: Bitmap<'_>, first_row: u32, places: &mut [MaybeUninit<u32>]) -> usize {
    widest(Numbers {
        bits,
        first_row,
        places,
    })
}

struct Values<'a, T> {
    values: &'a [T],
    bits: Bitmap<'a>,
    places: &'a mut [MaybeUninit<T>],
}

impl<T: Copy> Loop for Values<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let (groups, _) = self.values.as_chunks::<WORD_ROWS>();
        let value = |row: usize| self.values[row];
        for_words(self.bits, self.places, FEW, value, |i, word, places| {
            let group = &groups[i];
            if word == u64::MAX {
                places.write_copy_of_slice(group);
            } else {
                write_all(word, places, |row| group[row]);
            }
        })
    }
}

struct Numbers<'a> {
    bits: Bitmap<'a>,
    first_row: u32,
    places: &'a mut [MaybeUninit<u32>],
}

impl Loop for Numbers<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let number = |row: usize| self.first_row + row as u32;
        for_words(self.bits, self.places, FEW, number, |i, word, places| {
            let first = number(i * WORD_ROWS);
            write_all(word, places, |row| first + row as u32);
        })
    }
}

#[inline(always)]
fn write_all<T>(word: u64, places: &mut Window<T>, value: impl Fn(usize) -> T) {
    let mut place = 0;
    for row in 0..WORD_ROWS {
        // Never more than the row: the remainder only says so to the compiler.
        places[place % WORD_ROWS].write(value(row));
        place += (word >> row & 1) as usize;
    }
}
