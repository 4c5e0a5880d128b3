//! Sixteen bytes of a value as one number, also where fewer are left.

/// Bytes of a window.
pub(crate) const WINDOW: usize = size_of::<u128>();

/// The bytes of `value` from `at` on, the first one lowest; zeros follow where the value ends.
///
/// No jump depends on `at`, and none on the length but whether it is that of a window.
#[inline]
pub(crate) fn window(value: &[u8], at: usize) -> u128 {
    let Some(last) = value.len().checked_sub(WINDOW) else {
        return short_window(value, at);
    };
    let start = at.min(last);
    let chunk = value[start..].first_chunk().copied().unwrap_or_default();
    let before = 8 * (at - start) as u32;
    u128::from_le_bytes(chunk).checked_shr(before).unwrap_or(0)
}

/// The same of a value shorter than a window.
#[inline]
fn short_window(value: &[u8], at: usize) -> u128 {
    let mut chunk = [0; WINDOW];
    for (to, from) in chunk.iter_mut().zip(value.get(at..).unwrap_or_default()) {
        *to = *from;
    }
    u128::from_le_bytes(chunk)
}

/// The first place of `byte` in the window of `value` at `at`, counted from there; none if it is not in it.
#[inline]
pub(crate) fn find_in_window(byte: u8, value: &[u8], at: usize) -> Option<usize> {
    const ONES: u128 = u128::MAX / 0xFF;
    // What is zero after this is the byte; a borrow reaches only what lies behind the first zero.
    let differences = window(value, at) ^ (ONES * u128::from(byte));
    let zeros = differences.wrapping_sub(ONES) & !differences & (ONES << 7);
    let place = zeros.trailing_zeros() as usize / 8;
    (place < value.len() - at && place < WINDOW).then_some(place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    use super::{WINDOW, find_in_window, window};

    proptest! {
        #[test]
        fn a_window_is_the_bytes_that_are_left(
            value in prop::collection::vec(0u8..3, 0..40),
            at in 0usize..40,
        ) {
            let at = at.min(value.len());
            let mut bytes = value[at..].to_vec();
            bytes.resize(bytes.len().max(WINDOW), 0);
            prop_assert_eq!(window(&value, at).to_le_bytes().to_vec(), bytes[..WINDOW].to_vec());
        }

        #[test]
        fn a_byte_is_found_where_it_is(
            value in prop::collection::vec(0u8..3, 0..40),
            at in 0usize..40,
            byte in 0u8..3,
        ) {
            let at = at.min(value.len());
            let place = value[at..].iter().take(WINDOW).position(|b| *b == byte);
            prop_assert_eq!(find_in_window(byte, &value, at), place);
        }

        #[test]
        fn no_other_byte_is_found(value in prop::collection::vec(any::<u8>(), 0..40), byte in any::<u8>()) {
            let place = value.iter().take(WINDOW).position(|b| *b == byte);
            prop_assert_eq!(find_in_window(byte, &value, 0), place);
        }
    }
}
