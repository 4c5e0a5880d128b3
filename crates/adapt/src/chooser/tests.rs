//! Lets choosers decide over simulated costs, with seeded generators.

use super::{Chooser, DECISION_NS, MIN_MEASURED_BYTES, OVERHEAD_PARTS, Work};
use crate::choice::{Choice, WorkUnit};
use crate::random::Random;

const WORK: Work = Work::rows(65_536, 5);

/// Runs `num_pulls` decisions over pieces of [`WORK`]; an arm costs `costs[arm]` nanoseconds a unit and up to a tenth more
/// or less, and is interrupted now and then. Returns the pulls of each arm.
fn simulate(chooser: &mut Chooser, costs: &[f64], num_pulls: usize) -> Vec<usize> {
    simulate_pieces(chooser, (WORK, costs), num_pulls)
}

fn simulate_pieces(
    chooser: &mut Chooser,
    (work, costs): (Work, &[f64]),
    num_pulls: usize,
) -> Vec<usize> {
    let mut noise = Random::new(7);
    let mut pulls = vec![0; costs.len()];
    for _ in 0..num_pulls {
        let arm = chooser.pick();
        let mut cost = costs[arm] * (0.9 + 0.2 * noise.unit());
        if noise.below(500) == 0 {
            cost *= 50.0;
        }
        chooser.report(arm, work, (cost * work.units as f64) as u64);
        pulls[arm] += 1;
    }
    pulls
}

fn mean_cost(costs: &[f64], pulls: &[usize]) -> f64 {
    let total: f64 = costs.iter().zip(pulls).map(|(c, n)| c * *n as f64).sum();
    total / pulls.iter().sum::<usize>() as f64
}

#[test]
fn finds_the_best_arm_wherever_it_is() {
    static CHOICE: Choice = Choice::new("best", "", WorkUnit::Row, &["a", "b", "c", "d"]);
    for best in 0..4 {
        for seed in 0..8 {
            let mut costs = [1.0, 1.3, 2.0, 1.15];
            costs.swap(0, best);
            let mut chooser = Chooser::with_random(&CHOICE, Random::new(seed));
            let pulls = simulate(&mut chooser, &costs, 5000);
            assert_eq!(chooser.best(), best, "seed {seed}: {pulls:?}");
            let mean = mean_cost(&costs, &pulls);
            assert!(mean < 1.03, "seed {seed}: {mean} of {pulls:?}");
        }
    }
}

#[test]
fn a_dozen_bad_arms_cost_little() {
    static CHOICE: Choice = Choice::new(
        "dozen",
        "",
        WorkUnit::Row,
        &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"],
    );
    let mut costs = [3.0; 12];
    costs[9] = 1.0;
    let mut chooser = Chooser::with_random(&CHOICE, Random::new(1));
    let pulls = simulate(&mut chooser, &costs, 20_000);
    assert_eq!(chooser.best(), 9);
    assert!(mean_cost(&costs, &pulls) < 1.02, "{pulls:?}");
}

/// As many forms as LZ4 has, about as far from each other, over the blocks of 32 MiB.
#[test]
fn nine_forms_cost_little_over_few_blocks() {
    static CHOICE: Choice = Choice::new(
        "nine",
        "",
        WorkUnit::Byte,
        &["a", "b", "c", "d", "e", "f", "g", "h", "i"],
    );
    let costs = [1.33, 1.0, 1.03, 1.1, 1.15, 1.25, 1.3, 1.5, 1.6];
    let work = Work::bytes(64 << 10);
    let mean_of_run = |seed| {
        let mut chooser = Chooser::with_random(&CHOICE, Random::new(seed));
        let pulls = simulate_pieces(&mut chooser, (work, &costs), 512);
        mean_cost(&costs, &pulls)
    };
    // The first one knows nothing at all.
    mean_of_run(0);
    let mean = (1..=20).map(mean_of_run).sum::<f64>() / 20.0;
    assert!(mean < 1.05, "{mean}");
}

#[test]
fn explores_again_when_the_best_arm_gets_worse() {
    static CHOICE: Choice = Choice::new("worse", "", WorkUnit::Byte, &["a", "b", "c"]);
    for seed in 0..8 {
        let mut chooser = Chooser::with_random(&CHOICE, Random::new(seed));
        simulate(&mut chooser, &[1.0, 1.5, 2.0], 10_000);
        assert_eq!(chooser.best(), 0);
        let costs = [3.0, 1.5, 2.0];
        let pulls = simulate(&mut chooser, &costs, 500);
        assert_eq!(chooser.best(), 1, "seed {seed}: {pulls:?}");
        assert!(pulls[1] > 350, "seed {seed}: {pulls:?}");
    }
}

#[test]
fn notices_when_another_arm_gets_better() {
    static CHOICE: Choice = Choice::new("better", "", WorkUnit::Byte, &["a", "b", "c"]);
    for seed in 0..8 {
        let mut chooser = Chooser::with_random(&CHOICE, Random::new(seed));
        simulate(&mut chooser, &[1.0, 1.5, 2.0], 10_000);
        simulate(&mut chooser, &[1.0, 1.5, 0.5], 20_000);
        assert_eq!(chooser.best(), 2, "seed {seed}");
    }
}

