//! Finds what the values of a key column have in common, so that little of them must be packed.

use arrow::array::{Array, ArrayRef, ArrowNativeTypeOp, AsArray, PrimitiveArray};
use arrow::datatypes::{DataType, UInt32Type};
use basalt_kernels::widest::{Loop, widest};

use super::ordinal::{Kind, NarrowVisitor, Ordinal, for_each_bytes, for_each_wide, visit_narrow};
use super::step::Step;

/// Longest common beginning that is looked for.
const MAX_PREFIX_BYTES: usize = 256;

/// Rows of a batch whose strings are looked at, to see what most begin with.
const SAMPLED_ROWS: usize = 32;

/// Strings that are kept of those.
const MAX_SAMPLE: usize = 1024;

/// The part at either end that may begin otherwise: one of so many.
const FEW: usize = 20;

/// What is known of the values of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    /// Whether a row is NULL.
    pub(super) has_nulls: bool,
    /// The smallest and the largest ordinal, if there is a value.
    pub(super) ordinals: Option<(u128, u128)>,
    /// Whether there is a value apart from these ([`Ordinal::APART`]).
    pub(super) has_apart: bool,
    /// Zero and the least ordinal above it, if these are of floats and there is one.
    pub(super) above_zero: Option<(u64, u64)>,
    /// What differences of ordinals of at most 64 bits are multiples of.
    pub(super) step: Step,
    /// What all byte strings begin with, if there is one.
    pub(super) prefix: Option<Vec<u8>>,
    /// What some of them begin with.
    sample: Vec<Box<[u8]>>,
    /// Bytes of the longest.
    pub(super) max_len: usize,
    /// Whether values are other ones than those of the column that the key stands for.
    pub(super) is_changed: bool,
    /// If values are places among these, these in order.
    pub(super) values: Option<ArrayRef>,
}

impl Range {
    /// A range with all values of a type.
    pub(super) fn of_type(data_type: &DataType, has_nulls: bool) -> Self {
        let ordinals = match data_type {
            DataType::FixedSizeBinary(size @ 1..=16) => {
                Some((0, u128::MAX >> (u128::BITS - 8 * size.unsigned_abs())))
            }
            DataType::Decimal128(_, _) => Some((0, u128::MAX)),
            other => visit_narrow(other, AllValues),
        };
        Self {
            has_nulls,
            ordinals,
            step: Step::one(),
            max_len: usize::MAX,
            ..Self::default()
        }
    }

    /// Widens the range to the values of `array`, which is of kind `kind`.
    pub(super) fn include(&mut self, kind: Kind, array: &dyn Array) {
        self.has_nulls |= array.null_count() > 0;
        let is_valid = |i: usize| array.nulls().is_none_or(|nulls| nulls.is_valid(i));
        match kind {
            Kind::Narrow => {
                let found = visit_narrow(array.data_type(), MinMax(array)).unwrap_or_default();
                let Found {
                    ordinals,
                    has_apart,
                    above_zero,
                } = found;
                self.has_apart |= has_apart;
                self.include_above_zero(above_zero);
                let _: Option<()> = visit_narrow(array.data_type(), Steps(array, &mut self.step));
                self.include_ordinals(ordinals.map(|(min, max)| (min.into(), max.into())));
            }
            Kind::Wide => {
                let mut range: Option<(u128, u128)> = None;
                for_each_wide(array, |i, ordinal| {
                    if is_valid(i) {
                        let (min, max) = range.unwrap_or((ordinal, ordinal));
                        range = Some((min.min(ordinal), max.max(ordinal)));
                    }
                });
                self.include_ordinals(range);
            }
            Kind::Bytes => {
                let stride = array.len().div_ceil(SAMPLED_ROWS).max(1);
                for_each_bytes(array, |i, value| {
                    if is_valid(i) {
                        self.include_bytes(value);
                        if i % stride == 0 {
                            self.sample(value);
                        }
                    }
                });
            }
        }
    }

