//! Divides many integers by one divisor, by a multiplication and a shift instead of a division.
//!
//! `number % 3` as a GROUP BY key asks for a hundred million remainders by the same number. For each
//! divisor there are a *magic* number and a shift so that the quotient is the upper half of
//! `value * magic`, shifted (Granlund and Montgomery 1994); powers of two need the shift alone and a
//! mask. Which of the cases applies is decided once for a slice.
//!
//! Results are those of Rust's `/` and `%`: quotients round to zero, and a remainder has the sign of
//! the dividend, as in ClickHouse. `i64::MIN / -1` wraps to `i64::MIN` with remainder 0: who must
//! refuse it looks first. Remainders may be written in a narrower type, because the type of `x % 3`
//! is UInt8 in the dialect.
//!
//! Remainders of consecutive numbers are counted, which is several times as fast again.
//!
//! Tests: `tests.rs`; bench: `divide`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod consecutive;
mod reciprocal;
mod scalar;
mod word;

use std::marker::PhantomData;

use basalt_adapt::SimdLevel;

use crate::level;

pub use reciprocal::Divisor;
pub use word::{Truncated, Word};

/// What is computed from a division.
pub trait Operation<T>: Send + Sync + 'static {
    /// Type of the results.
    type Out: Truncated<T>;

    /// Whether it is the remainder that is asked for, and not the quotient.
    const IS_REMAINDER: bool;
}

/// Asks for quotients.
#[derive(Debug)]
pub struct Quotient;

/// Asks for remainders, in a type that holds every value below the divisor.
#[derive(Debug)]
pub struct Remainder<R>(PhantomData<R>);

impl<T: Word> Operation<T> for Quotient {
    type Out = T;

    const IS_REMAINDER: bool = false;
}

impl<T: Word, R: Truncated<T>> Operation<T> for Remainder<R> {
    type Out = R;

    const IS_REMAINDER: bool = true;
}

type Run<T, O> = fn(&Divisor<T>, &[T], &mut [<O as Operation<T>>::Out]);

/// One way to divide.
#[derive(Debug)]
pub struct Form<T: Word, O: Operation<T>> {
    /// Its name, as settings and tables have it.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What the processor must have.
    pub level: SimdLevel,
    run: Run<T, O>,
}

impl<T: Word, O: Operation<T>> Form<T, O> {
    /// Writes the result of every value.
    ///
    /// # Panics
    /// If there are more or fewer places than values.
    pub fn run(&self, divisor: &Divisor<T>, values: &[T], out: &mut [O::Out]) {
        assert_eq!(values.len(), out.len());
        (self.run)(divisor, values, out);
    }

    const fn new(
        (name, level): (&'static str, SimdLevel),
        description: &'static str,
        run: Run<T, O>,
    ) -> Self {
        Self {
            name,
            description,
            level,
            run,
        }
    }
}

/// Every form that may run here and now, the specification first.
pub fn forms<T: Word, O: Operation<T>>() -> impl Iterator<Item = &'static Form<T, O>> {
    let current = level::current();
    T::forms().iter().filter(move |form| form.level <= current)
}

/// Writes the quotient of every value, with the widest form.
///
/// # Panics
/// If there are more or fewer places than values.
pub fn quotients<T: Word>(divisor: &Divisor<T>, values: &[T], out: &mut [T]) {
    widest::<T, Quotient>(divisor, values, out);
}

/// Writes the remainder of every value: counting where the values are consecutive, else with the widest form.
///
/// # Panics
/// If there are more or fewer places than values.
pub fn remainders<T: Word, R: Truncated<T>>(divisor: &Divisor<T>, values: &[T], out: &mut [R]) {
    assert_eq!(values.len(), out.len());
    if !consecutive::remainders(divisor, values, out) {
        widest::<T, Remainder<R>>(divisor, values, out);
    }
}

fn widest<T: Word, O: Operation<T>>(divisor: &Divisor<T>, values: &[T], out: &mut [O::Out]) {
    // The lists are in the order of widths, and bench `divide` shows that wider is faster.
    if let Some(form) = forms::<T, O>().last() {
        form.run(divisor, values, out);
    }
}

#[cfg(test)]
mod tests;