#[test]
fn a_forced_arm_is_taken_whatever_it_costs() {
    static CHOICE: Choice = Choice::new("forced", "", WorkUnit::Byte, &["plain", "fast"]);
    CHOICE.force("plain").unwrap();
    let mut chooser = Chooser::with_random(&CHOICE, Random::new(0));
    assert_eq!(simulate(&mut chooser, &[9.0, 1.0], 50), [50, 0]);
    CHOICE.force("auto").unwrap();
    assert!(simulate(&mut chooser, &[9.0, 1.0], 50)[1] > 40);
}

#[test]
fn only_allowed_arms_are_picked() {
    static CHOICE: Choice = Choice::new("allowed", "", WorkUnit::Byte, &["a", "b", "c"]);
    let chooser = Chooser::with_random(&CHOICE, Random::new(0));
    let mut chooser = chooser.limited_to(|arm| arm != 0);
    assert_eq!(chooser.best(), 1);
    let pulls = simulate(&mut chooser, &[0.1, 2.0, 1.0], 1000);
    assert_eq!(pulls[0], 0);
    assert!(pulls[2] > 900, "{pulls:?}");
}

#[test]
fn little_work_is_not_measured() {
    static CHOICE: Choice = Choice::new("little", "", WorkUnit::Byte, &["a", "b"]);
    let mut chooser = Chooser::with_random(&CHOICE, Random::new(0));
    for _ in 0..100 {
        let turn = chooser.begin(Work::bytes(MIN_MEASURED_BYTES as usize - 1));
        assert_eq!(turn.arm(), 0);
        chooser.end(turn);
    }
    assert_eq!(chooser.mean_ns(0), None);
    drop(chooser);
    assert_eq!(CHOICE.pulls(0), 100);
}

#[test]
fn short_work_is_measured_rarely() {
    static CHOICE: Choice = Choice::new("rarely", "", WorkUnit::Byte, &["only"]);
    let mut chooser = Chooser::with_random(&CHOICE, Random::new(0));
    let turn = chooser.begin(Work::bytes(1 << 20));
    chooser.end(turn);
    // Nothing was done in that turn, so the decision cost more than the work.
    assert!(chooser.rides_left > OVERHEAD_PARTS / 2 * DECISION_NS / 10_000);
    let rides = chooser.rides_left;
    let turn = chooser.begin(Work::bytes(1 << 20));
    assert!(turn.started.is_none());
    chooser.end(turn);
    assert_eq!(chooser.rides_left, rides - 1);
}

#[test]
fn decisions_are_logged() {
    static CHOICE: Choice = Choice::new("logged", "what for", WorkUnit::Row, &["a", "b"]);
    let mut chooser = Chooser::with_random(&CHOICE, Random::new(3));
    let pulls = simulate(&mut chooser, &[1.0, 4.0], 1000);
    let records: Vec<_> = crate::decisions()
        .into_iter()
        .filter(|record| record.name == "logged")
        .collect();
    assert_eq!(records.len(), 2);
    for (record, pulls) in records.iter().zip(pulls) {
        assert_eq!(record.pulls, pulls as u64);
        assert!((record.share - pulls as f64 / 1000.0).abs() < 1e-9);
        assert_eq!(record.description, "what for");
    }
    let mean_ns = records[1].mean_ns.unwrap();
    assert!(mean_ns > 3.0, "{mean_ns}");
}

#[test]
fn guesses_take_the_scale_of_the_data() {
    static CHOICE: Choice = Choice::new("scale", "", WorkUnit::Byte, &["a", "b", "c", "d", "e"]);
    let costs = [4.0, 5.0, 1.0, 6.0, 3.0];
    simulate(
        &mut Chooser::with_random(&CHOICE, Random::new(1)),
        &costs,
        1000,
    );
    let mean_of_trials = |factor: f64| {
        let costs = costs.map(|cost| cost * factor);
        let means = (0..40).map(|seed| {
            let mut chooser = Chooser::with_random(&CHOICE, Random::new(seed));
            let pulls = simulate(&mut chooser, &costs, 25);
            assert_eq!(chooser.best(), 2, "seed {seed}: {pulls:?}");
            mean_cost(&costs, &pulls) / factor
        });
        means.sum::<f64>() / 40.0
    };
    let [cheap, equal, dear] = [0.01, 1.0, 100.0].map(mean_of_trials);
    assert!(cheap < equal * 1.15, "{cheap} {equal}");
    assert!(dear < equal * 1.15, "{dear} {equal}");
}

#[test]
fn what_other_choosers_measured_saves_trials() {
    static CHOICE: Choice = Choice::new("prior", "", WorkUnit::Row, &["a", "b", "c", "d"]);
    let costs = [4.0, 5.0, 1.0, 6.0];
    let mut first = Chooser::with_random(&CHOICE, Random::new(1));
    let without = simulate(&mut first, &costs, 60);
    drop(first);
    let mut second = Chooser::with_random(&CHOICE, Random::new(1));
    assert_eq!(second.mean_ns(2), None);
    let with = simulate(&mut second, &costs, 60);
    assert_eq!(second.best(), 2);
    let saved = mean_cost(&costs, &without) / mean_cost(&costs, &with);
    assert!(saved > 1.3, "{without:?} {with:?}");
}
