//! Appends computed values to a vector, by a loop that is cheap to compile.
//!
//! `Vec::extend` is no faster, but makes some ten functions of each closure; for operations that there
//! are for every pair of types these were most of what the compiler had to read.

/// Appends `len` values, of which value `i` is `value(i)`.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "an iterator over places made loops over narrow values a third slower"
)]
pub fn append<T: Copy>(values: &mut Vec<T>, len: usize, mut value: impl FnMut(usize) -> T) {
    values.reserve(len);
    let num_before = values.len();
    let places = &mut values.spare_capacity_mut()[..len];
    for i in 0..len {
        places[i].write(value(i));
    }
    // SAFETY: (bounds) `reserve` has made room for `len` values more. (init) the loop has written all of
    //         them, and is over.
    unsafe { values.set_len(num_before + len) };
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn values_stand_behind_those_before() {
        let mut values = vec![7];
        append(&mut values, 3, |i| i * 10);
        append(&mut values, 0, |_| 1);
        assert_eq!(values, [7, 0, 10, 20]);
    }
}
