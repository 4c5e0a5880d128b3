//! Replaces numbers by their distances from the ones before, once or twice.
//!
//! The first number of each order stands in front, moved back by the first distance, so that no
//! distance stands out:
//!
//! ```text
//! numbers  100 110 121   →   start 90, distances 10 10 11
//! ```
//!
//! Adding up is a chain of one addition for each number, which at several gigabytes a second does
//! not hold up what follows. The order of rows that FastLanes proposes would break the chain into
//! lanes, but costs a transposition to hand numbers out in their own order.

use crate::error::Result;
use crate::reader::Reader;
use crate::word::Word;

/// Replaces `numbers` by their distances and appends their start to `out`.
pub(crate) fn encode<T: Word>(numbers: &mut [T], out: &mut Vec<u8>) {
    let first = numbers.first().copied().unwrap_or_default();
    let second = numbers.get(1).copied().unwrap_or(first);
    let first_distance = second.wrapping_sub(first);
    let mut previous = first.wrapping_sub(first_distance);
    previous.append_to(out);
    for number in numbers {
        let distance = number.wrapping_sub(previous);
        previous = *number;
        *number = distance;
    }
}

/// Undoes [`encode`], done once.
pub(crate) fn decode<T: Word>(reader: &mut Reader<'_>) -> Result<impl FnOnce(&mut [T]) + use<T>> {
    let mut number: T = reader.word()?;
    Ok(move |distances: &mut [T]| {
        for distance in distances {
            number = number.wrapping_add(*distance);
            *distance = number;
        }
    })
}

/// Undoes [`encode`], done twice.
pub(crate) fn decode_twice<T: Word>(
    reader: &mut Reader<'_>,
) -> Result<impl FnOnce(&mut [T]) + use<T>> {
    let mut number: T = reader.word()?;
    let mut distance: T = reader.word()?;
    Ok(move |changes: &mut [T]| {
        for change in changes {
            distance = distance.wrapping_add(*change);
            number = number.wrapping_add(distance);
            *change = number;
        }
    })
}