    /// Makes this the range of places among `values`.
    pub(super) fn set_ranked(&mut self, values: ArrayRef) {
        let last = Array::len(&values).saturating_sub(1) as u64;
        let ordinal = |place: u64| u128::from(UInt32Type::ordinal(place as u32));
        self.ordinals = Some((ordinal(0), ordinal(last)));
        self.step = Step::one();
        self.values = Some(values);
    }

    /// Widens the range to another.
    pub(super) fn merge(&mut self, other: &Self) {
        self.has_nulls |= other.has_nulls;
        self.has_apart |= other.has_apart;
        self.include_above_zero(other.above_zero);
        self.is_changed |= other.is_changed;
        self.include_ordinals(other.ordinals);
        self.step.merge(&other.step);
        if let Some(prefix) = &other.prefix {
            self.include_bytes(prefix);
            self.max_len = self.max_len.max(other.max_len);
        }
        other.sample.iter().for_each(|value| self.sample(value));
    }

    fn sample(&mut self, value: &[u8]) {
        // Empty strings begin with nothing and say nothing of the others.
        if value.is_empty() {
            return;
        }
        if self.sample.len() >= MAX_SAMPLE {
            let mut is_kept = false;
            self.sample.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
        }
        let beginning = &value[..value.len().min(MAX_PREFIX_BYTES)];
        self.sample.push(beginning.into());
    }

    /// What all byte strings but a few begin with.
    pub(super) fn usual_prefix(&self) -> Vec<u8> {
        let mut sample: Vec<&[u8]> = self.sample.iter().map(AsRef::as_ref).collect();
        sample.sort_unstable();
        let few = sample.len().div_ceil(FEW);
        match (sample.get(few), sample.iter().rev().nth(few)) {
            (Some(first), Some(last)) => {
                let same = first.iter().zip(*last).take_while(|(a, b)| a == b).count();
                first[..same].to_vec()
            }
            _ => Vec::new(),
        }
    }

    fn include_above_zero(&mut self, other: Option<(u64, u64)>) {
        self.above_zero = match (self.above_zero, other) {
            (Some((zero, a)), Some((_, b))) => Some((zero, a.min(b))),
            (one, None) | (None, one) => one,
        };
    }

    fn include_ordinals(&mut self, other: Option<(u128, u128)>) {
        self.ordinals = match (self.ordinals, other) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (range, None) | (None, range) => range,
        };
    }

    fn include_bytes(&mut self, value: &[u8]) {
        self.max_len = self.max_len.max(value.len());
        let Some(prefix) = &mut self.prefix else {
            self.prefix = Some(value[..value.len().min(MAX_PREFIX_BYTES)].to_vec());
            return;
        };
        if !value.starts_with(prefix) {
            let same = prefix.iter().zip(value).take_while(|(a, b)| a == b).count();
            prefix.truncate(same);
        }
    }
}

/// The smallest and the largest ordinal of a type.
struct AllValues;

impl NarrowVisitor for AllValues {
    type Output = (u128, u128);

    fn visit<T: Ordinal>(self) -> Self::Output {
        let ordinal = |value| u128::from(T::ordinal(value));
        (
            ordinal(T::Native::MIN_TOTAL_ORDER),
            ordinal(T::Native::MAX_TOTAL_ORDER),
        )
    }
}

/// What the values of an array are between.
#[derive(Debug, Default)]
struct Found {
    ordinals: Option<(u64, u64)>,
    has_apart: bool,
    above_zero: Option<(u64, u64)>,
}

/// Finds that.
struct MinMax<'a>(&'a dyn Array);

