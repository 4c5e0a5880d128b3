//! Hashes columns of any type, several of them into one hash, as ClickHouse's hash functions do.
//!
//! A row's hash begins with that of the first argument; the others are combined into it one after
//! the other. Tuples count as their elements. An array combines the hash of its length and then
//! those of its elements.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, FixedSizeBinaryArray, Float32Array, Float64Array,
    UInt32Array, UInt64Array,
};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, Result};
use basalt_kernels::append::append;
use basalt_kernels::widest::{Loop, widest};
use basalt_types::DataType;
use basalt_types::binary::BinaryColumn;

use super::fixed::FixedBytes;
use super::ints::{int_hash_32, int_hash_64};
use crate::Column;
use crate::scalar::core::numeric::{CHUNK, Numbers, chunks};

/// A hash value: 32, 64 or 128 bits.
pub trait HashValue: Copy + Default + Send + Sync + 'static {
    /// Type of a column of such hashes.
    fn data_type() -> DataType;
    /// The column of hashes.
    fn into_array(values: Vec<Self>) -> ArrayRef;
    /// Hash of an array's length.
    fn of_len(len: u64) -> Self;
    /// The bytes of the hash, lowest first, in as many of the array as it has.
    fn to_bytes(self) -> ([u8; 16], usize);
    /// The hash of no arguments.
    fn of_nothing() -> Self;
    /// The hash of a NULL inside a tuple or an array.
    fn of_null() -> Self;
}

const OF_NOTHING: u64 = 0xe28d_bde7_fe22_e41c;

const OF_NULL: u128 = 0x5715_f196_cbea_7a40_c58a_d2da_03d9_a871;

fn padded(bytes: &[u8]) -> ([u8; 16], usize) {
    let mut all = [0; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    (all, bytes.len())
}

impl HashValue for u32 {
    fn data_type() -> DataType {
        DataType::UInt32
    }
    fn into_array(values: Vec<Self>) -> ArrayRef {
        Arc::new(UInt32Array::from(values))
    }
    fn of_len(len: u64) -> Self {
        int_hash_32(len)
    }
    fn to_bytes(self) -> ([u8; 16], usize) {
        padded(&self.to_le_bytes())
    }
    fn of_nothing() -> Self {
        OF_NOTHING as u32
    }
    fn of_null() -> Self {
        OF_NULL as u32
    }
}

impl HashValue for u64 {
    fn data_type() -> DataType {
        DataType::UInt64
    }
    fn into_array(values: Vec<Self>) -> ArrayRef {
        Arc::new(UInt64Array::from(values))
    }
    fn of_len(len: u64) -> Self {
        int_hash_64(len)
    }
    fn to_bytes(self) -> ([u8; 16], usize) {
        padded(&self.to_le_bytes())
    }
    fn of_nothing() -> Self {
        OF_NOTHING
    }
    fn of_null() -> Self {
        OF_NULL as u64
    }
}

impl HashValue for u128 {
    fn data_type() -> DataType {
        DataType::FixedString(16)
    }
    fn into_array(values: Vec<Self>) -> ArrayRef {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Arc::new(FixedSizeBinaryArray::new(16, bytes.into(), None))
    }
    fn of_len(len: u64) -> Self {
        u128::from(int_hash_32(len))
    }
    fn to_bytes(self) -> ([u8; 16], usize) {
        padded(&self.to_le_bytes())
    }
    fn of_nothing() -> Self {
        u128::from(OF_NOTHING)
    }
    fn of_null() -> Self {
        OF_NULL
    }
}

/// A hash function.
pub trait HashFunction: Copy + Send + Sync + 'static {
    /// What it gives.
    type Value: HashValue;

    /// Hash of some bytes.
    fn bytes(self, bytes: &[u8]) -> Self::Value;

    /// Hash of a number of up to 64 bits; by default that of its bytes.
    #[inline]
    fn number(self, bits: u64, width: usize) -> Self::Value {
        self.bytes(&bits.to_le_bytes()[..width])
    }

    /// One hash for two; by default that of the bytes of both.
    #[inline]
    fn combine(self, first: Self::Value, second: Self::Value) -> Self::Value {
        let ((a, len), (b, _)) = (first.to_bytes(), second.to_bytes());
        let mut both = [0; 32];
        both[..len].copy_from_slice(&a[..len]);
        both[len..2 * len].copy_from_slice(&b[..len]);
        self.bytes(&both[..2 * len])
    }
}

