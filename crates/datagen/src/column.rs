//! Describes a table as a list of columns, each a function of a row, and turns rows into Arrow arrays.
//!
//! A generator makes plain row structs; every column then runs over the whole batch of them in one small loop.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, AsArray, Float64Array, PrimitiveArray, StringArray, StringBuilder,
};
use arrow::datatypes::{
    DataType, Date32Type, Field, Float32Type, Int16Type, Int32Type, Int64Type, Schema, SchemaRef,
    TimeUnit, TimestampMillisecondType, UInt8Type, UInt32Type,
};

use crate::random::{Random, mix};

/// The rows that one run of a [`Source`] makes.
pub(crate) struct Piece {
    /// Number of the piece's first row in the table.
    pub(crate) first: u64,
    /// Rows of the whole table.
    pub(crate) total: u64,
    /// The table's seed.
    pub(crate) seed: u64,
    /// The piece's own random numbers.
    pub(crate) random: Random,
}

/// Makes the rows of a piece, one after another.
pub(crate) trait Source {
    /// One row, or what all its columns are computed from.
    type Row: 'static;
    /// The table's columns in order.
    const COLUMNS: &'static [Column<Self::Row>];
    /// Rows of a row group.
    const GROUP_ROWS: u64;

    /// Starts at the piece's first row.
    fn new(piece: Piece) -> Self;
    /// The next row; called as often as the piece has rows.
    fn next_row(&mut self) -> Self::Row;
}

/// A column: its name, and how its values follow from a row.
pub(crate) struct Column<R> {
    /// The column's name.
    pub(crate) name: &'static str,
    /// Type and values.
    pub(crate) fill: Fill<R>,
    /// Whether the file has the column's values in a dictionary. That costs some 20 ns a value, so only columns of
    /// few values that LZ4 alone does not make small have one.
    pub(crate) dictionary: bool,
    /// Whether the file has the column compressed.
    pub(crate) compressed: bool,
}

/// The type of a column and the function that gives its values.
pub(crate) enum Fill<R> {
    UInt8(fn(&R) -> u8),
    UInt32(fn(&R) -> u32),
    Int16(fn(&R) -> i16),
    Int32(fn(&R) -> i32),
    Int64(fn(&R) -> i64),
    Float32(fn(&R) -> f32),
    /// Nullable.
    Float64(fn(&R) -> Option<f64>),
    /// Days since 1970.
    Date(fn(&R) -> i32),
    /// Seconds since 1970.
    Time(fn(&R) -> u32),
    /// Appends the text to an empty string.
    Text(fn(&R, &mut String)),
    /// One of a few fixed texts.
    Word(fn(&R) -> &'static str),
    /// The hash of an earlier text column, and a mask that the hash is XORed with.
    HashOf(&'static str, u64),
}

impl<R> Column<R> {
    /// A column whose values repeat.
    pub(crate) const fn new(name: &'static str, fill: Fill<R>) -> Self {
        Self {
            name,
            fill,
            dictionary: true,
            compressed: true,
        }
    }

    /// A column of plain values: nearly all of them new, or nearly all the same.
    pub(crate) const fn plain(name: &'static str, fill: Fill<R>) -> Self {
        Self {
            name,
            fill,
            dictionary: false,
            compressed: true,
        }
    }

    /// A column of digits by chance, which no compression makes smaller.
    pub(crate) const fn noise(name: &'static str, fill: Fill<R>) -> Self {
        Self {
            name,
            fill,
            dictionary: false,
            compressed: false,
        }
    }

    /// A column of zeros.
    pub(crate) const fn zero(name: &'static str) -> Self {
        Self::plain(name, Fill::Int16(|_| 0))
    }

    /// A column of empty texts.
    pub(crate) const fn empty(name: &'static str) -> Self {
        Self::plain(name, Fill::Word(|_| ""))
    }

    /// The Parquet file's field.
    pub(crate) fn field(&self) -> Field {
        let nullable = matches!(self.fill, Fill::Float64(_));
        Field::new(self.name, self.fill.arrow_type(), nullable)
    }
}

impl<R> Fill<R> {
    fn arrow_type(&self) -> DataType {
        match self {
            Self::UInt8(_) => DataType::UInt8,
            Self::UInt32(_) => DataType::UInt32,
            Self::Int16(_) => DataType::Int16,
            Self::Int32(_) => DataType::Int32,
            Self::Int64(_) | Self::HashOf(..) => DataType::Int64,
            Self::Float32(_) => DataType::Float32,
            Self::Float64(_) => DataType::Float64,
            Self::Date(_) => DataType::Date32,
            // The only Parquet type that ClickHouse reads as a time; it has no unit of seconds.
            Self::Time(_) => DataType::Timestamp(TimeUnit::Millisecond, None),
            Self::Text(_) | Self::Word(_) => DataType::Utf8,
        }
    }

    /// The type that `DESCRIBE file(...)` shows.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::UInt8(_) => "UInt8",
            Self::UInt32(_) => "UInt32",
            Self::Int16(_) => "Int16",
            Self::Int32(_) => "Int32",
            Self::Int64(_) | Self::HashOf(..) => "Int64",
            Self::Float32(_) => "Float32",
            Self::Float64(_) => "Nullable(Float64)",
            Self::Date(_) => "Date32",
            Self::Time(_) => "DateTime64(3, 'UTC')",
            Self::Text(_) | Self::Word(_) => "String",
        }
    }
}

