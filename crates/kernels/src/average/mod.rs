//! Adds values up by keys of eight bits: the inner loop of `avg` and `sum` by a UInt8.
//!
//! The plain loop waits: a key that repeats needs the sum that its last row has just stored. The
//! forms here shorten that chain (sum and count in one register), split it (several tables), or
//! avoid it (rows of one key together). Which one wins depends on how often keys repeat and on the
//! processor, so all are here, and [`ROWS_CHOICE`] and [`LANES_CHOICE`] decide.
//!
//! **Order of summation.** Floating-point addition is not associative, so every form states its
//! [`Order`], and forms of equal order give bit for bit equal results, on every processor:
//!
//! * [`Order::Rows`]: the values of a key are added to its sum one after the other, in the order of
//!   the rows, whatever the limits of the batches. This is the specification, `scalar::table`.
//! * [`Order::Lanes`]`(n)`: within a call, row `i` belongs to lane `i % n`. Each lane of a key starts
//!   at 0 and adds its values in the order of the rows. At the end of the call the upper half of the
//!   lanes is added to the lower half until one is left, and that is added to the key's sum.
//!
//! Rows without a value add 0.0 in some forms, which changes no bit: a sum that starts at +0.0 is
//! never -0.0.
//!
//! Values are widened to `f64` first. Counts are exact. Tests: `tests.rs`; bench: `average`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blocks;
mod forms_table;
mod lanes;
mod runs;
mod scalar;
mod staged;

use basalt_adapt::{Choice, SimdLevel, WorkUnit};

use crate::{Bitmap, level};

/// Number of different keys.
pub const NUM_KEYS: usize = 256;

/// Rows of a call that suit every form: what forms of several lanes do once for each call is then
/// a few percent, and the rows still fit into a cache of the second level.
pub const SUITABLE_ROWS: usize = 65_536;

/// Sum and count of every key.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteKeyStates {
    /// Sum of the values of each key.
    pub sums: [f64; NUM_KEYS],
    /// Number of the values of each key.
    pub counts: [u64; NUM_KEYS],
}

impl Default for ByteKeyStates {
    fn default() -> Self {
        Self {
            sums: [0.0; NUM_KEYS],
            counts: [0; NUM_KEYS],
        }
    }
}

impl ByteKeyStates {
    /// Adds the sums and counts of another state.
    pub fn merge(&mut self, other: &Self) {
        for key in 0..NUM_KEYS {
            self.sums[key] += other.sums[key];
            self.counts[key] += other.counts[key];
        }
    }

    /// The average of a key's values; NaN if it has none.
    pub fn average(&self, key: u8) -> f64 {
        self.sums[usize::from(key)] / self.counts[usize::from(key)] as f64
    }
}

/// A number that can be averaged.
pub trait Value: Copy + Default + Send + Sync + 'static {
    /// The number as `f64`, exactly.
    fn widen(self) -> f64;

    /// The forms of each group, the specification first.
    ///
    /// Asked of the type and not of a generic function, so that the loops are compiled here, once,
    /// and not in every crate that uses them.
    fn all_forms() -> [&'static [Form<Self>]; 3];
}

impl Value for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    fn all_forms() -> [&'static [Form<Self>]; 3] {
        forms_table::all()
    }
}

impl Value for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    fn all_forms() -> [&'static [Form<Self>]; 3] {
        forms_table::all()
    }
}

/// Keys with their values, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, V> {
    keys: &'a [u8],
    values: &'a [V],
    validity: Option<Bitmap<'a>>,
}

impl<'a, V> Rows<'a, V> {
    /// Rows of keys and values, of which those without a value count for nothing; `None` if the
    /// lengths differ.
    pub fn try_new(keys: &'a [u8], values: &'a [V], validity: Option<Bitmap<'a>>) -> Option<Self> {
        let is_whole = validity.is_none_or(|bits| bits.len() == keys.len());
        (keys.len() == values.len() && is_whole).then_some(Self {
            keys,
            values,
            validity,
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// The order in which a form adds the values of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other: the same as the specification.
    Rows,
    /// In so many lanes within a call.
    Lanes(usize),
}

/// One way to add the rows up.
#[derive(Debug)]
pub struct Form<V: Value> {
    /// Its name, as settings and tables have it.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The order in which it adds.
    pub order: Order,
    /// What the processor must have.
    pub level: SimdLevel,
    run: fn(&mut ByteKeyStates, &Rows<'_, V>),
}

impl<V: Value> Form<V> {
    /// Adds the rows to the states of their keys.
    #[inline]
    pub fn add(&self, states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
        (self.run)(states, rows);
    }
}

/// Every form that this target knows, the specification first.
pub fn all_forms<V: Value>() -> impl Iterator<Item = &'static Form<V>> {
    V::all_forms().into_iter().flatten()
}

/// Every form that may run here and now, the specification first.
pub fn forms<V: Value>() -> impl Iterator<Item = &'static Form<V>> {
    let current = level::current();
    all_forms().filter(move |form| form.level <= current)
}

/// Decides between the forms that add row by row.
pub static ROWS_CHOICE: Choice = Choice::new(
    "average_by_byte_key_rows",
    "how values are added up by a key of eight bits, row by row",
    WorkUnit::Row,
    &["table", "pair", "buffered", "bucket_sort"],
);

/// Decides between the forms that add in eight lanes.
pub static LANES_CHOICE: Choice = Choice::new(
    "average_by_byte_key",
    "how values are added up by a key of eight bits, in eight lanes",
    WorkUnit::Row,
    &[
        "table_x8",
        "cell_x8",
        "pair_x8",
        "runs",
        "pair_x8_avx2",
        "runs_avx2",
        "masked_avx2",
        "masked_avx512",
    ],
);

/// The form of this name, if it may run here and now.
pub fn form_named<V: Value>(name: &str) -> Option<&'static Form<V>> {
    forms().find(|form| form.name == name)
}

/// Marks the keys that occur. Needed beside the counts only if values may be missing.
pub fn mark_seen(keys: &[u8], seen: &mut [bool; NUM_KEYS]) {
    for key in keys {
        seen[usize::from(*key)] = true;
    }
}

#[cfg(test)]
mod tests;
