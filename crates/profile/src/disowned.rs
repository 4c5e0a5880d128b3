//! Memory that belongs to no query, whoever takes and frees it.

use crate::Account;

/// A value that is in no query's account: it is made and dropped as if nobody worked for one. It stays for queries
/// to come, under a limit of its own.
#[derive(Debug)]
pub struct Disowned<T>(Option<T>);

impl<T> Disowned<T> {
    /// Makes the value.
    pub fn new(make: impl FnOnce() -> T) -> Self {
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        Self(Some(make()))
    }
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Disowned<T> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], AsRef::as_ref)
    }
}

impl<T> Drop for Disowned<T> {
    fn drop(&mut self) {
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        drop(self.0.take());
    }
}
