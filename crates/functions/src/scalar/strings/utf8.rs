//! Walks bytes as UTF-8 characters; bytes that are no UTF-8 count as one character each.

/// Whether a byte goes on with a character that an earlier one began.
#[inline]
pub fn is_continuation(byte: u8) -> bool {
    (byte as i8) < -0x40
}

/// Number of characters: bytes that begin one.
pub fn count_chars(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    bytes.iter().filter(|b| !is_continuation(**b)).count()
}

/// Where character `index` (from 0) begins, or the length if there are fewer.
pub fn char_offset(bytes: &[u8], index: usize) -> usize {
    if index == 0 {
        return 0;
    }
    let starts = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| !is_continuation(**b));
    starts.map(|(i, _)| i).nth(index).unwrap_or(bytes.len())
}

/// Length of the character at the front: up to the next byte that begins one, at most four.
pub fn first_char_len(bytes: &[u8]) -> usize {
    let rest = bytes.iter().skip(1).take(3);
    usize::from(!bytes.is_empty()) + rest.take_while(|b| is_continuation(**b)).count()
}

/// The characters as slices of bytes.
pub fn chars(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (first, tail) = rest.split_at(first_char_len(rest));
        rest = tail;
        (!first.is_empty()).then_some(first)
    })
}

/// The characters as code points; a byte that is no UTF-8 stands for itself, above all code points.
pub fn code_points(bytes: &[u8]) -> Vec<u32> {
    let mut points = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        points.extend(chunk.valid().chars().map(u32::from));
        points.extend(chunk.invalid().iter().map(|b| 0x11_0000 + u32::from(*b)));
    }
    points
}

/// Appends `bytes` with `f` applied to the parts that are UTF-8 and the rest unchanged.
pub fn map_valid(bytes: &[u8], out: &mut Vec<u8>, f: impl Fn(&str, &mut Vec<u8>)) {
    for chunk in bytes.utf8_chunks() {
        f(chunk.valid(), out);
        out.extend_from_slice(chunk.invalid());
    }
}
