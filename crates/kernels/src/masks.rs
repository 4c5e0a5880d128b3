//! Zeroes the values of rows that have none.

/// All ones or zeros for each of four rows, by their four bits. Without the table, the compiler
/// tests and branches for every row, which takes four times as long (bench `average`, missing
/// values).
static NIBBLE_MASKS: [[u64; 4]; 16] = {
    let mut masks = [[0; 4]; 16];
    let mut place = 0;
    while place < 64 {
        if ((place / 4) >> (place % 4)) & 1 == 1 {
            masks[place / 4][place % 4] = u64::MAX;
        }
        place += 1;
    }
    masks
};

/// The values whose bit is set, and 0.0 for the others.
///
/// Masked and not multiplied: what lies under a missing value may be NaN.
#[inline(always)]
pub(crate) fn keep_valid<const ROWS: usize>(values: &[f64; ROWS], valid: u64) -> [f64; ROWS] {
    let mut kept = [0.0; ROWS];
    let groups = kept
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .zip(values.as_chunks::<4>().0);
    for (group, (kept, values)) in groups.enumerate() {
        let masks = &NIBBLE_MASKS[(valid >> (group * 4)) as usize % 16];
        *kept = std::array::from_fn(|lane| f64::from_bits(values[lane].to_bits() & masks[lane]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::keep_valid;

    #[test]
    fn keeps_what_is_set() {
        let values: [f64; 64] = std::array::from_fn(|i| i as f64 + 1.0);
        for valid in [0, 1, u64::MAX, 0x8000_0000_0000_0001, 0x0123_4567_89AB_CDEF] {
            for (row, value) in keep_valid(&values, valid).into_iter().enumerate() {
                let expected = if valid >> row & 1 == 1 {
                    values[row]
                } else {
                    0.0
                };
                assert_eq!(value, expected, "{row} of {valid:x}");
            }
        }
    }
}
