//! Picks an arm by Thompson sampling over its cost, and learns from the time that it took.
//!
//! A chooser belongs to one call site and one kind of data, such as a column; one thread at a time uses
//! it, and it may outlive a query. For each measured piece of work:
//!
//! ```text
//! an arm with fewer than MIN_SAMPLES counted pulls goes first
//! otherwise every arm draws  normal(mean, mean / sqrt(weight)),  and the least draw wins
//! cost = elapsed / units;  weight += w;  mean += (cost - mean) * w / weight
//! w    = measured bytes / WEIGHED_BYTES, at least 1 and at most MAX_PULL_WEIGHT, and no more than
//!        all pulls of the arm before together (FIRST_PULL_WEIGHT for the first)
//! ```
//!
//! 1. The deviation is not the true one but `mean / sqrt(weight)`: it parts arms that are equally
//!    good, too, so that the choice settles.
//! 2. The first pulls of an arm pay for cold code and are not counted, unless another chooser of the
//!    same choice has already paid. Then the mean over all choosers is a first guess, with the least
//!    weight: what was slow elsewhere is tried later, and what is measured here soon counts more.
//!    Guesses only tell arms apart: what is measured here sets their scale, because the same work may
//!    cost thirty times as much on other data.
//! 3. Weights fade by `1 / WINDOW` a pull, so arms that lost are tried again now and then.
//! 4. When the recent cost of an arm leaves its mean by a quarter and stays there, the data have
//!    changed: all weights drop to almost nothing and every arm has its chance again.
//! 5. A cost that is far above the mean is clipped: the thread was interrupted, which says nothing
//!    about the arm.
//! 6. Deciding and measuring has a price, [`DECISION_NS`]. After a measured piece of work as many
//!    pieces follow unmeasured, on the best arm, as make that price half a percent of the work.

use std::time::Instant;

use crate::choice::{Choice, MAX_ARMS};
use crate::log;
use crate::random::Random;

/// Pulls of an arm that are not counted.
const WARM_UP_PULLS: u32 = 2;

/// Counted pulls that an arm gets before it has to compete.
const MIN_SAMPLES: u32 = 2;

/// Most that one pull weighs: long work is as good as several short pieces, but not as many as it
/// could be cut into, because whatever disturbs it disturbs all of it.
const MAX_PULL_WEIGHT: f64 = 32.0;

/// Work that weighs 1. The time of 64 KiB scatters by a tenth or so, not by its mean: with less weight the nine forms of
/// LZ4 are compared for hundreds of blocks, with more a few interrupted pieces decide.
const WEIGHED_BYTES: f64 = 2048.0;

/// Most that the first pull of an arm weighs: if that was interrupted, the others tell soon.
const FIRST_PULL_WEIGHT: f64 = 8.0;

/// Weight of what other choosers measured, on other data.
const PRIOR_WEIGHT: f64 = 1.0;

/// Pulls over which an arm's past fades to a third.
const WINDOW: f64 = 4096.0;

/// Weight that is left to an arm when the data have changed.
const WEIGHT_AFTER_CHANGE: f64 = 4.0;

/// How far the recent cost may be from the mean, as a factor.
const CHANGE_FACTOR: f64 = 1.25;

/// Pulls in a row that must show a change; one interrupted piece of work shows it for four.
const CHANGE_PULLS: u32 = 8;

/// Part of a new cost in the recent cost.
const RECENT_PART: f64 = 0.125;

/// Weight that an arm needs before its mean is trusted to tell a change.
const TRUSTED_WEIGHT: f64 = 128.0;

/// Most that one cost may be above the mean, as a factor.
const CLIP_FACTOR: f64 = 4.0;

/// Least work that is measured, in bytes: below, the clock's own cost would be measured.
pub const MIN_MEASURED_BYTES: u64 = 32 << 10;

