//! `min` and `max` of what is no number: strings and all that Arrow's row format orders.

use std::marker::PhantomData;
use std::ops::Range;

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::byte_arena::{ByteArena, ByteCodec, EncodedBytes};
use super::extreme::Direction;
use super::rows::Rows;
use super::slots::fill_defaults;
use super::values::column;
use super::{Aggregator, Groups};

/// The bytes of a UUID as they compare: ClickHouse looks at the second half first.
pub(super) fn exchanged(uuid: &[u8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    if let Some((first, second)) = uuid.split_at_checked(8)
        && second.len() == 8
    {
        bytes[..8].copy_from_slice(second);
        bytes[8..].copy_from_slice(first);
    }
    bytes
}

/// The best value of each group, as bytes that compare as the values do.
#[derive(Debug)]
pub(super) struct ExtremeBytes<D> {
    values: ByteArena,
    codec: Result<ByteCodec>,
    data_type: DataType,
    direction: PhantomData<D>,
}

impl<D: Direction> ExtremeBytes<D> {
    /// For values of `data_type`, of which `codec` makes bytes.
    pub(super) fn new(data_type: DataType, codec: Result<ByteCodec>) -> Self {
        Self {
            values: ByteArena::default(),
            codec,
            data_type,
            direction: PhantomData,
        }
    }

    /// Offers the value of each row to its group.
    #[inline]
    fn offer<'a>(
        &mut self,
        rows: &Rows<'_>,
        value: impl Fn(usize) -> &'a [u8],
        is_better: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        let values = &mut self.values;
        rows.try_for_each(|row, group| {
            let value = value(row);
            match values.get(group) {
                Some(best) if !is_better(value, best) => Ok(()),
                _ => values.set(group, Some(value)),
            }
        })
    }
}

impl<D: Direction> Aggregator for ExtremeBytes<D> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.values.resize(groups.num_groups);
        let codec = self.codec.as_ref().map_err(Clone::clone)?;
        let encoded = codec.encode(column(args, 0)?)?;
        let rows = Rows::new(args, groups)?;
        // A loop for each form of strings: none asks for it at each row.
        match &encoded {
            EncodedBytes::Binary(array) => {
                self.offer(&rows, |row| array.value(row), D::better_bytes)
            }
            EncodedBytes::Fixed(array) if *self.data_type.base() == DataType::Uuid => {
                let is_better =
                    |new: &[u8], old: &[u8]| D::better_bytes(&exchanged(new), &exchanged(old));
                self.offer(&rows, |row| array.value(row), is_better)
            }
            other => self.offer(&rows, |row| other.value(row), D::better_bytes),
        }
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.update(states, groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        let states = self.states(range)?;
        fill_defaults(states[0].slice(0, states[0].len()), &self.data_type)
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.values.resize(range.end);
        let codec = self.codec.as_ref().map_err(Clone::clone)?;
        Ok(vec![codec.decode(range.map(|g| self.values.get(g)))?])
    }

    fn size_bytes(&self) -> usize {
        self.values.size_bytes()
    }
}
