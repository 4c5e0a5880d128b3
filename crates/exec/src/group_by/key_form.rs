//! Declares what a form of key does, and chooses the form that fits the keys' types.

use std::fmt::Debug;
use std::ops::Range;

use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use basalt_analyzer::into_plan_error;
use basalt_error::{Error, ErrorCode};
use basalt_hashtable::{Partitions, TableFull};
use datafusion::error::{DataFusionError, Result};

use super::pack::{Place, width};
use super::packed_rows::RowLayout;

/// A way to hold keys: how columns become keys and back.
pub(super) trait KeyForm: Debug + Send + Sync + 'static {
    /// Groups by key.
    type Table: GroupTable;

    /// Whether keys lie elsewhere than in their rows, so that to look at one again later is to wait for it.
    const ARE_FAR: bool = false;

    /// An empty table.
    fn table(&self) -> Self::Table;

    /// An empty table of 2^`bits` tables, told apart by the high bits of the hash.
    fn two_level_table(&self, bits: u32) -> Self::Table;

    /// An empty table for keys that outlive it, of which some are wanted at last.
    fn merged_table(&self) -> Self::Table {
        self.table()
    }

    /// Keys of the rows of a batch.
    fn encode(&self, columns: Vec<ArrayRef>) -> Result<Keys<Self>>;

    /// The columns that [`KeyForm::encode`] made keys of.
    fn columns(&self, keys: &Keys<Self>) -> Result<Vec<ArrayRef>>;

    /// Key columns of the groups in `range` of a table that is finished.
    fn decode(&self, table: &Self::Table, range: Range<usize>) -> Result<Vec<ArrayRef>>;
}

/// Keys of some rows, in a form.
pub(super) type Keys<F> = <<F as KeyForm>::Table as GroupTable>::Keys;

/// Numbers groups by their keys.
pub(super) trait GroupTable: Debug + Send + Sync {
    /// Keys of some rows.
    type Keys: Send + Sync;

    /// Appends the groups of some rows to `groups`; keys that are new become groups.
    fn intern(
        &mut self,
        keys: &Self::Keys,
        rows: Range<usize>,
        groups: &mut Vec<u32>,
    ) -> Result<()>;

    /// Appends the groups of all rows, [`NOT_FOUND`](basalt_hashtable::NOT_FOUND) for keys that
    /// have none.
    fn find(&self, keys: &Self::Keys, groups: &mut Vec<u32>);

    /// The table without groups, if its memory can be used again.
    fn recycle(self) -> Option<Self>
    where
        Self: Sized;

    /// Number of rows.
    fn num_rows(keys: &Self::Keys) -> usize;

    /// Number of groups.
    fn len(&self) -> usize;

    /// Memory held, in bytes.
    fn size_bytes(&self) -> usize;

    /// Ends adding groups.
    fn finish(&mut self);

    /// Groups by the high `bits` bits of their hashes.
    fn split(&self, bits: u32) -> Partitions;

    /// Hash of each group's key, the same as [`GroupTable::hashes`] gives for its rows.
    fn group_hashes(&self) -> Vec<u64>;

    /// Bytes that are copied where the keys of some groups are decoded.
    fn copied_bytes(&self, _groups: Range<usize>) -> usize {
        0
    }

    /// Keys of some groups of a table that is finished.
    fn keys_of(&self, groups: &[u32]) -> Result<Self::Keys>;

    /// Hash of each row's key.
    fn hashes(keys: &Self::Keys) -> Vec<u64>;

    /// Keeps the hash of each row's key, as [`GroupTable::hashes`] gives it. For keys whose hashes are
    /// costly; others have no use for it.
    fn set_hashes(_keys: &mut Self::Keys, _hashes: Vec<u64>) {}

    /// Keys of some rows, in the order of `rows`.
    fn take(keys: &Self::Keys, rows: &[u32]) -> Result<Self::Keys>;

    /// Memory that keys hold, in bytes.
    fn keys_size_bytes(keys: &Self::Keys) -> usize;
}

/// The error for a table that is full.
pub(super) fn table_full(full: TableFull) -> DataFusionError {
    into_plan_error(Error::new(
        ErrorCode::TOO_MANY_ROWS,
        format!("Group by fewer different keys: {full}"),
    ))
}

/// The form that keys of some types take.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// Aggregation without keys.
    NoKeys,
    /// An array indexed by so many bits.
    Direct { bits: u32, places: Vec<Place> },
    /// A word of 32, 64, 128 or 256 bits.
    Words { bits: u32, places: Vec<Place> },
    /// One string.
    Bytes,
    /// Strings and values of fixed width as bytes.
    PackedRows(RowLayout),
    /// A row of any types as bytes that are equal if the rows are.
    Rows(Vec<ArrowType>),
}

/// Most bits of a key that indexes an array.
const MAX_DIRECT_BITS: u32 = 16;

