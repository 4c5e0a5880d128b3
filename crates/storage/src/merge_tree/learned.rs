//! Remembers which chains have won for the blocks of each column, so that a part need not try all of them anew.

use basalt_codec::Learned;
use parking_lot::Mutex;

use super::layout::Effort;

/// What is known of the blocks of a column's groups, in their order.
type OfColumn = Vec<Option<Learned>>;

/// What codecs that choose have found, for each column of a table.
#[derive(Debug, Default)]
pub(super) struct LearnedChains {
    of_quick: Mutex<Vec<OfColumn>>,
    of_thorough: Mutex<Vec<OfColumn>>,
}

impl LearnedChains {
    /// What the last part that was written so has found for a column.
    pub(super) fn of(&self, column: usize, effort: Effort) -> OfColumn {
        let columns = self.columns(effort).lock();
        columns.get(column).cloned().unwrap_or_default()
    }

    fn columns(&self, effort: Effort) -> &Mutex<Vec<OfColumn>> {
        match effort {
            Effort::Quick => &self.of_quick,
            Effort::Thorough => &self.of_thorough,
        }
    }

    /// Keeps what a part has found for a column.
    pub(super) fn keep(&self, column: usize, effort: Effort, learned: OfColumn) {
        let mut columns = self.columns(effort).lock();
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
