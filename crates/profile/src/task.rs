//! Futures that work for a query on whatever thread they are polled, and where they are dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Account;

/// A future whose allocations count for an account.
#[derive(Debug)]
pub struct Accounted<F: ?Sized> {
    account: Account,
    /// None when it has ended.
    future: Option<Pin<Box<F>>>,
}

impl<F: Future + ?Sized> Accounted<F> {
    /// The future, for the account.
    pub fn new(account: Account, future: Pin<Box<F>>) -> Self {
        Self {
            account,
            future: Some(future),
        }
    }
}

impl<F: Future + ?Sized> Future for Accounted<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let _entered = this.account.enter();
        let Some(future) = &mut this.future else {
            return Poll::Pending;
        };
        let polled = future.as_mut().poll(context);
        if polled.is_ready() {
            this.future = None;
        }
        polled
    }
}

impl<F: ?Sized> Drop for Accounted<F> {
    fn drop(&mut self) {
        let _entered = self.account.enter();
        self.future = None;
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::Accounted;
    use crate::Account;
    use crate::account::count;

    /// Counts a byte when it goes.
    struct Leaving;

    impl Drop for Leaving {
        fn drop(&mut self) {
            count(-1);
        }
    }

    #[test]
    fn polls_and_the_end_count() {
        let account = Account::open();
        let leaving = Leaving;
        let future = Box::pin(async move {
            let _leaving = leaving;
            count(1_000_001);
            std::future::pending::<()>().await;
        });
        let mut task = Box::pin(Accounted::new(account.clone(), future));
        let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Pending);
        assert_eq!(account.held_bytes(), 1_000_001);
        drop(task);
        // The future itself goes there, too, which was made outside.
        assert!((900_000..=1_000_000).contains(&account.held_bytes()));
    }
}
