//! Adds floats up by keys of eight bits, with the kernel that is fastest on this data.
//!
//! `sum` and `avg` feed it when an operator knows their groups as bytes, and take over what it has added behind each
//! batch.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{ArrowNativeType, ArrowPrimitiveType, Float32Type};
use basalt_adapt::{Chooser, Work};
use basalt_kernels::Bitmap;
use basalt_kernels::average::{
    ByteKeyStates, Form, LANES_CHOICE, NUM_KEYS, Rows, SUITABLE_ROWS, Value, form_named,
};

/// Floats of 32 bits; nothing until the first batch.
#[derive(Debug, Default)]
pub(super) enum FloatKeys {
    #[default]
    Empty,
    F32(Box<ByteKeys<f32>>),
}

impl FloatKeys {
    /// Adds the values, of which row `i` belongs to group `keys[i]`; false if these are no such floats.
    pub(super) fn add(&mut self, keys: &[u8], values: &ArrayRef) -> bool {
        if let Some(values) = values.as_primitive_opt::<Float32Type>() {
            if let FloatKeys::Empty = self {
                *self = FloatKeys::F32(Box::default());
            }
            return match self {
                FloatKeys::F32(floats) => floats.add(keys, values),
                _ => false,
            };
        }
        false
    }

    /// Gives the sum and the count of each group that got something, and forgets them.
    pub(super) fn drain(&mut self, mut f: impl FnMut(usize, f64, u64)) {
        match self {
            FloatKeys::Empty => {}
            FloatKeys::F32(keys) => keys.drain(&mut f),
        }
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        match self {
            FloatKeys::Empty => 0,
            _ => size_of::<ByteKeyStates>(),
        }
    }
}

/// Sums and counts of each key that its function does not know of yet.
pub(super) struct ByteKeys<V: Value> {
    states: Box<ByteKeyStates>,
    /// The form of each arm of the choice, if it may run here.
    forms: Vec<Option<&'static Form<V>>>,
    chooser: Chooser,
    num_rows: usize,
}

impl<V: Value> std::fmt::Debug for ByteKeys<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteKeys")
            .field("num_rows", &self.num_rows)
            .finish_non_exhaustive()
    }
}

impl<V: Value> Default for ByteKeys<V> {
    fn default() -> Self {
        let arms = LANES_CHOICE.arms();
        let forms: Vec<_> = arms.iter().map(|name| form_named(name)).collect();
        let chooser = Chooser::new(&LANES_CHOICE).limited_to(|arm| forms[arm].is_some());
        Self {
            states: Box::default(),
            forms,
            chooser,
            num_rows: 0,
        }
    }
}

impl<V: Value> ByteKeys<V> {
    /// Adds the values, of which row `i` belongs to group `keys[i]`; false if the lengths differ.
    fn add<T>(&mut self, keys: &[u8], array: &PrimitiveArray<T>) -> bool
    where
        T: ArrowPrimitiveType<Native = V>,
        V: ArrowNativeType,
    {
        let values: &[V] = array.values();
        if values.len() != keys.len() {
            return false;
        }
        let nulls = array.nulls().filter(|n| n.null_count() > 0);
        for (start, keys) in (0..).step_by(SUITABLE_ROWS).zip(keys.chunks(SUITABLE_ROWS)) {
            let validity =
                nulls.and_then(|n| Bitmap::try_new(n.validity(), n.offset() + start, keys.len()));
            let rows = Rows::try_new(keys, &values[start..start + keys.len()], validity);
            let Some(rows) = rows else {
                return false;
            };
            let work = Work::rows(keys.len(), size_of::<V>() + 1);
            let turn = self.chooser.begin(work);
            // The first form is the portable one; there always is one.
            let form = self.forms.get(turn.arm()).copied().flatten();
            if let Some(form) = form.or_else(|| self.forms.iter().copied().flatten().next()) {
                form.add(&mut self.states, &rows);
            }
            self.chooser.end(turn);
        }
        self.num_rows += keys.len();
        true
    }

    /// Gives the sum and the count of each group that got something, and forgets them.
    fn drain(&mut self, f: &mut dyn FnMut(usize, f64, u64)) {
        if self.num_rows == 0 {
            return;
        }
        for key in (0..NUM_KEYS).filter(|key| self.states.counts[*key] > 0) {
            f(key, self.states.sums[key], self.states.counts[key]);
        }
        self.num_rows = 0;
        *self.states = ByteKeyStates::default();
    }
}
