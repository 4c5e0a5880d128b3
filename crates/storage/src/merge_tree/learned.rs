//! Remembers which chains have won for the blocks of each column, so that a part need not try all of them anew.

use basalt_codec::Learned;
use parking_lot::Mutex;

/// What is known of the blocks of a column's groups, in their order.
type OfColumn = Vec<Option<Learned>>;

/// What codecs that choose have found, for each column of a table.
#[derive(Debug, Default)]
pub(super) struct LearnedChains(Mutex<Vec<OfColumn>>);

impl LearnedChains {
    /// What the last part has found for a column.
    pub(super) fn of(&self, column: usize) -> OfColumn {
        self.0.lock().get(column).cloned().unwrap_or_default()
    }

    /// Keeps what a part has found for a column.
    pub(super) fn keep(&self, column: usize, learned: OfColumn) {
        let mut columns = self.0.lock();
        if columns.len() <= column {
            columns.resize(column + 1, Vec::new());
        }
        let known = &mut columns[column];
        if known.len() < learned.len() {
            known.resize(learned.len(), None);
        }
        for (known, learned) in known.iter_mut().zip(learned) {
            *known = learned.or(*known);
        }
    }
}