/// Hashes the rows of several columns.
///
/// # Errors
/// `NOT_IMPLEMENTED` for types that it knows no hash of.
pub fn hash_columns<H: HashFunction>(
    function: H,
    columns: &[Column],
    types: &[DataType],
    num_rows: usize,
) -> Result<Vec<H::Value>> {
    let mut hashes = Hashes::new(function, num_rows);
    for (column, data_type) in columns.iter().zip(types) {
        if column.is_const && num_rows > 1 {
            // A constant is hashed once for all rows, unless it combines several hashes.
            let plain = !matches!(
                column.array.data_type(),
                ArrowType::Struct(_) | ArrowType::List(_)
            );
            if plain {
                let mut one = Hashes::new(function, 1);
                one.array(&column.array, data_type)?;
                let value = one.or_all(H::Value::default())[0];
                hashes.add(|_| value);
                continue;
            }
        }
        hashes.array(&column.expand(num_rows)?, data_type)?;
    }
    Ok(hashes.or_all(H::Value::of_nothing()))
}

/// The hashes of all rows so far.
struct Hashes<H: HashFunction> {
    function: H,
    num_rows: usize,
    /// None before the first of a row's hashes is known.
    values: Vec<H::Value>,
}

impl<H: HashFunction> Hashes<H> {
    fn new(function: H, num_rows: usize) -> Self {
        Self {
            function,
            num_rows,
            values: Vec::new(),
        }
    }

    /// The hashes, or `value` for all rows if nothing was hashed.
    fn or_all(self, value: H::Value) -> Vec<H::Value> {
        match self.values.is_empty() {
            true => vec![value; self.num_rows],
            false => self.values,
        }
    }

    /// Combines each row with its next hash.
    #[inline]
    fn add(&mut self, next: impl Fn(usize) -> H::Value) {
        if self.values.is_empty() {
            self.values = (0..self.num_rows).map(next).collect();
            return;
        }
        for (row, value) in self.values.iter_mut().enumerate() {
            *value = self.function.combine(*value, next(row));
        }
    }

    fn array(&mut self, array: &ArrayRef, data_type: &DataType) -> Result<()> {
        if matches!(data_type, DataType::Variant(_)) {
            return self.variant(array, data_type);
        }
        let Some(nulls) = array.logical_nulls().filter(|n| n.null_count() > 0) else {
            return self.values(array, data_type);
        };
        let mut inner = Hashes::new(self.function, array.len());
        if nulls.null_count() < array.len() {
            inner.values(array, data_type)?;
        }
        let inner = inner.or_all(H::Value::of_null());
        self.add(|row| match nulls.is_valid(row) {
            true => inner[row],
            false => H::Value::of_null(),
        });
        Ok(())
    }

    /// Hashes values without looking at their validity.
    fn values(&mut self, array: &ArrayRef, data_type: &DataType) -> Result<()> {
        match array.data_type() {
            // DateTime64 is a decimal to ClickHouse, and those and intervals go by their bytes.
            ArrowType::Int64
                if matches!(
                    data_type.base(),
                    DataType::DateTime64(..) | DataType::Interval(_)
                ) =>
            {
                self.fixed(array, data_type)
            }
            ArrowType::Float32 => {
                let floats: &Float32Array = array.as_primitive();
                self.numbers(Numbers::U32(floats.values().inner().typed_data()), 4);
                Ok(())
            }
            ArrowType::Float64 => {
                let floats: &Float64Array = array.as_primitive();
                self.numbers(Numbers::U64(floats.values().inner().typed_data()), 8);
                Ok(())
            }
            of_number if of_number.is_integer() => {
                let width = of_number.primitive_width().unwrap_or(8);
                self.numbers(Numbers::of(array.as_ref())?, width);
                Ok(())
            }
            ArrowType::BinaryView => {
                let function = self.function;
                let strings: &BinaryViewArray = array.as_binary_view();
                self.add(|row| function.bytes(strings.value(row)));
                Ok(())
            }
            ArrowType::FixedSizeBinary(_)
            | ArrowType::Decimal128(..)
            | ArrowType::Decimal256(..) => self.fixed(array, data_type),
            ArrowType::Struct(_) => self.tuple(array, data_type),
            ArrowType::List(_) => self.list(array, data_type),
            _ => Err(Error::not_implemented(format!(
                "a hash of the type {data_type}"
            ))),
        }
    }

