//! Grows buffers whose length nobody knows beforehand, and asks before each growth.
//!
//! A vector that doubles holds three times its bytes while they move. Such a step is looked at before, and
//! is a small one where the query cannot hold a large one.

use std::io::{Error, Read};

use basalt_error::Result;

use crate::account::{check_room, room_bytes};

/// Bytes that are read before the buffer is looked at again.
const PIECE_BYTES: usize = 1 << 20;

/// Makes room for `additional` more elements, as [`Vec::reserve`] does, if the query that this thread works
/// for may hold them.
///
/// # Errors
/// `MEMORY_LIMIT_EXCEEDED`.
#[inline]
pub fn reserve<T>(buffer: &mut Vec<T>, additional: usize) -> Result<()> {
    match buffer.capacity() - buffer.len() < additional {
        true => grow(buffer, additional),
        false => Ok(()),
    }
}

#[cold]
fn grow<T>(buffer: &mut Vec<T>, additional: usize) -> Result<()> {
    let bytes_of = |len: usize| len.saturating_mul(size_of::<T>());
    let len = buffer.len().saturating_add(additional);
    let room = room_bytes();
    // By a quarter at least as long as that goes: who grows element by element would move all each time.
    let capacity = buffer.capacity();
    let steps = [
        capacity.saturating_mul(2),
        capacity.saturating_add(capacity / 4),
    ];
    let mut larger = steps.into_iter().map(|step| step.max(len));
    let new = larger.find(|new| bytes_of(*new) <= room).unwrap_or(len);
    if new == len {
        check_room(bytes_of(len))?;
    }
    buffer.reserve_exact(new - buffer.len());
    Ok(())
}

/// Reads `max_bytes` behind what is in the buffer, or all there are; gives how many.
///
/// # Errors
/// `MEMORY_LIMIT_EXCEEDED`; that of the source.
pub fn read_behind(
    source: &mut impl Read,
    buffer: &mut Vec<u8>,
    max_bytes: usize,
) -> std::io::Result<usize> {
    let before = buffer.len();
    loop {
        let wanted = (max_bytes - (buffer.len() - before)).min(PIECE_BYTES);
        reserve(buffer, wanted).map_err(Error::other)?;
        let len = source.by_ref().take(wanted as u64).read_to_end(buffer)?;
        if len < wanted || buffer.len() - before == max_bytes {
            return Ok(buffer.len() - before);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{read_behind, reserve};

    #[test]
    fn reading_ends_at_the_end_or_where_it_is_told() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| i as u8).collect();
        for max_bytes in [0, 1, 1 << 20, (1 << 20) + 1, 3_000_000, usize::MAX - 10] {
            let mut buffer = b"before".to_vec();
            let mut source = Cursor::new(&bytes);
            let len = read_behind(&mut source, &mut buffer, max_bytes).expect("bytes");
            assert_eq!(len, max_bytes.min(bytes.len()));
            assert_eq!(&buffer[6..], &bytes[..len]);
        }
    }

    #[test]
    fn room_is_there_as_asked_for() {
        let mut buffer = vec![1_u64, 2];
        reserve(&mut buffer, 1000).expect("room");
        assert!(buffer.capacity() >= 1002);
        assert_eq!(buffer, [1, 2]);
    }
}
