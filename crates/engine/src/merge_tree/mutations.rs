//! Remembers the changes of a table's rows.

use std::time::SystemTime;

use basalt_error::Result;
use parking_lot::Mutex;

use super::MergeTreeTable;

/// A change of rows.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    /// Its number among inserts and changes; 0 until it is known.
    pub(crate) number: u64,
    /// The command in brackets.
    pub(crate) command: String,
    pub(crate) started: SystemTime,
    pub(crate) finished: Option<SystemTime>,
}

/// The changes since the process has begun.
#[derive(Debug, Default)]
pub(crate) struct Mutations(Mutex<Vec<Mutation>>);

impl Mutations {
    pub(crate) fn all(&self) -> Vec<Mutation> {
        self.0.lock().clone()
    }

    /// The same ones, for a table that takes another's place.
    pub(crate) fn copied(&self) -> Self {
        Self(Mutex::new(self.all()))
    }
}

impl MergeTreeTable {
    /// Runs a change that gives its number, and remembers it unless it fails.
    pub(crate) fn logged(
        &self,
        command: String,
        run: impl FnOnce(&Self) -> Result<(u64, usize)>,
    ) -> Result<()> {
        let started = SystemTime::now();
        self.mutations.0.lock().push(Mutation {
            number: 0,
            command: command.clone(),
            started,
            finished: None,
        });
        let result = run(self);
        let mut mutations = self.mutations.0.lock();
        let place = mutations
            .iter()
            .rposition(|m| m.finished.is_none() && m.started == started && m.command == command);
        if let Some(place) = place {
            match &result {
                Ok((number, _)) => {
                    mutations[place].number = *number;
                    mutations[place].finished = Some(SystemTime::now());
                }
                Err(_) => {
                    mutations.remove(place);
                }
            }
        }
        result.map(|_| ())
    }
}
