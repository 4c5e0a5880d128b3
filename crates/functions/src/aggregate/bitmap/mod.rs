//! `groupBitmap` and kin: sets of integers as states, which the functions `bitmap…` work on.

mod set;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder, PrimitiveArray};
use arrow::datatypes::{ArrowNativeType, DataType as ArrowType};
use basalt_error::{Error, Result};
use basalt_types::{AggregateType, DataType};

use super::combinators::state::StateCodec;
use super::grouped::{ByteReader, StateFunction, bind_grouped, damaged};
use super::rows::Rows;
use super::values::{
    Primitive, PrimitiveVisitor, Value, column, primitive, visit_primitive, wrong_array,
};
use super::{AggregateCall, AggregateFunction, BoundAggregate};

pub(crate) use set::Bitmap;

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "groupBitmap",
        syntax: "groupBitmap(x)",
        description: "Number of distinct integers; its state is the set of them.",
        resolve,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupBitmapAnd",
        syntax: "groupBitmapAnd(bitmap)",
        description: "Number of integers that are in all sets.",
        resolve: |call| resolve_sets(call, |all, other| *all = all.intersection(other)),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupBitmapOr",
        syntax: "groupBitmapOr(bitmap)",
        description: "Number of integers that are in any set.",
        resolve: |call| resolve_sets(call, Bitmap::union),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "groupBitmapXor",
        syntax: "groupBitmapXor(bitmap)",
        description: "Number of integers that are in an odd number of sets.",
        resolve: |call| resolve_sets(call, |all, other| *all = all.symmetric_difference(other)),
        ..AggregateFunction::BASE
    },
];

/// The type of the numbers of a bitmap, if the type is one of bitmaps.
pub(crate) fn number_type(data_type: &DataType) -> Option<&DataType> {
    let DataType::AggregateFunction(aggregate) = data_type else {
        return None;
    };
    match (aggregate.name.as_str(), aggregate.args.as_slice()) {
        ("groupBitmap", [number]) if number.is_integer() && !number.is_nullable() => Some(number),
        ("groupBitmapAnd" | "groupBitmapOr" | "groupBitmapXor", [inner]) => number_type(inner),
        _ => None,
    }
}

/// The type of bitmaps of such numbers.
pub(crate) fn bitmap_type(number: DataType) -> DataType {
    DataType::AggregateFunction(Arc::new(AggregateType {
        name: "groupBitmap".to_owned(),
        params: Vec::new(),
        args: vec![number],
    }))
}

/// The bitmaps of a column of states; of empty bytes the empty one.
///
/// # Errors
/// `INCORRECT_DATA` if a state is damaged.
pub(crate) fn read_bitmaps(states: &ArrayRef) -> Result<Vec<Bitmap>> {
    let views = states
        .as_binary_view_opt()
        .ok_or_else(|| wrong_array(states))?;
    let codec = StateCodec::new(&[ArrowType::BinaryView])?;
    let mut sets = Vec::with_capacity(views.len());
    for row in 0..views.len() {
        let packed = views.value(row);
        if views.is_null(row) || packed.is_empty() {
            sets.push(Bitmap::default());
            continue;
        }
        let unpacked = codec.unpack(std::iter::once(packed))?;
        let unpacked = column(&unpacked, 0)?;
        let bytes = unpacked.as_binary_view_opt().ok_or_else(damaged)?.value(0);
        sets.push(read_optional(&mut ByteReader::new(bytes))?.unwrap_or_default());
    }
    Ok(sets)
}

/// The column of states of bitmaps.
///
/// # Errors
/// `LOGICAL_ERROR` if Arrow cannot pack them.
pub(crate) fn write_bitmaps(sets: &[Bitmap]) -> Result<ArrayRef> {
    let mut builder = BinaryViewBuilder::with_capacity(sets.len());
    let mut bytes = Vec::new();
    for set in sets {
        bytes.clear();
        set.write(&mut bytes);
        builder.append_value(&bytes);
    }
    let states: ArrayRef = Arc::new(builder.finish());
    StateCodec::new(&[ArrowType::BinaryView])?.pack(&[states], sets.len())
}

fn read_optional(bytes: &mut ByteReader<'_>) -> Result<Option<Bitmap>> {
    if bytes.expect_end().is_ok() {
        return Ok(None);
    }
    Bitmap::read(bytes).map(Some)
}

/// A number as a member of bitmaps: those of up to 32 bits as ClickHouse widens them, unsigned.
pub(crate) fn member_of(bits: u64, number: &DataType) -> u64 {
    if number.fixed_size_bytes() == Some(8) {
        bits
    } else {
        bits & u64::from(u32::MAX)
    }
}

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_integer)?;
    let number = call.types[0].clone();
    Ok(bind_grouped(counter_type(&number), GroupBitmap { number }))
}

#[derive(Debug)]
struct GroupBitmap {
    number: DataType,
}