/// What drawing for all arms, two readings of the clock and the update cost together: 140 ns for nine arms by themselves, and
/// as much again because the processor no longer works ahead past the clock (`cargo bench -p basalt-adapt --bench decide`).
pub const DECISION_NS: u64 = 400;

/// One part in this many of the time may go into deciding.
const OVERHEAD_PARTS: u64 = 200;

/// A piece of work that one arm does in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Rows or bytes, by the choice's unit.
    pub units: u64,
    /// Bytes touched; little work is done by the best arm and not measured.
    pub size_bytes: u64,
}

impl Work {
    /// Work that is counted in bytes.
    pub const fn bytes(size_bytes: usize) -> Self {
        Self {
            units: size_bytes as u64,
            size_bytes: size_bytes as u64,
        }
    }

    /// Work that is counted in rows of `row_bytes` bytes each.
    pub const fn rows(num_rows: usize, row_bytes: usize) -> Self {
        Self {
            units: num_rows as u64,
            size_bytes: num_rows as u64 * row_bytes as u64,
        }
    }

    /// How much a pull with this work tells.
    fn weight(self) -> f64 {
        (self.size_bytes as f64 / WEIGHED_BYTES).clamp(1.0, MAX_PULL_WEIGHT)
    }
}

/// An arm's turn to work, from [`Chooser::begin`] to [`Chooser::end`].
#[derive(Debug)]
#[must_use = "hand it to `Chooser::end` when the work is done"]
pub struct Turn {
    arm: usize,
    work: Work,
    started: Option<Instant>,
}

impl Turn {
    /// The arm that has to do the work.
    #[inline]
    pub fn arm(&self) -> usize {
        self.arm
    }
}

/// What a chooser knows of an arm.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    /// Pulls that it gets before it has to compete; all but [`MIN_SAMPLES`] are ignored.
    trials_left: u32,
    /// Whether a cost was measured here.
    is_measured: bool,
    weight: f64,
    /// `1 / sqrt(weight)`, kept because every decision needs it of every arm.
    spread: f64,
    mean_ns: f64,
    /// Mean over all choosers when this one began; 0 if there was none.
    guess_ns: f64,
    recent_ns: f64,
    /// Pulls in a row whose recent cost was far from the mean.
    pulls_outside: u32,
}

/// Picks arms of one choice for one call site.
#[derive(Debug)]
pub struct Chooser {
    choice: &'static Choice,
    arms: [Arm; MAX_ARMS],
    /// How often each arm was taken here, without those of `rides_taken`.
    pulls: [u64; MAX_ARMS],
    /// Bit for each arm that may be picked.
    allowed: u32,
    /// The arm of the least mean.
    best: usize,
    /// Pieces of work that still go unmeasured to the best arm.
    rides_left: u64,
    /// Unmeasured pulls of the best arm that the choice does not know of yet.
    rides_taken: u64,
    random: Random,
}

impl Chooser {
    /// A chooser that knows nothing yet.
    pub fn new(choice: &'static Choice) -> Self {
        Self::with_random(choice, Random::distinct())
    }

    /// A chooser that draws from `random`, for tests.
    pub fn with_random(choice: &'static Choice, random: Random) -> Self {
        log::enlist(choice);
        let mut arms = [Arm::default(); MAX_ARMS];
        for (arm, state) in arms.iter_mut().enumerate() {
            match choice.mean_ns(arm) {
                Some(mean_ns) => {
                    state.set_weight(PRIOR_WEIGHT);
                    state.mean_ns = mean_ns;
                    state.guess_ns = mean_ns;
                }
                None => state.trials_left = WARM_UP_PULLS + MIN_SAMPLES,
            }
        }
        Self {
            choice,
            arms,
            pulls: [0; MAX_ARMS],
            allowed: (1 << choice.arms().len()) - 1,
            best: 0,
            rides_left: 0,
            rides_taken: 0,
            random,
        }
    }

