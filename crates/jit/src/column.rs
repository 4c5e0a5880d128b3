//! Describes columns in memory and results, without saying whose memory it is.

use basalt_kernels::Bitmap;
use basalt_kernels::twofold::Twofold;

use crate::ir::Type;
use crate::program::{Fold, Output, Program};

/// The values of a column.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Of [`Type::I8`].
    I8(&'a [i8]),
    /// Of [`Type::I16`].
    I16(&'a [i16]),
    /// Of [`Type::I32`].
    I32(&'a [i32]),
    /// Of [`Type::I64`].
    I64(&'a [i64]),
    /// Of [`Type::U8`].
    U8(&'a [u8]),
    /// Of [`Type::U16`].
    U16(&'a [u16]),
    /// Of [`Type::U32`].
    U32(&'a [u32]),
    /// Of [`Type::U64`].
    U64(&'a [u64]),
    /// Of [`Type::F32`].
    F32(&'a [f32]),
    /// Of [`Type::F64`].
    F64(&'a [f64]),
}

/// Does the same with a slice of any type.
macro_rules! with_slice {
    ($values:expr, $slice:ident, $result:expr) => {
        match $values {
            Values::I8($slice) => $result,
            Values::I16($slice) => $result,
            Values::I32($slice) => $result,
            Values::I64($slice) => $result,
            Values::U8($slice) => $result,
            Values::U16($slice) => $result,
            Values::U32($slice) => $result,
            Values::U64($slice) => $result,
            Values::F32($slice) => $result,
            Values::F64($slice) => $result,
        }
    };
}

impl Values<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        with_slice!(self, slice, slice.len())
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their type.
    pub fn data_type(&self) -> Type {
        match self {
            Self::I8(_) => Type::I8,
            Self::I16(_) => Type::I16,
            Self::I32(_) => Type::I32,
            Self::I64(_) => Type::I64,
            Self::U8(_) => Type::U8,
            Self::U16(_) => Type::U16,
            Self::U32(_) => Type::U32,
            Self::U64(_) => Type::U64,
            Self::F32(_) => Type::F32,
            Self::F64(_) => Type::F64,
        }
    }

    /// Where they begin.
    pub(crate) fn address(&self) -> *const u8 {
        with_slice!(self, slice, slice.as_ptr().cast())
    }

    /// The bits of a value, in the lowest of a word.
    ///
    /// # Panics
    /// If there is no such row.
    pub(crate) fn bits(&self, row: usize) -> u64 {
        match self {
            Self::I8(v) => u64::from(v[row].cast_unsigned()),
            Self::I16(v) => u64::from(v[row].cast_unsigned()),
            Self::I32(v) => u64::from(v[row].cast_unsigned()),
            Self::I64(v) => v[row].cast_unsigned(),
            Self::U8(v) => u64::from(v[row]),
            Self::U16(v) => u64::from(v[row]),
            Self::U32(v) => u64::from(v[row]),
            Self::U64(v) => v[row],
            Self::F32(v) => u64::from(v[row].to_bits()),
            Self::F64(v) => v[row].to_bits(),
        }
    }
}

/// A column: values, and which rows have one.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// The values; under a NULL lies any.
    pub values: Values<'a>,
    /// Which rows are not NULL; `None` if all are.
    pub validity: Option<Bitmap<'a>>,
}

/// What a program gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The value of each row.
    Rows(MappedRows),
    /// The bits of one value. The least or greatest of no rows is any value of its type.
    One(u64),
    /// A sum of floats.
    Sum(Twofold),
    /// The bits of a value for each group, and for the rows without one.
    Groups(Vec<u64>),
}

/// A value for each row, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedRows {
    /// The values one after the other, in their type's size: a flag is a bit.
    pub words: Vec<u64>,
    /// A bit for each row that is not NULL; `None` if no row can be.
    pub validity: Option<Vec<u64>>,
}

/// Columns that a program cannot run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongColumns(pub(crate) String);

impl std::fmt::Display for WrongColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongColumns {}

/// Whether `columns` are what `program` reads, with `num_rows` each; places that it does not use may hold
/// anything.
pub(crate) fn check(
    program: &Program,
    columns: &[Option<Column<'_>>],
    num_rows: usize,
) -> Result<(), WrongColumns> {
    for (place, wanted) in program.columns().iter().enumerate() {
        let Some((data_type, is_nullable)) = wanted else {
            continue;
        };
        let Some(Some(found)) = columns.get(place) else {
            return Err(WrongColumns(format!("column {place} is missing")));
        };
        let is_right = found.values.data_type() == *data_type
            && found.values.len() == num_rows
            && (*is_nullable || found.validity.is_none())
            && found.validity.is_none_or(|v| v.len() == num_rows);
        if !is_right {
            return Err(WrongColumns(format!("column {place} is another one")));
        }
    }
    Ok(())
}

/// Rows of a round of a compiled loop, and lanes of a sum of floats.
pub(crate) const LANES: usize = basalt_kernels::fold::NUM_LANES;

/// The bits of a value that a fold with `output` begins with; for extremes of floats a NaN, which is what they
/// are if there is nothing else. Read as a key ([`ordered`]) it is the worst of these, too.
pub(crate) fn identity(program: &Program, output: Output) -> u64 {
    let Output::Fold(fold, arg) = output else {
        return 0;
    };
    let data_type = program.graph().type_of(arg);
    let sign = 1 << (data_type.bits() - 1);
    let (least, greatest) = if data_type.is_float() {
        (data_type.mask(), data_type.mask() ^ sign)
    } else if data_type.is_signed() {
        (sign, data_type.mask() ^ sign)
    } else {
        (0, data_type.mask())
    };
    match fold {
        Fold::Count | Fold::Sum => 0,
        Fold::Min => greatest,
        Fold::Max => least,
    }
}

/// The key of a float, and the float of a key: a signed integer of the same size. Keys have the order of floats, with
/// -0.0 before 0.0, NaNs without sign above and those with a sign below all others.
pub(crate) fn ordered(float: Type, bits: u64) -> u64 {
    let sign = 1 << (float.bits() - 1);
    if bits & sign == 0 {
        bits
    } else {
        bits ^ (sign - 1)
    }
}
