//! Checks that queries which read too fast wait: `tests/sql` has no words for time.

use std::time::{Duration, Instant};

use crate::run_alone;

/// The time that a query takes, which must be right.
fn time(settings: &str) -> Duration {
    let sql = format!("SELECT sum(number) FROM numbers(300000) SETTINGS {settings}");
    let started = Instant::now();
    assert_eq!(run_alone(&sql).expect(&sql), "44999850000\n");
    started.elapsed()
}

#[test]
fn queries_wait_for_the_speed_that_they_may_have() {
    let now = "timeout_before_checking_execution_speed = 0, max_block_size = 10000";
    let least = Duration::from_millis(900);
    assert!(time(&format!("{now}, max_execution_speed = 300000")) > least);
    assert!(time(&format!("{now}, max_execution_speed_bytes = 2400000")) > least);
}

#[test]
fn a_wait_ends_with_its_query() {
    let sql = "SELECT sum(number) FROM numbers(300000) SETTINGS max_execution_speed = 1000, \
               timeout_before_checking_execution_speed = 0, max_execution_time = 0.3, max_block_size = 10000";
    let started = Instant::now();
    let error = run_alone(sql).expect_err(sql);
    assert!(error.contains("Code: 159"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn short_queries_wait_for_nothing() {
    // The speed counts from the tenth second on.
    assert!(time("max_execution_speed = 1000") < Duration::from_secs(9));
}