    /// Lets only those arms be picked that satisfy `is_allowed`; arm 0 if none does.
    #[must_use]
    pub fn limited_to(mut self, is_allowed: impl Fn(usize) -> bool) -> Self {
        let arms = (0..self.choice.arms().len()).filter(|arm| is_allowed(*arm));
        self.allowed = arms.fold(0, |allowed, arm| allowed | 1 << arm).max(1);
        self.best = self.allowed.trailing_zeros() as usize;
        self
    }

    /// Decides who does the next piece of work, and starts the clock if it is worth it.
    #[inline]
    pub fn begin(&mut self, work: Work) -> Turn {
        if let Some(arm) = self.choice.forced() {
            // A forced arm is measured, too, so that its cost can be read afterwards.
            return self.turn(arm, work);
        }
        if work.size_bytes < MIN_MEASURED_BYTES || self.rides_left > 0 {
            self.rides_left = self.rides_left.saturating_sub(1);
            self.rides_taken += 1;
            return Turn {
                arm: self.best,
                work,
                started: None,
            };
        }
        let arm = self.pick();
        self.turn(arm, work)
    }

    fn turn(&self, arm: usize, work: Work) -> Turn {
        Turn {
            arm,
            work,
            started: Some(Instant::now()),
        }
    }

    /// Learns from the work that was done since `begin`.
    #[inline]
    pub fn end(&mut self, turn: Turn) {
        let Some(started) = turn.started else {
            return;
        };
        let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.report(turn.arm, turn.work, elapsed_ns);
        self.rides_left = OVERHEAD_PARTS * DECISION_NS / elapsed_ns.max(1);
    }

    /// The arm whose turn it is, by what is known so far.
    pub fn pick(&mut self) -> usize {
        if let Some(arm) = self.choice.forced() {
            return arm;
        }
        let is_new = |arm: &usize| self.arms[*arm].trials_left > 0;
        if let Some(arm) = self.allowed_arms().find(is_new) {
            return arm;
        }
        let mut picked = self.best;
        let mut least = f64::INFINITY;
        for arm in self.allowed_arms() {
            let state = &self.arms[arm];
            let drawn = state.mean_ns + state.mean_ns * state.spread * self.random.normal();
            if drawn < least {
                least = drawn;
                picked = arm;
            }
        }
        picked
    }