struct Insert<'a> {
    states: &'a mut [Bitmap],
    array: &'a ArrayRef,
    rows: &'a Rows<'a>,
    number: &'a DataType,
}

impl PrimitiveVisitor for Insert<'_> {
    /// Bytes that the sets grew by.
    type Output = Result<usize>;

    fn visit<T: Primitive>(self) -> Result<usize> {
        let values = primitive::<T>(self.array)?.values();
        let states = self.states;
        let mut grown = 0;
        self.rows.for_each(|row, group| {
            grown += states[group].insert(member_of(values[row].key() as u64, self.number));
        });
        Ok(grown)
    }
}

/// The type of the number of members: that of the members themselves, in which it may wrap.
fn counter_type(number: &DataType) -> DataType {
    match number.base() {
        DataType::Bool => DataType::UInt8,
        number => number.clone(),
    }
}

/// Numbers of members in the type that counts them.
struct Lengths<'a>(&'a [usize]);

impl PrimitiveVisitor for Lengths<'_> {
    type Output = ArrayRef;

    fn visit<T: Primitive>(self) -> ArrayRef {
        let lengths = self.0.iter().map(|len| T::Native::usize_as(*len));
        Arc::new(PrimitiveArray::<T>::from_iter_values(lengths))
    }
}

fn lengths(number: &DataType, sets: impl Iterator<Item = usize>) -> Result<ArrayRef> {
    let lengths: Vec<usize> = sets.collect();
    let arrow = counter_type(number).physical();
    visit_primitive(&arrow, Lengths(&lengths)).ok_or_else(|| Error::bug("type of a bitmap"))
}

impl StateFunction for GroupBitmap {
    type State = Bitmap;

    fn new_state(&self) -> Bitmap {
        Bitmap::default()
    }

    fn update(&self, states: &mut [Bitmap], args: &[ArrayRef], rows: &Rows<'_>) -> Result<usize> {
        let array = column(args, 0)?;
        let insert = Insert {
            states,
            array,
            rows,
            number: &self.number,
        };
        visit_primitive(array.data_type(), insert).ok_or_else(|| wrong_array(array))?
    }

    fn merge(&self, state: &mut Bitmap, other: Bitmap) -> Result<usize> {
        let before = state.size_bytes();
        state.union(&other);
        Ok(state.size_bytes().saturating_sub(before))
    }

    fn write(&self, state: &Bitmap, out: &mut Vec<u8>) {
        state.write(out);
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Bitmap> {
        Bitmap::read(bytes)
    }

    fn finish(&self, states: &mut [Bitmap]) -> Result<ArrayRef> {
        lengths(&self.number, states.iter().map(Bitmap::len))
    }
}

fn resolve_sets(
    call: &AggregateCall<'_>,
    combine: fn(&mut Bitmap, &Bitmap),
) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let number = call.types.first().and_then(number_type);
    let number = number.ok_or_else(|| call.illegal_type(0))?.clone();
    let combined = CombineBitmaps { combine, number };
    Ok(bind_grouped(counter_type(&combined.number), combined))
}

/// Combines whole sets; the state is `None` before the first one.
#[derive(Debug)]
struct CombineBitmaps {
    combine: fn(&mut Bitmap, &Bitmap),
    number: DataType,
}

impl CombineBitmaps {
    fn add(&self, state: &mut Option<Bitmap>, other: &Bitmap) {
        match state {
            None => *state = Some(other.clone()),
            Some(set) => (self.combine)(set, other),
        }
    }
}

impl StateFunction for CombineBitmaps {
    type State = Option<Bitmap>;

    fn new_state(&self) -> Option<Bitmap> {
        None
    }

    fn update(
        &self,
        states: &mut [Option<Bitmap>],
        args: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<usize> {
        let sets = read_bitmaps(column(args, 0)?)?;
        let mut grown = 0;
        rows.for_each(|row, group| {
            self.add(&mut states[group], &sets[row]);
            grown += sets[row].size_bytes();
        });
        Ok(grown)
    }

    fn merge(&self, state: &mut Option<Bitmap>, other: Option<Bitmap>) -> Result<usize> {
        if let Some(other) = other {
            self.add(state, &other);
            return Ok(other.size_bytes());
        }
        Ok(0)
    }

    fn write(&self, state: &Option<Bitmap>, out: &mut Vec<u8>) {
        if let Some(set) = state {
            set.write(out);
        }
    }

    fn read(&self, bytes: &mut ByteReader<'_>) -> Result<Option<Bitmap>> {
        read_optional(bytes)
    }

    fn finish(&self, states: &mut [Option<Bitmap>]) -> Result<ArrayRef> {
        let sets = states.iter();
        let sizes = sets.map(|s| s.as_ref().map_or(0, Bitmap::len));
        lengths(&self.number, sizes)
    }
}