    /// Hashes integers of so many bytes.
    fn numbers(&mut self, numbers: Numbers<'_>, width: usize) {
        let is_first = self.values.is_empty();
        self.values.reserve_exact(self.num_rows - self.values.len());
        let mut buffer: Vec<u64> = Vec::with_capacity(CHUNK);
        for range in chunks(self.num_rows) {
            let bits = match numbers {
                Numbers::U64(bits) => &bits[range.clone()],
                other => {
                    buffer.clear();
                    other.append(range.clone(), &mut buffer);
                    &buffer
                }
            };
            let hash = HashNumbers {
                function: self.function,
                bits,
                width,
            };
            match is_first {
                true => widest(First(hash, &mut self.values)),
                false => widest(Next(hash, &mut self.values[range])),
            }
        }
    }

    fn fixed(&mut self, array: &ArrayRef, data_type: &DataType) -> Result<()> {
        let function = self.function;
        let bytes = FixedBytes::new(&Column::new(Arc::clone(array)), data_type)?;
        if *data_type.base() == DataType::Uuid {
            // ClickHouse has the halves of a UUID in this order, each with its lowest byte first.
            self.add(|row| {
                let mut halves = [0; 16];
                halves.copy_from_slice(bytes.value(row));
                halves[..8].reverse();
                halves[8..].reverse();
                function.bytes(&halves)
            });
        } else {
            self.add(|row| function.bytes(bytes.value(row)));
        }
        Ok(())
    }

    /// A value counts as the bytes that it has in RowBinary, the number of its type first.
    fn variant(&mut self, array: &ArrayRef, data_type: &DataType) -> Result<()> {
        let function = self.function;
        let values = BinaryColumn::new(data_type, array, |_| None)?;
        let mut bytes = Vec::new();
        let hashes = (0..array.len()).map(|row| {
            bytes.clear();
            values.write(row, &mut bytes);
            function.bytes(&bytes)
        });
        let hashes: Vec<H::Value> = hashes.collect();
        self.add(|row| hashes[row]);
        Ok(())
    }

    fn tuple(&mut self, array: &ArrayRef, data_type: &DataType) -> Result<()> {
        let types: Vec<DataType> = match data_type.base() {
            DataType::Tuple(tuple) => tuple.types.clone(),
            // The entries of a map.
            DataType::Map(key, value) => vec![key.as_ref().clone(), value.as_ref().clone()],
            other => return Err(Error::bug(format!("{other} is no tuple"))),
        };
        for (element, element_type) in array.as_struct().columns().iter().zip(&types) {
            self.array(element, element_type)?;
        }
        Ok(())
    }

    fn list(&mut self, array: &ArrayRef, data_type: &DataType) -> Result<()> {
        let element_type = match data_type.base() {
            DataType::Array(element) => element.as_ref(),
            // Its entries are tuples of key and value.
            map => map,
        };
        let lists = array.as_list::<i32>();
        let offsets = lists.value_offsets();
        let (first, last) = (offsets[0], offsets[lists.len()]);
        let elements = lists
            .values()
            .slice(first as usize, (last - first) as usize);
        let mut inner = Hashes::new(self.function, elements.len());
        if !elements.is_empty() {
            inner.array(&elements, element_type)?;
        }
        let inner = inner.or_all(H::Value::default());
        self.add(|row| H::Value::of_len((offsets[row + 1] - offsets[row]) as u64));
        for (value, range) in self.values.iter_mut().zip(offsets.windows(2)) {
            let range = (range[0] - first) as usize..(range[1] - first) as usize;
            for next in &inner[range] {
                *value = self.function.combine(*value, *next);
            }
        }
        Ok(())
    }
}

/// Hashes the integers of a chunk.
struct HashNumbers<'a, H: HashFunction> {
    function: H,
    bits: &'a [u64],
    /// Bytes of each that count; those above may be copies of the sign.
    width: usize,
}

impl<H: HashFunction> HashNumbers<'_, H> {
    #[inline(always)]
    fn hash(&self, row: usize) -> H::Value {
        let mask = u64::MAX >> (64 - 8 * self.width);
        self.function.number(self.bits[row] & mask, self.width)
    }
}

/// Appends the hashes of a chunk.
struct First<'a, H: HashFunction>(HashNumbers<'a, H>, &'a mut Vec<H::Value>);

impl<H: HashFunction> Loop for First<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        append(self.1, self.0.bits.len(), |row| self.0.hash(row));
    }
}

/// Combines the hashes of a chunk's rows with those of its integers.
struct Next<'a, H: HashFunction>(HashNumbers<'a, H>, &'a mut [H::Value]);

impl<H: HashFunction> Loop for Next<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (row, value) in self.1.iter_mut().enumerate() {
            *value = self.0.function.combine(*value, self.0.hash(row));
        }
    }
}
