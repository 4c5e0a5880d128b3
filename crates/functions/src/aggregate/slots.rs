//! Keeps one value of any type for each group.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;
use basalt_types::DataType;

use super::byte_arena::{ByteArena, ByteCodec};
use super::defaults::{bug, default_where};
use super::values::{Primitive, PrimitiveVisitor, primitive, primitive_array, visit_primitive};

/// One optional value for each group; what is not set, or was set to NULL, is NULL.
pub(crate) trait Slots: Debug + Send {
    /// Makes room for that many groups.
    fn resize(&mut self, num_groups: usize);

    /// Copies values: for each `(group, row)`, in order, that row of `source`.
    fn assign(&mut self, source: &ArrayRef, pairs: &[(usize, usize)]) -> Result<()>;

    /// The values of the groups in `range`.
    fn gather(&mut self, range: Range<usize>) -> Result<ArrayRef>;

    /// Memory held, in bytes.
    fn size_bytes(&self) -> usize;
}

struct MakeSlots<'a>(&'a ArrowType);

impl PrimitiveVisitor for MakeSlots<'_> {
    type Output = Box<dyn Slots>;

    fn visit<T: Primitive>(self) -> Box<dyn Slots> {
        Box::new(PrimitiveSlots::<T> {
            values: Vec::new(),
            is_set: Vec::new(),
            arrow: self.0.clone(),
            element: PhantomData,
        })
    }
}

/// Slots for values of a physical type.
///
/// # Errors
/// `LOGICAL_ERROR` for Arrow types that no type of the dialect has.
pub(crate) fn slots_for(arrow: &ArrowType) -> Result<Box<dyn Slots>> {
    match visit_primitive(arrow, MakeSlots(arrow)) {
        Some(slots) => Ok(slots),
        None => Ok(Box::new(ByteSlots {
            arena: ByteArena::default(),
            codec: ByteCodec::new(arrow)?,
        })),
    }
}

/// The values of the groups as results of type `data_type`: its default where there is none.
pub(crate) fn gather_as(
    slots: &mut dyn Slots,
    range: Range<usize>,
    data_type: &DataType,
) -> Result<ArrayRef> {
    slots.resize(range.end);
    fill_defaults(slots.gather(range)?, data_type)
}

/// NULL rows as the default of `data_type`, if it is not Nullable.
pub(crate) fn fill_defaults(values: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    match values.logical_nulls() {
        Some(nulls) if nulls.null_count() > 0 && !data_type.is_nullable() => {
            default_where(&values, &!nulls.inner(), data_type)
        }
        _ => Ok(values),
    }
}

#[derive(Debug)]
struct PrimitiveSlots<T: Primitive> {
    values: Vec<T::Native>,
    is_set: Vec<bool>,
    arrow: ArrowType,
    element: PhantomData<fn() -> T>,
}

impl<T: Primitive> Slots for PrimitiveSlots<T> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.values.len() {
            self.values.resize(num_groups, T::Native::default());
            self.is_set.resize(num_groups, false);
        }
    }

    fn assign(&mut self, source: &ArrayRef, pairs: &[(usize, usize)]) -> Result<()> {
        let source = primitive::<T>(source)?;
        for (group, row) in pairs {
            self.values[*group] = source.value(*row);
            self.is_set[*group] = source.is_valid(*row);
        }
        Ok(())
    }

    fn gather(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let values = self.values[range.clone()].to_vec();
        let is_set = NullBuffer::new(BooleanBuffer::from(&self.is_set[range]));
        let nulls = (is_set.null_count() > 0).then_some(is_set);
        Ok(primitive_array::<T>(values, nulls, &self.arrow))
    }

    fn size_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T::Native>() + self.is_set.capacity()
    }
}

#[derive(Debug)]
struct ByteSlots {
    arena: ByteArena,
    codec: ByteCodec,
}

impl Slots for ByteSlots {
    fn resize(&mut self, num_groups: usize) {
        self.arena.resize(num_groups);
    }

    fn assign(&mut self, source: &ArrayRef, pairs: &[(usize, usize)]) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        if let ByteCodec::Rows(..) = self.codec {
            // Encoding is dear: only the rows that are kept.
            let rows = UInt64Array::from_iter_values(pairs.iter().map(|(_, row)| *row as u64));
            let source = arrow::compute::take(source, &rows, None).map_err(bug)?;
            let encoded = self.codec.encode(&source)?;
            for (i, (group, _)) in pairs.iter().enumerate() {
                self.arena.set(*group, encoded.get(i))?;
            }
            return Ok(());
        }
        let encoded = self.codec.encode(source)?;
        for (group, row) in pairs {
            self.arena.set(*group, encoded.get(*row))?;
        }
        Ok(())
    }

    fn gather(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.codec.decode(range.map(|group| self.arena.get(group)))
    }

    fn size_bytes(&self) -> usize {
        self.arena.size_bytes()
    }
}
