//! Counts the edits from one text to another.

use basalt_error::{Error, ErrorCode, Result};

use super::shapes::bad_arguments;
use crate::interrupt;

/// The edit distance takes time and memory by the product of the lengths.
const MAX_EDIT_LEN: usize = 1 << 16;

/// Insertions, deletions and changes of bytes.
///
/// # Errors
/// `TOO_LARGE_STRING_SIZE`.
pub(super) fn of_bytes(a: &[u8], b: &[u8]) -> Result<u64> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    match short.len() {
        0 => Ok(long.len() as u64),
        1..=64 if long.len() <= MAX_EDIT_LEN => Ok(bit_parallel(short, long)),
        _ => edit_distance(a, b, false),
    }
}

/// The distance of a text of 1 to 64 bytes from another: a column of the table of distances at once, as bits that
/// tell where it goes up and where down (Hyyrö, "A Bit-Vector Algorithm for Computing Levenshtein and Damerau
/// Edit Distances", 2003).
fn bit_parallel(short: &[u8], long: &[u8]) -> u64 {
    let mut places = [0_u64; 256];
    for (i, byte) in short.iter().enumerate() {
        places[usize::from(*byte)] |= 1 << i;
    }
    let last = 1_u64 << (short.len() - 1);
    let (mut up, mut down) = (u64::MAX, 0_u64);
    let mut distance = short.len() as u64;
    for byte in long {
        let equal = places[usize::from(*byte)];
        let diagonal = ((equal & up).wrapping_add(up) ^ up) | equal | down;
        let right_up = down | !(diagonal | up);
        let right_down = up & diagonal;
        distance += u64::from(right_up & last != 0);
        distance -= u64::from(right_down & last != 0);
        let right_up = right_up << 1 | 1;
        up = right_down << 1 | !(diagonal | right_up);
        down = right_up & diagonal;
    }
    distance
}

/// Insertions, deletions and changes, with `swaps` also exchanges of neighbours.
///
/// # Errors
/// `TOO_LARGE_STRING_SIZE`.
pub(super) fn edit_distance<T: PartialEq>(a: &[T], b: &[T], swaps: bool) -> Result<u64> {
    if a.len().max(b.len()) > MAX_EDIT_LEN {
        return Err(Error::new(
            ErrorCode::TOO_LARGE_STRING_SIZE,
            format!("Too large strings for the edit distance, maximum is {MAX_EDIT_LEN}"),
        ));
    }
    let mut before = vec![0u64; b.len() + 1];
    let mut last: Vec<u64> = (0..=b.len() as u64).collect();
    for (i, x) in a.iter().enumerate() {
        interrupt::check_at(i)?;
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i as u64 + 1);
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + u64::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if swaps && i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last()
        .copied()
        .ok_or_else(|| bad_arguments("No distance"))
}
