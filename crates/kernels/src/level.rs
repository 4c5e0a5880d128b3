//! Says how wide a kernel may work now; tests limit that for their own thread.
//!
//! The process-wide limit of [`SimdLevel::force`] would reach into tests that run beside: they would
//! pass, as results are the same at every level, but leave forms out.

use basalt_adapt::SimdLevel;

/// The level to use.
#[inline]
pub(crate) fn current() -> SimdLevel {
    #[cfg(test)]
    if let Some(limit) = tests::LIMIT.get() {
        return limit.min(SimdLevel::current());
    }
    SimdLevel::current()
}

#[cfg(test)]
pub(crate) use tests::at_every_level;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::current;
    use basalt_adapt::SimdLevel;

    thread_local! {
        pub(super) static LIMIT: Cell<Option<SimdLevel>> = const { Cell::new(None) };
    }

    /// Runs a check at each level that the processor has, narrow ones first, on this thread.
    pub(crate) fn at_every_level(check: impl Fn(SimdLevel)) {
        let levels = SimdLevel::ALL.into_iter();
        for level in levels.filter(|level| *level <= SimdLevel::detected()) {
            LIMIT.set(Some(level));
            check(level);
        }
        LIMIT.set(None);
    }

    #[test]
    fn a_limit_holds_until_the_check_is_over() {
        at_every_level(|level| assert_eq!(current(), level));
        assert_eq!(current(), SimdLevel::current());
    }
}
