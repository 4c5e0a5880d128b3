//! Limits how many bytes the temporary files of a query may have, and those of all queries together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use basalt_error::{Error, ErrorCode, Result};

/// The limits that a file counts for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quota(Vec<Limit>);

#[derive(Clone, Debug)]
struct Limit {
    setting: &'static str,
    /// Bytes of all files that count for the limit.
    used: Arc<AtomicU64>,
    max_bytes: u64,
}

impl Quota {
    /// The same with a limit that `setting` is the name of, and bytes that others may count in, too.
    pub(crate) fn with(
        mut self,
        setting: &'static str,
        used: Arc<AtomicU64>,
        max_bytes: u64,
    ) -> Self {
        self.0.push(Limit {
            setting,
            used,
            max_bytes,
        });
        self
    }

    /// Counts bytes that are about to be written.
    ///
    /// # Errors
    /// `TOO_MANY_ROWS_OR_BYTES` if they are more than a limit allows; nothing is counted then.
    pub(crate) fn take(&self, num_bytes: u64) -> Result<()> {
        for (place, limit) in self.0.iter().enumerate() {
            let used = limit.used.fetch_add(num_bytes, Ordering::Relaxed) + num_bytes;
            if used > limit.max_bytes {
                let taken = self.0.iter().take(place + 1);
                taken.for_each(|limit| limit.give_back(num_bytes));
                return Err(limit.exceeded(used));
            }
        }
        Ok(())
    }

    /// Takes back what was counted.
    pub(crate) fn give_back(&self, num_bytes: u64) {
        self.0.iter().for_each(|limit| limit.give_back(num_bytes));
    }
}

impl Limit {
    fn give_back(&self, num_bytes: u64) {
        self.used.fetch_sub(num_bytes, Ordering::Relaxed);
    }

    fn exceeded(&self, used: u64) -> Error {
        let (setting, max_bytes) = (self.setting, self.max_bytes);
        Error::new(
            ErrorCode::TOO_MANY_ROWS_OR_BYTES,
            format!(
                "Raise {setting}, or max_memory_usage so that less goes to temporary files: these would \
                 take {used} bytes, allowed are {max_bytes}"
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Quota;

    #[test]
    fn what_is_more_than_a_limit_is_refused_and_not_counted() {
        let (of_query, of_all) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(70)));
        let quota = Quota::default()
            .with("of_query", Arc::clone(&of_query), 50)
            .with("of_all", Arc::clone(&of_all), 100);
        let used = || {
            (
                of_query.load(Ordering::Relaxed),
                of_all.load(Ordering::Relaxed),
            )
        };
        quota.take(20).unwrap();
        assert_eq!(used(), (20, 90));
        let of_all = quota.take(11).unwrap_err();
        assert_eq!(of_all.code().number, 396);
        assert!(of_all.message().starts_with("Raise of_all"), "{of_all}");
        let of_query = quota.take(31).unwrap_err();
        assert!(
            of_query.message().starts_with("Raise of_query"),
            "{of_query}"
        );
        assert_eq!(used(), (20, 90));
        quota.take(10).unwrap();
        quota.give_back(30);
        assert_eq!(used(), (0, 70));
        Quota::default().take(u64::MAX).unwrap();
    }
}