/// Most bits of a key that is a word.
const MAX_WORD_BITS: u32 = 256;

impl Form {
    /// The form for keys of these types, each with whether it may be NULL.
    pub(super) fn of(keys: &[(ArrowType, bool)]) -> Form {
        match keys {
            [] => return Form::NoKeys,
            [(ArrowType::BinaryView, _)] => return Form::Bytes,
            _ => {}
        }
        match places(keys) {
            Some((bits, places)) if bits <= MAX_DIRECT_BITS => Form::Direct { bits, places },
            Some((bits, places)) if bits <= MAX_WORD_BITS => Form::Words {
                bits: bits.next_power_of_two().max(32),
                places,
            },
            _ => match RowLayout::of(keys) {
                Some(layout) => Form::PackedRows(layout),
                None => Form::Rows(keys.iter().map(|(arrow, _)| arrow.clone()).collect()),
            },
        }
    }

    /// All shapes that keys can take.
    pub(super) const SHAPES: [&str; 8] = [
        "none", "direct", "u32", "u64", "u128", "u256", "string", "row",
    ];

    /// Its shape.
    pub(super) fn shape(&self) -> &'static str {
        match self {
            Form::NoKeys => "none",
            Form::Direct { .. } => "direct",
            Form::Words { bits: 32, .. } => "u32",
            Form::Words { bits: 64, .. } => "u64",
            Form::Words { bits: 128, .. } => "u128",
            Form::Words { .. } => "u256",
            Form::Bytes => "string",
            Form::PackedRows(_) | Form::Rows(_) => "row",
        }
    }

    /// Its shape, and what that is made of.
    pub(super) fn describe(&self) -> String {
        let shape = self.shape();
        match self {
            Form::NoKeys | Form::Bytes => shape.to_owned(),
            Form::Direct { bits, places } => {
                format!("{shape} index of {bits} bits from {}", types_of(places))
            }
            Form::Words { places, .. } => format!("{shape} from {}", types_of(places)),
            Form::PackedRows(layout) => {
                format!("{shape} of {} columns packed", layout.num_columns())
            }
            Form::Rows(types) => format!("{shape} of {} columns as bytes", types.len()),
        }
    }

    /// Name for EXPLAIN.
    pub(super) fn name(&self) -> String {
        match self {
            Form::NoKeys => "none".to_owned(),
            Form::Direct { bits, .. } => format!("direct{bits}"),
            Form::Words { bits, .. } => format!("hash{bits}"),
            Form::Bytes => "string".to_owned(),
            Form::PackedRows(_) | Form::Rows(_) => "rows".to_owned(),
        }
    }
}

/// The types of keys, as `UInt32 + UInt8`.
fn types_of(places: &[Place]) -> String {
    let name = |place: &Place| match place.null_shift {
        None => place.arrow.to_string(),
        Some(_) => format!("Nullable({})", place.arrow),
    };
    places.iter().map(name).collect::<Vec<_>>().join(" + ")
}

/// Places of all columns in one word and the bits that they take; `None` if one has no place.
///
/// A single key needs no bit for NULL: the table has a group for it that no word finds.
fn places(keys: &[(ArrowType, bool)]) -> Option<(u32, Vec<Place>)> {
    let mut shift = 0;
    let mut places = Vec::with_capacity(keys.len());
    for (arrow, _) in keys {
        places.push(Place {
            arrow: arrow.clone(),
            shift,
            null_shift: None,
        });
        shift += width(arrow)?;
    }
    if keys.len() > 1 {
        for (place, _) in places
            .iter_mut()
            .zip(keys)
            .filter(|(_, (_, nullable))| *nullable)
        {
            place.null_shift = Some(shift);
            shift += 1;
        }
    }
    Some((shift, places))
}

/// Interns rows of which some have no key: `intern` gets the keys that are valid.
pub(super) fn intern_valid<K: Copy>(
    (keys, nulls): (&[K], &NullBuffer),
    null_group: u32,
    groups: &mut Vec<u32>,
    intern: impl FnOnce(&[K], &mut Vec<u32>) -> Result<()>,
) -> Result<()> {
    let valid: Vec<K> = nulls.valid_indices().map(|row| keys[row]).collect();
    let mut found = Vec::with_capacity(valid.len());
    intern(&valid, &mut found)?;
    let mut found = found.into_iter();
    let group = |is_valid: bool| {
        if is_valid {
            found.next()
        } else {
            Some(null_group)
        }
    };
    groups.extend(nulls.iter().filter_map(group));
    Ok(())
}

/// Validity of the groups in `range` if one of them is the group of NULL.
pub(super) fn group_nulls(null_group: Option<u32>, range: &Range<usize>) -> Option<NullBuffer> {
    let null = null_group
        .map(|group| group as usize)
        .filter(|group| range.contains(group))?;
    Some(range.clone().map(|group| group != null).collect())
}
