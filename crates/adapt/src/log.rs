//! Lists all decisions of this process: what `system.adaptive_choices` shows.

use std::sync::{Mutex, PoisonError};

use crate::choice::{Choice, WorkUnit};

static CHOICES: Mutex<Vec<&'static Choice>> = Mutex::new(Vec::new());

/// One arm of one choice.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmRecord {
    /// The choice's name.
    pub name: &'static str,
    /// What is decided.
    pub description: &'static str,
    /// The arm's name.
    pub arm: &'static str,
    /// How often it was taken.
    pub pulls: u64,
    /// Nanoseconds for a unit of work, if it was measured.
    pub mean_ns: Option<f64>,
    /// The unit of `mean_ns`.
    pub unit: WorkUnit,
    /// Its part of the choice's pulls, from 0 to 1.
    pub share: f64,
    /// Whether it was forced.
    pub is_forced: bool,
}

/// Puts a choice on the list that [`decisions`] reads, once.
pub(crate) fn enlist(choice: &'static Choice) {
    if choice.enlist() {
        let mut choices = CHOICES.lock().unwrap_or_else(PoisonError::into_inner);
        choices.push(choice);
    }
}

/// Every arm of every choice that was decided in this process, sorted by the choices' names.
pub fn decisions() -> Vec<ArmRecord> {
    let mut choices = CHOICES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    choices.sort_by_key(|choice| choice.name());
    choices.into_iter().flat_map(records).collect()
}

fn records(choice: &'static Choice) -> impl Iterator<Item = ArmRecord> {
    let num_arms = choice.arms().len();
    let total: u64 = (0..num_arms).map(|arm| choice.pulls(arm)).sum();
    choice
        .arms()
        .iter()
        .enumerate()
        .map(move |(arm, name)| ArmRecord {
            name: choice.name(),
            description: choice.description(),
            arm: name,
            pulls: choice.pulls(arm),
            mean_ns: choice.mean_ns(arm),
            unit: choice.unit(),
            share: choice.pulls(arm) as f64 / total.max(1) as f64,
            is_forced: choice.forced() == Some(arm),
        })
}
