//! `sum`, `avg` and `sumCount` of floats, which come out the same in whatever order the rows come.
//!
//! All sums are kept in twice the precision and rounded once ([`basalt_kernels::twofold`]), but those of Float32 that keys
//! of eight bits have in one batch: they are sums of Float64 in the order that `basalt_kernels::average` documents.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array, StructArray, UInt64Array};
use arrow::datatypes::{DataType as ArrowType, Float64Type, UInt64Type};
use basalt_error::Result;
use basalt_kernels::average::NUM_KEYS;
use basalt_kernels::grouped::fold_groups;
use basalt_kernels::twofold::{self, Twofold};
use basalt_types::DataType;

use super::byte_keys::FloatKeys;
use super::defaults::bug;
use super::rows::Rows;
use super::values::{Primitive, column, primitive, wrong_array};
use super::{Aggregator, BoundAggregate, Groups};

/// What is made of a sum and the number of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// The sum; nobody counts.
    Sum,
    Average,
    /// Both, as a tuple.
    SumAndCount,
}

/// How many values a group had, where that is asked for.
trait Counter: Copy + Default + Send + 'static {
    /// Type of the state's column, if there is one.
    const STATE_TYPE: Option<ArrowType>;

    fn add(&mut self, num_values: u64);

    fn number(self) -> u64;
}

impl Counter for () {
    const STATE_TYPE: Option<ArrowType> = None;

    fn add(&mut self, _num_values: u64) {}

    fn number(self) -> u64 {
        0
    }
}

impl Counter for u64 {
    const STATE_TYPE: Option<ArrowType> = Some(ArrowType::UInt64);

    fn add(&mut self, num_values: u64) {
        *self = self.wrapping_add(num_values);
    }

    fn number(self) -> u64 {
        self
    }
}

/// The function over values of a float type.
pub(super) fn bind<T>(return_type: DataType, output: Output) -> BoundAggregate
where
    T: Primitive,
    T::Native: Into<f64>,
{
    match output {
        Output::Sum => bind_counting::<T, ()>(return_type, output),
        Output::Average | Output::SumAndCount => bind_counting::<T, u64>(return_type, output),
    }
}

fn bind_counting<T, C: Counter>(return_type: DataType, output: Output) -> BoundAggregate
where
    T: Primitive,
    T::Native: Into<f64>,
{
    let mut state_types = vec![ArrowType::Float64, ArrowType::Float64];
    state_types.extend(C::STATE_TYPE);
    let physical = return_type.physical();
    BoundAggregate::new(return_type, state_types, move || FloatSums::<T, C> {
        cells: Vec::new(),
        bytes: FloatKeys::default(),
        physical: physical.clone(),
        output,
        values: PhantomData,
    })
}

/// What is kept of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Cell<C> {
    sum: Twofold,
    count: C,
}

impl<C: Counter> Cell<C> {
    #[inline(always)]
    fn add(&mut self, value: f64) {
        self.sum = self.sum.plus(value);
        self.count.add(1);
    }
}

/// Tables that rows go to in turn where their groups are bytes.
const NUM_TABLES: usize = 4;

/// Sums of `T` by group.
struct FloatSums<T, C> {
    cells: Vec<Cell<C>>,
    /// Of the last batch, not yet in `cells`.
    bytes: FloatKeys,
    physical: ArrowType,
    output: Output,
    values: PhantomData<fn() -> T>,
}

impl<T, C> std::fmt::Debug for FloatSums<T, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FloatSums").field(&self.cells.len()).finish()
    }
}

