//! Chooses the wide form for a type of number.

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::slice;

use basalt_adapt::SimdLevel;

use crate::filter::{avx2, avx512};
use crate::{Bitmap, isa, level};

/// Ones of a word up to which each is looked for. With more, words of random bits that are selected in ten of a hundred
/// fall on both sides, and the processor guesses wrong (bench `filter`).
pub(super) const FEW: usize = 2;

/// The numbers that wide forms move. All their bytes have a value, and types of one size have one alignment.
const NUMBERS: [TypeId; 10] = [
    TypeId::of::<u8>(),
    TypeId::of::<i8>(),
    TypeId::of::<u16>(),
    TypeId::of::<i16>(),
    TypeId::of::<u32>(),
    TypeId::of::<i32>(),
    TypeId::of::<f32>(),
    TypeId::of::<u64>(),
    TypeId::of::<i64>(),
    TypeId::of::<f64>(),
];

/// A number as wide forms see it.
pub(super) trait Lane: Copy + 'static {
    /// Its forms, the widest first.
    const FORMS: [Form<Run<Self>>; 2];
}

impl Lane for u8 {
    const FORMS: [Form<Run<Self>>; 2] = [
        Form::avx512(isa::has_avx512_vbmi2, avx512::bytes),
        Form::avx2(avx2::bytes),
    ];
}

impl Lane for u16 {
    const FORMS: [Form<Run<Self>>; 2] = [
        Form::avx512(isa::has_avx512_vbmi2, avx512::shorts),
        Form::avx2(avx2::shorts),
    ];
}

impl Lane for u32 {
    const FORMS: [Form<Run<Self>>; 2] = [
        Form::avx512(isa::has_avx512, avx512::words),
        Form::avx2(avx2::words),
    ];
}

impl Lane for u64 {
    const FORMS: [Form<Run<Self>>; 2] = [
        Form::avx512(isa::has_avx512, avx512::longs),
        Form::avx2(avx2::longs),
    ];
}

type Run<L> = unsafe fn(&[L], Bitmap<'_>, &mut [MaybeUninit<L>]) -> usize;

/// The forms for row numbers, the widest first.
const NUMBER_FORMS: [Form<RunNumbers>; 2] = [
    Form::avx512(isa::has_avx512, avx512::numbers),
    Form::avx2(avx2::numbers),
];

type RunNumbers = unsafe fn(Bitmap<'_>, u32, &mut [MaybeUninit<u32>]) -> usize;

/// One way to select.
pub(super) struct Form<R> {
    level: SimdLevel,
    /// Whether the processor has all instructions of `run`.
    is_possible: fn() -> bool,
    run: R,
}

impl<R: Copy> Form<R> {
    const fn avx2(run: R) -> Self {
        Self {
            level: SimdLevel::Avx2,
            is_possible: isa::has_avx2,
            run,
        }
    }

    const fn avx512(is_possible: fn() -> bool, run: R) -> Self {
        Self {
            level: SimdLevel::Avx512,
            is_possible,
            run,
        }
    }

    /// What runs of the first form that the processor has all instructions of and the setting allows.
    fn first(forms: &[Self; 2]) -> Option<R> {
        let current = level::current();
        let mut possible = forms.iter().filter(|form| (form.is_possible)());
        possible
            .find(|form| form.level <= current)
            .map(|form| form.run)
    }
}

/// Writes the values of the rows whose bit is set and gives how many, if they are numbers and a wide form may be used.
pub(super) fn values<T: 'static>(
    values: &[T],
    bits: Bitmap<'_>,
    places: &mut [MaybeUninit<T>],
) -> Option<usize> {
    if !NUMBERS.contains(&TypeId::of::<T>()) {
        return None;
    }
    match size_of::<T>() {
        1 => values_as::<T, u8>(values, bits, places),
        2 => values_as::<T, u16>(values, bits, places),
        4 => values_as::<T, u32>(values, bits, places),
        8 => values_as::<T, u64>(values, bits, places),
        _ => None,
    }
}

/// The same, where `T` is one of [`NUMBERS`] and as large as `L`.
fn values_as<T: 'static, L: Lane>(
    values: &[T],
    bits: Bitmap<'_>,
    places: &mut [MaybeUninit<T>],
) -> Option<usize> {
    assert!(NUMBERS.contains(&TypeId::of::<T>()) && size_of::<T>() == size_of::<L>());
    let run = Form::first(&L::FORMS)?;
    // SAFETY: (type) a number of `T` has the size and alignment of `L`, see `NUMBERS`, and no byte without a value;
    //         any bytes are an `L`. (bounds) the length is the same. Pays in bench `filter`.
    let values = unsafe { slice::from_raw_parts(values.as_ptr().cast::<L>(), values.len()) };
    // SAFETY: (type) as above; what is written are the bytes of `values`, or of zeros, which are a `T`, too.
    //         (bounds) the length is the same. (alias) `places` is not used while this is. Pays in bench `filter`.
    let places = unsafe {
        slice::from_raw_parts_mut(places.as_mut_ptr().cast::<MaybeUninit<L>>(), places.len())
    };
    // SAFETY: (cpu) `Form::first` has asked for what the form needs. Pays in bench `filter`.
    Some(unsafe { run(values, bits, places) })
}

/// Writes the numbers of the rows whose bit is set and gives how many, if a wide form may be used.
pub(super) fn numbers(
    bits: Bitmap<'_>,
    first_row: u32,
    places: &mut [MaybeUninit<u32>],
) -> Option<usize> {
    let run = Form::first(&NUMBER_FORMS)?;
    // SAFETY: (cpu) `Form::first` has asked for what the form needs. Pays in bench `filter`.
    Some(unsafe { run(bits, first_row, places) })
}
