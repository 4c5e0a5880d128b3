//! Orders byte strings that begin alike, such as addresses of pages of one site.

/// Bytes that are compared at once.
const CHUNK: usize = size_of::<u128>();

/// Whether `a` comes before `b`, byte by byte; the same as `a < b`.
///
/// Most pairs differ in one of the first chunks; for them this takes no call, and no jump by the length.
#[inline]
pub(super) fn is_before(a: &[u8], b: &[u8]) -> bool {
    let Some(last) = a.len().min(b.len()).checked_sub(CHUNK) else {
        return a < b;
    };
    let chunk = |value: &[u8], start: usize| {
        let chunk = value[start..].first_chunk().copied().unwrap_or_default();
        u128::from_be_bytes(chunk)
    };
    let mut at = 0;
    loop {
        // The last chunk begins in the one before: bytes that are alike make no difference.
        let start = at.min(last);
        let (a_chunk, b_chunk) = (chunk(a, start), chunk(b, start));
        if a_chunk != b_chunk {
            return a_chunk < b_chunk;
        }
        if start == last {
            return a.len() < b.len();
        }
        at += CHUNK;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::is_before;

    proptest! {
        #[test]
        fn the_order_is_that_of_slices(
            same in prop::collection::vec(any::<u8>(), 0..50),
            a in prop::collection::vec(any::<u8>(), 0..40),
            b in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let (a, b) = ([&same[..], &a].concat(), [&same[..], &b].concat());
            for (a, b) in [(&a, &b), (&b, &a), (&a, &a), (&same, &a), (&a, &same)] {
                assert_eq!(is_before(a, b), a < b);
            }
        }
    }
}