impl NarrowVisitor for MinMax<'_> {
    type Output = Found;

    fn visit<T: Ordinal>(self) -> Found {
        let array: &PrimitiveArray<T> = self.0.as_primitive();
        let (ordinal, values) = (T::ordinal, array.values());
        let is_some = |(min, max): &(u64, u64)| min <= max;
        let (Some(apart), Some(zero)) = (T::APART, T::ZERO) else {
            let range = if array.null_count() == 0 {
                widest(MinMaxOfValues { values, ordinal })
            } else {
                let ordinals = array.iter().flatten().map(ordinal);
                ordinals.fold(NO_ORDINALS, widen)
            };
            return Found {
                ordinals: Some(range).filter(is_some),
                ..Found::default()
            };
        };
        let floats = Floats::new(apart, zero);
        let in_one_pass = (array.null_count() == 0).then(|| {
            let (range, above_zero) = widest(FloatsOfValues {
                values,
                ordinal,
                zero,
            });
            Floats {
                range,
                above_zero,
                ..floats
            }
        });
        // What is apart is greater than most and shows as the maximum.
        let floats = in_one_pass.filter(|found| found.range.1 < apart);
        let floats = floats.unwrap_or_else(|| {
            let ordinals = array.iter().flatten().map(ordinal);
            ordinals.fold(Floats::new(apart, zero), Floats::with)
        });
        Found {
            ordinals: Some(floats.range).filter(is_some),
            has_apart: floats.has_apart,
            above_zero: (floats.above_zero < u64::MAX).then_some((zero, floats.above_zero)),
        }
    }
}

/// What is found of floats.
#[derive(Clone, Copy)]
struct Floats {
    apart: u64,
    zero: u64,
    range: (u64, u64),
    has_apart: bool,
    /// The least ordinal above that of zero.
    above_zero: u64,
}

impl Floats {
    fn new(apart: u64, zero: u64) -> Self {
        Self {
            apart,
            zero,
            range: NO_ORDINALS,
            has_apart: false,
            above_zero: u64::MAX,
        }
    }

    #[inline(always)]
    fn with(self, ordinal: u64) -> Self {
        let is_apart = ordinal == self.apart;
        // What is apart widens nothing.
        let (low, high) = if is_apart {
            NO_ORDINALS
        } else {
            (ordinal, ordinal)
        };
        let above = if low > self.zero { low } else { u64::MAX };
        Self {
            range: (self.range.0.min(low), self.range.1.max(high)),
            has_apart: self.has_apart | is_apart,
            above_zero: self.above_zero.min(above),
            ..self
        }
    }
}

/// Finds the range of all values, and the least above zero.
struct FloatsOfValues<'a, V, F> {
    values: &'a [V],
    ordinal: F,
    zero: u64,
}

impl<V: Copy, F: Fn(V) -> u64> Loop for FloatsOfValues<'_, V, F> {
    type Output = ((u64, u64), u64);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let first = self.zero + 1;
        let (mut range, mut above) = (NO_ORDINALS, u64::MAX);
        for value in self.values {
            let ordinal = (self.ordinal)(*value);
            range = widen(range, ordinal);
            // Those up to zero wrap around and are farther than all others.
            above = above.min(ordinal.wrapping_sub(first));
        }
        (range, above.saturating_add(first))
    }
}

/// Takes the values of an array for their step.
struct Steps<'a>(&'a dyn Array, &'a mut Step);

impl NarrowVisitor for Steps<'_> {
    type Output = ();

    fn visit<T: Ordinal>(self) {
        let Self(array, step) = self;
        let array: &PrimitiveArray<T> = array.as_primitive();
        if array.null_count() == 0 {
            step.include(array.values(), T::ordinal);
        } else {
            let ordinals = array.iter().flatten().map(T::ordinal);
            ordinals.for_each(|ordinal| step.include_one(ordinal));
        }
    }
}

/// What no value widens.
const NO_ORDINALS: (u64, u64) = (u64::MAX, u64::MIN);

#[inline(always)]
fn widen((min, max): (u64, u64), ordinal: u64) -> (u64, u64) {
    (min.min(ordinal), max.max(ordinal))
}

struct MinMaxOfValues<'a, V, F> {
    values: &'a [V],
    ordinal: F,
}

impl<V: Copy, F: Fn(V) -> u64> Loop for MinMaxOfValues<'_, V, F> {
    type Output = (u64, u64);

    #[inline(always)]
    fn run(self) -> (u64, u64) {
        let ordinals = self.values.iter().map(|value| (self.ordinal)(*value));
        ordinals.fold(NO_ORDINALS, widen)
    }
}
