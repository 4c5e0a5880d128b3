//! Runs functions whose state is a Rust value for each group, kept as bytes between threads.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewBuilder};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::rows::Rows;
use super::values::{column, wrong_array};
use super::{Aggregator, BoundAggregate, Groups};

/// A function with one Rust value of state for each group.
pub(crate) trait StateFunction: Debug + Send + Sync + 'static {
    /// State of one group.
    type State: Debug + Send;

    /// The state of a group without rows.
    fn new_state(&self) -> Self::State;

    /// Adds rows; gives the bytes that the states grew by on the heap.
    fn update(
        &self,
        states: &mut [Self::State],
        args: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<usize>;

    /// Adds another state; gives the bytes that `state` grew by on the heap.
    fn merge(&self, state: &mut Self::State, other: Self::State) -> Result<usize>;

    /// Appends the state to `out`.
    fn write(&self, state: &Self::State, out: &mut Vec<u8>);

    /// Reads what [`StateFunction::write`] wrote.
    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Self::State>;

    /// Results of the states, one a row.
    fn finish(&self, states: &mut [Self::State]) -> Result<ArrayRef>;

    /// Whether rows with NULLs are left out before [`StateFunction::update`].
    fn skips_nulls(&self) -> bool {
        true
    }
}

/// The bound form of a [`StateFunction`].
pub(crate) fn bind_grouped<F: StateFunction>(return_type: DataType, function: F) -> BoundAggregate {
    let function = Arc::new(function);
    BoundAggregate::new(return_type, vec![ArrowType::BinaryView], move || Grouped {
        function: Arc::clone(&function),
        states: Vec::new(),
        heap_bytes: 0,
    })
}

#[derive(Debug)]
struct Grouped<F: StateFunction> {
    function: Arc<F>,
    states: Vec<F::State>,
    heap_bytes: usize,
}

impl<F: StateFunction> Grouped<F> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.states.len() {
            let function = &self.function;
            self.states.resize_with(num_groups, || function.new_state());
        }
    }
}

impl<F: StateFunction> Aggregator for Grouped<F> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let rows = if self.function.skips_nulls() {
            Rows::new(args, groups)?
        } else {
            Rows::all(args, groups)?
        };
        self.heap_bytes += self.function.update(&mut self.states, args, &rows)?;
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let bytes = column(states, 0)?;
        let views = bytes
            .as_binary_view_opt()
            .ok_or_else(|| wrong_array(bytes))?;
        Rows::new(states, groups)?.try_for_each(|row, group| {
            let mut reader = ByteReader::new(views.value(row));
            let other = self.function.read(&mut reader)?;
            reader.expect_end()?;
            self.heap_bytes += self.function.merge(&mut self.states[group], other)?;
            Ok(())
        })
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        self.function.finish(&mut self.states[range])
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let mut builder = BinaryViewBuilder::with_capacity(range.len());
        let mut bytes = Vec::new();
        for state in &self.states[range] {
            bytes.clear();
            self.function.write(state, &mut bytes);
            builder.append_value(&bytes);
        }
        Ok(vec![Arc::new(builder.finish())])
    }

    fn size_bytes(&self) -> usize {
        self.states.capacity() * size_of::<F::State>() + self.heap_bytes
    }
}

/// Reads the bytes of a state and never past their end.
#[derive(Debug)]
pub(crate) struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `len` bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next bytes as an array.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// A number of items that follow, of at least `item_bytes` bytes each.
    pub(crate) fn len(&mut self, item_bytes: usize) -> Result<usize> {
        let len = usize::try_from(self.u64()?).map_err(|_| damaged())?;
        if len.saturating_mul(item_bytes.max(1)) > self.0.len() {
            return Err(damaged());
        }
        Ok(len)
    }

    /// A length and as many bytes.
    pub(crate) fn prefixed(&mut self) -> Result<&'a [u8]> {
        let len = self.len(1)?;
        self.bytes(len)
    }

    pub(crate) fn expect_end(&self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(damaged())
        }
    }
}

/// Appends a length and the bytes, as [`ByteReader::prefixed`] reads them.
pub(crate) fn write_prefixed(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// The error for a state that no function wrote.
pub(crate) fn damaged() -> Error {
    Error::new(
        ErrorCode::INCORRECT_DATA,
        "State of an aggregate function is damaged",
    )
}
