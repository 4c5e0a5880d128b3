//! Runs all of `tests/sql` against the engine, under its defaults and under every configuration
//! of `tests/configs`.
//!
//! Records that do not pass yet stand in `tests/sql/PENDING.txt`. The list can only shrink: a
//! record on it that passes fails the test, too. `UPDATE_PENDING=1` writes it anew.

mod harness;

use harness::{Configuration, Outcome, run_all, run_alone};

#[global_allocator]
static ALLOCATOR: basalt_profile::Counting<std::alloc::System> =
    basalt_profile::Counting(std::alloc::System);

#[test]
fn defaults() {
    let outcome = run_all(&[Configuration::defaults()]).remove(0);
    if std::env::var_os("UPDATE_PENDING").is_some() {
        outcome.write_pending();
    }
    outcome.check(&Outcome::pending());
}

/// What must hold by default must hold under hostile settings.
#[test]
fn configurations() {
    let (of_process, others): (Vec<_>, Vec<_>) = harness::configurations()
        .into_iter()
        .partition(Configuration::is_of_process);
    check_under(&others);
    of_process.iter().for_each(check_alone);
}

/// The answers of GROUP BY depend on nothing that may be forced about it.
#[test]
fn configurations_of_group_by() {
    check_under(&harness::group_by_product());
}

/// The answers of ORDER BY neither.
#[test]
fn configurations_of_order_by() {
    check_under(&harness::sort_product());
}

#[expect(
    clippy::print_stdout,
    reason = "where the time goes is worth seeing, and cargo shows it on demand"
)]
fn check_under(configurations: &[Configuration]) {
    let outcomes = run_all(configurations);
    let names = Vec::from_iter(configurations.iter().map(|config| config.name.as_str()));
    println!("{}", Outcome::dearest(&outcomes, &names));
    check(configurations.iter().zip(outcomes));
}

fn check_alone(configuration: &Configuration) {
    check([(configuration, run_alone(configuration))].into_iter());
}

fn check<'c>(outcomes: impl Iterator<Item = (&'c Configuration, Outcome)>) {
    let pending = Outcome::pending();
    let news: String = outcomes
        .map(|(config, outcome)| outcome.news(&config.name, &pending))
        .collect();
    assert!(news.is_empty(), "{news}");
}
