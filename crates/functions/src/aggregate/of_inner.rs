//! Forwards methods of an aggregate function to the one that it is made of.

/// The named methods of an [`Aggregator`](super::Aggregator), as those of the field `inner`.
macro_rules! of_inner {
    ($($method:ident),+) => {
        $(of_inner!(@ $method);)+
    };
    // All that is done with states once they are made.
    (@ states_and_results) => {
        of_inner!(merge, finish, states, size_bytes, ordering_bytes, exports_parts);
    };
    (@ merge) => {
        fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
            self.inner.merge(states, groups)
        }
    };
    (@ finish) => {
        fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
            self.inner.finish(range)
        }
    };
    (@ states) => {
        fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
            self.inner.states(range)
        }
    };
    (@ size_bytes) => {
        fn size_bytes(&self) -> usize {
            self.inner.size_bytes()
        }
    };
    (@ ordering_bytes) => {
        fn ordering_bytes(&self) -> usize {
            self.inner.ordering_bytes()
        }
    };
    (@ exports_parts) => {
        fn exports_parts(&self) -> bool {
            self.inner.exports_parts()
        }
    };
    (@ finishes_again) => {
        fn finishes_again(&self) -> bool {
            self.inner.finishes_again()
        }
    };
}
pub(super) use of_inner;
