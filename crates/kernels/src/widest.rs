//! Compiles a loop for several levels of instructions and runs the widest that may be used.
//!
//! For loops that the compiler turns into vector code by itself: their source says nothing of
//! instructions, and the wider the registers it may use, the fewer rounds they take.

#[cfg(target_arch = "x86_64")]
use basalt_adapt::SimdLevel;

#[cfg(target_arch = "x86_64")]
use crate::{isa, level};

/// A loop with all that it works on.
pub trait Loop {
    /// What it gives.
    type Output;

    /// Runs the loop. Must be `#[inline(always)]`, and so must all that it calls: only what is
    /// compiled in its place is compiled for wider instructions.
    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest instructions that the processor has and the setting allows.
///
/// The result must not depend on the width: integers, or floats whose order of operations the
/// loop writes down.
#[inline]
pub fn widest<L: Loop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let level = level::current();
        if level >= SimdLevel::Avx512 && isa::has_avx512() {
            // SAFETY: (cpu) detected above. Pays in bench `sum`.
            return unsafe { avx512(work) };
        }
        if level >= SimdLevel::Avx2 && isa::has_avx2() {
            // SAFETY: (cpu) detected above. Pays in bench `sum`.
            return unsafe { avx2(work) };
        }
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn avx512<L: Loop>(work: L) -> L::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use super::{Loop, widest};
    use crate::level::at_every_level;

    struct Dot<'a>(&'a [u32], &'a [u32]);

    impl Loop for Dot<'_> {
        type Output = u64;

        #[inline(always)]
        fn run(self) -> u64 {
            let products = self.0.iter().zip(self.1);
            products.map(|(a, b)| u64::from(*a) * u64::from(*b)).sum()
        }
    }

    #[test]
    fn the_widest_gives_what_the_loop_gives() {
        let a: Vec<u32> = (0..1000)
            .map(|i: u32| i.wrapping_mul(2_654_435_761))
            .collect();
        for len in 0..300 {
            let (x, y) = (&a[..len], &a[len..2 * len]);
            let expected = Dot(x, y).run();
            at_every_level(|level| assert_eq!(widest(Dot(x, y)), expected, "{level} {len}"));
        }
    }
}