/// The Arrow schema of a table.
pub(crate) fn schema<R>(columns: &[Column<R>]) -> SchemaRef {
    Arc::new(Schema::new(
        columns.iter().map(Column::field).collect::<Vec<_>>(),
    ))
}

/// All columns of the rows, in order.
pub(crate) fn arrays<R>(columns: &[Column<R>], rows: &[R]) -> Vec<ArrayRef> {
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
    for column in columns {
        let array = match column.fill {
            Fill::UInt8(f) => primitive::<UInt8Type, R>(rows, f),
            Fill::UInt32(f) => primitive::<UInt32Type, R>(rows, f),
            Fill::Int16(f) => primitive::<Int16Type, R>(rows, f),
            Fill::Int32(f) => primitive::<Int32Type, R>(rows, f),
            Fill::Int64(f) => primitive::<Int64Type, R>(rows, f),
            Fill::Float32(f) => primitive::<Float32Type, R>(rows, f),
            Fill::Float64(f) => Arc::new(rows.iter().map(f).collect::<Float64Array>()) as ArrayRef,
            Fill::Date(f) => primitive::<Date32Type, R>(rows, f),
            Fill::Time(f) => {
                primitive::<TimestampMillisecondType, R>(rows, |row| i64::from(f(row)) * 1000)
            }
            Fill::Text(f) => texts(rows, f),
            Fill::Word(f) => Arc::new(StringArray::from_iter_values(rows.iter().map(f))),
            Fill::HashOf(name, mask) => {
                let text = columns
                    .iter()
                    .zip(&arrays)
                    .find(|(column, _)| column.name == name);
                let hashes = text.map(|(_, array)| hashes(array, mask));
                Arc::new(PrimitiveArray::<Int64Type>::from_iter_values(
                    hashes.unwrap_or_default(),
                ))
            }
        };
        arrays.push(array);
    }
    arrays
}

fn primitive<T: ArrowPrimitiveType, R>(rows: &[R], f: impl Fn(&R) -> T::Native) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(rows.iter().map(f)))
}

fn texts<R>(rows: &[R], f: fn(&R, &mut String)) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(rows.len(), rows.len() * 64);
    let mut text = String::new();
    for row in rows {
        text.clear();
        f(row, &mut text);
        builder.append_value(&text);
    }
    Arc::new(builder.finish())
}

fn hashes(texts: &ArrayRef, mask: u64) -> Vec<i64> {
    let texts = texts.as_string::<i32>();
    texts
        .iter()
        .map(|text| (hash(text.unwrap_or("")) ^ mask).cast_signed())
        .collect()
}

/// A 64-bit hash of a text, eight bytes at a time.
pub(crate) const fn hash(text: &str) -> u64 {
    let mut rest = text.as_bytes();
    let mut state = rest.len() as u64;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        state = mix(state ^ u64::from_le_bytes(*word)).wrapping_add(0x2545_F491_4F6C_DD1D);
        rest = tail;
    }
    while let Some((byte, tail)) = rest.split_first() {
        state = (state ^ *byte as u64)
            .wrapping_mul(0x0100_0000_01B3)
            .rotate_left(23);
        rest = tail;
    }
    mix(state)
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    use super::{Column, Fill, arrays, hash};

    #[test]
    fn a_hash_column_follows_its_text() {
        let columns = [
            Column::new(
                "t",
                Fill::Text(|row: &u32, out| out.push_str(&row.to_string())),
            ),
            Column::new("h", Fill::HashOf("t", hash("7") ^ 42)),
        ];
        let arrays = arrays(&columns, &[7, 8, 7]);
        let hashes = arrays[1].as_primitive::<Int64Type>();
        assert_eq!((hashes.value(0), hashes.value(2)), (42, 42));
        assert_ne!(hashes.value(1), 42);
    }

    #[test]
    fn every_byte_counts() {
        let texts = [
            "",
            "a",
            "b",
            "12345678",
            "12345679",
            "12345678a",
            "12345678b",
        ];
        for (i, a) in texts.iter().enumerate() {
            assert!(texts[..i].iter().all(|b| hash(a) != hash(b)), "{a}");
        }
    }
}
