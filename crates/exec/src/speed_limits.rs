//! Ends queries that read too slowly, or that would take too long at the speed that they have; slows down
//! those that read too fast.

use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};

/// The longest time that a query waits behind one batch.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How fast a query has to read, and how fast it may.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpeedLimits {
    /// `timeout_before_checking_execution_speed`
    pub not_before: Duration,
    /// `min_execution_speed`; 0 is no limit.
    pub min_rows: u64,
    /// `min_execution_speed_bytes`; 0 is no limit.
    pub min_bytes: u64,
    /// `max_execution_speed`; 0 is no limit.
    pub max_rows: u64,
    /// `max_execution_speed_bytes`; 0 is no limit.
    pub max_bytes: u64,
    /// `max_estimated_execution_time`; zero is no limit.
    pub max_estimated: Duration,
}

/// What a query has read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub elapsed: Duration,
    pub num_rows: u64,
    pub num_bytes: u64,
    /// Rows that it will read in all, as far as that is known.
    pub rows_to_read: u64,
}

impl SpeedLimits {
    /// Checks what was read so far. What has read nothing yet, or all, is not slow.
    ///
    /// # Errors
    /// `TOO_SLOW`.
    pub(crate) fn check(&self, read: Read) -> Result<()> {
        let is_reading = read.num_rows > 0 && read.num_rows != read.rows_to_read;
        if !is_reading || read.elapsed.is_zero() || read.elapsed < self.not_before {
            return Ok(());
        }
        let seconds = read.elapsed.as_secs_f64();
        check_speed("min_execution_speed", read.num_rows, self.min_rows, seconds)?;
        check_speed(
            "min_execution_speed_bytes",
            read.num_bytes,
            self.min_bytes,
            seconds,
        )?;
        let estimated = seconds * read.rows_to_read as f64 / read.num_rows as f64;
        let allowed = self.max_estimated.as_secs_f64();
        if allowed == 0.0 || estimated <= allowed {
            return Ok(());
        }
        let text = format!(
            "Raise max_estimated_execution_time or read less: the query would take {estimated:.3} s, maximum {allowed:.3} s"
        );
        Err(Error::new(ErrorCode::TOO_SLOW, text))
    }

    /// How long to wait until what was read is no more than may be read in the time, a second at most.
    pub(crate) fn pause(&self, read: Read) -> Duration {
        if read.elapsed < self.not_before {
            return Duration::ZERO;
        }
        let of_rows = least_time(read.num_rows, self.max_rows);
        let of_bytes = least_time(read.num_bytes, self.max_bytes);
        let least = of_rows.max(of_bytes);
        least.saturating_sub(read.elapsed).min(LONGEST_PAUSE)
    }
}

/// The time that reading so much takes at least.
fn least_time(size: u64, max_speed: u64) -> Duration {
    if max_speed == 0 {
        return Duration::ZERO;
    }
    let seconds = size as f64 / max_speed as f64;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn check_speed(setting: &str, size: u64, min_speed: u64, seconds: f64) -> Result<()> {
    let speed = size as f64 / seconds;
    if speed >= min_speed as f64 {
        return Ok(());
    }
    let text = format!(
        "Lower {setting} or make the query simpler: it reads {speed:.0} a second, minimum {min_speed}"
    );
    Err(Error::new(ErrorCode::TOO_SLOW, text))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Read, SpeedLimits};

    #[test]
    fn only_what_still_reads_is_too_slow() {
        let limits = SpeedLimits {
            not_before: Duration::from_secs(1),
            min_rows: 100,
            max_estimated: Duration::from_secs(10),
            ..SpeedLimits::default()
        };
        let is_slow = |seconds, num_rows, rows_to_read| {
            let read = Read {
                elapsed: Duration::from_secs(seconds),
                num_rows,
                num_bytes: 0,
                rows_to_read,
            };
            limits.check(read).is_err()
        };
        assert!(is_slow(2, 150, 1000));
        assert!(!is_slow(0, 1, 1000));
        assert!(!is_slow(2, 150, 150));
        assert!(!is_slow(2, 0, 150));
        assert!(!is_slow(2, 200, 1000));
        assert!(is_slow(2, 200, 1001));
    }

    #[test]
    fn who_reads_fast_waits_but_not_for_long() {
        let limits = SpeedLimits {
            not_before: Duration::from_millis(10),
            max_rows: 100,
            max_bytes: 1000,
            ..SpeedLimits::default()
        };
        let pause = |elapsed_ms, num_rows, num_bytes| {
            let read = Read {
                elapsed: Duration::from_millis(elapsed_ms),
                num_rows,
                num_bytes,
                rows_to_read: 0,
            };
            limits.pause(read).as_millis()
        };
        assert_eq!(pause(9, 50, 10), 0);
        assert_eq!(pause(100, 50, 10), 400);
        assert_eq!(pause(100, 50, 700), 600);
        assert_eq!(pause(500, 50, 500), 0);
        assert_eq!(pause(100, 5000, 0), 1000);
    }
}