    /// Learns that `arm` took `elapsed_ns` for a piece of work.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn report(&mut self, arm: usize, work: Work, elapsed_ns: u64) {
        self.flush();
        self.count_pulls(arm, 1);
        let state = &mut self.arms[arm];
        let is_warm_up = state.trials_left > MIN_SAMPLES;
        state.trials_left = state.trials_left.saturating_sub(1);
        if is_warm_up || work.units == 0 {
            return;
        }
        self.choice.count_measured(arm, work.units, elapsed_ns);
        let cost_ns = elapsed_ns as f64 / work.units as f64;
        if !self.arms[arm].is_measured {
            // A guess for this arm counts as a cost on the scale of this data.
            self.arms[arm].mean_ns = self.scale(cost_ns, arm) * self.arms[arm].guess_ns;
        }
        let has_changed = self.arms[arm].learn(cost_ns, work.weight());
        let arms = self.allowed_arms();
        if arms.clone().any(|arm| self.arms[arm].is_guessed()) {
            let scale = self.scale(cost_ns, arm);
            for state in self.arms.iter_mut().filter(|state| state.is_guessed()) {
                state.mean_ns = state.guess_ns * scale;
            }
        }
        for arm in arms {
            self.arms[arm].fade(has_changed);
        }
        self.best = self.least_mean();
    }

    /// How many times as much this data costs as what others measured: the least over measured arms,
    /// or by `cost_ns` of `arm` if there is none, because an interruption only makes costs larger.
    fn scale(&self, cost_ns: f64, arm: usize) -> f64 {
        let known = self
            .arms
            .iter()
            .filter(|state| state.is_measured && state.guess_ns > 0.0);
        let least = known
            .map(|state| state.mean_ns / state.guess_ns)
            .reduce(f64::min);
        let guess_ns = self.arms[arm].guess_ns;
        least.unwrap_or(if guess_ns > 0.0 {
            cost_ns / guess_ns
        } else {
            1.0
        })
    }

    /// The arm of the least mean cost so far.
    pub fn best(&self) -> usize {
        self.best
    }

    /// Mean cost of an arm in nanoseconds for a unit, if it was measured.
    pub fn mean_ns(&self, arm: usize) -> Option<f64> {
        let state = self.arms.get(arm).filter(|state| state.is_measured)?;
        Some(state.mean_ns)
    }

    fn allowed_arms(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let allowed = self.allowed;
        (0..self.choice.arms().len()).filter(move |arm| allowed >> arm & 1 == 1)
    }

    fn least_mean(&self) -> usize {
        let measured = self
            .allowed_arms()
            .filter(|&arm| self.arms[arm].is_measured);
        let mean_ns = |arm: &usize| self.arms[*arm].mean_ns;
        measured
            .min_by(|a, b| mean_ns(a).total_cmp(&mean_ns(b)))
            .unwrap_or(self.best)
    }

    /// Tells the choice of unmeasured pulls, as its end does.
    pub fn flush(&mut self) {
        if self.rides_taken > 0 {
            self.count_pulls(self.best, self.rides_taken);
            self.rides_taken = 0;
        }
    }

    fn count_pulls(&mut self, arm: usize, num: u64) {
        self.choice.count_pulls(arm, num);
        self.pulls[arm] += num;
    }

    /// How often an arm was taken by this chooser.
    pub fn pulls(&self, arm: usize) -> u64 {
        let rides = if arm == self.best {
            self.rides_taken
        } else {
            0
        };
        self.pulls.get(arm).copied().unwrap_or(0) + rides
    }
}

impl Drop for Chooser {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Arm {
    /// Whether all that is known of it was measured by others.
    fn is_guessed(&self) -> bool {
        !self.is_measured && self.guess_ns > 0.0
    }

    fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
        self.spread = weight.sqrt().recip();
    }

    /// Takes one cost in; whether it shows that the past is no guide any more.
    fn learn(&mut self, cost_ns: f64, weight: f64) -> bool {
        let is_first = !self.is_measured;
        self.is_measured = true;
        let clipped_ns = if is_first {
            cost_ns
        } else {
            cost_ns.min(self.mean_ns * CLIP_FACTOR)
        };
        let weight = weight.min(self.weight.max(FIRST_PULL_WEIGHT));
        self.set_weight(self.weight + weight);
        self.mean_ns += (clipped_ns - self.mean_ns) * weight / self.weight;
        let part = if is_first { 1.0 } else { RECENT_PART };
        self.recent_ns += (clipped_ns - self.recent_ns) * part;
        let is_outside = self.recent_ns > self.mean_ns * CHANGE_FACTOR
            || self.recent_ns * CHANGE_FACTOR < self.mean_ns;
        let is_outside = is_outside && self.weight >= TRUSTED_WEIGHT;
        self.pulls_outside = if is_outside {
            self.pulls_outside + 1
        } else {
            0
        };
        let has_changed = self.pulls_outside >= CHANGE_PULLS;
        if has_changed {
            self.mean_ns = self.recent_ns;
            self.pulls_outside = 0;
        }
        has_changed
    }

    fn fade(&mut self, has_changed: bool) {
        if self.weight == 0.0 {
            return;
        }
        if has_changed && self.weight > WEIGHT_AFTER_CHANGE {
            self.set_weight(WEIGHT_AFTER_CHANGE);
        } else if self.weight > 1.0 {
            // The root of 1 / (1 - 1 / WINDOW), but for 1e-8 of it: another root for each arm would cost more than the draw.
            self.weight *= 1.0 - 1.0 / WINDOW;
            self.spread *= 1.0 + 0.5 / WINDOW;
        }
    }
}

#[cfg(test)]
mod tests;
