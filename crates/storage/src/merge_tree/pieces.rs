//! Where the rows of columns that lie in pieces are.

/// Rows that share a note of where to look.
const NOTE_ROWS: usize = 1 << 10;

/// The pieces that all columns of some rows are cut into.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The row behind each piece.
    ends: Vec<u32>,
    /// The piece of every [`NOTE_ROWS`]-th row.
    notes: Vec<u32>,
}

impl Pieces {
    /// Pieces of so many rows.
    pub(super) fn new(lens: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0;
        let (mut ends, mut notes) = (Vec::new(), Vec::new());
        for len in lens {
            end += len;
            while notes.len() * NOTE_ROWS < end {
                notes.push(ends.len() as u32);
            }
            // Rows of a part are numbered by 32 bits.
            ends.push(end as u32);
        }
        Self { ends, notes }
    }

    pub(super) fn num_rows(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// The piece that has a row, and the row's place in it.
    #[inline(always)]
    pub(super) fn place(&self, row: u32) -> (usize, usize) {
        let mut piece = self.notes[row as usize / NOTE_ROWS] as usize;
        while self.ends[piece] <= row {
            piece += 1;
        }
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        (piece, (row - start) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_in_its_piece() {
        for lens in [
            vec![1],
            vec![0, 3, 0, 0, 5000, 1],
            vec![1023, 1, 0, 1, 1024, 2048, 0, 7],
            vec![3; 4000],
        ] {
            let pieces = Pieces::new(lens.clone());
            assert_eq!(pieces.num_rows(), lens.iter().sum::<usize>());
            let places = lens.iter().enumerate();
            let places = places.flat_map(|(piece, len)| (0..*len).map(move |place| (piece, place)));
            for (row, place) in (0..).zip(places) {
                assert_eq!(pieces.place(row), place, "row {row} of {lens:?}");
            }
        }
    }
}
