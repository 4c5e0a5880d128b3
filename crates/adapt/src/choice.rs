//! Names a decision and counts what became of it.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Most arms of a choice: statistics live in arrays of this size, so that nothing is allocated.
pub const MAX_ARMS: usize = 24;

/// What the cost of an arm is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkUnit {
    /// Nanoseconds for a byte.
    Byte,
    /// Nanoseconds for a row.
    Row,
}

/// A named decision between arms. Lives in a `static`, shared by all call sites that decide it.
#[derive(Debug)]
pub struct Choice {
    name: &'static str,
    description: &'static str,
    unit: WorkUnit,
    arms: &'static [&'static str],
    forced: AtomicU8,
    is_listed: AtomicBool,
    tallies: [Tally; MAX_ARMS],
}

/// What all choosers of a choice did with one arm.
#[derive(Debug)]
struct Tally {
    pulls: AtomicU64,
    measured_units: AtomicU64,
    measured_ns: AtomicU64,
}

/// An arm's name is none of the choice's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownArm {
    choice: &'static str,
    arms: &'static [&'static str],
    found: String,
}

/// Number in `forced` that forces nothing.
const AUTO: u8 = u8::MAX;

impl Choice {
    /// A decision between `arms`, of which the first is the plain, portable one.
    ///
    /// # Panics
    /// At compile time, if there is no arm or more than [`MAX_ARMS`].
    pub const fn new(
        name: &'static str,
        description: &'static str,
        unit: WorkUnit,
        arms: &'static [&'static str],
    ) -> Self {
        assert!(!arms.is_empty() && arms.len() <= MAX_ARMS);
        Self {
            name,
            description,
            unit,
            arms,
            forced: AtomicU8::new(AUTO),
            is_listed: AtomicBool::new(false),
            tallies: [const { Tally::new() }; MAX_ARMS],
        }
    }

    /// Its name, as in `system.adaptive_choices`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What is decided.
    pub const fn description(&self) -> &'static str {
        self.description
    }

    /// What costs are counted in.
    pub const fn unit(&self) -> WorkUnit {
        self.unit
    }

    /// The names of its arms.
    pub const fn arms(&self) -> &'static [&'static str] {
        self.arms
    }

    /// The number of the arm of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn arm_named(&self, name: &str) -> Result<usize, UnknownArm> {
        let place = self.arms.iter().position(|arm| *arm == name);
        place.ok_or_else(|| UnknownArm {
            choice: self.name,
            arms: self.arms,
            found: name.to_owned(),
        })
    }

    /// Makes every chooser take the arm of this name; `auto` lets them choose again.
    ///
    /// # Errors
    /// If there is no such arm.
    pub fn force(&self, name: &str) -> Result<(), UnknownArm> {
        let forced = match name {
            "auto" => AUTO,
            // At most MAX_ARMS arms.
            name => self.arm_named(name)? as u8,
        };
        self.forced.store(forced, Ordering::Relaxed);
        Ok(())
    }

    /// The arm that must be taken, if there is one.
    #[inline]
    pub fn forced(&self) -> Option<usize> {
        let forced = self.forced.load(Ordering::Relaxed);
        (forced != AUTO).then_some(usize::from(forced))
    }

    /// Pulls of an arm by all choosers so far.
    pub fn pulls(&self, arm: usize) -> u64 {
        let tally = self.tallies.get(arm);
        tally.map_or(0, |tally| tally.pulls.load(Ordering::Relaxed))
    }

    /// Nanoseconds that a unit of work took with this arm, if it was ever measured.
    pub fn mean_ns(&self, arm: usize) -> Option<f64> {
        let tally = self.tallies.get(arm)?;
        let units = tally.measured_units.load(Ordering::Relaxed);
        let elapsed_ns = tally.measured_ns.load(Ordering::Relaxed);
        (units > 0).then(|| elapsed_ns as f64 / units as f64)
    }

    /// Marks the choice as listed; whether it was not before.
    pub(crate) fn enlist(&self) -> bool {
        !self.is_listed.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn count_pulls(&self, arm: usize, pulls: u64) {
        self.tallies[arm].pulls.fetch_add(pulls, Ordering::Relaxed);
    }

    pub(crate) fn count_measured(&self, arm: usize, units: u64, elapsed_ns: u64) {
        let tally = &self.tallies[arm];
        tally.measured_units.fetch_add(units, Ordering::Relaxed);
        tally.measured_ns.fetch_add(elapsed_ns, Ordering::Relaxed);
    }
}

impl Tally {
    const fn new() -> Self {
        Self {
            pulls: AtomicU64::new(0),
            measured_units: AtomicU64::new(0),
            measured_ns: AtomicU64::new(0),
        }
    }
}

impl fmt::Display for UnknownArm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (choice, arms) = (self.choice, self.arms.join(", "));
        write!(
            f,
            "expected for {choice} one of auto, {arms}: {}",
            self.found
        )
    }
}

impl std::error::Error for UnknownArm {}

#[cfg(test)]
mod tests {
    use super::{Choice, WorkUnit};

    #[test]
    fn arms_are_forced_by_name() {
        static CHOICE: Choice = Choice::new("t", "", WorkUnit::Row, &["plain", "fast"]);
        assert_eq!(CHOICE.forced(), None);
        CHOICE.force("fast").unwrap();
        assert_eq!(CHOICE.forced(), Some(1));
        let e = CHOICE.force("faster").unwrap_err();
        assert_eq!(
            e.to_string(),
            "expected for t one of auto, plain, fast: faster"
        );
        CHOICE.force("auto").unwrap();
        assert_eq!(CHOICE.forced(), None);
    }
}