impl<T, C: Counter> FloatSums<T, C> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.cells.len() {
            self.cells.resize(num_groups, Cell::default());
        }
    }

    /// Takes over what was added by groups that are bytes.
    fn take_bytes(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(|group, sum, count| {
            self.resize(group + 1);
            let cell = &mut self.cells[group];
            cell.sum = cell.sum.plus(sum);
            cell.count.add(count);
        });
        self.bytes = bytes;
    }

    /// Adds the rows of a batch, of which row `i` belongs to group `keys[i]`; false, and nothing is added, if there are
    /// NULLs. Rows go to several tables in turn, so that a key that repeats does not wait for its last sum.
    fn add_by_bytes(&mut self, array: &ArrayRef, keys: &[u8]) -> Result<bool>
    where
        T: Primitive,
        T::Native: Into<f64>,
    {
        let values = primitive::<T>(array)?.values();
        if array.null_count() > 0 || values.len() != keys.len() {
            return Ok(false);
        }
        let Some(most) = keys.iter().max() else {
            return Ok(true);
        };
        self.resize(usize::from(*most) + 1);
        let mut tables = [[Cell::<C>::default(); NUM_KEYS]; NUM_TABLES];
        let (groups, last_keys) = keys.as_chunks::<NUM_TABLES>();
        let (values, last_values) = values.as_chunks::<NUM_TABLES>();
        for (keys, values) in groups.iter().zip(values) {
            for i in 0..NUM_TABLES {
                tables[i][usize::from(keys[i])].add(values[i].into());
            }
        }
        for (key, value) in last_keys.iter().zip(last_values) {
            tables[0][usize::from(*key)].add((*value).into());
        }
        for table in &tables {
            for (cell, other) in self.cells.iter_mut().zip(table) {
                cell.sum = cell.sum.joined(other.sum);
                cell.count.add(other.count.number());
            }
        }
        Ok(true)
    }

    fn sums(&self, range: Range<usize>) -> ArrayRef {
        let sums = self.cells[range].iter().map(|cell| cell.sum.rounded().sum);
        Arc::new(Float64Array::from_iter_values(sums))
    }

    fn counts(&self, range: Range<usize>) -> ArrayRef {
        let counts = self.cells[range].iter().map(|cell| cell.count.number());
        Arc::new(UInt64Array::from_iter_values(counts))
    }

    fn tuples(&self, range: Range<usize>) -> Result<ArrayRef> {
        let columns = vec![self.sums(range.clone()), self.counts(range)];
        let ArrowType::Struct(fields) = &self.physical else {
            return Err(wrong_array(&columns[0]));
        };
        let tuples = StructArray::try_new(fields.clone(), columns, None);
        Ok(Arc::new(tuples.map_err(bug)?))
    }
}

impl<T, C> Aggregator for FloatSums<T, C>
where
    T: Primitive,
    T::Native: Into<f64>,
    C: Counter,
{
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let values = primitive::<T>(column(args, 0)?)?.values();
        let rows = Rows::new(args, groups)?;
        let add = |mut cell: Cell<C>, value: T::Native| {
            cell.add(value.into());
            cell
        };
        match (rows.ids, &rows.valid) {
            (None, _) => {
                let total = twofold::sum(values, rows.validity(), Into::into);
                if let Some(cell) = self.cells.first_mut() {
                    cell.sum = cell.sum.joined(total);
                    cell.count.add(rows.num_valid() as u64);
                }
            }
            (Some(ids), None) => fold_groups(&mut self.cells, values, ids, add),
            (Some(_), Some(_)) => rows.for_each(|row, group| {
                self.cells[group] = add(self.cells[group], values[row]);
            }),
        }
        Ok(())
    }

    fn update_bytes(&mut self, args: &[ArrayRef], keys: &[u8]) -> Result<bool> {
        if T::DATA_TYPE == ArrowType::Float64 {
            return self.add_by_bytes(column(args, 0)?, keys);
        }
        let is_added = self.bytes.add(keys, column(args, 0)?);
        self.take_bytes();
        Ok(is_added)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let sums = primitive::<Float64Type>(column(states, 0)?)?.values();
        let rests = primitive::<Float64Type>(column(states, 1)?)?.values();
        let rows = Rows::all(states, groups)?;
        rows.for_each(|row, group| {
            let (sum, rest) = (sums[row], rests[row]);
            let cell = &mut self.cells[group];
            cell.sum = cell.sum.joined(Twofold { sum, rest });
        });
        if C::STATE_TYPE.is_some() {
            let counts = primitive::<UInt64Type>(column(states, 2)?)?.values();
            rows.for_each(|row, group| self.cells[group].count.add(counts[row]));
        }
        Ok(())
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        match self.output {
            Output::Sum => Ok(self.sums(range)),
            Output::Average => {
                let averages = self.cells[range].iter();
                let averages =
                    averages.map(|cell| cell.sum.rounded().sum / cell.count.number() as f64);
                Ok(Arc::new(Float64Array::from_iter_values(averages)))
            }
            Output::SumAndCount => self.tuples(range),
        }
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let rests = self.cells[range.clone()].iter();
        let rests = rests.map(|cell| cell.sum.rounded().rest);
        let rests = Arc::new(Float64Array::from_iter_values(rests));
        let mut columns = vec![self.sums(range.clone()), rests];
        columns.extend(C::STATE_TYPE.map(|_| self.counts(range)));
        Ok(columns)
    }

    fn finishes_again(&self) -> bool {
        true
    }

    fn size_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Cell<C>>() + self.bytes.size_bytes()
    }
}
